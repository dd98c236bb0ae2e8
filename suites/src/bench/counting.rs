//! One subject, cell by cell: counted, and checked against what the result must be.

use super::LIMIT;
use super::cell::Cell;
use super::truth::Truth;
use crate::judge::median;
use crate::record::{Accounting, CUDA, Floor, NOT_RUN, UNSUPPORTED};
use crate::run::{Instruments, Launch, Session, no_device};
use crate::workloads::{self, Purpose};
use std::path::Path;
use std::time::{Duration, Instant};
use subject::{Checksum, Request};

const FLOOR_ITERATIONS: u64 = 100_000;
const ROUND_TRIPS: usize = 101;

/// What one cell came to.
pub struct Found {
    /// What was counted, or why nothing was.
    pub accounting: Result<Accounting, String>,
    /// The result of the counted program.
    pub counted: Checksum,
    /// The result of the timed program.
    pub timed: Checksum,
}

/// A subject that runs one cell after the other.
pub struct Counting<'a> {
    launch: &'a Launch,
    instruments: Instruments<'a>,
    session: Session,
    no_ledger: Option<String>,
}

impl<'a> Counting<'a> {
    /// Starts without the heap ledger.
    pub fn plain(launch: &'a Launch) -> Result<Self, String> {
        let (instruments, no_ledger) = (Instruments::None, Some("nothing was to be counted".into()));
        Ok(Counting { launch, instruments, session: Session::start(launch, instruments)?, no_ledger })
    }

    /// Starts with the heap ledger where it can be loaded, else without.
    pub fn start(launch: &'a Launch, target: &'a Path) -> Result<Self, String> {
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
    pub fn floor(&mut self) -> Result<Floor, String> {
        let program = self.session.prepare(workloads::nothing().map_err(|fail| format!("{fail:?}"))?, LIMIT)?;
        let elapsed = self.session.measure(program, FLOOR_ITERATIONS, LIMIT)?;
        let mut round_trips = Vec::new();
        for _ in 0..ROUND_TRIPS {
            let start = Instant::now();
            self.session.must(&Request::Hello {}, LIMIT)?;
            round_trips.push(start.elapsed().as_nanos() as f64);
        }
        self.session.done(&Request::Reset {}, LIMIT)?;
        Ok(Floor {
            subject: self.launch.subject.id.clone(),
            loop_nanoseconds: elapsed as f64 / FLOOR_ITERATIONS as f64,
            round_trip_nanoseconds: median(round_trips),
        })
    }

    /// Runs both programs of a cell, checks what they come to, and times one run of the timed one.
    pub fn priced(&mut self, cell: &Cell, truth: &mut Truth) -> Result<(Found, Duration), String> {
        let priced = self.attempt(cell, truth).and_then(|(found, program)| {
            // By this process's clock: that of a device leaves out the calls and the gate, which take time all the same.
            let start = Instant::now();
            self.session.measure(program, 1, LIMIT)?;
            Ok((found, start.elapsed()))
        });
        self.tidy()?;
        priced
    }

    /// Runs both programs of a cell and checks what they come to.
    pub fn checked(&mut self, cell: &Cell, truth: &mut Truth) -> Result<Found, String> {
        let found = self.attempt(cell, truth);
        self.tidy()?;
        Ok(found?.0)
    }

    /// Whatever went wrong, the next cell gets a subject that is in order.
    fn tidy(&mut self) -> Result<(), String> {
        if self.session.done(&Request::Reset {}, LIMIT).is_err() {
            self.session = Session::start(self.launch, self.instruments)?;
        }
        Ok(())
    }

    /// What a cell came to, and its timed program.
    fn attempt(&mut self, cell: &Cell, truth: &mut Truth) -> Result<(Found, u64), String> {
        self.check_device(cell)?;
        let program = self.session.prepare(cell.program(Purpose::Account)?, LIMIT)?;
        let window = self.session.ledger().map(|ledger| ledger.open()).transpose()?;
        self.session.done(&Request::Account { program }, LIMIT)?;
        let accounting = match (self.session.ledger(), &window) {
            (Some(ledger), Some(window)) => ledger.close(window),
            _ => Err(self.no_ledger.clone().unwrap_or_default()),
        };
        let counted = self.checksum(program, truth.of(cell, Purpose::Account)?)?;
        self.session.done(&Request::Reset {}, LIMIT)?;
        let program = self.session.prepare(cell.program(Purpose::Measure)?, LIMIT)?;
        let timed = self.checksum(program, truth.of(cell, Purpose::Measure)?)?;
        Ok((Found { accounting, counted, timed }, program))
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

    fn checksum(&mut self, program: u64, expected: Option<Checksum>) -> Result<Checksum, String> {
        let found = self.session.checksum(program, LIMIT)?;
        match expected {
            Some(expected) if found != expected => Err(format!("wrong result: {found}, the reference has {expected}")),
            _ => Ok(found),
        }
    }
}
