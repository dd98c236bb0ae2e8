//! Counts every cell once on every launch, checks its result against what it must be, and prices it.

use super::cell::Cell;
use super::plan::{Plan, Prices};
use super::truth::Truth;
use crate::judge::{REFERENCE, median};
use crate::progress::Progress;
use crate::record::{Accounting, CUDA, Floor, Measurement, Record};
use crate::run::{Instruments, Launch, Session, no_device};
use crate::workloads::{self, Purpose};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use subject::{Checksum, Program, Reply, Request};

const LIMIT: Duration = Duration::from_secs(120);
const FLOOR_ITERATIONS: u64 = 100_000;
/// How the error begins of a cell that this machine lacks something for.
const NOT_RUN: &str = "not-run: ";
/// How the error begins of a cell that the subject lacks something for.
const UNSUPPORTED: &str = "unsupported: ";
const ROUND_TRIPS: usize = 101;

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
    /// What this machine lacks, with who lacks it and for how many cells.
    pub fn not_run(&self) -> Vec<String> {
        self.reasons(|why| why.strip_prefix(NOT_RUN))
            .map(|(why, subjects, cells)| format!("{cells} workload sizes: not-run on {subjects}, {why}"))
            .collect()
    }

    /// What went wrong, with whom and at how many cells.
    pub fn failed(&self) -> Vec<String> {
        self.reasons(|why| Some(why).filter(|why| !why.starts_with(NOT_RUN) && !why.starts_with(UNSUPPORTED)))
            .map(|(why, subjects, cells)| format!("{cells} workload sizes: failed on {subjects}, {why}"))
            .collect()
    }

    /// How many cells a launch can run.
    pub fn runnable(&self, plan: &Plan) -> usize {
        let cells: BTreeSet<&Cell> = self.expected.keys().map(|(_, cell)| cell).collect();
        plan.cells.iter().filter(|cell| cells.contains(cell)).count()
    }

    /// Reasons of this kind for having no counts, with the subjects that gave them and the number of cells.
    fn reasons<'a>(
        &'a self,
        kind: impl Fn(&'a str) -> Option<&'a str>,
    ) -> impl Iterator<Item = (&'a str, String, usize)> {
        let mut reasons: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<_>)> = BTreeMap::new();
        for record in &self.records {
            if let Record::Measurement(Measurement { subject, workload, params, error: Some(error), .. }) = record
                && let Some(why) = kind(error)
            {
                let (subjects, cells) = reasons.entry(why).or_default();
                subjects.insert(subject);
                cells.insert((workload, params));
            }
        }
        reasons
            .into_iter()
            .map(|(why, (subjects, cells))| (why, subjects.into_iter().collect::<Vec<_>>().join(" and "), cells.len()))
    }
}

