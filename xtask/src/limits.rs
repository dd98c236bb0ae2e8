//! The machine's own limit, for the report to hold every curve against.

use std::hint::black_box;
use std::time::Instant;
use suites::record::Loop;

/// As many passes as touch this many bytes are timed, but no fewer than the least and no more than the most.
const TOUCHED: u64 = 64 << 20;
const LEAST: u64 = 5;
const MOST: u64 = 200;

/// Times each plain loop over a block of so many bytes: nanoseconds of one pass, the median of several.
pub fn time(bytes: u64) -> Vec<(Loop, f64)> {
    let elements = usize::try_from(bytes / 4).unwrap_or(usize::MAX).max(1);
    let (source, mut target) = (vec![1.0f32; elements], vec![2.0f32; elements]);
    let passes = (TOUCHED / bytes.max(1)).clamp(LEAST, MOST);
    vec![
        (Loop::Read, median(passes, bytes, || _ = black_box(kernels::limits::read(black_box(&source))))),
        (Loop::Fill, median(passes, bytes, || kernels::limits::fill(black_box(&mut target), 3.0))),
        (Loop::Copy, median(passes, bytes, || kernels::limits::copy(black_box(&source), black_box(&mut target)))),
    ]
}

/// The clock cannot see a pass over a small block, so several are timed as one.
const SEEN: u64 = 1 << 20;

fn median(passes: u64, bytes: u64, mut pass: impl FnMut()) -> f64 {
    let together = (SEEN / bytes.max(1)).clamp(1, 10_000);
    pass();
    let one = |_| {
        let start = Instant::now();
        (0..together).for_each(|_| pass());
        start.elapsed().as_nanos() as f64 / together as f64
    };
    suites::judge::median((0..passes).map(one).collect())
}
