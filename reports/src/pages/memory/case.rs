//! What one case saw of device memory: its timeline, its maps of segments, its requests that failed.

use super::failure::Failure;
use super::segments::{self, Map};
use super::{failure, timeline};
use crate::digest::{Column, Digest};
use crate::memory::Seen;
use crate::pages::engine::Engine;
use crate::pages::facts::Table;
use crate::pages::frame::{Frame, claim_path, memory_path};
use crate::tags::Tag;
use crate::words;
use serde::Serialize;
use std::collections::BTreeSet;
use suites::record::{JUDGED, SIMULATED};

#[derive(Serialize)]
struct View {
    case: String,
    lead: String,
    launches: Vec<String>,
    simulation: Option<String>,
    claims: Vec<Claim>,
    /// The facts, where no claim's page has them.
    facts: Option<Facts>,
    timelines: Vec<timeline::Group>,
    maps: Vec<Map>,
    failures: Vec<Failure>,
}

#[derive(Serialize)]
struct Facts {
    name: String,
    table: Table,
}

#[derive(Serialize)]
struct Claim {
    id: String,
    href: String,
    statement: String,
    verdict: Tag,
    simulated: bool,
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest, seen: &Seen) -> Result<(String, String), String> {
    let launches = seen.launches();
    let claims = claims(digest, seen.case);
    // The page of a claim has the facts on PyTorch alone.
    let judged = digest.outcomes_of_case(seen.case).any(|outcome| outcome.subject == JUDGED);
    let on_claims = judged && !claims.is_empty();
    let view = View {
        case: seen.case.into(),
        lead: lead(digest, seen),
        launches: launches.iter().map(|(subject, device)| digest.launch(subject, device)).collect(),
        simulation: launches.iter().any(|launch| launch.1 == SIMULATED).then(words::simulation),
        facts: if on_claims { None } else { facts(digest, seen.case) },
        claims,
        timelines: timeline::groups(digest, seen)?,
        maps: Map::all(digest, &seen.maps),
        failures: Failure::all(digest, &seen.failures),
    };
    let title = format!("Device memory in {}", seen.case);
    let description = format!("What {} saw of device memory.", seen.case);
    let frame = Frame::new(digest, memory_path(seen.case), "memory", title, description);
    engine.page("memory-case.html", &frame, &view)
}

/// The claims that the case bears on.
fn claims(digest: &Digest, case: &str) -> Vec<Claim> {
    let ids: BTreeSet<&str> =
        digest.outcomes_of_case(case).flat_map(|outcome| &outcome.claims).map(String::as_str).collect();
    let claims = digest.catalogue.claims.iter().filter(|claim| ids.contains(claim.id.as_str()));
    let row = |claim: &suites::claims::Claim| Claim {
        id: claim.id.clone(),
        href: claim_path(&claim.id),
        statement: claim.statement.clone(),
        verdict: digest.verdict_tag(&claim.id),
        simulated: digest.rests_on_simulation(&claim.id),
    };
    claims.map(row).collect()
}

/// The facts and the transcript of the case on PyTorch, or on the first subject where it has none.
fn facts(digest: &Digest, case: &str) -> Option<Facts> {
    let ran = |column: &&Column| digest.outcomes_of_case(case).any(|outcome| outcome.subject == column.subject);
    let mut columns = digest.columns.iter().filter(ran);
    let first = columns.clone().next();
    let column = columns.find(|column| column.subject == JUDGED).or(first)?;
    let outcomes = digest.outcomes_of_case(case).filter(|outcome| outcome.subject == column.subject);
    let name = format!("{} {}", column.name, column.version.unwrap_or_default());
    Some(Facts { name, table: Table::whole(outcomes.collect()) })
}

/// What stays held, what is stranded, and what ran out.
fn lead(digest: &Digest, seen: &Seen) -> String {
    let sentences = [timeline::lead(digest, seen), segments::lead(digest, &seen.maps), failure::lead(digest, seen)];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
