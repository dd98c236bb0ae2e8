//! The page of one family of workloads: time per element against size, what transfers cost, and the tables behind it.

mod costs;
mod figures;
mod gpu;
mod measured;
mod tables;

use super::effects::Effects;
use super::engine::Engine;
use super::frame::{Frame, claim_path, date, workload_path};
use crate::digest::{Digest, family};
use crate::tags::Tag;
use crate::{numbers, subjects, words};
use costs::Costs;
use figures::Figure;
use measured::Variants;
use serde::Serialize;
use std::collections::BTreeSet;
use suites::claims::Claim;
use suites::record::{DEFAULT_DTYPE, Effect, JUDGED, Slope, WorkloadInfo};
use tables::Table;

#[derive(Serialize)]
struct View {
    name: String,
    lead: String,
    pages: Vec<(String, String, bool)>,
    claims: Vec<Judged>,
    variants: Vec<Variant>,
    /// The device that these workloads need.
    device: Option<String>,
    imported: Option<Imported>,
    figures: Vec<Figure>,
    growth: Vec<Growth>,
    found: Found,
}

/// What one variant does, and, where a device has a clock of its own, whose clock timed it.
#[derive(Serialize)]
struct Variant {
    name: String,
    about: String,
    clock: Option<&'static str>,
}

/// What another machine measured.
#[derive(Serialize)]
struct Imported {
    machine: String,
    started: String,
    /// Its curves, where this machine has none.
    figures: Vec<Figure>,
    found: Found,
}

/// What one run found of a family.
#[derive(Serialize)]
struct Found {
    /// What the GPU did meanwhile.
    gpu: Option<String>,
    costs: Option<Costs>,
    tables: Vec<Table>,
}

impl Found {
    fn new(digest: &Digest, name: &str, variants: &Variants) -> Self {
        let card = digest.header.machine.gpu.as_ref().map_or("The GPU", |gpu| &gpu.name);
        let measurements = digest.measurements.iter().copied().filter(|m| family(&m.workload) == name);
        Found {
            gpu: gpu::line(card, measurements),
            costs: Costs::new(digest, name, variants),
            tables: variants.iter().map(|(key, subjects)| tables::table(digest, *key, subjects)).collect(),
        }
    }
}

/// How one variant's time grows on one subject.
#[derive(Serialize)]
struct Growth {
    variant: String,
    subject: String,
    slope: String,
    interval: String,
}

#[derive(Serialize)]
struct Judged {
    id: String,
    href: String,
    statement: String,
    verdict: Tag,
    effects: Option<Effects>,
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest, imported: &[Digest], name: &str) -> Result<(String, String), String> {
    let mut infos = digest.workloads.values().filter(|info| family(&info.workload) == name);
    let device = infos.find_map(|info| info.device.clone());
    let measured = measured::collect(digest, name);
    let figures = figures::draw(digest, &measured)?;
    let mut others = imported.iter().filter(|_| device.is_some()).map(|other| (other, measured::collect(other, name)));
    let imported = others.find(|(_, measured)| timed(measured));
    let imported = imported.map(|(other, measured)| imported_from(other, name, &measured, figures.is_empty()));
    let claims = claims(digest, name);
    let view = View {
        name: name.into(),
        lead: lead(digest, &measured, &claims),
        pages: digest.workload_pages().iter().map(|p| (p.to_string(), workload_path(p), *p == name)).collect(),
        claims: claims.iter().map(|claim| judged(digest, claim)).collect(),
        variants: variants(digest, &measured),
        device,
        imported: imported.transpose()?,
        figures,
        growth: growth(digest, name),
        found: Found::new(digest, name, &measured),
    };
    let description = format!("Time and bytes of {name}, by subject and size.");
    let frame = Frame::new(digest, workload_path(name), "workload", format!("Workload {name}"), description);
    engine.page("workload.html", &frame, &view)
}

