//! The numbers behind the plots.

use super::measured::{Measured, Subjects};
use crate::digest::{Digest, family};
use crate::{numbers, subjects, transfers};
use serde::Serialize;
use suites::record::{Params, WorkloadInfo};

/// What one variant took, by subject and size.
#[derive(Serialize)]
pub struct Table {
    id: String,
    title: String,
    /// What a share is a share of, where another workload is the limit.
    limit: Option<String>,
    /// Whether sizes are also in bytes.
    bytes: bool,
    /// Whether it has a bandwidth.
    bandwidth: bool,
    /// Columns after the size's that tell of time.
    timed: usize,
    columns: usize,
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
    bytes: String,
    /// The size and the bytes of the last of several sizes that share this row.
    last: Option<[String; 2]>,
    time: String,
    interval: String,
    change: String,
    each: String,
    bandwidth: String,
    /// The time of the limit as a share of this time.
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
/// The copies that bound what moves to, from and on a device.
const COPIES: &str = "device-copy";

/// The table of one variant.
pub fn table(digest: &Digest, (workload, dtype): (&str, &str), subjects: &Subjects) -> Table {
    let info = digest.workloads.get(workload);
    let bytes = info.is_some_and(|info| info.device.is_some());
    let bandwidth = info.is_some_and(|info| moves(info));
    let params = |elements| Params { dtype: dtype.into(), elements };
    let groups = subjects.iter().map(|((_, subject), sizes)| Group {
        subject: subjects::name(subject).into(),
        rows: merged(sizes.iter().map(|(elements, measured)| row(&params(*elements), measured))),
    });
    let timed = 5 + usize::from(bandwidth);
    Table {
        id: format!("table-{workload}-{dtype}"),
        title: format!("{workload}, {dtype}"),
        limit: info.and_then(|info| info.bound_by.as_deref()).map(|by| limit(by, subjects)),
        bytes,
        bandwidth,
        timed,
        columns: 1 + usize::from(bytes) + timed + 3,
        groups: groups.collect(),
    }
}

/// Whether an iteration moves the bytes of one tensor, once.
fn moves(info: &WorkloadInfo) -> bool {
    info.bound_by.is_some() || family(&info.workload) == COPIES
}

fn limit(by: &str, subjects: &Subjects) -> String {
    if subjects.values().flatten().any(|(_, measured)| measured.limit.is_some()) {
        format!("The limit is {by} on the same subject at the same size: its share of this time.")
    } else {
        format!("The limit, {by}, was not measured here.")
    }
}

/// Neighbours of which nothing is known, for the same reason, become one row.
fn merged(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::new();
    for row in rows {
        match merged.last_mut() {
            Some(last) if row.absent.is_some() && last.absent == row.absent && !row.counted() && !last.counted() => {
                last.last = Some([row.size, row.bytes]);
            }
            _ => merged.push(row),
        }
    }
    merged
}

impl Row {
    fn counted(&self) -> bool {
        !self.peak.is_empty()
    }
}

fn row(params: &Params, measured: &Measured) -> Row {
    let (elements, bytes) = (params.elements, params.bytes());
    let mut row = Row { size: numbers::elements(elements), bytes: numbers::size(bytes), ..Row::default() };
    let natural = |error: &&str| error.starts_with("unsupported") || error.starts_with("not-run");
    row.absent = measured.error.filter(|error| measured.cell.is_none() && natural(error)).map(String::from);
    row.error = measured.error.filter(|error| !natural(error)).map(String::from);
    if let Some(cell) = measured.cell {
        row.time = numbers::time(cell.median);
        row.interval = numbers::times(cell.interval);
        row.change = numbers::percent((cell.interval[1] - cell.interval[0]) / 2.0 / cell.median);
        row.each = numbers::three(cell.median / elements.max(1) as f64);
        row.bandwidth = numbers::three(transfers::bandwidth(bytes, cell.median));
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
