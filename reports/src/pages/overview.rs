//! The overview: do the claims hold, how large are the effects, what to correct first, and how far to trust the run.

use super::effects::{Effects, smallest_visible_change};
use super::engine::Engine;
use super::frame::{Frame, MEMORY_PATH, claim_path, errata_path};
use crate::digest::{Column, Counts, Digest, harm};
use crate::tags::{self, Tag};
use crate::{numbers, words};
use serde::Serialize;
use std::collections::BTreeMap;
use suites::claims::Claim;
use suites::record::{JUDGED, Verdict, VerdictKind, Weight};

#[derive(Serialize)]
struct View {
    lead: String,
    strip: Vec<(&'static str, String, String)>,
    judged: String,
    tags: Vec<Tag>,
    tutorials: Vec<Tutorial>,
    sum: Vec<usize>,
    harmful: usize,
    unknown: usize,
    effects: Option<Effects>,
    corrections: Vec<Correction>,
    noise: Vec<(String, String)>,
    columns: Vec<(String, String, String)>,
    /// What a simulated device is, where there was one.
    simulation: Option<String>,
    memory: Option<&'static str>,
    /// Verdicts that rest on a simulated device.
    simulated: usize,
    missing: Vec<(String, String)>,
    cut: Vec<String>,
    known: bool,
}

#[derive(Serialize)]
struct Tutorial {
    id: String,
    title: String,
    href: String,
    counts: Vec<usize>,
    harmful: usize,
}

#[derive(Serialize)]
struct Correction {
    weight: Tag,
    text: String,
    claim: String,
    href: String,
    others: usize,
    simulated: bool,
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest) -> Result<(String, String), String> {
    let all = digest.counts(digest.catalogue.claims.iter());
    let harmful = all.breaks + all.misleads;
    let view = View {
        lead: lead(digest, &all),
        strip: strip(digest),
        judged: words::judged(digest.judged_version()),
        tags: verdict_tags(),
        tutorials: digest.catalogue.tutorials.iter().map(|tutorial| row(digest, tutorial)).collect(),
        sum: columns(&all),
        harmful,
        unknown: digest.verdicts.keys().filter(|id| digest.catalogue.claim(id).is_none()).count(),
        effects: effects(digest),
        corrections: corrections(digest),
        noise: super::machine::noise(digest),
        columns: digest.columns.iter().flat_map(|column| subject_rows(digest, column)).collect(),
        simulation: digest.simulates().then(words::simulation),
        memory: super::memory::exists(digest).then_some(MEMORY_PATH),
        simulated: digest.catalogue.claims.iter().filter(|claim| digest.rests_on_simulation(&claim.id)).count(),
        missing: super::machine::missing(digest),
        cut: digest.cut(),
        known: super::known::exists(digest),
    };
    let description = "What tutorials say about tensor memory, checked on real libraries.";
    let frame = Frame::new(digest, "index.html".into(), "index", "Do the claims hold?".into(), description.into());
    engine.page("index.html", &frame, &view)
}

fn lead(digest: &Digest, all: &Counts) -> String {
    let counts =
        words::overview(all.right, all.verdicts, digest.judged_tutorials(), all.breaks + all.misleads, all.open);
    digest.lead(counts)
}

fn verdict_tags() -> Vec<Tag> {
    use VerdictKind::{NotTestable, Open, PartlyRight, Right, Wrong};
    [Right, PartlyRight, Wrong, Open, NotTestable].map(tags::verdict).into()
}

fn columns(counts: &Counts) -> Vec<usize> {
    vec![counts.right, counts.partly, counts.wrong, counts.open, counts.not_testable]
}

fn row(digest: &Digest, tutorial: &suites::claims::Tutorial) -> Tutorial {
    let counts = digest.counts(digest.claims(&tutorial.id));
    Tutorial {
        id: tutorial.id.clone(),
        title: tutorial.title.clone(),
        href: errata_path(&tutorial.id),
        counts: columns(&counts),
        harmful: counts.breaks + counts.misleads,
    }
}

/// One row for each device that the subject ran on.
fn subject_rows(digest: &Digest, column: &Column) -> Vec<(String, String, String)> {
    let row = |device: &&str| {
        let launch = digest.header.launches.iter().find(|l| l.subject == column.subject && l.device == *device);
        let place = match launch.map_or(0, |launch| launch.threads as usize) {
            0 => device.to_string(),
            n => format!("{device}, {}", words::plural(n, "thread", "threads")),
        };
        (column.name.into(), column.version.unwrap_or("unknown version").into(), place)
    };
    column.devices.iter().map(row).collect()
}

fn strip(digest: &Digest) -> Vec<(&'static str, String, String)> {
    let weather = tags::weather(digest.footer.weather);
    let readings = words::plural(digest.weather.len(), "reading", "readings");
    let (alarms, share) = match digest.control {
        Some(control) => (
            words::control(control.pairs as usize, control.different as usize),
            super::machine::false_alarms(control).unwrap_or_else(|| "of the reference with itself".into()),
        ),
        None => ("not-run".into(), "no control in this run".into()),
    };
    let machine = &digest.header.machine;
    let rounds = words::plural(digest.header.rounds as usize, "round", "rounds");
    vec![
        ("Weather", format!("{} {}", weather.glyph, weather.word), readings),
        (
            "Smallest visible change",
            smallest_visible_change(digest.effects.iter().copied()),
            "of the effects measured".into(),
        ),
        ("False alarms (A/A)", alarms, share),
        ("Run", numbers::duration(digest.footer.nanoseconds), format!("{rounds} planned")),
        (
            "Machine",
            machine.processor.clone(),
            format!(
                "{}, {}{}",
                words::plural(machine.processors as usize, "processor", "processors"),
                numbers::bytes(machine.memory_bytes),
                machine.gpu.as_ref().map(|gpu| format!(", {}", gpu.name)).unwrap_or_default()
            ),
        ),
    ]
}

fn effects(digest: &Digest) -> Option<Effects> {
    let groups = digest.catalogue.claims.iter().filter(|claim| claim.workloads().is_some()).map(|claim| {
        let effects = digest.effects_of(&claim.id).into_iter().filter(|effect| effect.subject == JUDGED).collect();
        (claim.statement.clone(), Some(claim_path(&claim.id)), effects)
    });
    Effects::new(groups.collect())
}

/// The five corrections that matter most: by weight, wrong before partly right, then by the number of claims that
/// share the correction.
fn corrections(digest: &Digest) -> Vec<Correction> {
    let mut found: Vec<(&Claim, &Verdict, Weight)> = Vec::new();
    let mut shared: BTreeMap<&str, usize> = BTreeMap::new();
    for claim in &digest.catalogue.claims {
        let Some(&verdict) = digest.verdicts.get(claim.id.as_str()) else { continue };
        let (Some(weight), Some(text)) = (harm(verdict), verdict.correction.as_deref()) else { continue };
        let count = shared.entry(text).or_default();
        *count += 1;
        if *count == 1 {
            found.push((claim, verdict, weight));
        }
    }
    let count =
        |verdict: &Verdict| verdict.correction.as_deref().and_then(|text| shared.get(text)).copied().unwrap_or(1);
    found.sort_by_key(|(_, verdict, weight)| {
        (*weight, verdict.verdict != VerdictKind::Wrong, std::cmp::Reverse(count(verdict)))
    });
    let found = found.into_iter().take(5).map(|(claim, verdict, weight)| Correction {
        weight: tags::weight(weight),
        text: verdict.correction.clone().unwrap_or_default(),
        claim: claim.id.clone(),
        href: claim_path(&claim.id),
        others: count(verdict) - 1,
        simulated: digest.rests_on_simulation(&claim.id),
    });
    found.collect()
}
