//! Subjects that misbehave: each ends in its own outcome, the run goes on, and nothing is lost.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::path::Path;
use std::time::Duration;
use subject::{Calls, DType};
use suites::case::Case;
use suites::claims::catalogue;
use suites::judge::verdicts;
use suites::record::{Outcome, OutcomeKind, Record, VerdictKind};
use suites::run::{CommandLine, Conformance, Launch, Subject};

fn launch(mode: &str) -> Launch {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/fake.py");
    let subject = Subject {
        id: "pytorch".into(),
        title: "A fake".into(),
        start: Vec::new(),
        devices: vec!["cpu".into()],
        missing: "the fake is not there: python3 is needed".into(),
    };
    let words = ["python3".into(), "-u".into(), script.into(), mode.into()].to_vec();
    Launch { subject, device: "cpu".into(), threads: 1, command: CommandLine { words, environment: Vec::new() } }
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
