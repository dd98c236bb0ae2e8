//! Whether two strided layouts have a byte in common: exact, within a limit of work.
//!
//! Two elements share a byte where `a + x·s + k = b + y·t + l`, with indices and bytes of one element bounded. Counting
//! the indices of one side from their ends turns this into a sum of positive terms: `c1 z1 + c2 z2 + .. = target` with
//! `0 <= zi <= ui`, a bounded Diophantine equation. It is searched depth first, the largest coefficient first. Of each
//! variable only those values are tried that leave a rest within reach of the later terms and divisible by their
//! greatest common divisor, so that what is searched is little, but for strides made to be hard.

use crate::layout::Layout;

/// What is known of two layouts on one storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// No byte belongs to both.
    Apart,
    /// At least one byte belongs to both.
    Shared,
    /// The search met its limit; they may share.
    Unknown,
}

/// Values of one variable tried before the search gives up, all variables together.
const WORK: usize = 1 << 16;

/// Whether any element of one layout shares a byte with any element of the other, both on one storage. Strides and offsets
/// count elements of `a_size` and `b_size` bytes.
pub fn sharing(a: &Layout, a_size: usize, b: &Layout, b_size: usize) -> Sharing {
    if a.numel() == 0 || b.numel() == 0 || a_size == 0 || b_size == 0 {
        return Sharing::Apart;
    }
    // Bytes from the first of `a` to the last of `b`, which the steps of `a` forwards and of `b` backwards must make up.
    let last_of_b = b.end() as i128 * b_size as i128 - 1;
    let target = last_of_b - a.offset() as i128 * a_size as i128;
    let mut terms = vec![Term { step: 1, most: (a_size - 1) as i128 + (b_size - 1) as i128 }];
    for (layout, size) in [(a, a_size), (b, b_size)] {
        let dims = layout.shape().iter().zip(layout.strides());
        terms.extend(
            dims.map(|(count, stride)| Term { step: *stride as i128 * size as i128, most: *count as i128 - 1 }),
        );
    }
    Equation::new(terms).solvable(target)
}

/// `step * z` with `0 <= z <= most`.
#[derive(Clone, Copy)]
struct Term {
    step: i128,
    most: i128,
}

/// Terms from the largest step to the smallest, each with what it and all after it can give.
struct Equation {
    terms: Vec<Term>,
    /// The largest sum of the terms from each on; one more, of none.
    reach: Vec<i128>,
    /// The greatest common divisor of the steps from each term on; one more, of none.
    divisor: Vec<i128>,
}

impl Equation {
    fn new(mut terms: Vec<Term>) -> Equation {
        terms.retain(|term| term.step > 0 && term.most > 0);
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.step));
        terms.dedup_by(|next, kept| {
            let same = next.step == kept.step;
            if same {
                kept.most += next.most;
            }
            same
        });
        let (mut reach, mut divisor) = (vec![0; terms.len() + 1], vec![0; terms.len() + 1]);
        for (at, term) in terms.iter().enumerate().rev() {
            reach[at] = reach[at + 1] + term.step * term.most;
            divisor[at] = bezout(term.step, divisor[at + 1]).0;
        }
        Equation { terms, reach, divisor }
    }

    fn solvable(&self, target: i128) -> Sharing {
        let mut work = WORK;
        match self.search(0, target, &mut work) {
            Some(true) => Sharing::Shared,
            Some(false) => Sharing::Apart,
            None => Sharing::Unknown,
        }
    }

    /// Whether the terms from `at` on can give `rest`; `None` when there is no work left.
    fn search(&self, at: usize, rest: i128, work: &mut usize) -> Option<bool> {
        if rest < 0 || rest > self.reach[at] {
            return Some(false);
        }
        let Some(Term { step, most }) = self.terms.get(at).copied() else { return Some(true) };
        if rest % self.divisor[at] != 0 {
            return Some(false);
        }
        // The least that leaves no more than the later terms can give, and the most that fits.
        let (least, most) = ((rest - self.reach[at + 1] + step - 1).div_euclid(step).max(0), most.min(rest / step));
        // Of every `period` values one leaves a multiple of the later terms' divisor.
        let later = self.divisor[at + 1];
        if later == 0 {
            return Some(rest % step == 0 && least <= most);
        }
        let (common, inverse) = bezout(step, later);
        let period = later / common;
        let residue = (rest / common % period) * inverse.rem_euclid(period) % period;
        let mut value = most - (most - residue).rem_euclid(period);
        while value >= least {
            *work = work.checked_sub(1)?;
            if self.search(at + 1, rest - value * step, work)? {
                return Some(true);
            }
            value -= period;
        }
        Some(false)
    }
}

