//! A run log of every kind of record, over the real catalogue.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod device;
pub mod memory;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use suites::claims::{Catalogue, Claim, Kind, Need, catalogue};
use suites::record::*;

/// The real catalogue.
pub fn claims() -> &'static Catalogue {
    catalogue().unwrap()
}

/// Subjects that run in the log, in an order that is not the report's.
pub const SUBJECTS: [&str; 4] = ["ndarray", "pytorch", "tinygrad", "reference"];
/// Sizes measured.
pub const SIZES: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 16_000_000];

/// The records of a run that ended for this reason.
pub fn records(reason: &str) -> Vec<Record> {
    let mut records = vec![Record::Header(Box::new(header()))];
    for when in ["start", "round 1, before pytorch", "end"] {
        records.push(Record::Weather(Weather {
            when: when.into(),
            arithmetic: [10_000_000, 10_300_000],
            copy: [2_000_000, 2_200_000],
            first_touch: [6_000_000 + when.len() as u64 * 1_000, 9_000_000],
        }));
    }
    for (i, claim) in claims().claims.iter().enumerate() {
        outcomes(&mut records, i, claim);
        records.push(Record::Verdict(verdict(i, claim)));
    }
    records.push(Record::Verdict(Verdict {
        claim: "t999.gone.claim".into(),
        verdict: VerdictKind::Right,
        weight: None,
        correction: None,
        reason: None,
    }));
    for subject in SUBJECTS {
        records.push(Record::Outcome(free_case(subject)));
    }
    records.extend(memory::records(&on_device_memory().id));
    measurements(&mut records);
    records.push(Record::Control(Control { pairs: 30, different: 1 }));
    records.push(Record::Footer(Footer {
        complete: reason == "finished",
        reason: reason.into(),
        weather: Some(Grade::Usable),
        nanoseconds: 754_000_000_000,
    }));
    records
}

/// The first claim that a simulated device can decide.
pub fn on_device_memory() -> &'static Claim {
    claims().claims.iter().find(|claim| device("pytorch", claim) == SIMULATED).unwrap()
}

/// Where a subject runs the cases of a claim.
fn device(subject: &str, claim: &Claim) -> &'static str {
    let decided = claim.needs.contains(&Need::GpuMemory) && !claim.needs.contains(&Need::Gpu);
    if decided && memory::SUBJECTS.contains(&subject) { SIMULATED } else { "cpu" }
}

fn header() -> Header {
    let launch = |subject: &str, missing: Option<&str>| LaunchRecord {
        subject: subject.into(),
        device: "cpu".into(),
        threads: 1,
        version: missing.is_none().then(|| version(subject).into()),
        language: missing.is_none().then(|| "rust".into()),
        build: None,
        missing: missing.map(Into::into),
    };
    let mut launches: Vec<_> = SUBJECTS.iter().map(|subject| launch(subject, None)).collect();
    launches.extend(memory::SUBJECTS.map(|s| LaunchRecord { device: SIMULATED.into(), ..launch(s, None) }));
    launches.push(launch("reference (again)", None));
    launches.push(launch("jax", Some("no module named jax: pip install jax <0.11>")));
    Header {
        format: FORMAT,
        tensormark: "0.1.0".into(),
        started: "2026-11-29T20:15:00Z".into(),
        commit: Some("0123abc+".into()),
        machine: Machine {
            processor: "A processor & co".into(),
            processors: 2,
            memory_bytes: 24 << 30,
            last_cache_bytes: Some(32 << 20),
            system: "Linux 6.1".into(),
            gpu: None,
        },
        toolchain: "rustc 1.95.0".into(),
        launches,
        rounds: 3,
        only: None,
        cut: vec!["10 samples a cell instead of 20".into()],
    }
}

fn version(subject: &str) -> &'static str {
    match subject {
        "pytorch" => "2.13.0",
        "reference" => "0.1.0",
        "ndarray" => "0.17.2",
        _ => "0.9",
    }
}

fn outcomes(records: &mut Vec<Record>, i: usize, claim: &Claim) {
    if matches!(claim.kind, Kind::Editorial | Kind::Performance) {
        return;
    }
    for (s, subject) in SUBJECTS.iter().enumerate() {
        let kinds = [
            OutcomeKind::Agrees,
            OutcomeKind::Agrees,
            OutcomeKind::Differs,
            OutcomeKind::Agrees,
            OutcomeKind::Unsupported,
            OutcomeKind::NotRun,
            OutcomeKind::Crashed,
            OutcomeKind::Agrees,
            OutcomeKind::TimedOut,
            OutcomeKind::HarnessError,
        ];
        let outcome = if *subject == "pytorch" {
            if i == 7 { OutcomeKind::Differs } else { OutcomeKind::Agrees }
        } else {
            kinds[(i + s) % 10]
        };
        for part in 0..1 + i % 2 {
            let outcome = if part == 1 { OutcomeKind::Agrees } else { outcome };
            let seen = if outcome == OutcomeKind::Differs { Value::Int(4_096) } else { Value::Int(i as i64) };
            let reason = match outcome {
                OutcomeKind::Agrees | OutcomeKind::Differs => None,
                OutcomeKind::NotRun => Some("needs-python"),
                _ => Some("no as_strided in this library <yet>"),
            };
            records.push(Record::Outcome(Outcome {
                subject: subject.to_string(),
                subject_version: Some(version(subject).into()),
                device: device(subject, claim).into(),
                case: format!("{}::case_{i}_{part}", claim.topic.replace('-', "_")),
                claims: vec![claim.id.clone()],
                outcome,
                reason: reason.map(Into::into),
                facts: vec![
                    Fact {
                        what: "bytes & strides".into(),
                        seen,
                        known: Some(Value::Int(i as i64)),
                        claimed: vec![Claimed {
                            claim: claim.id.clone(),
                            value: Value::Int((i - i % 3) as i64),
                            example: i.is_multiple_of(5),
                        }],
                        tolerance: None,
                    },
                    Fact {
                        what: "values".into(),
                        seen: Value::List(vec![Value::Float(1.0); 40]),
                        known: None,
                        claimed: Vec::new(),
                        tolerance: Some(0.5),
                    },
                ],
                transcript: (0..if i == 3 { 90 } else { 6 })
                    .map(|n| format!("t{n} = torch.ones([3, 3]) < 4"))
                    .collect(),
                nanoseconds: 1_000,
            }));
        }
    }
}

