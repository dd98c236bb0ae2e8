//! Device memory: what the caching allocator keeps, hands out again, and cannot give. A simulated device will do.

mod copies;
mod counters;
mod experiment;
mod fragmentation;
mod limits;
mod oom;
mod pinned;
mod rebinding;
mod recorded;
mod training;

use crate::case::Case;
use crate::probe::{Probe, Stop};

/// The device.
const CUDA: &str = "cuda";
const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    let topics = [
        experiment::cases,
        counters::cases,
        copies::cases,
        rebinding::cases,
        oom::cases,
        fragmentation::cases,
        recorded::cases,
        pinned::cases,
        training::cases,
        limits::cases,
    ];
    topics.iter().flat_map(|cases| cases()).map(Case::uses_device_memory).collect()
}

/// Sets the most bytes that the caching allocator may hold: a part of the device whose bytes are a power of two times
/// its own, so that no rounding comes in.
fn limit_to(p: &Probe, bytes: i64, device: i64) -> Result<(), Stop> {
    use subject::Calls;
    p.set_memory_fraction(bytes as f64 / device as f64)
}
