//! The page of one family of workloads: time per element against size, and the table behind it.

use super::effects::Effects;
use super::engine::Engine;
use super::frame::{Frame, claim_path, workload_path};
use crate::digest::{Digest, family};
use crate::plot::{self, Plot, Point, Series, Size};
use crate::stats::{self, Cell};
use crate::tags::Tag;
use crate::{numbers, subjects, words};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use suites::claims::Claim;
use suites::record::{Accounting, DEFAULT_DTYPE, Effect, JUDGED, Loop, Measurement, Slope};

#[derive(Serialize)]
struct View {
    name: String,
    lead: String,
    pages: Vec<(String, String, bool)>,
    claims: Vec<Judged>,
    variants: Vec<(String, String)>,
    /// The device that these workloads need.
    device: Option<String>,
    imported: Option<Imported>,
    figures: Vec<Figure>,
    growth: Vec<Growth>,
    tables: Vec<Table>,
}

/// What another machine measured.
#[derive(Serialize)]
struct Imported {
    processor: String,
    started: String,
    tables: Vec<Table>,
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

#[derive(Serialize)]
struct Figure {
    title: String,
    caption: String,
    wide: String,
    narrow: String,
    absent: String,
}

#[derive(Serialize)]
struct Table {
    id: String,
    title: String,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    subject: String,
    rows: Vec<Row>,
}

#[derive(Serialize, Default)]
struct Row {
    size: String,
    time: String,
    interval: String,
    change: String,
    each: String,
    /// The time of the plain loop as a share of this time.
    share: String,
    /// Whether the time is within three times of what the harness itself costs.
    near_floor: bool,
    peak: String,
    allocations: String,
    kept: String,
    /// Why there is no time, where that is the subject's or the machine's nature and no failure.
    absent: Option<String>,
    error: Option<String>,
}

/// A time below so many times the floor says as much of the harness as of the library.
const NEAR_FLOOR: f64 = 3.0;

/// What is known of one subject at one size.
#[derive(Default)]
struct Measured<'a> {
    cell: Option<Cell>,
    limit: Option<f64>,
    floor: Option<f64>,
    accounting: Option<Accounting>,
    error: Option<&'a str>,
}

type Sizes<'a> = BTreeMap<u64, Measured<'a>>;
/// By the subjects' order.
type Subjects<'a> = BTreeMap<(usize, &'a str), Sizes<'a>>;
/// By variant and dtype.
type Figures<'a> = BTreeMap<(&'a str, &'a str), Subjects<'a>>;

/// Builds the page.
pub fn page(
    engine: &Engine,
    digest: &Digest,
    imported: Option<&Digest>,
    name: &str,
) -> Result<(String, String), String> {
    let mut infos = digest.workloads.values().filter(|info| family(&info.workload) == name);
    let device = infos.find_map(|info| info.device.clone());
    let imported = imported.filter(|_| device.is_some()).map(|other| Imported {
        processor: other.header.machine.processor.clone(),
        started: other.header.started.clone(),
        tables: collect(other, name).iter().map(|(key, subjects)| table(*key, subjects)).collect(),
    });
    let figures = collect(digest, name);
    let claims = claims(digest, name);
    let view = View {
        name: name.into(),
        lead: lead(digest, &figures, &claims),
        pages: digest.workload_pages().iter().map(|p| (p.to_string(), workload_path(p), *p == name)).collect(),
        claims: claims.iter().map(|claim| judged(digest, claim)).collect(),
        variants: variants(digest, &figures),
        device,
        imported,
        figures: draw(digest, &figures)?,
        growth: growth(digest, name),
        tables: figures.iter().map(|(key, subjects)| table(*key, subjects)).collect(),
    };
    let description = format!("Time and bytes of {name}, by subject and size.");
    let frame = Frame::new(digest, workload_path(name), "workload", format!("Workload {name}"), description);
    engine.page("workload.html", &frame, &view)
}

