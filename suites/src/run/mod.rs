//! Starting subjects and running cases on them.

mod conformance;
mod launch;
pub mod ledger;
mod process;
mod session;
pub mod simulated;

pub use conformance::Conformance;
pub use launch::{Launch, Places, SIMULATED_BYTES, Subject, choose, subjects};
pub use process::{CommandLine, Process, Silence};
pub(crate) use session::no_device;
pub use session::{Broken, Instruments, Session};
pub use simulated::Backing;
