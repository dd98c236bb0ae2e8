//! Address ranges of the tensor-sized mappings, which, unlike heap blocks, can be given back in parts.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The unit of the ranges, in bytes.
pub const PAGE: usize = 4096;

const CAPACITY: usize = 4096;
const LENGTH_BITS: u32 = 28;

/// What a cut took out.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Pages that were known and are no longer.
    pub pages: u64,
    /// Ranges of which nothing is left.
    pub ended: u64,
    /// Remainders that found no place; their pages are in `pages`.
    pub lost: u64,
}

/// A run of pages; one word, so that a range changes in one atomic step.
#[derive(Clone, Copy)]
struct Run {
    first: u64,
    end: u64,
}

impl Run {
    fn pack(self) -> Option<u64> {
        let length = self.end - self.first;
        let fits = length >> LENGTH_BITS == 0 && self.first >> (u64::BITS - LENGTH_BITS) == 0;
        fits.then_some(self.first << LENGTH_BITS | length)
    }

    fn unpack(word: u64) -> Self {
        let first = word >> LENGTH_BITS;
        Self { first, end: first + (word & ((1 << LENGTH_BITS) - 1)) }
    }

    fn of(address: usize, bytes: usize) -> Self {
        let first = (address / PAGE) as u64;
        Self { first, end: first + pages(bytes) }
    }

    fn is_empty(self) -> bool {
        self.end <= self.first
    }
}

/// `bytes` in whole pages, as the system counts them.
pub fn pages(bytes: usize) -> u64 {
    bytes.div_ceil(PAGE) as u64
}

/// A lock-free set of disjoint ranges, of fixed size. All zeros is the empty set.
pub struct Ranges {
    slots: [AtomicU64; CAPACITY],
}

impl Ranges {
    /// Enters a range; `false` if the set is full or the range too long (1 TiB).
    pub fn insert(&self, address: usize, bytes: usize) -> bool {
        self.insert_run(Run::of(address, bytes))
    }

    /// Takes the pages of `bytes` at `address` out of every range that has some of them. A range cut in the middle
    /// becomes two.
    pub fn cut(&self, address: usize, bytes: usize) -> Cut {
        let hole = Run::of(address, bytes);
        let mut cut = Cut::default();
        for slot in &self.slots {
            let mut word = slot.load(Relaxed);
            while word != 0 {
                let run = Run::unpack(word);
                let overlap = Run { first: run.first.max(hole.first), end: run.end.min(hole.end) };
                if overlap.is_empty() {
                    break;
                }
                let head = Run { end: overlap.first, ..run };
                let tail = Run { first: overlap.end, ..run };
                let stays = if head.is_empty() { tail } else { head };
                // A part of a range that fitted fits: 0 stands for "nothing left" alone.
                let left = if stays.is_empty() { 0 } else { stays.pack().unwrap_or(0) };
                if let Err(changed) = slot.compare_exchange(word, left, Relaxed, Relaxed) {
                    word = changed;
                    continue;
                }
                cut.pages += overlap.end - overlap.first;
                cut.ended += u64::from(left == 0);
                if !head.is_empty() && !tail.is_empty() && !self.insert_run(tail) {
                    cut.pages += tail.end - tail.first;
                    cut.lost += 1;
                }
                break;
            }
        }
        cut
    }

    fn insert_run(&self, run: Run) -> bool {
        run.pack().is_some_and(|word| {
            self.slots
                .iter()
                .any(|slot| slot.load(Relaxed) == 0 && slot.compare_exchange(0, word, Relaxed, Relaxed).is_ok())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: usize = 0x7f12_3450_0000;

    fn set() -> Box<Ranges> {
        // SAFETY: zeros are the empty set.
        unsafe { Box::<Ranges>::new_zeroed().assume_init() }
    }

    fn gone(pages: u64, ended: u64) -> Cut {
        Cut { pages, ended, lost: 0 }
    }

    #[test]
    fn the_same_bytes_end_a_range() {
        let set = set();
        assert!(set.insert(AT, 10 * PAGE - 1));
        assert_eq!(set.cut(AT, 10 * PAGE - 1), gone(10, 1));
        assert_eq!(set.cut(AT, 10 * PAGE), gone(0, 0));
    }

    #[test]
    fn an_aligned_middle_stays_when_both_ends_are_trimmed() {
        let set = set();
        assert!(set.insert(AT, 10 * PAGE));
        assert_eq!(set.cut(AT, 3 * PAGE), gone(3, 0));
        assert_eq!(set.cut(AT + 8 * PAGE, 2 * PAGE), gone(2, 0));
        assert_eq!(set.cut(AT, 10 * PAGE), gone(5, 1));
    }

    #[test]
    fn a_hole_leaves_two_ranges() {
        let set = set();
        assert!(set.insert(AT, 10 * PAGE));
        assert_eq!(set.cut(AT + 4 * PAGE, PAGE), gone(1, 0));
        assert_eq!(set.cut(AT, 10 * PAGE), gone(9, 2));
    }

    #[test]
    fn one_cut_reaches_neighbours() {
        let set = set();
        assert!(set.insert(AT, 10 * PAGE));
        assert!(set.insert(AT + 10 * PAGE, 10 * PAGE));
        assert_eq!(set.cut(AT + 5 * PAGE, 15 * PAGE), gone(15, 1));
        assert_eq!(set.cut(AT, 5 * PAGE), gone(5, 1));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let set = set();
        assert!(!set.insert(AT, 1 << 40));
        for index in 0..CAPACITY {
            assert!(set.insert(AT + 4 * index * PAGE, 3 * PAGE));
        }
        assert!(!set.insert(AT - 4 * PAGE, PAGE));
        assert_eq!(set.cut(AT + PAGE, PAGE), Cut { pages: 2, ended: 0, lost: 1 });
    }
}
