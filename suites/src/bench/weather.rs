//! The machine's own noise: fixed work, timed again and again.

use crate::record::{Grade, Weather};
use std::hint::black_box;
use std::time::Instant;

const TRIES: usize = 5;
const BYTES: usize = 16 << 20;

/// One reading; takes about a twentieth of a second.
pub fn reading(when: String) -> Weather {
    let source = vec![1u8; BYTES];
    let mut target = vec![2u8; BYTES];
    Weather {
        when,
        arithmetic: timed(|| {
            black_box((0..2_000_000u64).fold(1u64, |sum, i| black_box(sum.wrapping_mul(i | 1))));
        }),
        copy: timed(|| black_box(&mut target).copy_from_slice(black_box(&source))),
        first_touch: timed(|| drop(black_box(vec![1u8; BYTES]))),
    }
}

fn timed(mut work: impl FnMut()) -> [u64; 2] {
    let mut times = [0; TRIES];
    for time in &mut times {
        let start = Instant::now();
        work();
        *time = start.elapsed().as_nanos() as u64;
    }
    times.sort_unstable();
    [times[0], times[TRIES - 1]]
}

/// How comparable the run's times are: by how far apart the fastest tries of its readings are, in arithmetic and in
/// copying. First touch depends on what the system does beside and is only shown.
pub fn grade(readings: &[Weather]) -> Option<Grade> {
    let spread = |of: fn(&Weather) -> u64| {
        let (least, most) = (readings.iter().map(of).min()?, readings.iter().map(of).max()?);
        Some(most as f64 / least.max(1) as f64)
    };
    let spread = spread(|w| w.arithmetic[0])?.max(spread(|w| w.copy[0])?);
    Some(match spread {
        s if s <= 1.05 => Grade::Quiet,
        s if s <= 1.25 => Grade::Usable,
        _ => Grade::DoNotCompare,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weather(arithmetic: u64, copy: u64) -> Weather {
        let twice = |t| [t, 2 * t];
        Weather { when: String::new(), arithmetic: twice(arithmetic), copy: twice(copy), first_touch: twice(1) }
    }

    #[test]
    fn the_worst_spread_decides() {
        assert_eq!(grade(&[]), None);
        assert_eq!(grade(&[weather(100, 100), weather(104, 100)]), Some(Grade::Quiet));
        assert_eq!(grade(&[weather(100, 100), weather(100, 120)]), Some(Grade::Usable));
        assert_eq!(grade(&[weather(100, 100), weather(200, 100)]), Some(Grade::DoNotCompare));
    }
}
