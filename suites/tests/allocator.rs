//! The caching allocator against PyTorch's own, over a simulated device, and the claims that rest on it.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

mod common;

use suites::oracle::Remote;
use suites::oracle::allocator::{EVENTS, MODES, Tally, compare};
use suites::record::{OutcomeKind, Record};
use suites::run::{Backing, Conformance};

/// Programs of each mode: enough that everything happens that can.
const PROGRAMS: u64 = 5;

#[test]
fn every_decision_is_pytorchs() {
    let mut total = Tally::default();
    for mode in MODES {
        let side = |id| Remote::new(common::simulated(id, mode.memory, Backing::Addresses));
        let (mut pytorch, mut reference) = (side("pytorch"), side("reference"));
        for seed in 0..PROGRAMS {
            match compare(&mut pytorch, &mut reference, &mode, seed).unwrap() {
                Ok(tally) => total += tally,
                Err(unequal) => panic!("{unequal}"),
            }
        }
    }
    println!("{total}");
    assert_eq!(total.events, MODES.len() as u64 * PROGRAMS * EVENTS as u64);
    let Tally { retries, ooms, collected, splits, merges, .. } = total;
    assert!(retries >= 100 && ooms >= 100 && collected >= 50 && splits >= 1000 && merges >= 1000, "{total}");
}

#[test]
fn a_side_that_decides_otherwise_is_found() {
    let mode = MODES.iter().find(|mode| mode.name == "roundup").unwrap();
    let launch = |id| common::simulated(id, mode.memory, Backing::Addresses);
    let mut other = launch("reference");
    // The device has half the memory, so that requests fail that do not fail on the other side.
    let half = (mode.memory / 2).to_string();
    for (name, value) in &mut other.command.environment {
        if name == "TENSORMARK_SIMULATED_CUDA_MEMORY" {
            *value = half.clone().into();
        }
    }
    let (mut one, mut other) = (Remote::new(launch("reference")), Remote::new(other));
    let found = (0..20).find_map(|seed| compare(&mut one, &mut other, mode, seed).unwrap().err()).unwrap();
    assert!(found.to_string().contains("differs at event"), "{found}");
}

/// The experiment of tutorial 002 on real PyTorch: live and held after each of its steps, in MiB.
#[test]
fn the_experiment_leaves_what_it_is_known_to_leave() {
    for (id, has_host) in [("pytorch", true), ("reference", false)] {
        let launch = common::simulated(id, suites::run::SIMULATED_BYTES, Backing::Host);
        let mut conformance = Conformance::start(&launch, &common::TARGET);
        assert_eq!(conformance.record().missing, None);
        let cases = suites::cases::all();
        let case = cases.iter().find(|case| case.name == "device.experiment").unwrap();
        let outcome = conformance.run(case);
        assert_eq!(outcome.outcome, OutcomeKind::Agrees, "{outcome:#?}");
        let steps: Vec<_> = conformance
            .take_memory()
            .into_iter()
            .filter_map(|record| if let Record::Memory(step) = record { Some(step) } else { None })
            .collect();
        assert!(steps.iter().all(|step| step.device == "cuda (simulated)" && step.host.is_some() == has_host));
        let mib = |bytes: Option<u64>| bytes.unwrap() >> 20;
        let seen: Vec<_> = steps.iter().map(|step| (mib(step.live), mib(step.held))).collect();
        let known = [
            (0, 0),
            (1024, 1024),
            (2048, 2048),
            (1024, 2048),
            (2048, 2048),
            (2048, 3072),
            (3072, 3072),
            (2048, 3072),
            (2048, 3072),
            (3072, 3072),
            (3072, 3072),
            (2048, 3072),
            (2048, 2048),
        ];
        assert_eq!(seen, known, "{id}");
        if has_host {
            let host: Vec<i64> = steps.iter().map(|step| step.host.unwrap() as i64).collect();
            let known = [0, 0, 1024, 0, 0, 0, 0, 1024, -1024];
            for (place, (pair, known)) in host.windows(2).zip(known).enumerate() {
                let change = (pair[1] - pair[0]) as f64 / f64::from(1 << 20);
                assert!((change - f64::from(known)).abs() <= 8.0, "step {place}: {change} MiB, known {known}");
            }
        }
    }
}

/// A device case on a subject without device memory says so, and does not run on the CPU.
#[test]
fn subjects_without_device_memory_say_so() {
    let launch = common::launch("ndarray");
    let mut conformance = Conformance::start(&launch, &common::TARGET);
    let cases = suites::cases::all();
    let case = cases.iter().find(|case| case.name == "device.experiment").unwrap();
    assert!(conformance.runs(case));
    let outcome = conformance.run(case);
    assert_eq!(outcome.outcome, OutcomeKind::Unsupported);
    assert_eq!(outcome.reason.as_deref(), Some("this subject has no device memory"));
}

/// A value that a kernel should have computed is refused where the simulation computes none.
#[test]
fn values_that_nothing_computed_are_refused() {
    use subject::{DType, Op, Value};
    use suites::oracle::Side;
    let mut pytorch = Remote::new(common::simulated("pytorch", 1 << 30, Backing::Host));
    pytorch.reset().unwrap();
    let Ok(Value::Tensor(a)) = pytorch.call(&Op::ZerosOn { shape: vec![8], dtype: DType::F32, device: "cuda".into() })
    else {
        panic!("no tensor on the device");
    };
    let refusal = pytorch.call(&Op::Sum { a }).unwrap_err();
    let subject::Fail::Unsupported(what) = refusal else { panic!("{refusal:?}") };
    assert!(what.contains("the simulated CUDA device does not compute the kernel"), "{what}");
}

/// What a case establishes does not depend on those before it.
#[test]
fn device_cases_agree_in_the_other_order() {
    let launch = common::simulated("pytorch", suites::run::SIMULATED_BYTES, Backing::Host);
    let mut conformance = Conformance::start(&launch, &common::TARGET);
    let cases = suites::cases::all();
    let quick = cases.iter().rev().filter(|case| conformance.runs(case) && !case.alone).collect::<Vec<_>>();
    assert!(quick.len() > 20);
    for case in quick {
        let outcome = conformance.run(case);
        let agrees = matches!(outcome.outcome, OutcomeKind::Agrees | OutcomeKind::NotRun);
        assert!(agrees, "{}: {:?} {:#?}", case.name, outcome.reason, outcome.facts);
    }
}
