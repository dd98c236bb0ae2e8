//! Counts every cell once on every launch, checks its result against what it must be, and prices it.

use super::cell::Cell;
use super::counting::Counting;
use super::plan::{Plan, Prices};
use super::truth::Truth;
use crate::judge::REFERENCE;
use crate::progress::Progress;
use crate::record::{self, Failures, Measurement, NOT_RUN, Record, UNSUPPORTED};
use crate::run::Launch;
use crate::workloads::{self, Purpose};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use subject::Checksum;

/// What counting found.
#[derive(Default)]
pub struct Counted {
    /// The floor of each launch, and a record for each of its cells: the accounting, or why there is none.
    pub records: Vec<Record>,
    /// What one iteration takes, for cells that a launch can run.
    pub prices: Prices,
    /// The results of the programs that are timed, by subject and cell.
    pub expected: BTreeMap<(String, Cell), Checksum>,
}

impl Counted {
    /// What this machine lacks: for how many cells, and who lacks it.
    pub fn not_run(&self) -> Vec<String> {
        record::not_run(self.measurements()).iter().map(|failures| told(failures, "not-run")).collect()
    }

    /// What went wrong: at how many cells, and with whom. Of what went wrong in the same way, the first is told.
    pub fn failed(&self) -> Vec<String> {
        let failed = record::failures(self.measurements(), |error| {
            (!natural(error)).then(|| (error.split(": ").next().unwrap_or(error), error))
        });
        failed.iter().map(|failures| told(failures, "failed")).collect()
    }

    /// How many cells a launch can run.
    pub fn runnable(&self, plan: &Plan) -> usize {
        let cells: BTreeSet<&Cell> = self.expected.keys().map(|(_, cell)| cell).collect();
        plan.cells.iter().filter(|cell| cells.contains(cell)).count()
    }

    fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        self.records.iter().filter_map(|record| if let Record::Measurement(m) = record { Some(m) } else { None })
    }
}

/// Whether an error is the subject's or the machine's nature and no failure.
fn natural(error: &str) -> bool {
    error.starts_with(NOT_RUN) || error.starts_with(UNSUPPORTED)
}

fn told(failures: &Failures, how: &str) -> String {
    let sizes =
        if failures.cells == 1 { "1 workload size".into() } else { format!("{} workload sizes", failures.cells) };
    let subjects = failures.subjects.iter().copied().collect::<Vec<_>>().join(" and ");
    format!("{sizes}: {how} on {subjects}, {}", failures.why)
}

/// Counts and prices the cells of a plan. The reference must come first: the others are compared with it.
pub fn count(
    launches: &[&Launch],
    reference: &Launch,
    plan: &Plan,
    target: &Path,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Counted, String> {
    let mut counted = Counted::default();
    let mut truth = Truth::new(reference);
    for launch in launches {
        let cells: Vec<&Cell> =
            plan.cells.iter().filter(|cell| workloads::timed_on(&launch.device, cell.workload)).collect();
        progress.phase(&format!("counting on {}", launch.subject.id), cells.len() as u64);
        let start = Instant::now();
        let mut counting = Counting::start(launch, target)?;
        counted.prices.starts.insert(launch.subject.id.clone(), start.elapsed());
        counted.records.push(Record::Floor(counting.floor()?));
        for cell in cells {
            if stop.load(Ordering::Relaxed) {
                return Ok(counted);
            }
            progress.now(&format!("{} {}", cell.workload, cell.params));
            let (accounting, error) = match counting.priced(cell, &mut truth) {
                Ok((found, price)) => {
                    if launch.subject.id == REFERENCE {
                        truth.keep(cell, Purpose::Account, &found.counted);
                        truth.keep(cell, Purpose::Measure, &found.timed);
                    }
                    let key = (launch.subject.id.clone(), cell.clone());
                    counted.prices.cells.insert(key.clone(), price);
                    counted.expected.insert(key, found.timed);
                    found.accounting.map_or_else(|why| (None, Some(why)), |accounting| (Some(accounting), None))
                }
                Err(why) => (None, Some(why)),
            };
            counted.records.push(Record::Measurement(Measurement {
                subject: launch.subject.id.clone(),
                device: launch.device.clone(),
                workload: cell.workload.into(),
                params: cell.params.clone(),
                round: 0,
                iterations: Vec::new(),
                nanoseconds: Vec::new(),
                accounting,
                gpu: None,
                error,
            }));
            progress.step();
        }
    }
    progress.end_phase();
    Ok(counted)
}
