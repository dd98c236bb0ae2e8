//! Counts every cell once on every launch, checks its result against the reference's, and prices it.

use super::plan::{Cell, Plan, Prices};
use crate::judge::REFERENCE;
use crate::progress::Progress;
use crate::record::{Accounting, Measurement, Record};
use crate::run::{Instruments, Launch, Session};
use crate::workloads::{self, Purpose};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use subject::{Checksum, DType, Program, Reply, Request};

const LIMIT: Duration = Duration::from_secs(120);

/// What counting found.
#[derive(Default)]
pub struct Counted {
    /// A record for each launch and cell: its accounting, or why there is none.
    pub records: Vec<Record>,
    /// What one iteration takes, for cells that a launch can run.
    pub prices: Prices,
    /// The reference's results of the programs that are timed.
    pub expected: BTreeMap<Cell, Checksum>,
}

/// Counts and prices the cells of a plan. The reference must come first: the others are compared with it.
pub fn count(
    launches: &[&Launch],
    plan: &Plan,
    target: &Path,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Counted, String> {
    let mut counted = Counted::default();
    let mut truth = BTreeMap::new();
    for launch in launches {
        progress.phase(&format!("counting on {}", launch.subject.id), plan.cells.len() as u64);
        let start = Instant::now();
        let mut counting = Counting::start(launch, target)?;
        counted.prices.starts.insert(launch.subject.id.clone(), start.elapsed());
        for cell in &plan.cells {
            if stop.load(Ordering::Relaxed) {
                return Ok(counted);
            }
            progress.now(&format!("{} {}", cell.workload, cell.params));
            let found = counting.cell(cell, truth.get(cell), counted.expected.get(cell));
            if launch.subject.id == REFERENCE {
                let found = found.as_ref().map_err(|why| format!("the reference fails at {}: {why}", cell.workload))?;
                truth.insert(cell.clone(), found.counted.clone());
                counted.expected.insert(cell.clone(), found.timed.clone());
            }
            let (accounting, error) = match found {
                Ok(found) => {
                    counted.prices.cells.insert((launch.subject.id.clone(), cell.clone()), found.nanoseconds);
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
    nanoseconds: u64,
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
                (Instruments::None, Session::start(launch, Instruments::None)?, Some(format!("not-run: {why}")))
            }
        };
        Ok(Counting { launch, instruments, session, no_ledger })
    }

    fn cell(&mut self, cell: &Cell, truth: Option<&Checksum>, expected: Option<&Checksum>) -> Result<Found, String> {
        let found = self.attempt(cell, truth, expected);
        let reset = self.session.ask(&Request::Reset {}, LIMIT);
        if reset != Ok(Reply::Value(subject::Value::None)) {
            self.session = Session::start(self.launch, self.instruments)?;
        }
        found
    }

    fn attempt(&mut self, cell: &Cell, truth: Option<&Checksum>, expected: Option<&Checksum>) -> Result<Found, String> {
        let program = self.prepare(program_of(cell, Purpose::Account)?)?;
        let window = self.session.ledger().map(|ledger| ledger.open()).transpose()?;
        self.done(&Request::Account { program })?;
        let accounting = match (self.session.ledger(), &window) {
            (Some(ledger), Some(window)) => ledger.close(window),
            _ => Err(self.no_ledger.clone().unwrap_or_default()),
        };
        let counted = self.checksum(program, truth)?;
        self.done(&Request::Reset {})?;
        let program = self.prepare(program_of(cell, Purpose::Measure)?)?;
        let timed = self.checksum(program, expected)?;
        let nanoseconds = match self.ask(&Request::Measure { program, iterations: 1 })? {
            Reply::Sample { nanoseconds } => nanoseconds,
            other => return Err(format!("expected a sample, got {other:?}")),
        };
        Ok(Found { accounting, counted, timed, nanoseconds })
    }

    fn prepare(&mut self, program: Program) -> Result<u64, String> {
        match self.ask(&Request::Prepare(program))? {
            Reply::Prepared { program } => Ok(program),
            other => Err(format!("expected a prepared program, got {other:?}")),
        }
    }

    fn checksum(&mut self, program: u64, expected: Option<&Checksum>) -> Result<Checksum, String> {
        match self.ask(&Request::Checksum { program })? {
            Reply::Checksum(found) if expected.is_none_or(|expected| *expected == found) => Ok(found),
            Reply::Checksum(found) => Err(format!("wrong result: {found:?}, the reference has {expected:?}")),
            other => Err(format!("expected a checksum, got {other:?}")),
        }
    }

    fn done(&mut self, request: &Request) -> Result<(), String> {
        match self.ask(request)? {
            Reply::Value(subject::Value::None) => Ok(()),
            other => Err(format!("expected nothing, got {other:?}")),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, String> {
        match self.session.ask(request, LIMIT).map_err(|broken| broken.to_string())? {
            Reply::Unsupported(what) => Err(format!("unsupported: {what}")),
            Reply::Error { kind, message } => Err(format!("{kind}: {message}")),
            other => Ok(other),
        }
    }
}

/// The program of a cell.
pub fn program_of(cell: &Cell, purpose: Purpose) -> Result<Program, String> {
    let workload = workloads::find(cell.workload).ok_or_else(|| format!("no workload {}", cell.workload))?;
    let dtype = DType::from_name(&cell.params.dtype).ok_or_else(|| format!("no dtype {}", cell.params.dtype))?;
    workload.program(cell.params.elements, dtype, purpose).map_err(|fail| format!("{}: {fail:?}", cell.workload))
}
