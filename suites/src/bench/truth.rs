//! What the result of a cell must be: the reference's own, on the host.

use super::cell::Cell;
use crate::run::{Instruments, Launch, Session};
use crate::workloads::{Purpose, needs_device, on_the_host};
use std::collections::BTreeMap;
use std::time::Duration;
use subject::{Checksum, Program, Reply, Request};

/// A tensor of a gigabyte takes its time.
const LIMIT: Duration = Duration::from_secs(120);

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
        let Reply::Prepared { program } = session.must(&Request::Prepare(program), LIMIT)? else {
            return Err("it prepared nothing".into());
        };
        // As where it is counted: the body runs once before the result is looked at, and an addend is added twice.
        session.must(&Request::Account { program }, LIMIT)?;
        let Reply::Checksum(found) = session.must(&Request::Checksum { program }, LIMIT)? else {
            return Err("it gave no checksum".into());
        };
        session.must(&Request::Reset {}, LIMIT)?;
        self.session = Some(session);
        Ok(found)
    }
}
