//! Page-locked host memory: how much of it a request takes.

use crate::case::Case;
use crate::cases::figures::in_units;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const MIB: i64 = super::MIB;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("device.pinned-sizes-are-rounded", &[], rounded),
        Case::new("device.pinned-sizes-under-a-threshold", &[], threshold),
        Case::new("device.pinned-blocks-are-kept", &[], kept),
        Case::new("device.pinning-is-a-copy", &[], pinning).reads_process_memory(),
        Case::pytorch("device.pinning-twice", &[], twice),
    ]
}

/// Bytes that the allocator owns for a request of so many.
fn taken(p: &Probe, bytes: i64) -> Result<i64, Stop> {
    p.empty_pinned_cache()?;
    let before = p.pinned_stat("allocated_bytes.current")?;
    let block = p.empty_pinned([bytes], DType::U8)?;
    let taken = p.pinned_stat("allocated_bytes.current")? - before;
    p.release(block)?;
    Ok(taken)
}

/// Requests are rounded up to powers of two.
fn rounded(p: &Probe) -> Result<(), Stop> {
    for (bytes, known) in [(1, 1), (3, 4), (4_194_304, 4_194_304), (4_194_305, 8_388_608), (5_000_000, 8_388_608)] {
        p.fact(format!("{bytes} bytes take"), taken(p, bytes)?).known(known);
    }
    p.fact("3 GiB take, in MiB", taken(p, 3 << 30)? / MIB).known(4096);
    Ok(())
}

/// Above a threshold a request takes what it asks for.
fn threshold(p: &Probe) -> Result<(), Stop> {
    p.set_allocator_settings("pinned_max_round_threshold_mb:2")?;
    for (bytes, known) in [(1_500_000, 2_097_152), (2_097_152, 2_097_152), (5_000_000, 5_000_000)] {
        p.fact(format!("{bytes} bytes take, rounded up to 2 MiB alone"), taken(p, bytes)?).known(known);
    }
    // It stays in force until it is named again.
    p.set_allocator_settings("pinned_max_round_threshold_mb:1048576")?;
    p.fact("5000000 bytes take, rounded again", taken(p, 5_000_000)?).known(8_388_608);
    Ok(())
}

/// A freed block serves the next request of its power of two.
fn kept(p: &Probe) -> Result<(), Stop> {
    let first = p.empty_pinned([3 * MIB], DType::U8)?;
    let place = p.data_ptr(&first)?;
    p.fact("it is pinned", p.is_pinned(&first)?).known(true);
    p.release(first)?;
    let next = p.empty_pinned([4 * MIB], DType::U8)?;
    p.fact("4 MiB lie where 3 MiB lay", p.data_ptr(&next)? == place).known(true);
    let other = p.empty_pinned([4 * MIB], DType::U8)?;
    p.fact("another 4 MiB lie elsewhere", p.data_ptr(&other)? == place).known(false);
    p.fact("requests in use", p.pinned_stat("active_requests.current")?).known(2);
    p.release(next)?;
    p.release(other)?;
    p.fact("requests in use after del", p.pinned_stat("active_requests.current")?).known(0);
    p.fact("bytes kept after del, in MiB", p.pinned_stat("allocated_bytes.current")? / MIB).known(8);
    p.empty_pinned_cache()?;
    p.fact("bytes kept after emptying", p.pinned_stat("allocated_bytes.current")?).known(0);
    Ok(())
}

/// `pin_memory` copies into a new block of a power of two.
fn pinning(p: &Probe) -> Result<(), Stop> {
    let bytes = 40 * MIB;
    let pageable = p.zeros_on([bytes], DType::U8, "cpu")?;
    let pinned = p.pin_memory(&pageable)?;
    p.fact("it lies where the pageable tensor lies", p.data_ptr(&pinned)? == p.data_ptr(&pageable)?).known(false);
    p.fact("bytes of page-locked memory, in requests", in_units(p.pinned_stat("allocated_bytes.current")?, bytes))
        .known(1.6);
    p.fact("the pageable tensor is pinned afterwards", p.is_pinned(&pageable)?).known(false);
    p.release(pageable)?;
    p.release(pinned)?;
    p.empty_pinned_cache()
}

/// Pinning a pinned tensor gives it back, and the values are equal.
fn twice(p: &Probe) -> Result<(), Stop> {
    let [same, equal, taken] = p.python_list(
        r#"
source = torch.arange(1000.0)
pinned = source.pin_memory()
before = torch.cuda.host_memory_stats()["allocated_bytes.current"]
again = pinned.pin_memory()
after = torch.cuda.host_memory_stats()["allocated_bytes.current"]
answer = [again is pinned, torch.equal(source, again), after - before]
"#,
        &[],
    )?;
    p.fact("it is the same object", same).known(true);
    p.fact("its values are the source's", equal).known(true);
    p.fact("bytes that the second call takes", taken).known(0);
    Ok(())
}
