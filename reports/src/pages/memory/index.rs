//! All cases that looked at device memory.

use super::segments::Sums;
use super::timeline;
use crate::digest::Digest;
use crate::memory::Seen;
use crate::pages::engine::Engine;
use crate::pages::frame::{Frame, MEMORY_PATH, memory_path};
use crate::{numbers, words};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Serialize)]
struct View {
    lead: String,
    simulation: Option<String>,
    timelines: Vec<Row>,
    maps: Vec<Row>,
    failures: Vec<Row>,
}

/// One case on one launch.
#[derive(Serialize)]
struct Row {
    case: String,
    href: String,
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
    };
    let description = "What cases saw of device memory: timelines, segments, requests that failed.";
    let frame = Frame::new(digest, MEMORY_PATH.into(), "memory", "Device memory".into(), description.into());
    engine.page("memory.html", &frame, &view)
}

fn row(digest: &Digest, case: &str, launch: (&str, &str), cells: Vec<String>) -> Row {
    Row { case: case.into(), href: memory_path(case), launch: digest.launch(launch.0, launch.1), cells }
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

/// What was looked at, and the cases in which bytes stay held that no tensor uses.
fn lead(digest: &Digest) -> String {
    let cached = digest.memory.iter().filter_map(|seen| {
        let (bytes, _) = timeline::most_cached(timeline::main(&seen.timelines)?)?;
        Some((bytes, seen.case))
    });
    let cached: Vec<_> = cached.filter(|(bytes, _)| *bytes > 0).collect();
    let cases: BTreeSet<&str> = digest.memory.iter().map(|seen| seen.case).collect();
    let looked = match cases.len() {
        1 => "1 case looked at device memory".to_string(),
        n => format!("{n} cases looked at device memory"),
    };
    match cached.iter().max() {
        Some((bytes, case)) => format!(
            "{looked}. In {}, bytes are held that no tensor uses: at most {}, in {case}.",
            if cached.len() == 1 { "1 of them".into() } else { format!("{} of them", cached.len()) },
            numbers::bytes(*bytes)
        ),
        None => format!("{looked}. No timeline shows bytes that are held and not live."),
    }
}
