//! What PyTorch does: cases that bear on no claim.

use super::engine::Engine;
use super::facts::Table;
use super::frame::Frame;
use crate::digest::Digest;
use crate::words;
use serde::Serialize;
use suites::record::{JUDGED, Outcome, OutcomeKind};

#[derive(Serialize)]
struct View {
    lead: String,
    version: String,
    table: Table,
}

fn cases<'a>(digest: &'a Digest<'a>) -> impl Iterator<Item = &'a Outcome> {
    let on_pytorch = digest.outcomes.iter().copied().filter(|outcome| outcome.subject == JUDGED);
    on_pytorch.filter(|outcome| outcome.claims.is_empty() && outcome.outcome != OutcomeKind::NotRun)
}

/// Whether the site has this page.
pub fn exists(digest: &Digest) -> bool {
    cases(digest).next().is_some()
}

/// Builds the page, where there is something to show.
pub fn page(engine: &Engine, digest: &Digest) -> Result<Option<(String, String)>, String> {
    if !exists(digest) {
        return Ok(None);
    }
    let cases: Vec<&Outcome> = cases(digest).collect();
    let view = View {
        lead: words::known(cases.len()),
        version: digest.judged_version().unwrap_or_default().into(),
        table: Table::facts_alone(cases),
    };
    let description = "Facts on PyTorch that no claim rests on.";
    let frame = Frame::new(digest, "known.html".into(), "known", "What PyTorch does".into(), description.into());
    engine.page("known.html", &frame, &view).map(Some)
}