fn collect<'a>(digest: &Digest<'a>, name: &str) -> Figures<'a> {
    let mut figures = Figures::new();
    for &m in digest.measurements.iter().filter(|m| family(&m.workload) == name) {
        let Measurement { subject, workload, params, .. } = m;
        let subjects = figures.entry((workload, &params.dtype)).or_default();
        let measured = subjects.entry(subjects::order(subject)).or_default().entry(params.elements).or_default();
        measured.accounting = measured.accounting.or(m.accounting);
        measured.error = measured.error.or(m.error.as_deref());
        measured.limit = digest.limit(workload, params);
        measured.floor = digest.floors.get(subject.as_str()).map(|floor| floor.loop_nanoseconds);
        if measured.cell.is_none()
            && let Some(rounds) = digest.cells.get(&(subject.as_str(), workload.as_str(), params))
        {
            measured.cell = stats::cell(rounds);
        }
    }
    figures
}

fn claims<'a>(digest: &Digest<'a>, name: &str) -> Vec<&'a Claim> {
    let compared = |claim: &&Claim| claim.workloads().is_some_and(|(slower, _)| family(slower) == name);
    digest.catalogue.claims.iter().filter(compared).collect()
}

fn lead(digest: &Digest, figures: &Figures, claims: &[&Claim]) -> String {
    let Some((claim, (slower, faster))) = claims.iter().find_map(|claim| Some((claim, claim.workloads()?))) else {
        let variants: BTreeSet<_> = figures.keys().map(|key| key.0).collect();
        let timed = || figures.values().flatten().filter(|(_, sizes)| sizes.values().any(|m| m.cell.is_some()));
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

fn variants(digest: &Digest, figures: &Figures) -> Vec<(String, String)> {
    let names: BTreeSet<&str> = figures.keys().map(|key| key.0).collect();
    let about = |name: &str| digest.workloads.get(name).map(|info| (name.to_owned(), info.about.clone()));
    names.into_iter().filter_map(about).collect()
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

fn draw(digest: &Digest, figures: &Figures) -> Result<Vec<Figure>, String> {
    let series: Vec<_> = figures.iter().map(|(key, subjects)| (key, subjects, curves(subjects))).collect();
    // Small multiples share their axes, so that a look across them compares.
    let points = || series.iter().flat_map(|(_, _, curves)| curves.iter().flat_map(|curve| &curve.points));
    let Some(first) = points().next() else { return Ok(Vec::new()) };
    let limits = figures.values().flat_map(limit).map(|(_, each)| [each, each]);
    let range = points().map(|point| point.interval).chain(limits);
    let range = range.fold(first.interval, |[a, b], [low, high]| [a.min(low), b.max(high)]);
    let sizes = points().fold([first.elements; 2], |[a, b], p| [a.min(p.elements), b.max(p.elements)]);
    let mut drawn = Vec::new();
    for ((workload, dtype), subjects, curves) in &series {
        // A single size is no curve, and its numbers stand in the table: it is drawn where nothing else is.
        if curves.is_empty() || (!several(curves) && series.iter().any(|(_, _, curves)| several(curves))) {
            continue;
        }
        let title = format!("{workload}, {dtype}");
        let id = format!("p{}", drawn.len());
        let desc = describe(curves);
        let absent: Vec<String> = subjects
            .iter()
            .filter(|(_, sizes)| sizes.values().all(|measured| measured.cell.is_none()))
            .map(|((_, subject), _)| subjects::name(subject).to_string())
            .collect();
        let limit = limit(subjects);
        let bound = digest.workloads.get(workload).and_then(|info| info.bound).filter(|_| !limit.is_empty());
        let plot = Plot { id, title: title.clone(), desc, series: curves.clone(), limit, sizes, range };
        drawn.push(Figure {
            title,
            caption: caption(curves, bound),
            wide: plot::draw(&plot, Size::Wide)?,
            narrow: plot::draw(&plot, Size::Narrow)?,
            absent: words::list(&absent),
        });
    }
    Ok(drawn)
}

fn several(curves: &[Series]) -> bool {
    curves.iter().any(|curve| curve.points.len() > 1)
}

fn curves(subjects: &Subjects) -> Vec<Series> {
    let curves = subjects.iter().map(|((_, subject), sizes)| Series {
        subject: subject.to_string(),
        points: sizes.iter().filter_map(|(elements, measured)| point(*elements, measured.cell?)).collect(),
    });
    curves.filter(|curve| !curve.points.is_empty()).collect()
}

/// The limit at every size at which a subject was timed, in nanoseconds per element.
fn limit(subjects: &Subjects) -> Vec<(u64, f64)> {
    let mut limits = BTreeMap::new();
    for (elements, measured) in subjects.values().flatten() {
        if let (Some(_), Some(limit), 1..) = (measured.cell, measured.limit, *elements) {
            limits.insert(*elements, limit / *elements as f64);
        }
    }
    limits.into_iter().collect()
}

/// A point, where its logarithms exist.
fn point(elements: u64, cell: Cell) -> Option<Point> {
    let each = |ns: f64| ns / elements as f64;
    let point = Point { elements, value: each(cell.median), interval: cell.interval.map(each) };
    (elements > 0 && point.interval[0] > 0.0).then_some(point)
}

fn describe(curves: &[Series]) -> String {
    let parts = curves.iter().filter_map(|curve| {
        let (first, last) = (curve.points.first()?, curve.points.last()?);
        let at = |p: &Point| {
            format!("{} ns per element at {} elements", numbers::three(p.value), numbers::count(p.elements))
        };
        let name = subjects::name(&curve.subject);
        Some(if curve.points.len() == 1 {
            format!("{name}: {}", at(first))
        } else {
            format!("{name}: {}, {}", at(first), at(last))
        })
    });
    format!("{}.", parts.collect::<Vec<_>>().join("; "))
}

fn caption(curves: &[Series], bound: Option<Loop>) -> String {
    let widest = curves.iter().flat_map(|curve| &curve.points);
    let widest = widest.map(|p| (p.interval[1] - p.interval[0]) / 2.0 / p.value).fold(0.0, f64::max);
    let limit =
        bound.map(|bound| format!(" Limit: a plain {bound} of as many bytes in the same run.")).unwrap_or_default();
    format!(
        "Nanoseconds per element, both axes logarithmic. Smallest visible change of the widest band: {}.{limit}",
        numbers::percent(widest)
    )
}

fn table((workload, dtype): (&str, &str), subjects: &Subjects) -> Table {
    let groups = subjects.iter().map(|((_, subject), sizes)| Group {
        subject: subjects::name(subject).into(),
        rows: sizes.iter().map(|(elements, measured)| row(*elements, measured)).collect(),
    });
    Table { id: format!("table-{workload}-{dtype}"), title: format!("{workload}, {dtype}"), groups: groups.collect() }
}

fn row(elements: u64, measured: &Measured) -> Row {
    let mut row = Row { size: numbers::elements(elements), ..Row::default() };
    let natural = |error: &&str| error.starts_with("unsupported") || error.starts_with("not-run");
    row.absent = measured.error.filter(natural).map(String::from);
    row.error = measured.error.filter(|error| !natural(error)).map(String::from);
    if let Some(cell) = measured.cell {
        row.time = numbers::time(cell.median);
        row.interval = numbers::times(cell.interval);
        row.change = numbers::percent((cell.interval[1] - cell.interval[0]) / 2.0 / cell.median);
        row.each = numbers::three(cell.median / elements.max(1) as f64);
        row.share = measured.limit.map(|limit| numbers::percent(limit / cell.median)).unwrap_or_default();
        row.near_floor = measured.floor.is_some_and(|floor| cell.median < NEAR_FLOOR * floor);
    }
    if let Some(accounting) = measured.accounting {
        row.peak = numbers::bytes(accounting.peak_bytes);
        row.allocations = numbers::count(accounting.allocations);
        row.kept = numbers::signed_bytes(accounting.kept_bytes);
    }
    row
}
