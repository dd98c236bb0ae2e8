//! The main job: cases, counts, timed rounds, verdicts, into one run log.

mod cell;
mod count;
mod counting;
pub mod criterion;
mod entrant;
mod gpu;
mod machine;
mod plan;
mod rounds;
mod truth;
mod walk;
mod weather;

use crate::case::Case;
use crate::claims::Catalogue;
use crate::judge::{self, REFERENCE};
use crate::log::LogWriter;
use crate::progress::Progress;
use crate::record::{CPU, FORMAT, Footer, Header, JUDGED, Limit, Loop, Record, Weather};
use crate::run::{Conformance, Launch};
use crate::workloads::WORKLOADS;
use count::Counted;
use entrant::{Entrant, entrants, measuring};
pub use machine::machine;
use plan::Plan;
pub use plan::Timing;
use rounds::Rounds;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
pub use walk::{Walk, walk};

/// A request about a program that takes longer than this is hanging.
const LIMIT: Duration = Duration::from_secs(120);

/// Everything that a run depends on.
pub struct Bench<'a> {
    /// The launches; the reference must be among them.
    pub launches: &'a [Launch],
    /// The cases.
    pub cases: &'a [Case],
    /// The claims.
    pub catalogue: &'a Catalogue,
    /// The words that chose cases and workloads, where not all were wanted.
    pub only: Option<String>,
    /// The names of the workloads to measure.
    pub workloads: &'a [&'static str],
    /// Whether a first look is enough.
    pub quick: bool,
    /// Timed rounds.
    pub rounds: u32,
    /// Time that measuring may take.
    pub allowed: Duration,
    /// The folder of built programs and instruments.
    pub target: &'a Path,
    /// Times the plain loops over memory on a block of so many bytes: nanoseconds of one pass each.
    pub limits: fn(u64) -> Vec<(Loop, f64)>,
    /// The command that measures one job.
    pub measurer: &'a [OsString],
    /// The commit that is run, for the header.
    pub commit: Option<String>,
    /// The compiler, for the header.
    pub toolchain: String,
    /// Who is told.
    pub progress: &'a dyn Progress,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// What a run came to.
pub struct Finished {
    /// The run log.
    pub path: PathBuf,
    /// Its records.
    pub records: Vec<Record>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// The run log as it is written and as it is judged.
struct Log {
    writer: LogWriter,
    records: Vec<Record>,
}

impl Log {
    fn keep(&mut self, record: Record) -> Result<(), String> {
        self.writer.write(&record)?;
        self.records.push(record);
        Ok(())
    }
}

impl Bench<'_> {
    /// Runs everything and writes the run log into a folder.
    pub fn run(&self, out: &Path) -> Result<Finished, String> {
        let start = Instant::now();
        let started = time::OffsetDateTime::now_utc();
        let mut log = Log { writer: LogWriter::create(out)?, records: Vec::new() };
        self.progress.say("starting the subjects");
        let mut conformance: Vec<Conformance> =
            self.launches.iter().map(|launch| Conformance::start(launch, self.target)).collect();
        for one in &conformance {
            if let Some(missing) = &one.record().missing {
                self.progress.say(&format!("{}: not-run, {missing}", one.record().subject));
            }
        }
        let reference = self.canary(&conformance)?;
        let running = conformance.iter().filter(|one| one.record().missing.is_none());
        let running: Vec<&Launch> = running.map(Conformance::launch).collect();
        let present = measuring(&running);
        let mut plan = if self.quick { Plan::quick(self.workloads) } else { Plan::whole(self.workloads) };
        let counted = count::count(&present, reference, &plan, self.target, self.progress, self.stop)?;
        counted.not_run().iter().chain(&counted.failed()).for_each(|line| self.progress.say(line));
        // Only what claims compare needs the A/A control.
        let compared: Vec<&str> = self.catalogue.compared().collect();
        let entrants = entrants(&present, &compared);
        plan.fit(self.allowed, &counted.prices, &entrants, self.rounds);
        let price = plan.price(&counted.prices, &entrants, self.rounds);
        let subjects: BTreeSet<&str> = running.iter().map(|launch| launch.subject.id.as_str()).collect();
        let measuring = match counted.runnable(&plan) {
            0 => "nothing to measure".into(),
            cells => format!(
                "then {} rounds of {cells} workload sizes: measuring will take about {} s",
                self.rounds,
                price.as_secs()
            ),
        };
        self.progress.say(&format!("{} cases on {} subjects, {measuring}", self.cases.len(), subjects.len()));
        let well_known = time::format_description::well_known::Rfc3339;
        log.keep(Record::Header(Box::new(Header {
            format: FORMAT,
            tensormark: env!("CARGO_PKG_VERSION").into(),
            started: started.replace_nanosecond(0).unwrap_or(started).format(&well_known).unwrap_or_default(),
            commit: self.commit.clone(),
            machine: machine(),
            toolchain: self.toolchain.clone(),
            launches: conformance.iter().map(|running| running.record().clone()).collect(),
            rounds: self.rounds,
            only: self.only.clone(),
            cut: plan.cut.clone(),
        })))?;
        log.keep(Record::Weather(weather::reading("start".into())))?;
        self.describe(&plan, &mut log)?;
        self.conform(&mut conformance, &mut log)?;
        drop(conformance);
        self.measure(&plan, counted, &entrants, &mut log)?;
        log.keep(Record::Weather(weather::reading("end".into())))?;
        self.judge(&mut log)?;
        self.progress.end_phase();
        self.finish(log, start.elapsed())
    }

