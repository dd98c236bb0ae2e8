//! The page of one claim.

use super::effects::Effects;
use super::engine::Engine;
use super::facts::{self, Table};
use super::frame::{Frame, claim_path, errata_path, memory_path, workload_path};
use crate::digest::{Digest, family, harm};
use crate::memory::Seen;
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
    /// Whether the verdict rests on a simulated device.
    simulated: bool,
    /// Cases that looked at device memory: name, page and launches.
    memory: Vec<(String, String, String)>,
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
    name: String,
    version: String,
    device: String,
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
        simulated: digest.rests_on_simulation(&claim.id),
        memory: memory(digest, claim),
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
        let name = format!("{} {}", column.name, column.version.unwrap_or_default());
        (!outcomes.is_empty()).then(|| Launch { name, table: Table::on_claim(outcomes, &claim.id) })
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

/// Cases that ended alike on a device.
type Alike<'a> = ((OutcomeKind, &'a str, String), Vec<&'a str>);

/// One row for all cases that ended alike on a subject's device, the loudest first.
fn others(digest: &Digest, claim: &Claim) -> Vec<Other> {
    let mut others = Vec::new();
    for column in digest.columns.iter().filter(|column| column.subject != JUDGED) {
        let mut alike: Vec<Alike> = Vec::new();
        for outcome in digest.cell(&claim.id, column) {
            let remark = match outcome.outcome {
                OutcomeKind::Differs => differing(outcome),
                _ => words::short(&facts::remark(outcome), 200),
            };
            let ended = (outcome.outcome, outcome.device.as_str(), remark);
            match alike.iter_mut().find(|row| row.0 == ended) {
                Some(row) => row.1.push(&outcome.case),
                None => alike.push((ended, vec![&outcome.case])),
            }
        }
        alike.sort_by_key(|row| std::cmp::Reverse(tags::loudness(row.0.0)));
        others.extend(alike.into_iter().map(|((kind, device, remark), cases)| Other {
            name: column.name.into(),
            version: column.version.unwrap_or_default().into(),
            device: device.into(),
            outcome: tags::outcome(kind),
            remark,
            cases: if let [case] = cases[..] { case.into() } else { format!("{} cases", cases.len()) },
        }));
    }
    others
}

/// What the claim's cases saw of device memory.
fn memory(digest: &Digest, claim: &Claim) -> Vec<(String, String, String)> {
    let row = |seen: &Seen| {
        let launches: Vec<_> = seen.launches().iter().map(|(subject, device)| digest.launch(subject, device)).collect();
        (seen.case.into(), memory_path(seen.case), launches.join("; "))
    };
    digest.memory_of(&claim.id).map(row).collect()
}

/// Up to three facts that differ, with what is known of PyTorch.
fn differing(outcome: &suites::record::Outcome) -> String {
    let mut parts: Vec<String> = Vec::new();
    let differing: Vec<_> = outcome.facts.iter().filter(|fact| !fact.agrees()).collect();
    for fact in differing.iter().take(3) {
        let known = fact.known.as_ref().map(|known| facts::value(fact, known)).unwrap_or_default();
        parts.push(format!("{}: {}, PyTorch {known}", fact.what, facts::value(fact, &fact.seen)));
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
