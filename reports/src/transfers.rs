//! What a transfer costs: its bandwidth, and the size from which on it beats another.

use crate::stats::Cell;
use std::collections::BTreeMap;

/// The times of one transfer, by bytes moved.
pub type Timed = BTreeMap<u64, Cell>;

/// From which size on one transfer takes less time than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pays {
    /// From so many bytes on.
    From(u64),
    /// At no size measured, or not at the largest.
    Never,
}

/// Bytes moved in a second, in GB: a byte a nanosecond is one.
pub fn bandwidth(bytes: u64, nanoseconds: f64) -> f64 {
    bytes as f64 / nanoseconds
}

/// The smallest size from which on, at every larger one, the whole interval of `own` lies below that of `other`. Only
/// sizes at which both were timed are compared; `None` where there is none.
pub fn pays(own: &Timed, other: &Timed) -> Option<Pays> {
    let both: Vec<_> = own.iter().filter_map(|(bytes, own)| Some((*bytes, own, other.get(bytes)?))).collect();
    both.last()?;
    let below = both.iter().rev().take_while(|(_, own, other)| own.interval[1] < other.interval[0]);
    Some(below.last().map_or(Pays::Never, |(bytes, ..)| Pays::From(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times with intervals of 10 % to both sides.
    fn timed(times: &[(u64, f64)]) -> Timed {
        let cell = |median: f64| Cell { median, interval: [median * 0.9, median * 1.1], samples: 20 };
        times.iter().map(|(bytes, median)| (*bytes, cell(*median))).collect()
    }

    const PAGEABLE: [(u64, f64); 4] = [(4, 10.0), (16, 20.0), (64, 60.0), (256, 240.0)];

    #[test]
    fn a_byte_a_nanosecond_is_a_gigabyte_a_second() {
        assert_eq!(bandwidth(1 << 30, 20e6), 53.687_091_2);
    }

    #[test]
    fn it_pays_from_where_the_curves_cross() {
        let own = timed(&[(4, 12.0), (16, 19.0), (64, 40.0), (256, 100.0)]);
        assert_eq!(pays(&own, &timed(&PAGEABLE)), Some(Pays::From(64)), "at 16 the intervals overlap");
    }

    #[test]
    fn it_pays_everywhere_or_never() {
        let half = timed(&PAGEABLE.map(|(bytes, time)| (bytes, time / 2.0)));
        assert_eq!(pays(&half, &timed(&PAGEABLE)), Some(Pays::From(4)));
        assert_eq!(pays(&timed(&PAGEABLE), &half), Some(Pays::Never));
        assert_eq!(pays(&half, &half), Some(Pays::Never));
    }

    #[test]
    fn what_pays_in_the_middle_alone_never_pays() {
        let own = timed(&[(4, 12.0), (16, 5.0), (64, 20.0), (256, 300.0)]);
        assert_eq!(pays(&own, &timed(&PAGEABLE)), Some(Pays::Never));
    }

    #[test]
    fn one_size_is_enough() {
        assert_eq!(pays(&timed(&[(64, 20.0)]), &timed(&[(64, 60.0)])), Some(Pays::From(64)));
        assert_eq!(pays(&timed(&[(64, 60.0)]), &timed(&[(64, 60.0)])), Some(Pays::Never));
    }

    #[test]
    fn sizes_that_one_of_them_lacks_say_nothing() {
        let own = timed(&[(16, 10.0), (256, 100.0), (1024, 4_000.0)]);
        assert_eq!(pays(&own, &timed(&PAGEABLE)), Some(Pays::From(16)));
        assert_eq!(pays(&own, &timed(&[(4, 10.0)])), None);
        assert_eq!(pays(&own, &Timed::new()), None);
    }
}
