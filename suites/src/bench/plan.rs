//! What is measured, and how long it will take.

use crate::record::Params;
use crate::workloads::{SIZES, WORKLOADS, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// One workload at one size.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The workload's name.
    pub workload: &'static str,
    /// Its parameters.
    pub params: Params,
}

/// How one cell is timed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Samples.
    pub samples: usize,
    /// Warm-up before the samples.
    pub warm_up: Duration,
    /// Time for all samples.
    pub time: Duration,
}

const THOROUGH: Timing = Timing { samples: 20, warm_up: Duration::from_millis(200), time: Duration::from_millis(600) };
const SHORT: Timing = Timing { samples: 10, warm_up: Duration::from_millis(30), time: Duration::from_millis(150) };

/// What a round of measuring does on each launch.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The cells, in order.
    pub cells: Vec<Cell>,
    /// How each is timed.
    pub timing: Timing,
    /// What was cut to fit the time, in words.
    pub cut: Vec<String>,
}

/// What things cost on each launch, as one probe of each showed.
#[derive(Debug, Default)]
pub struct Prices {
    /// Starting the process and importing the library, by subject.
    pub starts: BTreeMap<String, Duration>,
    /// Nanoseconds of one iteration, by subject and cell.
    pub cells: BTreeMap<(String, Cell), u64>,
}

impl Plan {
    /// Everything, timed thoroughly.
    pub fn whole() -> Plan {
        let cell = |workload: &Workload, elements| Cell {
            workload: workload.name,
            params: Params { dtype: "f32".into(), elements },
        };
        let cells = WORKLOADS.iter().flat_map(|workload| SIZES.map(|elements| cell(workload, elements))).collect();
        Plan { cells, timing: THOROUGH, cut: Vec::new() }
    }

    /// How long the rounds will take on these launches.
    pub fn price(&self, prices: &Prices, launches: &[String], rounds: u32) -> Duration {
        let each = |launch: &String| -> Duration {
            let cells = self.cells.iter().filter_map(|cell| prices.cells.get(&(launch.clone(), cell.clone())));
            let start = prices.starts.get(launch).copied().unwrap_or_default();
            start + cells.map(|nanoseconds| self.timing.price(*nanoseconds)).sum::<Duration>()
        };
        launches.iter().map(each).sum::<Duration>() * rounds
    }

    /// Cuts until the rounds fit the time allowed: fewer samples, shorter cells, fewer sizes for loops, then for all.
    pub fn fit(&mut self, allowed: Duration, prices: &Prices, launches: &[String], rounds: u32) {
        type Cut = fn(&mut Plan);
        let steps: [(&str, Cut); 3] = [
            ("10 samples a cell instead of 20, within 0.15 s instead of 0.6 s", |plan| plan.timing = SHORT),
            ("loops: 10,000,000 elements left out", |plan| plan.leave_out(|w, size| w.is_loop && size == SIZES[4])),
            ("10,000 elements left out", |plan| plan.leave_out(|_, size| size == SIZES[1])),
        ];
        for (words, cut) in steps {
            if self.price(prices, launches, rounds) <= allowed {
                return;
            }
            cut(self);
            self.cut.push(words.into());
        }
    }

    fn leave_out(&mut self, unwanted: impl Fn(&Workload, u64) -> bool) {
        self.cells.retain(|cell| {
            crate::workloads::find(cell.workload).is_none_or(|workload| !unwanted(workload, cell.params.elements))
        });
    }
}

impl Timing {
    /// What a cell costs whose iteration takes so long. A sample has at least one iteration, and criterion warms up with
    /// whole iterations too.
    fn price(self, nanoseconds: u64) -> Duration {
        let one = Duration::from_nanos(nanoseconds);
        self.warm_up.max(one) + self.time.max(one * self.samples as u32) + one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_cut_until_it_fits_and_says_so() {
        let mut plan = Plan::whole();
        let launches = ["a".to_owned(), "b".to_owned()];
        let slow = |cell: &Cell| cell.workload.starts_with("loop.") && cell.params.elements == SIZES[4];
        let price = |cell: &Cell| if slow(cell) { 5_000_000_000 } else { 1_000 };
        let cell = |launch: &String, cell: &Cell| ((launch.clone(), cell.clone()), price(cell));
        let cells = launches.iter().flat_map(|launch| plan.cells.iter().map(move |of| cell(launch, of))).collect();
        let prices = Prices { starts: BTreeMap::new(), cells };
        let whole = plan.price(&prices, &launches, 3);
        plan.fit(whole, &prices, &launches, 3);
        assert!(plan.cut.is_empty());
        plan.fit(whole / 4, &prices, &launches, 3);
        assert_eq!(plan.cut.len(), 2);
        assert!(!plan.cells.iter().any(slow));
        assert!(plan.price(&prices, &launches, 3) <= whole / 4);
    }
}
