//! A range of addresses handed out first fit.

use std::collections::BTreeMap;

/// A range in which the lowest gap that is large enough is taken.
pub struct Space {
    start: u64,
    end: u64,
    taken: BTreeMap<u64, u64>,
}

impl Space {
    /// The empty range from `start`, `bytes` long.
    pub fn new(start: u64, bytes: u64) -> Space {
        Space { start, end: start + bytes, taken: BTreeMap::new() }
    }

    /// Takes `bytes` at a multiple of `alignment` (a power of two), or nothing when no gap is large enough.
    pub fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let mut at = self.start.checked_next_multiple_of(alignment)?;
        for (&address, &length) in &self.taken {
            if address.saturating_sub(at) >= bytes {
                break;
            }
            at = (address + length).checked_next_multiple_of(alignment)?;
        }
        if at.checked_add(bytes)? > self.end {
            return None;
        }
        self.taken.insert(at, bytes);
        Some(at)
    }

    /// Gives back what was taken at `address`: how long it was.
    pub fn give(&mut self, address: u64) -> Option<u64> {
        self.taken.remove(&address)
    }

    /// Start and length of what was taken around `address`.
    pub fn around(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &bytes) = self.taken.range(..=address).next_back()?;
        (address - start < bytes).then_some((start, bytes))
    }

    /// Whether `address` lies in the range, taken or not.
    pub fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::Space;

    #[test]
    fn the_lowest_gap_is_taken() {
        let mut space = Space::new(0x1000, 100);
        assert_eq!(space.take(40, 1), Some(0x1000));
        assert_eq!(space.take(40, 1), Some(0x1028));
        assert_eq!(space.take(40, 1), None);
        assert_eq!(space.give(0x1000), Some(40));
        assert_eq!(space.give(0x1000), None);
        assert_eq!(space.take(30, 1), Some(0x1000));
        assert_eq!(space.take(20, 1), Some(0x1050));
        assert_eq!(space.take(10, 1), Some(0x101e));
    }

    #[test]
    fn an_alignment_may_skip_a_gap() {
        let mut space = Space::new(0, 64);
        assert_eq!(space.take(3, 1), Some(0));
        assert_eq!(space.take(8, 16), Some(16));
        assert_eq!(space.take(13, 1), Some(3));
        assert_eq!(space.around(15), Some((3, 13)));
        assert_eq!(space.around(24), None);
    }
}
