//! The page of one claim.

use super::effects::Effects;
use super::engine::Engine;
use super::facts::{self, Table};
use super::frame::{Frame, claim_path, errata_path, workload_path};
use crate::digest::{Digest, family, harm};
use crate::tags::{self, Tag};
use crate::words;
use serde::Serialize;
use suites::claims::Claim;
use suites::record::{JUDGED, OutcomeKind};

#[derive(Serialize)]
struct View {
    id: String,
    statement: String,
    topic: String,
    verdict: Tag,
    weight: Option<Tag>,
    tutorial: String,
    errata: String,
    lines: String,
    kind: String,
    needs: Vec<String>,
    right: Option<String>,
    finding: bool,
    reason: Option<String>,
    launches: Vec<Launch>,
    nothing: Option<String>,
    others: Vec<Other>,
    effects: Option<Effects>,
    workload: Option<(String, String, String)>,
    commands: Vec<String>,
}

#[derive(Serialize)]
struct Launch {
    name: String,
    table: Table,
}

#[derive(Serialize)]
struct Other {
    label: String,
    version: String,
    outcome: Tag,
    remark: String,
    cases: String,
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest, claim: &Claim) -> Result<(String, String), String> {
    let verdict = digest.verdicts.get(claim.id.as_str()).copied();
    let launches = launches(digest, claim);
    let nothing = launches.is_empty().then(|| nothing(digest, claim));
    let mut commands: Vec<String> = digest
        .outcomes_of(&claim.id)
        .iter()
        .map(|outcome| format!("cargo xtask conformance --only {} --subject {JUDGED}", outcome.case))
        .collect();
    commands.sort();
    commands.dedup();
    let view = View {
        id: claim.id.clone(),
        statement: claim.statement.clone(),
        topic: claim.topic.clone(),
        verdict: digest.verdict_tag(&claim.id),
        weight: verdict.and_then(harm).map(tags::weight),
        tutorial: claim.tutorial().into(),
        errata: errata_path(claim.tutorial()),
        lines: words::lines(&claim.lines),
        kind: claim.kind.to_string(),
        needs: claim.needs.iter().map(|need| need.to_string().replace('-', " ")).collect(),
        right: verdict.and_then(|verdict| verdict.correction.clone()),
        finding: claim.finding.is_some(),
        reason: verdict.and_then(|verdict| verdict.reason.as_deref()).map(words::reason),
        launches,
        nothing,
        others: others(digest, claim),
        effects: Effects::by_subject(&digest.effects_of(&claim.id)),
        workload: workload(digest, claim),
        commands,
    };
    let description = format!("Claim {}: {}.", claim.id, view.verdict.word);
    let frame = Frame::new(digest, claim_path(&claim.id), "claim", claim.id.clone(), description);
    engine.page("claim.html", &frame, &view)
}

fn launches(digest: &Digest, claim: &Claim) -> Vec<Launch> {
    let judged = digest.columns.iter().filter(|column| column.subject == JUDGED);
    let launches = judged.filter_map(|column| {
        let outcomes = digest.cell(&claim.id, column);
        let name = format!("{} {}", column.label, column.version.unwrap_or_default());
        (!outcomes.is_empty()).then(|| Launch { name, table: Table::new(outcomes, Some(&claim.id)) })
    });
    launches.collect()
}

/// Why no facts stand on the page.
fn nothing(digest: &Digest, claim: &Claim) -> String {
    let on_pytorch = digest.outcomes_of(&claim.id).iter().find(|outcome| outcome.subject == JUDGED);
    match (on_pytorch.and_then(|outcome| outcome.reason.as_deref()), claim.reason()) {
        (Some(reason), _) => format!("No case of this claim ran on PyTorch in this run: {}.", words::reason(reason)),
        (None, Some("editorial")) => "It is about the text itself, so no program can decide it.".into(),
        (None, Some(reason)) => format!("No case of this claim ran on PyTorch in this run: {}.", words::reason(reason)),
        (None, None) if claim.workloads().is_some() => "It is judged by the effects measured, not by facts.".into(),
        (None, None) => "No case of this claim ran on PyTorch in this run.".into(),
    }
}

/// One row for all cases that ended alike on a subject, the loudest first.
fn others(digest: &Digest, claim: &Claim) -> Vec<Other> {
    let mut others = Vec::new();
    for column in digest.columns.iter().filter(|column| column.subject != JUDGED) {
        let mut alike: Vec<(OutcomeKind, String, Vec<&str>)> = Vec::new();
        for outcome in digest.cell(&claim.id, column) {
            let remark = match outcome.outcome {
                OutcomeKind::Differs => differing(outcome),
                _ => words::short(&facts::remark(outcome), 200),
            };
            match alike.iter_mut().find(|row| row.0 == outcome.outcome && row.1 == remark) {
                Some(row) => row.2.push(&outcome.case),
                None => alike.push((outcome.outcome, remark, vec![&outcome.case])),
            }
        }
        alike.sort_by_key(|row| std::cmp::Reverse(tags::loudness(row.0)));
        others.extend(alike.into_iter().map(|(kind, remark, cases)| Other {
            label: column.label.clone(),
            version: column.version.unwrap_or_default().into(),
            outcome: tags::outcome(kind),
            remark,
            cases: if let [case] = cases[..] { case.into() } else { format!("{} cases", cases.len()) },
        }));
    }
    others
}

/// Up to three facts that differ, with what is known of PyTorch.
fn differing(outcome: &suites::record::Outcome) -> String {
    let mut parts: Vec<String> = Vec::new();
    let differing: Vec<_> = outcome.facts.iter().filter(|fact| !fact.agrees()).collect();
    for fact in differing.iter().take(3) {
        let known = fact.known.as_ref().map(facts::value).unwrap_or_default();
        parts.push(format!("{}: {}, PyTorch {known}", fact.what, facts::value(&fact.seen)));
    }
    if differing.len() > 3 {
        parts.push(format!("and {} more", differing.len() - 3));
    }
    parts.join("; ")
}

fn workload(digest: &Digest, claim: &Claim) -> Option<(String, String, String)> {
    let (slower, faster) = claim.workloads()?;
    let page = digest.workload_pages().contains(family(slower)).then(|| workload_path(family(slower)))?;
    Some((slower.into(), faster.into(), page))
}
