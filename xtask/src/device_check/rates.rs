//! What the transfers and sums of a run reached, as shares of what the device itself reaches.

use suites::judge::{AGAIN, median};
use suites::record::{Params, Record, cells};
use suites::workloads::{Workload, find};

/// A line for each subject and each workload that another one bounds, at the largest size that both were measured at.
pub fn rates(records: &[Record]) -> Vec<String> {
    let cells = cells(records);
    let time = |subject: &str, workload: &str, params: &Params| -> Option<f64> {
        let rounds = cells.get(&(subject, workload, params))?;
        Some(median(rounds.iter().flat_map(|round| round.per_iteration()).collect()))
    };
    let mut largest: Vec<(&str, &str, &Params)> = Vec::new();
    for &(subject, workload, params) in cells.keys().filter(|cell| cell.0 != AGAIN) {
        let bound = find(workload).and_then(Workload::bound_by);
        if bound.is_none_or(|bound| time(subject, bound, params).is_none()) {
            continue;
        }
        let same =
            |one: &&mut (&str, &str, &Params)| (one.0, one.1, &one.2.dtype) == (subject, workload, &params.dtype);
        match largest.iter_mut().find(same) {
            Some(one) => one.2 = if one.2.elements < params.elements { params } else { one.2 },
            None => largest.push((subject, workload, params)),
        }
    }
    let line = |(subject, workload, params): (&str, &str, &Params)| {
        let bound = find(workload)?.bound_by()?;
        let (own, limit) = (time(subject, workload, params)?, time(subject, bound, params)?);
        Some(format!(
            "{subject}: {workload} of {params}: {:.1} GB/s, {:.0} % of {bound}",
            params.bytes() as f64 / own,
            100.0 * limit / own
        ))
    };
    largest.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use suites::record::Measurement;

    fn measured(subject: &str, workload: &str, elements: u64, nanoseconds: u64) -> Record {
        Record::Measurement(Measurement {
            subject: subject.into(),
            device: "cpu".into(),
            workload: workload.into(),
            params: Params { dtype: "f32".into(), elements },
            round: 1,
            iterations: vec![2; 3],
            nanoseconds: vec![2 * nanoseconds; 3],
            accounting: None,
            gpu: None,
            error: None,
        })
    }

    #[test]
    fn each_is_held_against_its_own_subjects_limit_at_the_largest_common_size() {
        let records = [
            measured("reference", "device-copy.up", 1000, 100),
            measured("reference", "device-copy.up", 10_000, 1000),
            measured("pytorch", "device-copy.up", 10_000, 800),
            measured("reference", "upload.pinned", 1000, 150),
            measured("reference", "upload.pinned", 10_000, 1250),
            measured("reference", "upload.pinned", 100_000, 9000),
            measured("pytorch", "upload.pinned", 10_000, 1600),
            measured("reference", "device-add.in-place", 10_000, 500),
        ];
        assert_eq!(
            rates(&records),
            [
                "pytorch: upload.pinned of f32 10000: 25.0 GB/s, 50 % of device-copy.up",
                "reference: upload.pinned of f32 10000: 32.0 GB/s, 80 % of device-copy.up",
            ]
        );
        assert!(rates(&[]).is_empty());
    }
}
