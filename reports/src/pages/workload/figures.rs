//! The plots of a family: one for each variant, on shared axes.

use super::measured::{Subjects, Variants};
use crate::digest::Digest;
use crate::plot::{self, Plot, Point, Series, Size, Unit};
use crate::stats::Cell;
use crate::{numbers, subjects, words};
use serde::Serialize;
use std::collections::BTreeMap;
use suites::record::{Loop, Params, WorkloadInfo};

/// One plot, drawn for each width, and what stands above it.
#[derive(Serialize)]
pub struct Figure {
    title: String,
    caption: String,
    wide: String,
    narrow: String,
    absent: String,
}

/// Draws what has times.
pub fn draw(digest: &Digest, variants: &Variants) -> Result<Vec<Figure>, String> {
    let series: Vec<_> = variants.iter().map(|(key, subjects)| (key, subjects, curves(subjects))).collect();
    // Small multiples share their axes, so that a look across them compares.
    let points = || series.iter().flat_map(|(_, _, curves)| curves.iter().flat_map(|curve| &curve.points));
    let Some(first) = points().next() else { return Ok(Vec::new()) };
    let limits = variants.iter().flat_map(|(key, subjects)| limit(digest, key.0, subjects));
    let limits = limits.map(|(_, each)| [each, each]);
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
        let info = digest.workloads.get(workload);
        let unit = unit(info.copied(), dtype);
        let desc = describe(curves, unit);
        let absent: Vec<String> = subjects
            .iter()
            .filter(|(_, sizes)| sizes.values().all(|measured| measured.cell.is_none()))
            .map(|((_, subject), _)| subjects::name(subject).to_string())
            .collect();
        let limit = limit(digest, workload, subjects);
        let bound = info.and_then(|info| info.bound).filter(|_| !limit.is_empty());
        let plot = Plot { id, title: title.clone(), desc, series: curves.clone(), limit, unit, sizes, range };
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

/// What moves to, from or on a device is told in bytes.
fn unit(info: Option<&WorkloadInfo>, dtype: &str) -> Unit {
    match (Params { dtype: dtype.into(), elements: 1 }).bytes() {
        each @ 1.. if info.is_some_and(|info| info.device.is_some()) => Unit::Bytes(each),
        _ => Unit::Elements,
    }
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

/// The plain loop that bounds a workload, in nanoseconds per element, at every size at which a subject was timed. A limit
/// that differs by subject is no line: it stands in the tables.
fn limit(digest: &Digest, workload: &str, subjects: &Subjects) -> Vec<(u64, f64)> {
    let mut limits = BTreeMap::new();
    if digest.workloads.get(workload).is_none_or(|info| info.bound.is_none()) {
        return Vec::new();
    }
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

fn describe(curves: &[Series], unit: Unit) -> String {
    let parts = curves.iter().filter_map(|curve| {
        let (first, last) = (curve.points.first()?, curve.points.last()?);
        let at = |p: &Point| format!("{} ns per element at {}", numbers::three(p.value), unit.said(p.elements));
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
