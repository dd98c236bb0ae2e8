//! The loop that makes a [`Library`] a subject.

use crate::{Build, Fail, Hello, Library, Prepared, Reply, Request, Table, Value, dispatch};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;

/// Who a Rust subject is.
pub struct Identity {
    /// The library's name.
    pub name: &'static str,
    /// The library's version.
    pub version: &'static str,
}

/// Serves a library on stdin and stdout until stdin ends. Tensors and programs are gone then.
///
/// Replies keep the original stdout; what the library itself prints goes to stderr.
pub fn serve<L: Library>(identity: &Identity, library: &mut L) -> std::io::Result<()> {
    let mut replies = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    let mut session = Session { identity, library, table: Table::default(), programs: BTreeMap::new(), next: 1 };
    for line in BufReader::new(std::io::stdin()).lines() {
        let reply = match serde_json::from_str::<Request>(&line?) {
            Ok(request) => session.answer(request).unwrap_or_else(Reply::from),
            Err(error) => Fail::error("protocol", error.to_string()).into(),
        };
        let mut text = serde_json::to_vec(&reply)?;
        text.push(b'\n');
        replies.write_all(&text)?;
    }
    Ok(())
}

struct Session<'a, L: Library> {
    identity: &'a Identity,
    library: &'a mut L,
    table: Table<L::Tensor>,
    programs: BTreeMap<u64, Prepared<L>>,
    next: u64,
}

impl<L: Library> Session<'_, L> {
    fn answer(&mut self, request: Request) -> Result<Reply, Fail> {
        let library = &mut *self.library;
        Ok(match request {
            Request::Hello {} => Reply::Hello(Hello {
                name: self.identity.name.into(),
                version: self.identity.version.into(),
                language: "rust".into(),
                build: if cfg!(debug_assertions) { Build::Debug } else { Build::Release },
                devices: library.devices(),
            }),
            Request::Call(op) => Reply::Value(dispatch(library, &mut self.table, &op)?),
            Request::Python { .. } => return Err(Fail::unsupported("this subject does not run Python")),
            Request::Drop { handle } => {
                if !self.table.remove(&handle) {
                    return Err(Fail::error("protocol", format!("no tensor {} to drop", handle.0)));
                }
                Reply::Value(Value::None)
            }
            Request::Reset {} => {
                self.programs.clear();
                self.table = Table::default();
                library.reset()?;
                Reply::Value(Value::None)
            }
            Request::Prepare(program) => {
                let prepared = Prepared::new(program, library)?;
                self.programs.insert(self.next, prepared);
                self.next += 1;
                Reply::Prepared { program: self.next - 1 }
            }
            Request::Account { program } => {
                find(&mut self.programs, program)?.run(library)?;
                Reply::Value(Value::None)
            }
            Request::Measure { program, iterations } => {
                Reply::Sample { nanoseconds: find(&mut self.programs, program)?.measure(library, iterations)? }
            }
            Request::Checksum { program } => {
                let program = find(&mut self.programs, program)?;
                Reply::Checksum(program.result(library, |library, result| library.checksum(result))?)
            }
        })
    }
}

fn find<L: Library>(programs: &mut BTreeMap<u64, Prepared<L>>, program: u64) -> Result<&mut Prepared<L>, Fail> {
    programs.get_mut(&program).ok_or_else(|| Fail::error("protocol", format!("no program {program} is prepared")))
}
