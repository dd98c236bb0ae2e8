//! What the verdicts rest on, in a run of every case on real PyTorch.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

mod common;

use common::{TARGET, launch, simulated};
use std::sync::LazyLock;
use suites::case::Case;
use suites::claims::{Kind, catalogue};
use suites::judge::verdicts;
use suites::record::{Outcome, OutcomeKind, Record, Verdict, VerdictKind};
use suites::run::{Backing, Conformance, SIMULATED_BYTES};

static OUTCOMES: LazyLock<Vec<Outcome>> = LazyLock::new(|| {
    let launches = [launch("pytorch"), simulated("pytorch", SIMULATED_BYTES, Backing::Host)];
    let cases = suites::cases::all();
    let mut outcomes = Vec::new();
    for launch in &launches {
        let mut conformance = Conformance::start(launch, &TARGET);
        assert_eq!(conformance.record().missing, None);
        let mine: Vec<&Case> = cases.iter().filter(|case| conformance.runs(case)).collect();
        outcomes.extend(mine.into_iter().map(|case| conformance.run(case)));
    }
    outcomes
});

fn judged(outcomes: &[Outcome]) -> Vec<Verdict> {
    let records: Vec<Record> = outcomes.iter().cloned().map(Record::Outcome).collect();
    verdicts(catalogue().unwrap(), &records, &[], "pytorch")
}

#[test]
fn every_case_agrees_with_what_is_known_of_pytorch() {
    let others = OUTCOMES.iter().filter(|outcome| outcome.outcome != OutcomeKind::Agrees);
    let (needs_a_driver, others): (Vec<&Outcome>, Vec<&Outcome>) =
        others.partition(|outcome| outcome.reason.as_deref().is_some_and(|why| why.starts_with("needs a real driver")));
    assert!(others.is_empty(), "{others:#?}");
    assert_eq!(needs_a_driver.len(), 2, "{needs_a_driver:#?}");
}

#[test]
fn every_claim_that_this_version_can_decide_without_a_clock_is_decided() {
    for verdict in judged(&OUTCOMES) {
        let claim = catalogue().unwrap().claim(&verdict.claim).unwrap();
        if claim.reason().is_none() && claim.kind != Kind::Performance {
            assert_ne!(verdict.verdict, VerdictKind::Open, "{}: {:?}", claim.id, verdict.reason);
        }
    }
}

/// A claim has a weight and a correction exactly while it is not right; those that became right are named here.
#[test]
fn weights_and_corrections_stand_where_a_claim_is_not_right() {
    for verdict in judged(&OUTCOMES) {
        let claim = catalogue().unwrap().claim(&verdict.claim).unwrap();
        match verdict.verdict {
            VerdictKind::Right => assert_eq!(claim.weight, None, "{} became right", claim.id),
            VerdictKind::PartlyRight | VerdictKind::Wrong => {
                assert!(claim.weight.is_some() && claim.correction.is_some(), "{} lacks a correction", claim.id);
            }
            VerdictKind::Open => {}
            VerdictKind::NotTestable => assert!(claim.finding.is_some(), "{} lacks a finding", claim.id),
        }
    }
}

#[test]
fn what_is_known_decides_nothing() {
    let mut without = OUTCOMES.clone();
    for fact in without.iter_mut().flat_map(|outcome| &mut outcome.facts) {
        fact.known = None;
    }
    assert_eq!(judged(&without), judged(&OUTCOMES));
}

/// A claim of which a case was left out is not decided by the others.
#[test]
fn a_choice_of_cases_leaves_claims_open() {
    let (chosen, left): (Vec<Case>, Vec<Case>) =
        suites::cases::all().into_iter().partition(|case| case.name == "device.absurd-requests");
    let outcomes: Vec<Outcome> = OUTCOMES.iter().filter(|outcome| outcome.case == chosen[0].name).cloned().collect();
    let mut verdicts = judged(&outcomes);
    let of = |verdicts: &[Verdict], claim: &str| verdicts.iter().find(|one| one.claim == claim).unwrap().clone();
    let claim = "t001.oom.gpu-only";
    assert!(left.iter().any(|case| case.claims.iter().any(|one| one == claim)));
    assert_eq!(of(&verdicts, claim).verdict, VerdictKind::Wrong);
    suites::judge::leave_open(&mut verdicts, &chosen);
    let open = of(&verdicts, claim);
    assert_eq!((open.verdict, open.weight), (VerdictKind::Open, None));
    assert!(open.reason.unwrap().starts_with("left out by --only: "));
    let mut whole = judged(&OUTCOMES);
    suites::judge::leave_open(&mut whole, &suites::cases::all());
    assert_eq!(whole, judged(&OUTCOMES));
}