/// What another machine measured of a family.
fn imported_from(digest: &Digest, name: &str, measured: &Variants, draw: bool) -> Result<Imported, String> {
    let machine = &digest.header.machine;
    let gpu = machine.gpu.as_ref().map(|gpu| format!(" with {}", gpu.name)).unwrap_or_default();
    Ok(Imported {
        machine: format!("{}{gpu}", machine.processor),
        started: date(&digest.header.started),
        figures: if draw { figures::draw(digest, measured)? } else { Vec::new() },
        found: Found::new(digest, name, measured),
    })
}

/// Whether anything of it has a time.
fn timed(measured: &Variants) -> bool {
    let sizes = measured.values().flat_map(|subjects| subjects.values());
    sizes.flat_map(|sizes| sizes.values()).any(|measured| measured.cell.is_some())
}

fn claims<'a>(digest: &Digest<'a>, name: &str) -> Vec<&'a Claim> {
    let compared = |claim: &&Claim| claim.workloads().is_some_and(|(slower, _)| family(slower) == name);
    digest.catalogue.claims.iter().filter(compared).collect()
}

fn lead(digest: &Digest, measured: &Variants, claims: &[&Claim]) -> String {
    let Some((claim, (slower, faster))) = claims.iter().find_map(|claim| Some((claim, claim.workloads()?))) else {
        let variants: BTreeSet<_> = measured.keys().map(|key| key.0).collect();
        let timed = || measured.values().flatten().filter(|(_, sizes)| sizes.values().any(|m| m.cell.is_some()));
        let subjects: BTreeSet<_> = timed().map(|(subject, _)| subject).collect();
        let sizes: BTreeSet<_> = timed().flat_map(|(_, sizes)| sizes.keys()).collect();
        return words::measured(variants.len(), subjects.len(), sizes.len());
    };
    let judged = |effect: &&Effect| effect.subject == JUDGED && effect.params.dtype == DEFAULT_DTYPE;
    let effects: Vec<_> = digest.effects_of(&claim.id).into_iter().filter(judged).collect();
    let holds = effects.iter().filter(|effect| effect.effect == suites::record::EffectKind::Holds).count();
    let low = effects.iter().map(|effect| effect.ratio).fold(f64::INFINITY, f64::min);
    let high = effects.iter().map(|effect| effect.ratio).fold(0.0, f64::max);
    let range = if effects.len() == 1 { numbers::factor(low) } else { numbers::factors([low, high]) };
    words::pair(slower, faster, holds, effects.len(), &range)
}

fn judged(digest: &Digest, claim: &Claim) -> Judged {
    Judged {
        id: claim.id.clone(),
        href: claim_path(&claim.id),
        statement: claim.statement.clone(),
        verdict: digest.verdict_tag(&claim.id),
        effects: Effects::by_subject(&digest.effects_of(&claim.id)),
    }
}

fn variants(digest: &Digest, measured: &Variants) -> Vec<Variant> {
    let names: BTreeSet<&str> = measured.keys().map(|key| key.0).collect();
    let infos = names.into_iter().filter_map(|name| digest.workloads.get(name));
    let variant = |info: &WorkloadInfo| Variant {
        name: info.workload.clone(),
        about: info.about.clone(),
        clock: info.device.as_ref().map(|_| words::clock(info.clock)),
    };
    infos.map(|info| variant(info)).collect()
}

fn growth(digest: &Digest, name: &str) -> Vec<Growth> {
    let mut slopes: Vec<_> = digest.slopes.iter().filter(|slope| family(&slope.workload) == name).collect();
    slopes.sort_by_key(|slope| (&slope.workload, &slope.dtype, subjects::order(&slope.subject)));
    let row = |slope: &&&Slope| Growth {
        variant: format!("{}, {}", slope.workload, slope.dtype),
        subject: subjects::name(&slope.subject).into(),
        slope: format!("{:.2}", slope.slope),
        interval: format!("{:.2} to {:.2}", slope.interval[0], slope.interval[1]),
    };
    slopes.iter().map(row).collect()
}
