//! What a transfer costs out of each kind of host memory.

use super::measured::{Sizes, Subjects, Variants};
use crate::digest::{Digest, family};
use crate::pages::frame::workload_path;
use crate::transfers::{self, Pays, Timed};
use crate::{numbers, subjects};
use serde::Serialize;
use std::collections::BTreeSet;
use suites::record::{DEFAULT_DTYPE, Params};

/// The variants of a family that differ in the host memory that they move from or to.
#[derive(Serialize)]
pub struct Costs {
    /// The workload that is what the link itself does.
    link: String,
    /// Its page, where it was measured.
    href: Option<String>,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    subject: String,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    variant: String,
    latency: String,
    smallest: String,
    bandwidth: String,
    largest: String,
    share: String,
    pays: String,
}

impl Costs {
    /// The costs of a family whose variants are all bounded by one workload, and one of which is pageable memory's.
    pub fn new(digest: &Digest, name: &str, variants: &Variants) -> Option<Self> {
        let infos = digest.workloads.values().filter(|info| family(&info.workload) == name);
        let links: BTreeSet<Option<&str>> = infos.map(|info| info.bound_by.as_deref()).collect();
        let link = links.first().copied().flatten().filter(|_| links.len() == 1)?;
        let pageable = format!("{name}.pageable");
        let of: Vec<(&str, &Subjects)> = variants
            .iter()
            .filter(|(key, _)| key.1 == DEFAULT_DTYPE)
            .map(|(key, subjects)| (key.0, subjects))
            .collect();
        let (_, ordinary) = of.iter().find(|(variant, _)| *variant == pageable)?;
        let everyone: BTreeSet<_> = of.iter().flat_map(|(_, subjects)| subjects.keys()).collect();
        let groups = everyone.into_iter().map(|subject| {
            let ordinary = ordinary.get(subject).map(timed).unwrap_or_default();
            let rows = of.iter().filter_map(|(variant, subjects)| {
                let sizes = subjects.get(subject)?;
                let other = (*variant != pageable).then_some(&ordinary);
                row(variant.strip_prefix(name)?.trim_start_matches('.'), sizes, other)
            });
            Group { subject: subjects::name(subject.1).into(), rows: rows.collect() }
        });
        let groups: Vec<Group> = groups.filter(|group| !group.rows.is_empty()).collect();
        let measured = digest.workload_pages().contains(family(link));
        let href = measured.then(|| workload_path(family(link)));
        (!groups.is_empty()).then(|| Costs { link: link.into(), href, groups })
    }
}

fn bytes(elements: u64) -> u64 {
    Params { dtype: DEFAULT_DTYPE.into(), elements }.bytes()
}

fn timed(sizes: &Sizes) -> Timed {
    sizes.iter().filter_map(|(elements, measured)| Some((bytes(*elements), measured.cell?))).collect()
}

/// One variant on one subject, against the times of pageable memory where it is another.
fn row(variant: &str, sizes: &Sizes, pageable: Option<&Timed>) -> Option<Row> {
    let own = timed(sizes);
    let (smallest, first) = own.first_key_value()?;
    let (largest, last) = own.last_key_value()?;
    let limit = sizes.iter().find(|(elements, _)| bytes(**elements) == *largest).and_then(|(_, found)| found.limit);
    Some(Row {
        variant: variant.into(),
        latency: numbers::time(first.median),
        smallest: numbers::size(*smallest),
        bandwidth: numbers::bandwidth(transfers::bandwidth(*largest, last.median)),
        largest: numbers::size(*largest),
        share: limit.map_or_else(|| "—".into(), |limit| numbers::percent(limit / last.median)),
        pays: match pageable.map(|pageable| transfers::pays(&own, pageable)) {
            None => "—".into(),
            Some(None) => "not compared".into(),
            Some(Some(Pays::Never)) => "never here".into(),
            Some(Some(Pays::From(bytes))) => numbers::size(bytes),
        },
    })
}