/// Counts and prices the cells of a plan. The reference must come first: the others are compared with it.
pub fn count(
    launches: &[&Launch],
    plan: &Plan,
    truth: &mut Truth,
    target: &Path,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Counted, String> {
    let mut counted = Counted::default();
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
            let found = counting.cell(cell, truth);
            if let Ok(found) = &found {
                if launch.subject.id == REFERENCE {
                    truth.keep(cell, Purpose::Account, &found.counted);
                    truth.keep(cell, Purpose::Measure, &found.timed);
                }
                counted.expected.insert((launch.subject.id.clone(), cell.clone()), found.timed.clone());
            }
            let (accounting, error) = match found {
                Ok(found) => {
                    counted.prices.cells.insert((launch.subject.id.clone(), cell.clone()), found.price);
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

/// What one cell came to.
struct Found {
    accounting: Result<Accounting, String>,
    counted: Checksum,
    timed: Checksum,
    price: Duration,
}

struct Counting<'a> {
    launch: &'a Launch,
    instruments: Instruments<'a>,
    session: Session,
    no_ledger: Option<String>,
}

impl<'a> Counting<'a> {
    /// Starts with the heap ledger where it can be loaded, else without.
    fn start(launch: &'a Launch, target: &'a Path) -> Result<Self, String> {
        let ledger = Instruments::HeapLedger(target);
        let (instruments, session, no_ledger) = match Session::start(launch, ledger) {
            Ok(session) => (ledger, session, None),
            Err(why) => {
                (Instruments::None, Session::start(launch, Instruments::None)?, Some(format!("{NOT_RUN}{why}")))
            }
        };
        Ok(Counting { launch, instruments, session, no_ledger })
    }

    /// What the harness costs here: a loop whose body does nothing, and a request that asks for nothing.
    fn floor(&mut self) -> Result<Floor, String> {
        let program = self.prepare(workloads::nothing().map_err(|fail| format!("{fail:?}"))?)?;
        let elapsed = self.sample(program, FLOOR_ITERATIONS)?;
        let mut round_trips = Vec::new();
        for _ in 0..ROUND_TRIPS {
            let start = Instant::now();
            self.ask(&Request::Hello {})?;
            round_trips.push(start.elapsed().as_nanos() as f64);
        }
        self.done(&Request::Reset {})?;
        Ok(Floor {
            subject: self.launch.subject.id.clone(),
            loop_nanoseconds: elapsed as f64 / FLOOR_ITERATIONS as f64,
            round_trip_nanoseconds: median(round_trips),
        })
    }

    fn cell(&mut self, cell: &Cell, truth: &mut Truth) -> Result<Found, String> {
        let found = self.attempt(cell, truth);
        let reset = self.session.ask(&Request::Reset {}, LIMIT);
        if reset != Ok(Reply::Value(subject::Value::None)) {
            self.session = Session::start(self.launch, self.instruments)?;
        }
        found
    }

    fn attempt(&mut self, cell: &Cell, truth: &mut Truth) -> Result<Found, String> {
        self.check_device(cell)?;
        let program = self.prepare(cell.program(Purpose::Account)?)?;
        let window = self.session.ledger().map(|ledger| ledger.open()).transpose()?;
        self.done(&Request::Account { program })?;
        let accounting = match (self.session.ledger(), &window) {
            (Some(ledger), Some(window)) => ledger.close(window),
            _ => Err(self.no_ledger.clone().unwrap_or_default()),
        };
        let counted = self.checksum(program, truth.of(cell, Purpose::Account)?)?;
        self.done(&Request::Reset {})?;
        let program = self.prepare(cell.program(Purpose::Measure)?)?;
        let timed = self.checksum(program, truth.of(cell, Purpose::Measure)?)?;
        // By this process's clock: that of a device leaves out the calls and the gate, which take time all the same.
        let start = Instant::now();
        self.sample(program, 1)?;
        let price = start.elapsed();
        Ok(Found { accounting, counted, timed, price })
    }

    fn check_device(&self, cell: &Cell) -> Result<(), String> {
        let needs = workloads::needs_device(cell.workload);
        let subject = &self.launch.subject;
        if needs && !subject.devices.iter().any(|device| device == CUDA) {
            return Err(format!("{UNSUPPORTED}{} runs on no device beside the CPU", subject.id));
        }
        if needs && !self.session.hello().devices.iter().any(|has| has == CUDA) {
            return Err(format!("{NOT_RUN}{}", no_device(&subject.id)));
        }
        Ok(())
    }

    fn sample(&mut self, program: u64, iterations: u64) -> Result<u64, String> {
        match self.ask(&Request::Measure { program, iterations })? {
            Reply::Sample { nanoseconds } => Ok(nanoseconds),
            other => Err(format!("expected a sample, got {other:?}")),
        }
    }

    fn prepare(&mut self, program: Program) -> Result<u64, String> {
        match self.ask(&Request::Prepare(program))? {
            Reply::Prepared { program } => Ok(program),
            other => Err(format!("expected a prepared program, got {other:?}")),
        }
    }

    fn checksum(&mut self, program: u64, expected: Option<Checksum>) -> Result<Checksum, String> {
        match (self.ask(&Request::Checksum { program })?, expected) {
            (Reply::Checksum(found), Some(expected)) if found != expected => {
                Err(format!("wrong result: {found}, the reference has {expected}"))
            }
            (Reply::Checksum(found), _) => Ok(found),
            (other, _) => Err(format!("expected a checksum, got {other:?}")),
        }
    }

    fn done(&mut self, request: &Request) -> Result<(), String> {
        match self.ask(request)? {
            Reply::Value(subject::Value::None) => Ok(()),
            other => Err(format!("expected nothing, got {other:?}")),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, String> {
        self.session.must(request, LIMIT)
    }
}
