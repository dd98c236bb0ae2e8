//! The errata page of one tutorial.

use super::engine::Engine;
use super::frame::{Frame, claim_path, errata_path};
use crate::digest::Digest;
use crate::errata::Errata;
use crate::tags::{self, Tag};
use crate::words;
use serde::Serialize;
use suites::claims::Tutorial;

#[derive(Serialize)]
struct View {
    id: String,
    title: String,
    lead: String,
    judged: String,
    tutorials: Vec<(String, String, bool)>,
    /// What a simulated device is, where a verdict rests on one.
    simulation: Option<String>,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    key: &'static str,
    tag: Option<Tag>,
    title: &'static str,
    gloss: &'static str,
    entries: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    id: String,
    short: String,
    href: String,
    lines: String,
    says: String,
    label: &'static str,
    right: Option<String>,
    verdict: Tag,
    simulated: bool,
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest, tutorial: &Tutorial) -> Result<(String, String), String> {
    let errata = Errata::new(digest, tutorial);
    let tutorials = digest.catalogue.tutorials.iter();
    let view = View {
        id: errata.tutorial.id.clone(),
        title: errata.tutorial.title.clone(),
        lead: errata.lead,
        judged: words::judged(digest.judged_version()),
        tutorials: tutorials.map(|t| (t.id.clone(), errata_path(&t.id), t.id == tutorial.id)).collect(),
        simulation: errata.groups.iter().flat_map(|g| &g.entries).any(|e| e.simulated).then(words::simulation),
        groups: errata.groups.iter().map(group).collect(),
    };
    let title = format!("Errata of {}", tutorial.id);
    let description = format!("Corrections to {} by weight and line.", tutorial.title);
    let frame = Frame::new(digest, errata_path(&tutorial.id), "errata", title, description);
    engine.page("errata.html", &frame, &view)
}

fn group(group: &crate::errata::Group) -> Group {
    let entries = group.entries.iter().map(|entry| Entry {
        id: entry.claim.id.clone(),
        short: entry.claim.id.split_once('.').map_or(entry.claim.id.as_str(), |(_, rest)| rest).into(),
        href: claim_path(&entry.claim.id),
        lines: entry.lines(),
        says: entry.claim.statement.clone(),
        label: entry.label(),
        right: entry.right(),
        verdict: tags::verdict(entry.verdict.verdict),
        simulated: entry.simulated,
    });
    Group { key: group.key, tag: group.tag, title: group.title, gloss: group.gloss, entries: entries.collect() }
}
