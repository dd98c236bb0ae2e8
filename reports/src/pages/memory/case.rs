//! What one case saw of device memory: its timeline, its maps of segments, its requests that failed.

use super::failure::Failure;
use super::segments::{self, Map};
use super::{failure, timeline};
use crate::digest::Digest;
use crate::memory::Seen;
use crate::pages::engine::Engine;
use crate::pages::frame::{Frame, claim_path, memory_path};
use crate::tags::Tag;
use crate::words;
use serde::Serialize;
use std::collections::BTreeSet;
use suites::record::SIMULATED;

#[derive(Serialize)]
struct View {
    case: String,
    lead: String,
    launches: Vec<String>,
    simulation: Option<String>,
    claims: Vec<Claim>,
    timelines: Vec<timeline::Group>,
    maps: Vec<Map>,
    failures: Vec<Failure>,
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
    let view = View {
        case: seen.case.into(),
        lead: lead(digest, seen),
        launches: launches.iter().map(|(subject, device)| digest.launch(subject, device)).collect(),
        simulation: launches.iter().any(|launch| launch.1 == SIMULATED).then(words::simulation),
        claims: claims(digest, seen.case),
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
    let outcomes = digest.outcomes.iter().filter(|outcome| outcome.case == case);
    let ids: BTreeSet<&str> = outcomes.flat_map(|outcome| &outcome.claims).map(String::as_str).collect();
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

/// What stays held, what is stranded, and what ran out.
fn lead(digest: &Digest, seen: &Seen) -> String {
    let sentences = [timeline::lead(digest, seen), segments::lead(digest, &seen.maps), failure::lead(digest, seen)];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
