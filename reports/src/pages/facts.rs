//! The facts of several outcomes as one table, a group of rows a case.

use crate::tags::{self, Tag};
use crate::words;
use serde::Serialize;
use std::cmp::Reverse;
use suites::record::{Fact, Outcome, OutcomeKind, Value};

/// Longest value shown, in characters; the run log has it whole.
const VALUE: usize = 120;
/// Most characters of one entry: enough for any piece of Python that a case runs.
const TRANSCRIPT_ENTRY: usize = 3000;
/// Most lines of transcripts on a page; the run log has them all.
const LINES: usize = 80;
/// Words of facts whose value is the error that something ended with.
const OF_ERRORS: [&str; 3] = ["error", "raise", "request"];

/// The facts of some outcomes on one subject.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Whether the table says what a claim claimed.
    claimed: bool,
    cases: Vec<Case>,
    tolerance: bool,
    example: bool,
    transcripts: Vec<Transcript>,
    /// Lines of all transcripts.
    lines: usize,
    /// Lines that are not shown.
    more: usize,
}

#[derive(Debug, Serialize)]
struct Case {
    name: String,
    device: String,
    outcome: Tag,
    reason: Option<String>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    what: String,
    claimed: Option<String>,
    seen: String,
    fits: Option<Tag>,
    known: Option<String>,
    /// Set where the value seen is not the one known.
    differs: Option<Tag>,
}

#[derive(Debug, Serialize)]
struct Transcript {
    name: String,
    device: String,
    lines: Vec<String>,
}

impl Table {
    /// The facts as they bear on a claim: its own and those that no claim rests on. Cases with a fact that does not fit
    /// come first.
    pub fn on_claim(outcomes: Vec<&Outcome>, claim: &str) -> Self {
        Table::new(outcomes, Some(claim), LINES)
    }

    /// Every fact, with the transcripts.
    pub fn whole(outcomes: Vec<&Outcome>) -> Self {
        Table::new(outcomes, None, LINES)
    }

    /// Every fact, without the transcripts.
    pub fn facts_alone(outcomes: Vec<&Outcome>) -> Self {
        Table::new(outcomes, None, 0)
    }

    /// A table with at most so many lines of transcripts.
    fn new(mut outcomes: Vec<&Outcome>, claim: Option<&str>, most: usize) -> Self {
        outcomes.sort_by_key(|outcome| Reverse(outcome.facts.iter().any(|fact| fits(fact, claim) == Some(false))));
        let facts = || outcomes.iter().flat_map(|outcome| &outcome.facts);
        let own = |fact: &Fact| fact.claimed.iter().any(|c| Some(c.claim.as_str()) == claim && c.example);
        let lines = outcomes.iter().map(|outcome| outcome.transcript.len()).sum();
        let (transcripts, shown) = transcripts(&outcomes, most);
        Table {
            claimed: claim.is_some(),
            cases: outcomes.iter().map(|outcome| case(outcome, claim)).collect(),
            tolerance: facts().any(|fact| fact.tolerance.is_some()),
            example: facts().any(own),
            transcripts,
            lines,
            more: lines - shown,
        }
    }
}

/// Whether the value seen is the one that the claim claimed.
fn fits(fact: &Fact, claim: Option<&str>) -> Option<bool> {
    let claimed = fact.claimed.iter().find(|claimed| Some(claimed.claim.as_str()) == claim)?;
    Some(fact.fits(claimed))
}

fn case(outcome: &Outcome, claim: Option<&str>) -> Case {
    let bears = |fact: &&Fact| claim.is_none() || fact.claimed.is_empty() || fits(fact, claim).is_some();
    Case {
        name: outcome.case.clone(),
        device: outcome.device.clone(),
        outcome: tags::outcome(outcome.outcome),
        reason: outcome.reason.as_deref().map(words::reason),
        rows: outcome.facts.iter().filter(bears).map(|fact| row(fact, claim)).collect(),
    }
}

fn row(fact: &Fact, claim: Option<&str>) -> Row {
    let claimed = fact.claimed.iter().find(|claimed| Some(claimed.claim.as_str()) == claim);
    Row {
        what: fact.what.clone(),
        claimed: claimed.map(|claimed| value(fact, &claimed.value)),
        seen: value(fact, &fact.seen),
        fits: claimed.map(|claimed| if fact.fits(claimed) { tags::FITS } else { tags::DOES_NOT_FIT }),
        known: fact.known.as_ref().map(|known| value(fact, known)),
        differs: (!fact.agrees()).then(|| tags::outcome(OutcomeKind::Differs)),
    }
}

/// Transcripts of so many lines together at most, and how many they have.
fn transcripts(outcomes: &[&Outcome], most: usize) -> (Vec<Transcript>, usize) {
    let mut left = most;
    let mut transcripts = Vec::new();
    for outcome in outcomes {
        let lines: Vec<String> =
            outcome.transcript.iter().take(left).map(|line| words::short(line, TRANSCRIPT_ENTRY)).collect();
        left -= lines.len();
        if !lines.is_empty() {
            transcripts.push(Transcript { name: outcome.case.clone(), device: outcome.device.clone(), lines });
        }
    }
    (transcripts, most - left)
}

/// A value of a fact as it is shown: nothing where the fact speaks of errors is that something went through.
pub fn value(fact: &Fact, value: &Value) -> String {
    match value {
        Value::None if OF_ERRORS.iter().any(|word| fact.what.contains(word)) => "no error".into(),
        Value::None => "nothing".into(),
        value => words::short(&value.to_string(), VALUE),
    }
}

/// What an outcome says in one line: the first value that differs, or the reason.
pub fn remark(outcome: &Outcome) -> String {
    match outcome.outcome {
        OutcomeKind::Agrees => String::new(),
        OutcomeKind::Differs => match outcome.facts.iter().find(|fact| !fact.agrees()) {
            Some(fact) => format!("{}: {}", fact.what, value(fact, &fact.seen)),
            None => String::new(),
        },
        _ => outcome.reason.as_deref().map(words::reason).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_no_error_where_a_fact_speaks_of_errors() {
        let fact = |what: &str| Fact {
            what: what.into(),
            seen: Value::None,
            known: None,
            claimed: Vec::new(),
            tolerance: None,
        };
        for what in ["kind of error of backward()", "what 2^50 bytes raise", "a request of 36 MiB"] {
            assert_eq!(value(&fact(what), &Value::None), "no error", "{what}");
            assert_eq!(value(&fact(what), &Value::Int(0)), "0", "{what}");
        }
        assert_eq!(value(&fact("what it returns"), &Value::None), "nothing");
    }
}
