//! Subjects that misbehave: each ends in its own outcome, the run goes on, and nothing is lost.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::path::Path;
use std::time::Duration;
use subject::{Calls, Checksum, DType};
use suites::bench::Timing;
use suites::bench::criterion::{Job, JobCell, measure};
use suites::case::Case;
use suites::claims::catalogue;
use suites::judge::verdicts;
use suites::record::{Measurement, Outcome, OutcomeKind, Params, Record, VerdictKind};
use suites::run::{CommandLine, Conformance, Launch, Subject};

fn launch(mode: &str) -> Launch {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/fake.py");
    let subject = Subject {
        id: "pytorch".into(),
        title: "A fake".into(),
        start: Vec::new(),
        devices: vec!["cpu".into()],
        instruments: Vec::new(),
        missing: "the fake is not there: python3 is needed".into(),
    };
    let words = ["python3".into(), "-u".into(), script.into(), mode.into()].to_vec();
    let command = CommandLine { words, environment: Vec::new() };
    Launch { subject, device: "cpu".into(), threads: 1, command, unavailable: None }
}

/// A case before, one that provokes the fake, and one after.
fn run(mode: &str) -> Vec<Outcome> {
    let plain = |name: &str| {
        Case::new(name, &[], |p| {
            p.ones([2], DType::F32)?;
            p.fact("it answered", true).known(true);
            Ok(())
        })
    };
    let mut provoking = Case::new("provoking", &[], |p| {
        let a = p.ones([2], DType::F32)?;
        p.fact("before the version", true).known(true);
        p.fact("version", p.version(&a)?).known(0);
        Ok(())
    });
    provoking.limit = Duration::from_millis(500);
    let launch = launch(mode);
    let mut conformance = Conformance::start(&launch, Path::new("."));
    [plain("before"), provoking, plain("after")].iter().map(|case| conformance.run(case)).collect()
}

#[test]
fn each_misbehaviour_has_its_own_outcome_and_the_run_goes_on() {
    let expected = [
        ("wrong", OutcomeKind::Differs, None),
        ("parrot", OutcomeKind::HarnessError, Some("no reply")),
        ("silent", OutcomeKind::TimedOut, Some("no answer within 0.5 s")),
        ("dies", OutcomeKind::Crashed, Some("ended with status 9; it last said: no more")),
        ("killed", OutcomeKind::Crashed, Some("was ended by signal 6")),
        ("floods", OutcomeKind::Agrees, None),
        ("nonsense", OutcomeKind::HarnessError, Some("Hello, world!")),
        ("not-text", OutcomeKind::HarnessError, Some("not UTF-8")),
        ("wrong-type", OutcomeKind::HarnessError, Some("the answer of version is no int")),
        ("lacks", OutcomeKind::Unsupported, Some("version counters")),
        ("refuses", OutcomeKind::Differs, Some("not today")),
    ];
    for (mode, outcome, reason) in expected {
        let [before, provoked, after] = run(mode).try_into().unwrap();
        assert_eq!(provoked.outcome, outcome, "{mode}: {:?}", provoked.reason);
        match reason {
            Some(part) => assert!(provoked.reason.as_ref().unwrap().contains(part), "{mode}: {:?}", provoked.reason),
            None => assert_eq!(provoked.reason, None, "{mode}"),
        }
        assert_eq!(provoked.facts.first().unwrap().what, "before the version", "{mode} loses what was established");
        assert!(!provoked.transcript.is_empty(), "{mode} loses the transcript");
        for other in [before, after] {
            assert_eq!(other.outcome, OutcomeKind::Agrees, "{mode}, {}: {:?}", other.case, other.reason);
        }
    }
}

#[test]
fn a_subject_that_does_not_start_is_not_run_with_what_to_do() {
    let mut launch = launch("wrong");
    launch.command.words[0] = "no-such-interpreter".into();
    let mut conformance = Conformance::start(&launch, Path::new("."));
    let outcome = conformance.run(&Case::new("any", &[], |_| Ok(())));
    assert_eq!(outcome.outcome, OutcomeKind::NotRun);
    assert_eq!(outcome.reason.as_deref(), Some("the fake is not there: python3 is needed"));
}

#[test]
fn a_fact_for_a_claim_that_the_case_does_not_declare_is_an_error() {
    let stray = Case::new("stray", &[], |p| {
        p.fact("anything", 1).claimed("t000.dtype.formula", 1);
        Ok(())
    });
    let launch = launch("wrong");
    let outcome = Conformance::start(&launch, Path::new(".")).run(&stray);
    assert_eq!(outcome.outcome, OutcomeKind::HarnessError);
}

/// A subject that repeats what the tutorial prints gets another verdict than PyTorch does on Python 3.11, where the
/// claims are partly right: the verdict is computed from what was seen.
#[test]
fn printed_numbers_in_pytorchs_place_change_the_verdicts() {
    let cases = suites::cases::all();
    let case = cases.iter().find(|case| case.name == "getsizeof.wrapper-and-storage").unwrap();
    let launch = launch("printed");
    let outcome = Conformance::start(&launch, Path::new(".")).run(case);
    let verdicts = verdicts(catalogue().unwrap(), &[Record::Outcome(outcome)], &[], "pytorch");
    for claim in ["t000.getsizeof.printed-L47", "t000.getsizeof.printed-L48"] {
        let verdict = verdicts.iter().find(|verdict| verdict.claim == claim).unwrap();
        assert_eq!(verdict.verdict, VerdictKind::Right, "{claim}: {:?}", verdict.reason);
    }
}

/// Measures one cell twice on a fake: what failed the first time must not stop the second.
fn measured(mode: &str) -> Vec<Measurement> {
    let folder = tempfile::tempdir().unwrap();
    let cell = JobCell {
        workload: "add.in-place".into(),
        params: Params { dtype: "f32".into(), elements: 2 },
        program: suites::workloads::nothing().unwrap(),
        expected: Checksum { elements: 2, crc32: 7 },
    };
    let short = Duration::from_millis(20);
    let job = Job {
        launch: launch(mode),
        name: "fake".into(),
        round: 1,
        timing: Timing { samples: 10, warm_up: short, time: short },
        cells: vec![cell.clone(), cell],
        records: folder.path().join("records.jsonl"),
    };
    measure(&job).unwrap();
    let text = std::fs::read_to_string(&job.records).unwrap();
    let records = text.lines().map(|line| match serde_json::from_str(line).unwrap() {
        Record::Measurement(measurement) => measurement,
        other => panic!("{other:?}"),
    });
    records.collect()
}

#[test]
fn a_sound_subject_gives_its_samples() {
    for measurement in measured("sound") {
        assert_eq!(measurement.error, None);
        assert_eq!((measurement.iterations.len(), measurement.nanoseconds.len()), (10, 10));
        assert_eq!(measurement.per_iteration(), [1000.0; 10]);
    }
}

#[test]
fn what_must_not_be_timed_is_an_error_record() {
    let expected = [
        ("debug-build", "a debug build is not measured"),
        ("wrong-result", "wrong result"),
        ("dies-measuring", "ended with status 9"),
    ];
    for (mode, reason) in expected {
        let measurements = measured(mode);
        assert_eq!(measurements.len(), 2, "{mode} loses a cell");
        for measurement in measurements {
            assert!(measurement.nanoseconds.is_empty(), "{mode} was timed");
            assert!(measurement.error.as_ref().unwrap().contains(reason), "{mode}: {:?}", measurement.error);
        }
    }
}
