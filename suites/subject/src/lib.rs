//! Everything that a subject needs: the table of ops, the wire types, programs, and the loop that serves a library.
//!
//! A Rust library becomes a subject by implementing [`Library`] and calling [`serve()`]. Libraries in other languages
//! speak the same protocol (`docs/protocol.md`).

mod args;
mod check;
mod checksum;
mod ops;
mod program;
mod protocol;
mod serve;
mod table;
mod value;

pub use args::{Arg, Ret};
pub use checksum::{Checksum, checksum};
pub use ops::{Calls, Library, OPS, Op, OpInfo, dispatch};
pub use program::{Clock, Lap, Prepared, Program, ProgramBuilder, Step};
pub use protocol::{Build, Hello, Reply, Request};
pub use serve::{Identity, serve};
pub use table::Table;
pub use value::{DType, Fail, Handle, Scalar, Value};
