//! What was measured of a family of workloads, by variant, subject and size.

use crate::digest::{Digest, family};
use crate::stats::{self, Cell};
use crate::subjects;
use std::collections::BTreeMap;
use suites::record::{Accounting, Measurement};

/// What is known of one subject at one size.
#[derive(Default)]
pub struct Measured<'a> {
    /// The time.
    pub cell: Option<Cell>,
    /// Nanoseconds of what bounds the workload.
    pub limit: Option<f64>,
    /// Nanoseconds of what the harness itself costs.
    pub floor: Option<f64>,
    /// The counts.
    pub accounting: Option<Accounting>,
    /// Why there is no time.
    pub error: Option<&'a str>,
}

/// By elements.
pub type Sizes<'a> = BTreeMap<u64, Measured<'a>>;
/// By the subjects' order.
pub type Subjects<'a> = BTreeMap<(usize, &'a str), Sizes<'a>>;
/// By variant and dtype.
pub type Variants<'a> = BTreeMap<(&'a str, &'a str), Subjects<'a>>;

/// Everything that was measured of a family.
pub fn collect<'a>(digest: &Digest<'a>, name: &str) -> Variants<'a> {
    let mut variants = Variants::new();
    for &m in digest.measurements.iter().filter(|m| family(&m.workload) == name) {
        let Measurement { subject, workload, params, .. } = m;
        let subjects = variants.entry((workload, &params.dtype)).or_default();
        let measured = subjects.entry(subjects::order(subject)).or_default().entry(params.elements).or_default();
        measured.accounting = measured.accounting.or(m.accounting);
        measured.error = measured.error.or(m.error.as_deref());
        measured.limit = digest.limit(subject, workload, params);
        measured.floor = digest.floors.get(subject.as_str()).map(|floor| floor.loop_nanoseconds);
        if measured.cell.is_none()
            && let Some(rounds) = digest.cells.get(&(subject.as_str(), workload.as_str(), params))
        {
            measured.cell = stats::cell(rounds);
        }
    }
    variants
}
