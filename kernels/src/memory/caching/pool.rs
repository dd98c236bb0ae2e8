//! Pools: the free blocks in the order in which they are looked at.

use super::super::Stream;
use super::PoolId;
use super::block::{Block, BlockId};
use super::sorted::{Sorted, Spot};
use std::collections::BTreeMap;

/// A free block's place among those of its stream: by size, then by what breaks ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    size: u64,
    order: u64,
    address: u64,
    block: BlockId,
}

/// One pool: blocks are split, merged and reused within it alone.
#[derive(Debug)]
pub(super) struct Pool {
    /// Whether it serves requests up to 1 MiB.
    pub small: bool,
    /// The private pool that it is part of.
    pub private: Option<PoolId>,
    /// How often a free block was looked for, while garbage collection is armed.
    pub searches: u64,
    /// Free blocks with memory behind them, by stream in the order of handles.
    free: Vec<(Stream, Sorted<Place>)>,
    /// Parts of expandable segments without memory.
    pub unmapped: BTreeMap<(Stream, u64), BlockId>,
}

impl Pool {
    pub fn new(small: bool, private: Option<PoolId>) -> Pool {
        Pool { small, private, searches: 0, free: Vec::new(), unmapped: BTreeMap::new() }
    }

    #[inline]
    pub fn insert(&mut self, id: BlockId, block: &mut Block) {
        block.stamp = self.searches;
        let place = match self.free.binary_search_by_key(&block.stream, |(stream, _)| *stream) {
            Ok(place) => place,
            Err(place) => {
                self.free.insert(place, (block.stream, Sorted::default()));
                place
            }
        };
        self.free[place].1.insert(place_of(id, block));
    }

    #[inline]
    pub fn remove(&mut self, id: BlockId, block: &Block) {
        if let Ok(place) = self.free.binary_search_by_key(&block.stream, |(stream, _)| *stream) {
            self.free[place].1.remove(&place_of(id, block));
        }
    }

    /// The best fit of a stream for `size` bytes, and where it lies.
    #[inline]
    pub fn best_fit(&self, stream: Stream, size: u64) -> Option<((usize, Spot), BlockId)> {
        let place = self.free.binary_search_by_key(&stream, |(stream, _)| *stream).ok()?;
        let least = Place { size, order: 0, address: 0, block: BlockId::FIRST };
        self.free[place].1.first_from(least).map(|(spot, first)| ((place, spot), first.block))
    }

    /// Takes the block out that lies there.
    #[inline]
    pub fn remove_at(&mut self, (place, spot): (usize, Spot)) {
        self.free[place].1.remove_at(spot);
    }

    /// Free blocks of a stream that hold `size` bytes, the best fit first.
    #[inline]
    pub fn from(&self, stream: Stream, size: u64) -> impl Iterator<Item = BlockId> + '_ {
        let least = Place { size, order: 0, address: 0, block: BlockId::FIRST };
        self.of(stream).into_iter().flat_map(move |free| free.from(least)).map(|place| place.block)
    }

    /// Free blocks of a stream that are smaller than `size`, the largest first.
    pub fn below(&self, stream: Stream, size: u64) -> impl Iterator<Item = BlockId> + '_ {
        let least = Place { size, order: 0, address: 0, block: BlockId::FIRST };
        self.of(stream).into_iter().flat_map(move |free| free.below(least)).map(|place| place.block)
    }

    /// All free blocks with memory, by stream, size, and what breaks ties.
    pub fn all(&self) -> Vec<BlockId> {
        self.free.iter().flat_map(|(_, free)| free.iter()).map(|place| place.block).collect()
    }

    #[inline]
    fn of(&self, stream: Stream) -> Option<&Sorted<Place>> {
        let place = self.free.binary_search_by_key(&stream, |(stream, _)| *stream).ok()?;
        Some(&self.free[place].1)
    }
}

fn place_of(id: BlockId, block: &Block) -> Place {
    Place { size: block.size, order: block.order, address: block.address, block: id }
}