/// The greatest common divisor of two numbers, and a factor of the first that gives it modulo the second.
fn bezout(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new) = ((a, 1), (b, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn bytes(layout: &Layout, size: usize) -> HashSet<usize> {
        let mut positions = vec![layout.offset()];
        for (count, stride) in layout.shape().iter().zip(layout.strides()) {
            positions = positions.iter().flat_map(|at| (0..*count).map(move |k| at + k * stride)).collect();
        }
        positions.iter().flat_map(|at| at * size..(at + 1) * size).collect()
    }

    fn layouts(stride: usize) -> impl Strategy<Value = Layout> {
        let dims = prop::collection::vec((prop_oneof![9 => 1..5_usize, 1 => Just(0)], 0..stride), 0..5);
        (dims, 0..60_usize).prop_map(|(dims, offset)| {
            let (shape, strides): (Vec<_>, Vec<_>) = dims.into_iter().unzip();
            Layout::new(&shape, &strides, offset).unwrap()
        })
    }

    fn sizes() -> impl Strategy<Value = usize> {
        prop::sample::select(vec![1_usize, 2, 4, 8])
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn the_answer_is_that_of_counting_bytes(a in layouts(30), b in layouts(30), a_size in sizes(), b_size in sizes()) {
            let disjoint = bytes(&a, a_size).is_disjoint(&bytes(&b, b_size));
            let known = if disjoint { Sharing::Apart } else { Sharing::Shared };
            prop_assert_eq!(sharing(&a, a_size, &b, b_size), known);
            prop_assert_eq!(sharing(&b, b_size, &a, a_size), known);
        }

        #[test]
        fn common_divisors_keep_layouts_apart(a in layouts(8), b in layouts(8), factor in 2..7_usize, shift in 1..7_usize) {
            let spread = |layout: &Layout, shift: usize| {
                let strides: Vec<usize> = layout.strides().iter().map(|stride| stride * factor).collect();
                Layout::new(layout.shape(), &strides, layout.offset() * factor + shift).unwrap()
            };
            let (a, b) = (spread(&a, 0), spread(&b, shift % factor));
            let disjoint = bytes(&a, 4).is_disjoint(&bytes(&b, 4));
            prop_assert_eq!(sharing(&a, 4, &b, 4) == Sharing::Apart, disjoint);
            prop_assert!(shift % factor == 0 || disjoint);
        }
    }

    #[test]
    fn even_and_odd_positions_are_apart_though_their_ranges_cross() {
        let (even, odd) = (Layout::new(&[1 << 40], &[2], 0).unwrap(), Layout::new(&[1 << 40], &[2], 1).unwrap());
        assert_eq!(sharing(&even, 4, &odd, 4), Sharing::Apart);
        assert_eq!(sharing(&even, 4, &odd, 8), Sharing::Shared);
        assert_eq!(sharing(&even, 4, &Layout::new(&[1], &[1], 1 << 20).unwrap(), 4), Sharing::Shared);
    }

    #[test]
    fn a_search_that_is_too_long_says_that_it_does_not_know() {
        // Coin sums over many large steps without a common divisor, and a target beyond what is quickly found.
        let steps: Vec<usize> = (0..24).map(|k| 1_000_003 + 7_919 * k * k).collect();
        let hard = Layout::new(&[2; 24], &steps, 0).unwrap();
        let middle = Layout::new(&[], &[], hard.end() / 2 + 1).unwrap();
        assert_eq!(sharing(&hard, 1, &middle, 1), Sharing::Unknown);
    }
}
