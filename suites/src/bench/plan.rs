//! What is measured, and how long it will take.

use super::cell::Cell;
use super::entrant::Entrant;
use crate::record::Params;
use crate::workloads::{TRANSFERS, WORKLOADS, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

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
const SHORTEST: Timing = Timing { samples: 10, warm_up: Duration::from_millis(10), time: Duration::from_millis(50) };

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
    /// A sample of one iteration, by subject and cell.
    pub cells: BTreeMap<(String, Cell), Duration>,
}

impl Plan {
    /// Every size of these workloads, timed thoroughly.
    pub fn whole(workloads: &[&'static str]) -> Plan {
        let mut cells = Vec::new();
        for workload in WORKLOADS.iter().filter(|workload| workloads.contains(&workload.name)) {
            for dtype in workload.dtypes {
                let params = |elements: &u64| Params { dtype: dtype.name().into(), elements: *elements };
                let cell = |elements| Cell { workload: workload.name, params: params(elements) };
                cells.extend(workload.sizes.iter().map(cell));
            }
        }
        Plan { cells, timing: THOROUGH, cut: Vec::new() }
    }

    /// A first look: all cuts but the last.
    pub fn quick(workloads: &[&'static str]) -> Plan {
        let mut plan = Plan::whole(workloads);
        CUTS[..CUTS.len() - 1].iter().for_each(|cut| plan.cut(cut));
        plan
    }

    /// How long the rounds will take.
    pub fn price(&self, prices: &Prices, entrants: &[Entrant], rounds: u32) -> Duration {
        let each = |entrant: &Entrant| -> Duration {
            let subject = &entrant.launch.subject.id;
            let wanted = self.cells.iter().filter(|cell| entrant.wants(cell));
            let cells = wanted.filter_map(|cell| prices.cells.get(&(subject.clone(), cell.clone())));
            let start = prices.starts.get(subject).copied().unwrap_or_default();
            start + cells.map(|one| self.timing.price(*one)).sum::<Duration>()
        };
        entrants.iter().map(each).sum::<Duration>() * rounds
    }

    /// Cuts until the rounds fit the time allowed.
    pub fn fit(&mut self, allowed: Duration, prices: &Prices, entrants: &[Entrant], rounds: u32) {
        for cut in &CUTS {
            if self.price(prices, entrants, rounds) <= allowed {
                return;
            }
            self.cut(cut);
        }
    }

    fn cut(&mut self, (words, cut): &(&str, Cut)) {
        let before = (self.cells.len(), self.timing);
        match cut {
            Cut::Timing(timing) if timing.time < self.timing.time => self.timing = *timing,
            Cut::Timing(_) => {}
            Cut::LeaveOut(unwanted) => self.cells.retain(|cell| {
                let workload = crate::workloads::find(cell.workload);
                !workload.is_some_and(|workload| unwanted(workload, &cell.params))
            }),
        }
        if before != (self.cells.len(), self.timing) {
            self.cut.push((*words).into());
        }
    }
}

/// Whether a claim compares this workload with another.
fn compared(workload: &str) -> bool {
    crate::claims::catalogue().is_ok_and(|catalogue| catalogue.compared().any(|compared| compared == workload))
}

/// One way to make a plan shorter.
enum Cut {
    /// Other samples.
    Timing(Timing),
    /// Without the cells for which this holds.
    LeaveOut(fn(&Workload, &Params) -> bool),
}

/// What is cut, in this order: samples first, then sizes that say least. Rounds are never cut.
const CUTS: [(&str, Cut); 9] = [
    ("10 samples a cell instead of 20, within 0.15 s instead of 0.6 s", Cut::Timing(SHORT)),
    (
        "dtypes other than the first: 1,000,000 elements only, 67,108,864 on a device",
        Cut::LeaveOut(|workload, params| {
            workload.dtypes[0].name() != params.dtype && ![1_000_000, 1 << 26].contains(&params.elements)
        }),
    ),
    (
        "on a device: 16 KiB, 256 KiB, 4 MiB, 64 MiB and 1 GiB left out",
        Cut::LeaveOut(|workload, params| {
            let nth = TRANSFERS.iter().position(|size| *size == params.elements);
            workload.sizes == TRANSFERS && nth.is_some_and(|nth| nth % 2 == 1)
        }),
    ),
    (
        "loops and chunks: 10,000,000 elements left out",
        Cut::LeaveOut(|workload, params| {
            workload.sizes.last() == Some(&params.elements) && params.elements == 10_000_000
        }),
    ),
    (
        "on the host: 64,000,000 elements left out",
        Cut::LeaveOut(|workload, params| workload.device.is_none() && params.elements == 64_000_000),
    ),
    ("1 element left out", Cut::LeaveOut(|_, params| params.elements == 1)),
    (
        "what claims compare: 10,000 elements left out",
        Cut::LeaveOut(|workload, params| compared(workload.name) && params.elements == 10_000),
    ),
    (
        "what no claim compares: 10,000, 100,000 and 1,000,000 elements only, on a device all that are left",
        Cut::LeaveOut(|workload, params| {
            !compared(workload.name)
                && workload.device.is_none()
                && ![10_000, 100_000, 1_000_000].contains(&params.elements)
        }),
    ),
    ("10 samples a cell within 0.05 s", Cut::Timing(SHORTEST)),
];

impl Timing {
    /// What a cell costs whose iteration takes so long. A sample has at least one iteration, and criterion warms up with
    /// whole iterations too.
    fn price(self, one: Duration) -> Duration {
        self.warm_up.max(one) + self.time.max(one * self.samples as u32) + one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::entrant::launch;
    use crate::record::CPU;

    #[test]
    fn a_plan_is_cut_until_it_fits_and_says_so() {
        let mut plan = Plan::whole(&["loop.allocating", "add.in-place"]);
        let launch = launch("a", CPU);
        let entrants = [Entrant { name: "a".into(), launch: &launch, only: None }];
        let slow = |cell: &Cell| cell.workload.starts_with("loop.") && cell.params.elements == 10_000_000;
        let price = |cell: &Cell| Duration::from_nanos(if slow(cell) { 5_000_000_000 } else { 1_000 });
        let cells = plan.cells.iter().map(|cell| (("a".to_owned(), cell.clone()), price(cell))).collect();
        let prices = Prices { starts: BTreeMap::new(), cells };
        let whole = plan.price(&prices, &entrants, 3);
        plan.fit(whole, &prices, &entrants, 3);
        assert!(plan.cut.is_empty());
        plan.fit(whole / 4, &prices, &entrants, 3);
        assert!(plan.cut.iter().any(|words| words.starts_with("loops")), "{:?}", plan.cut);
        assert!(!plan.cells.iter().any(slow));
        assert!(plan.price(&prices, &entrants, 3) <= whole / 4);
    }

    #[test]
    fn a_quick_plan_keeps_the_tutorials_own_size() {
        let plan = Plan::quick(&["loop.allocating", "add.in-place"]);
        for workload in ["loop.allocating", "add.in-place"] {
            assert!(plan.cells.iter().any(|cell| cell.workload == workload && cell.params.elements == 1_000_000));
        }
        assert!(!plan.cut.is_empty());
    }

    #[test]
    fn a_quick_plan_keeps_every_dtype_and_several_sizes_on_a_device() {
        for workload in WORKLOADS {
            let plan = Plan::quick(&[workload.name]);
            for dtype in workload.dtypes {
                assert!(plan.cells.iter().any(|cell| cell.params.dtype == dtype.name()), "{} {dtype}", workload.name);
            }
            let first = plan.cells.iter().filter(|cell| cell.params.dtype == workload.dtypes[0].name()).count();
            assert!(first > 1, "{}", workload.name);
        }
    }
}
