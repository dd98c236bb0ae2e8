//! Replays what programs asked of PyTorch's caching allocator, on the allocator of `kernels`: under the settings of the
//! recording, to check every decision; or under others, to see what they would have cost.
//!
//! Reading order: [`trace`] and [`snapshot`] (the two kinds of recordings; `docs/allocator-traces.md` describes both),
//! [`pickle`] (what snapshots are written in), [`replay()`], and beneath it `start` (recordings that began late),
//! `device` and `check`.

mod check;
mod device;
pub mod pickle;
mod replay;
pub mod snapshot;
pub mod source;
mod start;
pub mod trace;

pub use check::Difference;
pub use replay::{Failed, FailedRequest, Failure, Options, Part, Progress, Report, Stage, Summary, Why, replay};
