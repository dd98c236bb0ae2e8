//! What made-up cases saw of device memory.

use suites::record::*;

/// The case with a timeline: the table that tutorial 002 prints.
pub const TIMELINE: &str = "caching::four_tensors_and_a_release";
/// The case with maps of segments.
pub const MAPS: &str = "fragments::a_small_block_keeps_a_segment";
/// The case with requests that fail.
pub const FAILURES: &str = "oom::two_requests";
/// Subjects with a launch on the simulated device, in an order that is not the report's.
pub const SUBJECTS: [&str; 2] = ["pytorch", "reference"];

const MIB: u64 = 1 << 20;

/// The line of code, and live and held after it in MiB.
pub const STEPS: [(&str, u64, u64); 8] = [
    ("a = torch.zeros(256, 1024, 1024, device=\"cuda\")", 1024, 1024),
    ("b = torch.zeros(256, 1024, 1024, device=\"cuda\")", 2048, 2048),
    ("b = b.to(\"cpu\")", 1024, 2048),
    ("c = torch.zeros(256, 1024, 1024, device=\"cuda\")", 2048, 2048),
    ("c = torch.zeros(256, 1024, 1024, device=\"cuda\")  # again", 2048, 3072),
    ("d = torch.zeros(256, 1024, 1024, device=\"cuda\")", 3072, 3072),
    ("del d", 2048, 3072),
    ("e = torch.zeros(256, 1024, 1024, device=\"cuda\")", 3072, 3072),
];

/// Bytes of a quantity after a step: the driver of PyTorch's process has a context of its own, and only PyTorch's host
/// memory is read, but for one step.
pub fn bytes(subject: &str, quantity: &str, step: usize) -> Option<u64> {
    let (_, live, held) = STEPS[step];
    let on_pytorch = subject == "pytorch";
    match quantity {
        "live" => Some(live * MIB),
        "held" => Some(held * MIB),
        "process" if on_pytorch => Some((held + 448) * MIB),
        "process" => Some(held * MIB),
        "host" => (on_pytorch && step != 5).then_some((497 + if step < 2 { 0 } else { 1027 }) * MIB),
        _ => None,
    }
}

/// The records of all three cases, as they follow each other in a run log.
pub fn records(claim: &str) -> Vec<Record> {
    let mut records = Vec::new();
    for subject in SUBJECTS {
        records.push(outcome(subject, TIMELINE, claim));
        for (step, (code, ..)) in STEPS.iter().enumerate() {
            let read = |quantity| bytes(subject, quantity, step);
            records.push(Record::Memory(MemoryStep {
                subject: subject.into(),
                device: SIMULATED.into(),
                case: TIMELINE.into(),
                step: step as u32,
                code: (*code).into(),
                live: read("live"),
                held: read("held"),
                process: read("process"),
                host: read("host"),
            }));
        }
        records.push(outcome(subject, MAPS, claim));
        records.push(map(subject, "A and B freed, C kept", segments()));
        records.push(map(subject, "C freed", Vec::new()));
        records.push(outcome(subject, FAILURES, claim));
        records.push(failure(subject, 2 << 30, 1 << 30));
        records.push(failure(subject, 8 << 30, 1 << 30));
    }
    records
}

fn outcome(subject: &str, case: &str, claim: &str) -> Record {
    Record::Outcome(Outcome {
        subject: subject.into(),
        subject_version: Some(super::version(subject).into()),
        device: SIMULATED.into(),
        case: case.into(),
        claims: vec![claim.into()],
        outcome: OutcomeKind::Agrees,
        reason: None,
        facts: Vec::new(),
        transcript: vec!["torch.cuda.memory_allocated()  # 0".into()],
        nanoseconds: 1_000,
    })
}

fn map(subject: &str, title: &str, segments: Vec<SegmentRecord>) -> Record {
    Record::Segments(SegmentMap {
        subject: subject.into(),
        device: SIMULATED.into(),
        case: MAPS.into(),
        title: title.into(),
        segments,
    })
}

/// Segments of 1 GiB, 48 MiB and 20 MiB, small ones, and one that is expandable; blocks in MiB.
pub fn segments() -> Vec<SegmentRecord> {
    use BlockState::{Free, Live, Pending};
    let segment = |small, expandable, blocks: &[(f64, BlockState, &str)]| SegmentRecord {
        small,
        expandable,
        blocks: blocks
            .iter()
            .map(|(mib, state, name)| BlockRecord {
                bytes: (mib * MIB as f64) as u64,
                state: *state,
                name: (!name.is_empty()).then(|| (*name).into()),
            })
            .collect(),
    };
    let small = segment(true, false, &[(0.5, Live, ""), (0.25, Free, ""), (0.25, Live, "bias"), (1.0, Free, "")]);
    vec![
        segment(false, false, &[(1024.0, Live, "weights <all>")]),
        segment(false, false, &[(24.0, Free, "A"), (22.0, Free, "B"), (2.0, Live, "C")]),
        segment(false, false, &[(20.0, Free, "")]),
        small.clone(),
        small,
        segment(false, true, &[(60.0, Live, "D"), (20.0, Pending, ""), (40.0, Free, "")]),
    ]
}

/// The library's words for a request that failed.
pub const MESSAGE: &str = "CUDA out of memory. Tried to allocate <some> GiB.\nGPU 0 has a total capacity of 4.00 GiB.";

fn failure(subject: &str, request: u64, free: u64) -> Record {
    Record::OutOfMemory(OutOfMemory {
        subject: subject.into(),
        device: SIMULATED.into(),
        case: FAILURES.into(),
        request,
        free,
        held: 3 << 30,
        live: 3 << 29,
        message: MESSAGE.into(),
    })
}
