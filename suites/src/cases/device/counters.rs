//! What the counters of device memory say: live, held, peaks, and what the driver shows.

use super::{CUDA, GIB, MIB};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const LIVE: &str = "t000.monitor.memory-allocated-live";
const FORMULA: &str = "t000.monitor.equivalent-of-cpu-formula";
const PROGRAM: &str = "t001.cpu-vs-gpu.program";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("device.counters-follow-tensors", &[LIVE], follow_tensors),
        Case::new("device.counters-count-blocks", &[FORMULA], count_blocks),
        Case::new("device.peaks-and-their-reset", &[], peaks),
        Case::new("device.emptying-in-a-loop", &[], emptying_in_a_loop),
        Case::pytorch("device.statistics-have-their-names", &[], names),
        Case::pytorch("device.addresses-of-both-kinds", &[PROGRAM], addresses),
    ]
}

/// `memory_allocated` rises and falls with the tensors; what is held stays.
fn follow_tensors(p: &Probe) -> Result<(), Stop> {
    let scalar = p.empty_on([1], DType::F32, CUDA)?;
    p.fact("one f32: live", p.memory_allocated()?).known(512);
    p.fact("one f32: held", p.memory_reserved()?).known(2 * MIB);
    p.release(scalar)?;
    p.empty_cache()?;
    let large = p.empty_on([1000, 1000], DType::F32, CUDA)?;
    p.fact("1000 x 1000 f32: live", p.memory_allocated()?).known(4_000_256);
    p.fact("1000 x 1000 f32: held", p.memory_reserved()?).known(20 * MIB);
    p.empty_cache()?;
    p.fact("held after empty_cache() while it lives", p.memory_reserved()?).known(20 * MIB);
    p.release(large)?;
    p.fact("live after del", p.memory_allocated()?).known(0).claimed(LIVE, 0);
    p.fact("held after del", p.memory_reserved()?).known(20 * MIB);
    p.fact("what the driver shows is what is held", p.memory_used()? == p.memory_reserved()?).known(true);
    p.empty_cache()?;
    p.fact("held after empty_cache()", p.memory_reserved()?).known(0);
    let tensors = [1, 2, 3].map(|_| p.empty_on([1 << 18], DType::F32, CUDA));
    let [first, second, third] = tensors;
    let (first, second, third) = (first?, second?, third?);
    p.fact("three tensors of 1 MiB: live", p.memory_allocated()?).known(3 * MIB).claimed(LIVE, 3 * MIB);
    p.release(second)?;
    p.fact("after one went: live", p.memory_allocated()?).known(2 * MIB).claimed(LIVE, 2 * MIB);
    p.release(first)?;
    p.release(third)
}

/// The counter is the formula for tensors of many bytes alone: blocks are multiples of 512 bytes.
fn count_blocks(p: &Probe) -> Result<(), Stop> {
    for (elements, counted) in [(1, 512), (128, 512), (129, 1024), (250_000, 1_000_448), (1 << 28, GIB)] {
        let before = p.memory_allocated()?;
        let tensor = p.empty_on([elements], DType::F32, CUDA)?;
        p.fact(format!("{elements} elements of f32: bytes counted"), p.memory_allocated()? - before)
            .known(counted)
            .claimed(FORMULA, elements * DType::F32.size());
        p.release(tensor)?;
    }
    Ok(())
}

/// The peak is the most that was live since the last reset, which makes it what is live then.
fn peaks(p: &Probe) -> Result<(), Stop> {
    let kept = p.empty_on([1000, 1000], DType::F32, CUDA)?;
    // A rest of 1 MiB is not worth splitting off, so the block of 26 MiB counts whole.
    let passing = p.empty_on([25 << 20], DType::U8, CUDA)?;
    p.release(passing)?;
    p.fact("peak of what is live", p.max_memory_allocated()?).known(4_000_256 + 26 * MIB);
    p.fact("peak of what is held", p.max_memory_reserved()?).known(46 * MIB);
    p.reset_peak_memory_stats()?;
    p.fact("peak of what is live after the reset", p.max_memory_allocated()?).known(4_000_256);
    p.fact("peak of what is held after the reset", p.max_memory_reserved()?).known(46 * MIB);
    p.release(kept)
}

/// A cache that is emptied at each step asks the device at each step.
fn emptying_in_a_loop(p: &Probe) -> Result<(), Stop> {
    const STEPS: i64 = 10;
    for (emptied, known) in [(false, 1), (true, STEPS)] {
        p.empty_cache()?;
        p.reset_accumulated_memory_stats()?;
        for _ in 0..STEPS {
            let tensor = p.empty_on([32 << 20], DType::U8, CUDA)?;
            p.release(tensor)?;
            if emptied {
                p.empty_cache()?;
            }
        }
        let what = if emptied { "emptied at each step" } else { "left alone" };
        p.fact(
            format!("{STEPS} steps of one tensor of 32 MiB, {what}: calls of the device"),
            p.memory_stat("num_device_alloc")?,
        )
        .known(known);
    }
    Ok(())
}

/// `memory_stats()` is a flat dictionary of counters by pool.
fn names(p: &Probe) -> Result<(), Stop> {
    let [count, sorted, gone] = p.python_list(
        r#"
stats = torch.cuda.memory_stats()
answer = [len(stats), list(stats) == sorted(stats), "allocated.all.current" in stats]
"#,
        &[],
    )?;
    p.fact("statistics", count).known(123);
    p.fact("they are in the order of their names", sorted).known(true);
    p.fact("the name in the documentation, allocated.all.current, is one", gone).known(false);
    Ok(())
}

/// The listing that prints an address of each kind runs, and prints two whole numbers.
fn addresses(p: &Probe) -> Result<(), Stop> {
    let [cpu, cuda, differ, devices] = p.python_list(
        r#"
warnings.simplefilter("ignore")
on_host, on_device = torch.ones(3, 3), torch.ones(3, 3, device="cuda")
first, second = on_host.storage().data_ptr(), on_device.storage().data_ptr()
answer = [isinstance(first, int), isinstance(second, int), first != second, [on_host.device.type, on_device.device.type]]
"#,
        &[],
    )?;
    p.fact("the address on the host is a whole number", cpu).known(true).claimed(PROGRAM, true);
    p.fact("the address on the device is a whole number", cuda).known(true).claimed(PROGRAM, true);
    p.fact("they differ", differ).known(true).claimed(PROGRAM, true);
    p.fact("where the tensors are", devices).known(["cpu", "cuda"]);
    Ok(())
}
