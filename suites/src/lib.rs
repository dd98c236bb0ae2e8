//! Claims, cases, workloads, the runner and the judge. Knows no subject: it starts programs.

pub mod bench;
pub mod case;
pub mod cases;
pub mod claims;
pub mod judge;
pub mod log;
pub mod near;
pub mod oracle;
pub mod probe;
pub mod progress;
pub mod record;
pub mod run;
pub mod workloads;