    /// The reference is the canary: a run in which it does not start says nothing of anyone.
    fn canary<'a>(&self, running: &[Conformance<'a>]) -> Result<&'a Launch, String> {
        let reference = running.iter().find(|one| one.record().subject == REFERENCE && one.launch().device == CPU);
        let reference = reference
            .ok_or("the reference subject is not among the launches, and without it nothing can be checked")?;
        match &reference.record().missing {
            Some(missing) => Err(format!("the reference subject does not start: {missing}")),
            None => Ok(reference.launch()),
        }
    }

    /// What the workloads are, and what the machine itself can do at their sizes.
    fn describe(&self, plan: &Plan, log: &mut Log) -> Result<(), String> {
        for workload in WORKLOADS.iter().filter(|workload| plan.cells.iter().any(|cell| cell.workload == workload.name))
        {
            log.keep(Record::Workload(workload.info()))?;
        }
        let sizes: BTreeSet<u64> = plan.cells.iter().map(|cell| cell.params.bytes()).collect();
        for bytes in sizes {
            for (what, nanoseconds) in (self.limits)(bytes) {
                log.keep(Record::Limit(Limit { what, bytes, nanoseconds }))?;
            }
        }
        Ok(())
    }

    fn conform(&self, running: &mut [Conformance], log: &mut Log) -> Result<(), String> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let steps =
            running.iter().map(|launch| self.cases.iter().filter(|case| launch.runs(case)).count()).sum::<usize>();
        self.progress.phase("checking cases", steps as u64);
        for launch in running {
            for case in self.cases {
                if !launch.runs(case) {
                    continue;
                }
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.progress.now(&format!("{}: {}", launch.record().subject, case.name));
                log.keep(Record::Outcome(launch.run(case)))?;
                launch.take_memory().into_iter().try_for_each(|record| log.keep(record))?;
                self.progress.step();
            }
        }
        Ok(())
    }

    fn measure(&self, plan: &Plan, mut counted: Counted, entrants: &[Entrant], log: &mut Log) -> Result<(), String> {
        for record in std::mem::take(&mut counted.records) {
            log.keep(record)?;
        }
        let rounds = Rounds {
            plan,
            counted: &counted,
            entrants,
            rounds: if self.stop.load(Ordering::Relaxed) { 0 } else { self.rounds },
            measurer: self.measurer,
            progress: self.progress,
            stop: self.stop,
        };
        rounds.run(|record| log.keep(record))
    }

    fn judge(&self, log: &mut Log) -> Result<(), String> {
        let (effects, control) = judge::effects(self.catalogue, &log.records);
        control.into_iter().try_for_each(|control| log.keep(Record::Control(control)))?;
        let mut verdicts = judge::verdicts(self.catalogue, &log.records, &effects, JUDGED);
        judge::leave_open(&mut verdicts, self.cases);
        judge::slopes(&log.records).into_iter().try_for_each(|slope| log.keep(Record::Slope(slope)))?;
        effects.into_iter().try_for_each(|effect| log.keep(Record::Effect(effect)))?;
        verdicts.into_iter().try_for_each(|verdict| log.keep(Record::Verdict(verdict)))
    }

    fn finish(&self, log: Log, took: Duration) -> Result<Finished, String> {
        let interrupted = self.stop.load(Ordering::Relaxed);
        let Log { writer, mut records } = log;
        let readings: Vec<Weather> = records
            .iter()
            .filter_map(|record| if let Record::Weather(reading) = record { Some(reading.clone()) } else { None })
            .collect();
        let footer = Footer {
            complete: !interrupted,
            reason: if interrupted { "interrupted" } else { "finished" }.into(),
            weather: weather::grade(&readings),
            nanoseconds: took.as_nanos() as u64,
        };
        let path = writer.finish(footer.clone())?;
        records.push(Record::Footer(footer));
        Ok(Finished { path, records, interrupted })
    }
}
