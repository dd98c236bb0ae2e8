//! Requested sizes of the tensor-sized heap blocks, by address.

use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

const BITS: u32 = 16;
const CAPACITY: usize = 1 << BITS;

/// How far from its hash an entry may stand. No tombstones are needed because a search reads the whole reach; up to
/// three quarters full, runs of taken slots stay about this short.
const REACH: usize = 256;

struct Slot {
    address: AtomicUsize,
    bytes: AtomicUsize,
}

/// A lock-free table of fixed size. An address is entered by the thread that was handed the block and removed before the
/// block is given back, so no two threads ever hold the same address. All zeros is the empty table.
pub struct Blocks {
    slots: [Slot; CAPACITY],
}

impl Blocks {
    /// Enters a block; `false` if there is no place within reach.
    pub fn insert(&self, address: usize, bytes: usize) -> bool {
        for slot in self.reach(address) {
            // Acquire: the size that the last holder of the slot left is read before ours is written.
            if slot.address.load(Relaxed) == 0 && slot.address.compare_exchange(0, address, Acquire, Relaxed).is_ok() {
                slot.bytes.store(bytes, Relaxed);
                return true;
            }
        }
        false
    }

    /// Removes a block and returns the bytes that were asked for; `None` if it was never entered.
    pub fn remove(&self, address: usize) -> Option<usize> {
        let slot = self.reach(address).find(|slot| slot.address.load(Relaxed) == address)?;
        let bytes = slot.bytes.load(Relaxed);
        slot.address.store(0, Release);
        Some(bytes)
    }

    fn reach(&self, address: usize) -> impl Iterator<Item = &Slot> {
        // Fibonacci hashing: addresses share their low bits (alignment) and their high ones (one heap).
        let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - BITS);
        (0..REACH).map(move |step| &self.slots[(hash as usize + step) % CAPACITY])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Box<Blocks> {
        // SAFETY: zeros are the empty table.
        unsafe { Box::<Blocks>::new_zeroed().assume_init() }
    }

    fn address(index: usize) -> usize {
        0x7f00_0000_0010 + index * 0x11000
    }

    #[test]
    fn every_block_comes_back_with_its_bytes_until_three_quarters_are_full() {
        let table = table();
        let blocks = 0..CAPACITY * 3 / 4;
        for index in blocks.clone() {
            assert!(table.insert(address(index), index), "block {index}");
        }
        for index in blocks {
            assert_eq!(table.remove(address(index)), Some(index));
            assert_eq!(table.remove(address(index)), None);
        }
    }

    #[test]
    fn a_full_table_refuses_and_a_removal_makes_place() {
        let table = table();
        let full = (0..2 * CAPACITY).find(|&index| !table.insert(address(index), 1));
        let full = full.expect("two blocks for each slot cannot fit");
        for index in 0..full {
            table.remove(address(index));
        }
        assert!(table.insert(address(full), 7));
        assert_eq!(table.remove(address(full)), Some(7));
    }

    #[test]
    fn threads_do_not_lose_each_others_blocks() {
        let table = table();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let table = &table;
                scope.spawn(move || {
                    for index in (0..20_000).map(|step| thread + 8 * (step % 500)) {
                        assert!(table.insert(address(index), index + 1));
                        assert_eq!(table.remove(address(index)), Some(index + 1));
                    }
                });
            }
        });
        assert!(table.slots.iter().all(|slot| slot.address.load(Relaxed) == 0));
    }
}
