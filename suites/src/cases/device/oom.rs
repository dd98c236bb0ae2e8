//! Requests that fail, what their message says, and whether its hint can help.

use super::{CUDA, GIB, MIB, limit_to};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use crate::record::Cause;
use subject::{Calls, DType, Handle};

const OFFLOAD: &str = "t001.oom.offload";
const GPU_ONLY: &str = "t001.oom.gpu-only";
const SPLIT: &str = "t001.fragmentation.split-limit-helps";

/// The limit in these cases: one part in 1024 of the simulated device.
const LIMIT: i64 = 80 * MIB;
const DEVICE: i64 = 80 * GIB;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("device.stranded-bytes", &[], stranded),
        Case::new("device.stranded-bytes-and-a-split-limit", &[SPLIT], split_limit),
        Case::new("device.hints-that-can-help", &[], hints),
        Case::new("device.offloading-makes-room", &[OFFLOAD], offloading),
        Case::new("device.absurd-requests", &[GPU_ONLY], absurd),
        Case::new("device.a-failed-request-empties-the-cache", &[], retry),
    ]
}

fn tensor(p: &Probe, mebibytes: i64) -> Result<Handle, Stop> {
    p.empty_on([mebibytes * MIB], DType::U8, CUDA)
}

/// Half of what is held is free, and a request that is smaller fails: the free block is part of a segment in use.
fn stranded(p: &Probe) -> Result<(), Stop> {
    limit_to(p, LIMIT, DEVICE)?;
    let a = tensor(p, 24)?;
    let b = tensor(p, 24)?;
    p.release(a)?;
    let c = tensor(p, 2)?;
    p.segment_map("24 MiB were freed, and 2 MiB in their place pin the segment", &[("b", &b), ("c", &c)])?;
    let report = p.explain(tensor(p, 36), 36 * MIB, LIMIT)?;
    p.fact("a request of 36 MiB fails", report.is_some()).known(true);
    if let Some(report) = report {
        p.fact("live, in MiB", (report.live >> 20) as i64).known(26);
        p.fact("held, in MiB", (report.held >> 20) as i64).known(48);
        p.fact("held and not live, in MiB", ((report.held - report.live) >> 20) as i64).known(22);
        p.fact("the message names what was asked for", report.message.contains("Tried to allocate 36.00 MiB"))
            .known(true);
        p.fact("it names the limit", report.message.contains("80.00 MiB allowed")).known(true);
        p.fact("it names what lies idle", report.message.contains("22.00 MiB is reserved by PyTorch but unallocated"))
            .known(true);
        p.fact("whether its hint can help", report.cause().to_string()).known(Cause::Fragmentation.to_string());
    }
    p.release(b)?;
    p.release(c)
}

/// With a split limit the small request leaves the large block alone, which then goes back for the large one.
fn split_limit(p: &Probe) -> Result<(), Stop> {
    p.set_allocator_settings("max_split_size_mb:21")?;
    limit_to(p, LIMIT, DEVICE)?;
    let a = tensor(p, 24)?;
    let b = tensor(p, 24)?;
    p.release(a)?;
    let c = tensor(p, 2)?;
    let returned = p.memory_stat("num_device_free")?;
    let d = tensor(p, 36);
    p.fact("a request of 36 MiB", p.kind_of(d)?).known(()).claimed(SPLIT, ());
    p.fact("live, in MiB", p.memory_allocated()? / MIB).known(62);
    p.fact("held, in MiB", p.memory_reserved()? / MIB).known(80);
    p.fact("segments that went back for it", p.memory_stat("num_device_free")? - returned).known(1);
    p.release(b)?;
    p.release(c)
}

/// Four messages that people reported, in bytes: the hint to avoid fragmentation can help in one of them.
fn hints(p: &Probe) -> Result<(), Stop> {
    let gib = |gibibytes: f64| (gibibytes * GIB as f64) as u64;
    let mib = |mebibytes: f64| (mebibytes * MIB as f64) as u64;
    let messages = [
        ("1.39 GiB with 478 MiB free", gib(1.39), mib(478.0), gib(4.15), gib(4.04), Cause::TooLittle),
        ("64 MiB with 8.36 GiB free", mib(64.0), gib(8.36), gib(2.62), gib(2.60), Cause::Other),
        ("20 MiB with 2.35 GiB free", mib(20.0), gib(2.35), mib(850.0), mib(825.0), Cause::Other),
        ("158 MiB with 115.7 MiB free", mib(158.0), mib(115.7), mib(910.0), 0, Cause::Fragmentation),
    ];
    for (what, request, free, held, live, known) in messages {
        p.fact(what, Cause::of(request, free, held, live).to_string()).known(known.to_string());
    }
    Ok(())
}

/// A part of a model that moves to the host makes room for a request that failed.
fn offloading(p: &Probe) -> Result<(), Stop> {
    limit_to(p, LIMIT, DEVICE)?;
    let first = tensor(p, 32)?;
    let second = tensor(p, 32)?;
    let report = p.explain(tensor(p, 32), 32 * MIB, LIMIT)?;
    p.fact("a third request of 32 MiB fails", report.is_some()).known(true);
    if let Some(report) = report {
        p.fact("whether less fragmentation can help", report.cause().to_string()).known(Cause::TooLittle.to_string());
    }
    let moved = p.to_device(&first, "cpu", false)?;
    p.release(first)?;
    p.fact("the request after one part moved to the host: error", p.kind_of(tensor(p, 32))?)
        .known(())
        .claimed(OFFLOAD, ());
    p.release(second)?;
    p.release(moved)
}

/// 2^60 bytes are refused at once; a program goes on after either refusal.
fn absurd(p: &Probe) -> Result<(), Stop> {
    let before = p.memory_stat("num_ooms")?;
    let refusal = p.refusal(p.empty_on([1 << 60], DType::U8, CUDA))?;
    let (kind, message) = refusal.unwrap_or_default();
    p.fact("2^60 bytes", kind).known("out-of-memory");
    p.fact("its message", message.contains("Tried to allocate more than 1EB memory")).known(true);
    p.fact("it is counted", p.memory_stat("num_ooms")? - before).known(0);
    let refusal = p.refusal(p.empty_on([1 << 50], DType::U8, CUDA))?;
    let (kind, message) = refusal.unwrap_or_default();
    p.fact("2^50 bytes", kind).known("out-of-memory");
    p.fact("bytes free on the device when they are refused, in GiB", (DEVICE - p.memory_used()?) / GIB)
        .known(80)
        .claimed(GPU_ONLY, 0);
    p.fact(
        "its message",
        message.contains("Tried to allocate 1048576.00 GiB. GPU 0 has a total capacity of 80.00 GiB"),
    )
    .known(true);
    p.fact("it is counted", p.memory_stat("num_ooms")? - before).known(1);
    p.fact("a small request goes through afterwards", p.kind_of(p.empty_on([1], DType::F32, CUDA))?).known(());
    Ok(())
}

/// Before a request fails, all that is cached goes back, and the device is asked once more.
fn retry(p: &Probe) -> Result<(), Stop> {
    limit_to(p, LIMIT, DEVICE)?;
    let first = tensor(p, 30)?;
    let second = tensor(p, 30)?;
    p.release(first)?;
    p.release(second)?;
    let third = tensor(p, 70)?;
    p.fact("70 MiB after 60 MiB were cached: held, in MiB", p.memory_reserved()? / MIB).known(70);
    p.fact("requests that were repeated", p.memory_stat("num_alloc_retries")?).known(1);
    p.fact("segments that went back", p.memory_stat("num_device_free")?).known(2);
    p.release(third)
}
