//! A run log of a machine with a GPU: two subjects, transfers and copies at four sizes.

use super::{header, params};
use suites::record::*;

/// Subjects that use the device.
pub const SUBJECTS: [&str; 2] = ["reference", "pytorch"];
/// Elements measured: 4 KiB to 1 GiB of f32.
pub const SIZES: [u64; 4] = [1 << 10, 1 << 14, 1 << 20, 1 << 28];

/// A workload, what bounds it, whose clock times it, its cost in nanoseconds and the GB/s that it reaches.
type Kind = (&'static str, Option<&'static str>, Clock, f64, f64);

const KINDS: [Kind; 14] = [
    ("upload.pageable", Some("device-copy.up"), Clock::Host, 9_000.0, 11.0),
    ("upload.pinned", Some("device-copy.up"), Clock::Host, 6_500.0, 52.0),
    ("upload.registered", Some("device-copy.up"), Clock::Host, 6_800.0, 51.0),
    ("upload.pinning-inside", Some("device-copy.up"), Clock::Host, 14_000.0, 8.5),
    ("upload.locking-inside", Some("device-copy.up"), Clock::Host, 95_000.0, 24.0),
    ("download.pageable", Some("device-copy.down"), Clock::Host, 11_000.0, 9.0),
    ("download.fresh", Some("device-copy.down"), Clock::Host, 13_000.0, 2.5),
    ("download.pinned", Some("device-copy.down"), Clock::Host, 7_000.0, 54.0),
    ("download.registered", Some("device-copy.down"), Clock::Host, 7_200.0, 53.0),
    ("device-copy.up", None, Clock::Device, 1_500.0, 55.5),
    ("device-copy.down", None, Clock::Device, 1_400.0, 56.0),
    ("device-copy.within", None, Clock::Device, 2_000.0, 2_000.0),
    ("device-add.in-place", Some("device-copy.within"), Clock::Device, 2_200.0, 1_900.0),
    ("device-loop.reusing", None, Clock::Host, 30_000.0, 400.0),
];

/// The records of a finished run.
pub fn records() -> Vec<Record> {
    let mut header = header();
    header.machine.gpu = Some(Gpu {
        name: "NVIDIA H200".into(),
        memory_bytes: 141 << 30,
        driver: "580.95.05".into(),
        processor_mhz: 1_980,
        memory_mhz: 3_201,
        link: [5, 16],
    });
    let mut records = vec![Record::Header(Box::new(header))];
    for (workload, bound_by, clock, ..) in KINDS {
        records.push(Record::Workload(WorkloadInfo {
            workload: workload.into(),
            about: format!("what {workload} does"),
            bound: None,
            bound_by: bound_by.map(Into::into),
            device: Some("cuda".into()),
            clock,
        }));
    }
    for kind in &KINDS {
        for subject in SUBJECTS {
            for elements in SIZES {
                records.extend((1..=2).map(|round| Record::Measurement(measurement(kind, subject, elements, round))));
            }
        }
    }
    records.push(Record::Footer(Footer {
        complete: true,
        reason: "finished".into(),
        weather: Some(Grade::Quiet),
        nanoseconds: 120_000_000_000,
    }));
    records
}

fn measurement(kind: &Kind, subject: &str, elements: u64, round: u32) -> Measurement {
    let (workload, _, _, cost, speed) = *kind;
    // Two subjects have the same link, and not the same cost of using it.
    let own = if subject == "reference" && !workload.starts_with("device-copy.") { 0.95 } else { 1.0 };
    let each = (cost + elements as f64 * 4.0 / speed) * own;
    let mut nanoseconds: Vec<u64> = (0..11).map(|i| (each * (0.95 + 0.01 * f64::from(i))) as u64).collect();
    let mut gpu =
        GpuState { processor_mhz: [1_950, 1_980], memory_mhz: [3_201; 2], celsius: 41, ..GpuState::default() };
    if (workload, subject, elements, round) == ("upload.pinned", "pytorch", 1 << 28, 1) {
        nanoseconds[3] *= 50;
        gpu.processor_mhz[0] = 1_200;
        gpu.celsius = 88;
        gpu.held_down_by = vec!["hw-thermal-slowdown".into(), "sw-power-cap".into()];
        gpu.throttled = vec![3];
    }
    Measurement {
        subject: subject.into(),
        device: "cpu".into(),
        workload: workload.into(),
        params: params(elements),
        round,
        iterations: vec![1; nanoseconds.len()],
        nanoseconds,
        accounting: None,
        gpu: Some(gpu),
        error: None,
    }
}
