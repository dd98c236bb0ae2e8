//! The main job: cases, counts, timed rounds, verdicts, into one run log.

mod count;
pub mod criterion;
mod machine;
mod plan;
mod rounds;
mod weather;

use crate::case::Case;
use crate::claims::Catalogue;
use crate::judge::{self, AGAIN, REFERENCE};
use crate::log::LogWriter;
use crate::progress::Progress;
use crate::record::{FORMAT, Footer, Header, JUDGED, Record, Weather};
use crate::run::{Conformance, Launch};
use count::Counted;
pub use machine::machine;
use plan::Plan;
use rounds::{Entrant, Rounds};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Everything that a run depends on.
pub struct Bench<'a> {
    /// The launches; the reference must be among them.
    pub launches: &'a [Launch],
    /// The cases.
    pub cases: &'a [Case],
    /// The claims.
    pub catalogue: &'a Catalogue,
    /// The names of the workloads to measure.
    pub workloads: &'a [&'static str],
    /// Timed rounds.
    pub rounds: u32,
    /// Time that measuring may take.
    pub allowed: Duration,
    /// The folder of built programs and instruments.
    pub target: &'a Path,
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
        self.check_canary(&conformance)?;
        let present: Vec<&Launch> = self
            .launches
            .iter()
            .zip(&conformance)
            .filter(|(_, running)| running.record().missing.is_none())
            .map(|(launch, _)| launch)
            .collect();
        let mut plan = Plan::whole();
        plan.cells.retain(|cell| self.workloads.contains(&cell.workload));
        let counted = count::count(&present, &plan, self.target, self.progress, self.stop)?;
        let entrants = entrants(&present);
        let names: Vec<String> = entrants.iter().map(|entrant| entrant.launch.subject.id.clone()).collect();
        plan.fit(self.allowed, &counted.prices, &names, self.rounds);
        let price = plan.price(&counted.prices, &names, self.rounds);
        self.progress.say(&format!(
            "{} cases on {} subjects, then {} rounds of {} workload sizes: measuring will take about {} s",
            self.cases.len(),
            present.len(),
            self.rounds,
            plan.cells.len(),
            price.as_secs()
        ));
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
            cut: plan.cut.clone(),
        })))?;
        log.keep(Record::Weather(weather::reading("start".into())))?;
        self.conform(&mut conformance, &mut log)?;
        drop(conformance);
        self.measure(&plan, counted, &entrants, &mut log)?;
        log.keep(Record::Weather(weather::reading("end".into())))?;
        self.judge(&mut log)?;
        self.progress.end_phase();
        self.finish(log, start.elapsed())
    }

    /// The reference is the canary: a run in which it does not start says nothing of anyone.
    fn check_canary(&self, running: &[Conformance]) -> Result<(), String> {
        let reference = running.iter().find(|running| running.record().subject == REFERENCE);
        match reference.map(|running| &running.record().missing) {
            None => {
                Err("the reference subject is not among the launches, and without it nothing can be checked".into())
            }
            Some(Some(missing)) => Err(format!("the reference subject does not start: {missing}")),
            Some(None) => Ok(()),
        }
    }

    fn conform(&self, running: &mut [Conformance], log: &mut Log) -> Result<(), String> {
        let steps = self.cases.len() * running.len();
        self.progress.phase("checking cases", steps as u64);
        for launch in running {
            for case in self.cases {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                self.progress.now(&format!("{}: {}", launch.record().subject, case.name));
                log.keep(Record::Outcome(launch.run(case)))?;
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
            rounds: if plan.cells.is_empty() { 0 } else { self.rounds },
            measurer: self.measurer,
            progress: self.progress,
            stop: self.stop,
        };
        rounds.run(|record| log.keep(record))
    }

    fn judge(&self, log: &mut Log) -> Result<(), String> {
        let (effects, control) = judge::effects(self.catalogue, &log.records);
        let verdicts = judge::verdicts(self.catalogue, &log.records, &effects, JUDGED);
        control.into_iter().try_for_each(|control| log.keep(Record::Control(control)))?;
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

/// Every launch once, and the reference a second time as the A/A control.
fn entrants<'a>(present: &[&'a Launch]) -> Vec<Entrant<'a>> {
    let mut entrants = Vec::new();
    for launch in present {
        entrants.push(Entrant { name: launch.subject.id.clone(), launch });
        if launch.subject.id == REFERENCE {
            entrants.push(Entrant { name: AGAIN.into(), launch });
        }
    }
    entrants
}
