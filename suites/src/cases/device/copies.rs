//! Copies that do not block: what may be touched when, in both directions.

use super::CUDA;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

const ELEMENTS: i64 = 1_000_000;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("device.pageable-source-may-be-overwritten", &[], overwritten),
        Case::new("device.download-is-there-after-a-wait", &[], waited_for),
        Case::new("device.one-stream-keeps-its-order", &[], in_order),
    ]
}

/// Numbers that no other element has.
fn numbers(p: &Probe) -> Result<Handle, Stop> {
    p.arange(ELEMENTS, DType::F32)
}

/// Pageable memory is staged before the call returns.
fn overwritten(p: &Probe) -> Result<(), Stop> {
    let (mut source, expected) = (numbers(p)?, numbers(p)?);
    let up = p.to_device(&source, CUDA, true)?;
    p.zero_(&mut source)?;
    let down = p.to_device(&up, "cpu", false)?;
    p.fact("the device has what was there before the source was overwritten", p.equal(&down, &expected)?).known(true);
    Ok(())
}

/// What an asynchronous download gives may be read when the device was waited for; before, nothing is promised.
fn waited_for(p: &Probe) -> Result<(), Stop> {
    let source = numbers(p)?;
    let up = p.to_device(&source, CUDA, false)?;
    let down = p.to_device(&up, "cpu", true)?;
    p.fact("it is pinned", p.is_pinned(&down)?).known(true);
    p.synchronize()?;
    p.fact("after the wait all elements are equal", p.equal(&down, &source)?).known(true);
    Ok(())
}

/// Down and up again on one stream, without a wait between.
fn in_order(p: &Probe) -> Result<(), Stop> {
    let source = numbers(p)?;
    let up = p.to_device(&source, CUDA, false)?;
    let down = p.to_device(&up, "cpu", true)?;
    let again = p.to_device(&down, CUDA, true)?;
    let back = p.to_device(&again, "cpu", false)?;
    p.fact("down and up again without a wait: all elements are equal", p.equal(&back, &source)?).known(true);
    Ok(())
}
