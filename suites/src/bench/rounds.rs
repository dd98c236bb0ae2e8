//! Timed rounds: each starts fresh processes in shuffled order, because rounds interleave and samples would evict each
//! other's working sets.

use super::cell::Cell;
use super::count::Counted;
use super::criterion::{Job, JobCell};
use super::entrant::Entrant;
use super::plan::Plan;
use super::weather;
use crate::progress::Progress;
use crate::record::Record;
use crate::workloads::Purpose;
use rand::seq::SliceRandom;
use std::ffi::OsString;
use std::fs;
use std::io::BufRead;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use subject::Checksum;

/// What the rounds need to know.
pub struct Rounds<'a> {
    /// What is measured, and how.
    pub plan: &'a Plan,
    /// What counting found.
    pub counted: &'a Counted,
    /// Who is measured.
    pub entrants: &'a [Entrant<'a>],
    /// How many rounds.
    pub rounds: u32,
    /// The command that measures one job: it gets the job's file as its last word.
    pub measurer: &'a [OsString],
    /// Who is told.
    pub progress: &'a dyn Progress,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

impl Rounds<'_> {
    /// Runs all rounds; each record is handed on as soon as its launch is done.
    pub fn run(&self, mut keep: impl FnMut(Record) -> Result<(), String>) -> Result<(), String> {
        if self.rounds == 0 {
            return Ok(());
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let cells: usize = self.entrants.iter().map(|entrant| self.cells(entrant).count()).sum();
        self.progress.phase("measuring", cells as u64 * u64::from(self.rounds));
        let mut order: Vec<&Entrant> =
            self.entrants.iter().filter(|entrant| self.cells(entrant).next().is_some()).collect();
        for round in 1..=self.rounds {
            order.shuffle(&mut rand::rng());
            for &entrant in &order {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.progress.now(&format!("round {round} of {}: {}", self.rounds, entrant.name));
                keep(Record::Weather(weather::reading(format!("round {round}, before {}", entrant.name))))?;
                for record in self.job(entrant, round, folder.path())? {
                    keep(record)?;
                }
            }
        }
        self.progress.end_phase();
        Ok(())
    }

    /// The cells at which a launch is measured, with the results that they must have: those that it ran when it was counted.
    fn cells<'b>(&'b self, entrant: &'b Entrant) -> impl Iterator<Item = (&'b Cell, &'b Checksum)> {
        let wanted = self.plan.cells.iter().filter(|cell| entrant.wants(cell));
        wanted.filter_map(|cell| {
            let key = (entrant.launch.subject.id.clone(), cell.clone());
            self.counted.expected.get(&key).map(|expected| (cell, expected))
        })
    }

    fn job(&self, entrant: &Entrant, round: u32, folder: &Path) -> Result<Vec<Record>, String> {
        let records = folder.join("records.jsonl");
        let mut cells = Vec::new();
        for (cell, expected) in self.cells(entrant) {
            cells.push(JobCell {
                workload: cell.workload.into(),
                params: cell.params.clone(),
                program: cell.program(Purpose::Measure)?,
                expected: expected.clone(),
            });
        }
        let job = Job {
            launch: entrant.launch.clone(),
            name: entrant.name.clone(),
            round,
            timing: self.plan.timing,
            cells,
            records: records.clone(),
        };
        let path = folder.join("job.json");
        let text = serde_json::to_vec(&job).map_err(|error| error.to_string())?;
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        let _ = fs::remove_file(&records);
        let [program, words @ ..] = self.measurer else { return Err("no program to measure with".into()) };
        let mut command = Command::new(program);
        command.args(words).arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = on_few_processors(entrant.launch.threads, || command.spawn())?;
        self.wait(child, &records)
    }

    fn wait(&self, mut child: Child, path: &Path) -> Result<Vec<Record>, String> {
        let mut seen = 0;
        let status = loop {
            let records = read(path);
            for _ in seen..records.len() {
                self.progress.step();
            }
            seen = records.len();
            if self.stop.load(Ordering::Relaxed) {
                let _ = child.kill();
            }
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let records = read(path);
        (seen..records.len()).for_each(|_| self.progress.step());
        if !status.success() && !self.stop.load(Ordering::Relaxed) {
            let said = child.stderr.take().map(|pipe| std::io::BufReader::new(pipe).lines().map_while(Result::ok));
            let last = said.into_iter().flatten().last().unwrap_or_default();
            self.progress.say(&format!("measuring ended early, {status}: {last}"));
        }
        Ok(records)
    }
}

/// Complete records of a file that may still be written.
fn read(path: &Path) -> Vec<Record> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Runs `start` with as many processors as the launch has threads; what it starts keeps them.
#[cfg(target_os = "linux")]
fn on_few_processors<T>(threads: u32, start: impl FnOnce() -> std::io::Result<T>) -> Result<T, String> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let all = sched_getaffinity(None).map_err(|error| not_started(&error.into()))?;
    let mut few = CpuSet::new();
    // The last processors: the first serve most interrupts.
    let chosen = (0..CpuSet::MAX_CPU).rev().filter(|cpu| all.is_set(*cpu)).take(threads as usize);
    chosen.for_each(|cpu| few.set(cpu));
    sched_setaffinity(None, &few).map_err(|error| not_started(&error.into()))?;
    let started = start();
    sched_setaffinity(None, &all).map_err(|error| not_started(&error.into()))?;
    started.map_err(|error| not_started(&error))
}

/// Runs `start`: this system lets nobody choose processors.
#[cfg(not(target_os = "linux"))]
fn on_few_processors<T>(_threads: u32, start: impl FnOnce() -> std::io::Result<T>) -> Result<T, String> {
    start().map_err(|error| not_started(&error))
}

fn not_started(error: &std::io::Error) -> String {
    format!("the measuring process could not be started: {error}")
}
