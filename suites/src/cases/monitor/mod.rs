//! What the means of watching memory show.

mod baseline;
mod epochs;
mod profiler;

use crate::case::Case;
use crate::probe::{Probe, Stop};
use crate::record::Value;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    [epochs::cases(), profiler::cases(), baseline::cases()].into_iter().flatten().collect()
}

/// Ends a case about machines that have no GPU where there is one.
pub(super) fn without_gpu(p: &Probe) -> Result<(), Stop> {
    if p.python("torch.cuda.is_available()", &[])? == Value::Bool(false) {
        Ok(())
    } else {
        Err(Stop::NotRun("it shows what happens without a GPU, and this machine has one".into()))
    }
}
