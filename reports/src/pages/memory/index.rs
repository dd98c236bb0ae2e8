//! All cases that looked at device memory.

use super::segments::Sums;
use super::{failure, timeline};
use crate::digest::Digest;
use crate::memory::Seen;
use crate::pages::engine::Engine;
use crate::pages::frame::{Frame, MEMORY_PATH, memory_path};
use crate::{numbers, words};
use serde::Serialize;
use std::collections::BTreeSet;
use suites::claims::Claim;
use suites::record::{Outcome, OutcomeKind};

#[derive(Serialize)]
struct View {
    lead: String,
    simulation: Option<String>,
    timelines: Vec<Row>,
    maps: Vec<Row>,
    failures: Vec<Row>,
    /// Whether a process was allowed only a part of the device.
    limited: bool,
}

/// One case on one launch.
#[derive(Serialize)]
struct Row {
    case: String,
    href: String,
    /// The tutorials whose claims the case bears on, in words.
    tutorials: Option<String>,
    launch: String,
    cells: Vec<String>,
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest) -> Result<(String, String), String> {
    let view = View {
        lead: lead(digest),
        simulation: digest.simulates().then(words::simulation),
        timelines: digest.memory.iter().flat_map(|seen| timelines(digest, seen)).collect(),
        maps: digest.memory.iter().flat_map(|seen| maps(digest, seen)).collect(),
        failures: digest.memory.iter().flat_map(|seen| failures(digest, seen)).collect(),
        limited: digest.memory.iter().flat_map(|seen| &seen.failures).any(|failure| failure::limit(failure).is_some()),
    };
    let description = "What cases saw of device memory: timelines, segments, requests that failed.";
    let frame = Frame::new(digest, MEMORY_PATH.into(), "memory", "Device memory".into(), description.into());
    engine.page("memory.html", &frame, &view)
}

fn row(digest: &Digest, case: &str, launch: (&str, &str), cells: Vec<String>) -> Row {
    let (href, tutorials) = (memory_path(case), tutorials(digest, case));
    Row { case: case.into(), href, tutorials, launch: digest.launch(launch.0, launch.1), cells }
}

/// `tutorial t002`, or `tutorials t000 and t001`; nothing for a case that bears on no claim.
fn tutorials(digest: &Digest, case: &str) -> Option<String> {
    let claims = digest.outcomes_of_case(case).flat_map(|outcome| &outcome.claims);
    let ids: BTreeSet<&str> = claims.filter_map(|id| digest.catalogue.claim(id)).map(Claim::tutorial).collect();
    let ids: Vec<String> = ids.into_iter().map(String::from).collect();
    let noun = if ids.len() == 1 { "tutorial" } else { "tutorials" };
    (!ids.is_empty()).then(|| format!("{noun} {}", words::list(&ids)))
}

fn timelines(digest: &Digest, seen: &Seen) -> Vec<Row> {
    let rows = seen.timelines.iter().map(|timeline| {
        let most = |of: fn(&suites::record::MemoryStep) -> Option<u64>| {
            timeline.steps.iter().filter_map(|step| of(step)).max().map_or("—".into(), numbers::mebibytes)
        };
        let cached = timeline::most_cached(timeline).map_or("—".into(), |(bytes, _)| numbers::mebibytes(bytes));
        let cells = vec![timeline.steps.len().to_string(), most(|step| step.live), most(|step| step.held), cached];
        row(digest, seen.case, (timeline.subject, timeline.device), cells)
    });
    rows.collect()
}

fn maps(digest: &Digest, seen: &Seen) -> Vec<Row> {
    let rows = seen.maps.iter().map(|map| {
        let sums = Sums::over(&map.segments);
        let sizes = [sums.live, sums.held(), sums.stranded].map(numbers::mebibytes);
        let cells = [map.title.clone(), map.segments.len().to_string()].into_iter().chain(sizes).collect();
        row(digest, seen.case, (&map.subject, &map.device), cells)
    });
    rows.collect()
}

fn failures(digest: &Digest, seen: &Seen) -> Vec<Row> {
    let rows = seen.failures.iter().map(|failure| {
        let sizes = [failure.request, failure.free, failure.held.saturating_sub(failure.live)].map(numbers::mebibytes);
        let cells = sizes.into_iter().chain([failure.cause().to_string()]).collect();
        row(digest, seen.case, (&failure.subject, &failure.device), cells)
    });
    rows.collect()
}

/// How many cases ran on a device's memory, and in which of those shown bytes were held that no tensor uses.
fn lead(digest: &Digest) -> String {
    let on_device = |outcome: &&&Outcome| outcome.device != "cpu" && outcome.outcome != OutcomeKind::NotRun;
    let shown: BTreeSet<&str> = digest.memory.iter().map(|seen| seen.case).collect();
    let mut ran: BTreeSet<&str> = digest.outcomes.iter().filter(on_device).map(|o| o.case.as_str()).collect();
    ran.extend(&shown);
    let cached = digest.memory.iter().map(|seen| (most_cached(seen), seen.case)).filter(|(bytes, _)| *bytes > 0);
    let cached: Vec<(u64, &str)> = cached.collect();
    let most = cached.iter().max().map(|&(bytes, case)| (numbers::bytes(bytes), case));
    words::device_memory(ran.len(), shown.len(), cached.len(), most)
}

/// The most that was held and not live after a line, in a map or when a request failed, on any launch.
fn most_cached(seen: &Seen) -> u64 {
    let timelines = seen.timelines.iter().filter_map(timeline::most_cached).map(|(bytes, _)| bytes);
    let maps = seen.maps.iter().map(|map| Sums::over(&map.segments)).map(|sums| sums.held() - sums.live);
    let failures = seen.failures.iter().map(|failure| failure.held.saturating_sub(failure.live));
    timelines.chain(maps).chain(failures).max().unwrap_or(0)
}
