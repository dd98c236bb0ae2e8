//! Blocks, and the slab that they live in: neighbours and sets refer to them by index.

use super::super::Stream;
use std::ops::{Index, IndexMut};

/// The place of a block in the slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockId(u32);

impl BlockId {
    /// No block.
    pub const NONE: BlockId = BlockId(u32::MAX);

    /// Before all others in a set.
    pub const FIRST: BlockId = BlockId(0);

    /// The block, where there is one.
    #[inline]
    pub fn some(self) -> Option<BlockId> {
        (self != BlockId::NONE).then_some(self)
    }
}

/// The place of a pool among the allocator's pools.
pub(super) type PoolIndex = u32;

/// The place of an expandable segment among the allocator's ranges.
pub(super) type RangeIndex = u32;

/// A piece of a segment.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub address: u64,
    pub size: u64,
    /// What the program asked for last; stale in a free block, as PyTorch shows it.
    pub requested: u64,
    /// The stream that it was allocated on.
    pub stream: Stream,
    /// Decides among free blocks of one stream and size, before the address.
    pub order: u64,
    /// The pool's count of searches when it became free.
    pub stamp: u64,
    pub prev: BlockId,
    pub next: BlockId,
    pub pool: PoolIndex,
    /// The expandable segment that it is part of.
    pub range: Option<RangeIndex>,
    /// Events that must be done before it is free.
    pub events: u32,
    /// Other streams that use it.
    pub uses: Vec<Stream>,
    pub allocated: bool,
    /// False in the parts of an expandable segment that have no memory.
    pub mapped: bool,
    /// Whether the place in the slab waits for another block.
    pub vacant: bool,
}

impl Block {
    pub fn new(address: u64, size: u64, stream: Stream, pool: PoolIndex, order: u64) -> Block {
        Block {
            address,
            size,
            requested: 0,
            stream,
            order,
            stamp: 0,
            prev: BlockId::NONE,
            next: BlockId::NONE,
            pool,
            range: None,
            events: 0,
            uses: Vec::new(),
            allocated: false,
            mapped: true,
            vacant: false,
        }
    }

    /// Whether it is a part of a segment and not all of it.
    #[inline]
    pub fn is_split(&self) -> bool {
        self.prev != BlockId::NONE || self.next != BlockId::NONE
    }

    /// Whether a program or a stream still has it.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.allocated || self.events > 0 || !self.uses.is_empty()
    }
}

/// All blocks of an allocator.
#[derive(Debug, Default)]
pub(super) struct Slab {
    blocks: Vec<Block>,
    vacant: Vec<BlockId>,
}

impl Slab {
    #[inline]
    pub fn add(&mut self, block: Block) -> BlockId {
        if let Some(id) = self.vacant.pop() {
            self[id] = block;
            return id;
        }
        self.blocks.push(block);
        // Four thousand million blocks would take more than the memory of any machine.
        BlockId((self.blocks.len() - 1) as u32)
    }

    #[inline]
    pub fn remove(&mut self, id: BlockId) {
        self[id].vacant = true;
        self.vacant.push(id);
    }

    /// Puts a new block in front of `next`, between it and its neighbour.
    #[inline]
    pub fn insert_before(&mut self, next: BlockId, mut block: Block) -> BlockId {
        block.prev = self[next].prev;
        block.next = next;
        let prev = block.prev;
        let id = self.add(block);
        self[next].prev = id;
        if let Some(prev) = prev.some() {
            self[prev].next = id;
        }
        id
    }

    /// Puts a new block behind `prev`, between it and its neighbour.
    #[inline]
    pub fn insert_after(&mut self, prev: BlockId, mut block: Block) -> BlockId {
        block.prev = prev;
        block.next = self[prev].next;
        let next = block.next;
        let id = self.add(block);
        self[prev].next = id;
        if let Some(next) = next.some() {
            self[next].prev = id;
        }
        id
    }

    /// `into` takes its neighbour's place too, and the neighbour is gone. Gives the bytes won.
    #[inline]
    pub fn absorb(&mut self, into: BlockId, neighbour: BlockId) -> u64 {
        let Block { address, size, prev, next, .. } = self[neighbour];
        if self[into].prev == neighbour {
            self[into].address = address;
            self[into].prev = prev;
            if let Some(prev) = prev.some() {
                self[prev].next = into;
            }
        } else {
            self[into].next = next;
            if let Some(next) = next.some() {
                self[next].prev = into;
            }
        }
        self[into].size += size;
        self.remove(neighbour);
        size
    }

    /// Whether some block is so.
    pub fn any(&self, is_so: impl Fn(&Block) -> bool) -> bool {
        self.blocks.iter().any(|block| !block.vacant && is_so(block))
    }

    /// The first block of every segment.
    pub fn heads(&self) -> impl Iterator<Item = BlockId> + '_ {
        let first = |(place, block): (usize, &Block)| {
            (!block.vacant && block.prev == BlockId::NONE).then_some(BlockId(place as u32))
        };
        self.blocks.iter().enumerate().filter_map(first)
    }
}

impl Index<BlockId> for Slab {
    type Output = Block;

    #[inline]
    fn index(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }
}

impl IndexMut<BlockId> for Slab {
    #[inline]
    fn index_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.0 as usize]
    }
}
