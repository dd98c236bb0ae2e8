//! What only a real driver shows, and no case reads yet, said as such.

use crate::case::Case;
use crate::probe::{Probe, Stop};

const FIRST: &str = "t002.cpu-vs-gpu.first-cuda-tensor";

const TENTHS: [&str; 2] = ["t002.caching-allocator.to-cpu-tenth", "t002.caching-allocator.reuse-tenth"];

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("device.memory-of-the-context", &[FIRST], |p| needs_a_driver(p, "the memory of a context")),
        Case::new("device.steps-of-a-tenth-of-a-gigabyte", &TENTHS, |p| needs_a_driver(p, "what a task manager shows")),
    ]
}

fn needs_a_driver(_: &Probe, what: &str) -> Result<(), Stop> {
    Err(Stop::NotRun(format!(
        "needs a real driver: {what} is nothing that a simulated device has, and is not read yet"
    )))
}
