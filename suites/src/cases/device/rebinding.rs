//! Old and new alive at once, on the device.

use super::{CUDA, MIB};
use crate::case::Case;
use crate::cases::figures::in_units;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

const SECOND_BLOCK: &str = "t002.caching-allocator.reassign-needs-second-block";
const RESET: &str = "t002.caching-allocator.reset-advice";

/// Bytes of its tensors.
const UNIT: i64 = 64 * MIB;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("device.rebinding-takes-a-second-block", &[SECOND_BLOCK, RESET], rebinding),
        Case::new("device.deleting-first-takes-none", &[RESET], deleting_first),
        Case::new("device.a-checkpoint-beside-its-model", &[], checkpoint),
    ]
}

fn tensor(p: &Probe) -> Result<Handle, Stop> {
    p.zeros_on([UNIT / 4], DType::F32, CUDA)
}

/// The most that was live since the last reset, in tensors.
fn peak(p: &Probe) -> Result<f64, Stop> {
    Ok(in_units(p.max_memory_allocated()?, UNIT))
}

fn rebinding(p: &Probe) -> Result<(), Stop> {
    let old = tensor(p)?;
    p.reset_peak_memory_stats()?;
    let new = tensor(p)?;
    p.release(old)?;
    p.fact("peak of what is live, in tensors", peak(p)?).known(2.0).claimed(SECOND_BLOCK, 2.0).claimed(RESET, 2.0);
    p.fact("held afterwards, in tensors", in_units(p.memory_reserved()?, UNIT)).known(2.0);
    p.release(new)
}

fn deleting_first(p: &Probe) -> Result<(), Stop> {
    let old = tensor(p)?;
    p.reset_peak_memory_stats()?;
    p.release(old)?;
    let new = tensor(p)?;
    p.fact("peak of what is live, in tensors", peak(p)?).known(1.0).claimed(RESET, 1.0);
    p.fact("held afterwards, in tensors", in_units(p.memory_reserved()?, UNIT)).known(1.0);
    p.release(new)
}

/// Weights that are read to the device lie beside the model's own; read to the host they do not.
fn checkpoint(p: &Probe) -> Result<(), Stop> {
    for (place, known) in [(CUDA, 2.0), ("cpu", 1.0)] {
        p.empty_cache()?;
        let model = tensor(p)?;
        p.reset_peak_memory_stats()?;
        let read = p.empty_on([UNIT], DType::U8, place)?;
        p.fact(format!("weights read to {place}: peak on the device, in models"), peak(p)?).known(known);
        p.release(read)?;
        p.release(model)?;
    }
    Ok(())
}
