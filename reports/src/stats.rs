//! What the samples of one cell come to.

use suites::record::Measurement;

/// The time of one iteration, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The median over all samples of all rounds.
    pub median: f64,
    /// An interval that holds the median: its 95 % rank interval over the samples, widened to the median of each round,
    /// because samples of one process resemble each other.
    pub interval: [f64; 2],
    /// Samples.
    pub samples: usize,
}

/// Sums up the rounds of one cell; `None` when there is no sample.
pub fn cell(rounds: &[&Measurement]) -> Option<Cell> {
    let mut all = Vec::new();
    let mut medians = Vec::new();
    for round in rounds {
        let mut times = round.per_iteration();
        times.sort_by(f64::total_cmp);
        medians.extend(median(&times));
        all.extend(times);
    }
    all.sort_by(f64::total_cmp);
    let median = median(&all)?;
    let [a, b] = rank_interval(&all);
    let interval = [medians.iter().copied().fold(a, f64::min), medians.iter().copied().fold(b, f64::max)];
    Some(Cell { median, interval, samples: all.len() })
}

/// The middle of sorted values.
fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted {
        [] => None,
        _ if sorted.len() % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The order statistics between which the median lies with 95 %: ranks n/2 ± 0.98 √n, the normal form of the binomial.
fn rank_interval(sorted: &[f64]) -> [f64; 2] {
    let n = sorted.len() as f64;
    let reach = 0.98 * n.sqrt();
    let low = (n / 2.0 - reach).floor().max(0.0) as usize;
    let high = ((n / 2.0 + reach).ceil() as usize).min(sorted.len() - 1);
    [sorted[low], sorted[high]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use suites::record::Params;

    fn round(nanoseconds: Vec<u64>) -> Measurement {
        Measurement {
            subject: "pytorch".into(),
            device: "cpu".into(),
            workload: "add.in-place".into(),
            params: Params { dtype: "f32".into(), elements: 1000 },
            round: 1,
            iterations: vec![10; nanoseconds.len()],
            nanoseconds,
            accounting: None,
            gpu: None,
            error: None,
        }
    }

    #[test]
    fn the_median_is_over_all_samples_and_the_interval_holds_every_round() {
        let (a, b) = (round(vec![100, 110, 120]), round(vec![200, 210, 220]));
        let cell = cell(&[&a, &b]).unwrap();
        assert_eq!((cell.median, cell.samples), (16.0, 6));
        assert!(cell.interval[0] <= 11.0 && cell.interval[1] >= 21.0, "{cell:?}");
    }

    #[test]
    fn many_samples_narrow_the_interval() {
        let rounds = round((0..1000).map(|i| 1000 + i).collect());
        let cell = cell(&[&rounds]).unwrap();
        assert!(cell.interval[0] > 145.0 && cell.interval[1] < 155.0, "{cell:?}");
    }

    #[test]
    fn no_sample_gives_no_number() {
        assert_eq!(cell(&[]), None);
        assert_eq!(cell(&[&round(Vec::new())]), None);
    }
}
