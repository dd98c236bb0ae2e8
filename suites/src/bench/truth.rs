//! What the result of a cell must be: the reference's own, on the host.

use super::LIMIT;
use super::cell::Cell;
use crate::run::{Instruments, Launch, Session};
use crate::workloads::{Purpose, needs_device, on_the_host};
use std::collections::BTreeMap;
use subject::{Checksum, Program, Request};

/// What the reference's results are, as far as they were asked for.
pub struct Truth<'a> {
    reference: &'a Launch,
    /// A process for programs of a device as programs of the host, once one was needed.
    session: Option<Session>,
    cells: BTreeMap<(Cell, Purpose), Checksum>,
    /// By program: many cells have the same one on the host.
    twins: BTreeMap<String, Checksum>,
}

impl<'a> Truth<'a> {
    /// Nothing is known yet.
    pub fn new(reference: &'a Launch) -> Self {
        Truth { reference, session: None, cells: BTreeMap::new(), twins: BTreeMap::new() }
    }

    /// Keeps what the reference itself found on the host.
    pub fn keep(&mut self, cell: &Cell, purpose: Purpose, found: &Checksum) {
        self.cells.insert((cell.clone(), purpose), found.clone());
    }

    /// What the program of a cell must come to, where that is known. What a device must come to is computed on the host.
    pub fn of(&mut self, cell: &Cell, purpose: Purpose) -> Result<Option<Checksum>, String> {
        if !needs_device(cell.workload) {
            return Ok(self.cells.get(&(cell.clone(), purpose)).cloned());
        }
        let Some(twin) = on_the_host(cell.program(purpose)?) else { return Ok(None) };
        let key = serde_json::to_string(&twin).map_err(|error| error.to_string())?;
        if let Some(known) = self.twins.get(&key) {
            return Ok(Some(known.clone()));
        }
        let found = self.run(twin).map_err(|why| format!("the reference on the host, to compare with: {why}"))?;
        self.twins.insert(key, found.clone());
        Ok(Some(found))
    }

    fn run(&mut self, program: Program) -> Result<Checksum, String> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::start(self.reference, Instruments::None)?,
        };
        let program = session.prepare(program, LIMIT)?;
        // As where it is counted: the body runs once before the result is looked at, and an addend is added twice.
        session.done(&Request::Account { program }, LIMIT)?;
        let found = session.checksum(program, LIMIT)?;
        session.done(&Request::Reset {}, LIMIT)?;
        self.session = Some(session);
        Ok(found)
    }
}
