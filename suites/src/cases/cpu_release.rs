//! When the process gets and gives back host memory.

use super::figures::grown;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const CREATE: &str = "t002.cpu-release.create-1gb";
const IMMEDIATE: &str = "t002.cpu-release.immediate";

/// Elements of a float32 tensor of 256 MiB, which stands for the tutorial's 1 GiB.
const QUARTER: i64 = 64 << 20;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("cpu-release.zeros-enlarge-the-process", &[CREATE, IMMEDIATE], |p| {
            let before = p.resident_bytes()?;
            enlarges(p, before, p.zeros([QUARTER], DType::F32)?)
        })
        .reads_process_memory(),
        Case::new("cpu-release.ones-enlarge-the-process", &[CREATE, IMMEDIATE], |p| {
            let before = p.resident_bytes()?;
            enlarges(p, before, p.ones([QUARTER], DType::F32)?)
        })
        .reads_process_memory(),
        Case::pytorch("cpu-release.small-tensors-stay", &[IMMEDIATE], small_tensors_stay).reads_process_memory(),
    ]
}

/// A large tensor enlarges the process by its size, and the process shrinks as much when it is dropped.
fn enlarges(p: &Probe, before: u64, tensor: subject::Handle) -> Result<(), Stop> {
    let bytes = p.storage_bytes(&tensor)?;
    p.fact("process growth with the tensor, in tensors", grown(p, before, bytes)?)
        .known(1.0)
        .claimed(CREATE, 1.0)
        .within(0.1);
    p.release(tensor)?;
    p.fact("process growth after its end, in tensors", grown(p, before, bytes)?)
        .known(0.0)
        .claimed(IMMEDIATE, 0.0)
        .within(0.1);
    Ok(())
}

/// Tensors of 100 KiB come from the C heap: a few that live on keep the rest of it in the process.
fn small_tensors_stay(p: &Probe) -> Result<(), Stop> {
    const BYTES: i64 = 1000 * (100 << 10);
    // What earlier work left in the heap would be used again and hide the growth.
    p.python("ctypes.CDLL(None).malloc_trim(0)", &[])?;
    let before = p.resident_bytes()?;
    let holder = p.python_tensor(
        "
answer = torch.zeros(1)
answer.small = [torch.ones(25 << 10) for _ in range(1000)]
",
        &[],
    )?;
    p.fact("process growth with 1000 tensors, in their bytes", grown(p, before, BYTES)?).known(1.0).within(0.1);
    p.python("holder.small = holder.small[99::100]\nanswer = None", &[("holder", &holder)])?;
    p.fact("process growth after 990 of them ended, in their bytes", grown(p, before, BYTES)?)
        .known(1.0)
        .claimed(IMMEDIATE, 0.01)
        .within(0.1);
    p.python("ctypes.CDLL(None).malloc_trim(0)", &[])?;
    p.fact("process growth after malloc_trim, in their bytes", grown(p, before, BYTES)?).known(0.01).within(0.1);
    Ok(())
}