fn free_case(subject: &str) -> Outcome {
    Outcome {
        subject: subject.into(),
        subject_version: Some(version(subject).into()),
        device: "cpu".into(),
        case: "dtype::sizes".into(),
        claims: Vec::new(),
        outcome: OutcomeKind::Agrees,
        reason: None,
        facts: vec![Fact {
            what: "bytes of f32".into(),
            seen: Value::Int(4),
            known: Some(Value::Int(4)),
            claimed: Vec::new(),
            tolerance: None,
        }],
        transcript: vec!["t0 = torch.ones([1])".into()],
        nanoseconds: 10,
    }
}

fn verdict(i: usize, claim: &Claim) -> Verdict {
    let reason = claim.reason().filter(|_| device("pytorch", claim) == "cpu");
    let kind = match (claim.kind, claim.weight, reason) {
        (Kind::Editorial, ..) => VerdictKind::NotTestable,
        (_, _, Some(_)) => VerdictKind::Open,
        (_, Some(_), None) if i.is_multiple_of(4) => VerdictKind::Wrong,
        (_, Some(_), None) => VerdictKind::PartlyRight,
        _ => VerdictKind::Right,
    };
    let judged = matches!(kind, VerdictKind::Wrong | VerdictKind::PartlyRight);
    Verdict {
        claim: claim.id.clone(),
        verdict: kind,
        weight: claim.weight.filter(|_| judged),
        correction: if kind == VerdictKind::NotTestable {
            claim.finding.clone()
        } else {
            claim.correction.clone().filter(|_| judged)
        },
        reason: if kind == VerdictKind::Open { claim.reason().map(Into::into) } else { None },
    }
}

/// Nanoseconds of one iteration in the log.
pub fn median(subject: &str, workload: &str, elements: u64) -> f64 {
    let (base, each) = match subject {
        "pytorch" => (2_800.0, 0.07),
        "ndarray" => (90.0, 0.11),
        "tinygrad" => (40_000.0, 0.2),
        _ => (150.0, 0.09),
    };
    let more = if workload.ends_with("allocating") { 1.2 + elements as f64 / 8e6 } else { 1.0 };
    ((base + each * elements as f64) * more).round()
}

fn measurements(records: &mut Vec<Record>) {
    let pairs: Vec<(&Claim, (&str, &str))> = claims().claims.iter().filter_map(|c| Some((c, c.workloads()?))).collect();
    for (claim, (slower, faster)) in pairs {
        for workload in [slower, faster] {
            for subject in SUBJECTS.iter().chain(&["reference (again)"]) {
                for elements in SIZES {
                    measure(records, subject, workload, elements);
                }
            }
        }
        for subject in SUBJECTS {
            for (i, elements) in SIZES.into_iter().enumerate() {
                let ratio = median(subject, slower, elements) / median(subject, faster, elements);
                let width = [0.02, 0.3, 0.04, 0.01, 0.05][i];
                let interval = [ratio * (1.0 - width), ratio * (1.0 + width)];
                records.push(Record::Effect(Effect {
                    claim: claim.id.clone(),
                    subject: subject.into(),
                    params: params(elements),
                    effect: if interval[0] > 1.05 { EffectKind::Holds } else { EffectKind::Ambiguous },
                    ratio,
                    interval,
                    smallest_visible_change: width,
                }));
            }
        }
    }
}

fn params(elements: u64) -> Params {
    Params { dtype: "f32".into(), elements }
}

fn measure(records: &mut Vec<Record>, subject: &str, workload: &str, elements: u64) {
    let blank = Measurement {
        subject: subject.into(),
        device: "cpu".into(),
        workload: workload.into(),
        params: params(elements),
        round: 0,
        iterations: Vec::new(),
        nanoseconds: Vec::new(),
        accounting: None,
        gpu: None,
        error: None,
    };
    if subject == "tinygrad" && elements > 1_000_000 {
        records.push(Record::Measurement(Measurement { error: Some("wrong result: crc <1> for 2".into()), ..blank }));
        return;
    }
    let bytes = elements * 4;
    let accounting = Accounting { allocations: 1, bytes, peak_bytes: bytes, kept_bytes: 0 };
    records.push(Record::Measurement(Measurement { accounting: Some(accounting), ..blank.clone() }));
    for round in 1..=3 {
        let each = median(subject, workload, elements);
        let iterations: Vec<u64> = vec![10; 11];
        let nanoseconds = (0..11).map(|i| (each * 10.0 * (1.0 + 0.01 * (f64::from(i) - 5.0))) as u64).collect();
        records.push(Record::Measurement(Measurement { round, iterations, nanoseconds, ..blank.clone() }));
    }
}

/// Writes records as a run log.
pub fn write(folder: &Path, records: &[Record]) -> PathBuf {
    let mut text = String::new();
    for record in records {
        writeln!(text, "{}", serde_json::to_string(record).unwrap()).unwrap();
    }
    let path = folder.join("night.jsonl");
    std::fs::write(&path, text).unwrap();
    path
}
