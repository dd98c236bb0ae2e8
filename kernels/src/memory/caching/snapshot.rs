//! All segments and their blocks at one moment.

use super::block::{Block, BlockId};
use super::{CachingAllocator, PoolId};
use crate::memory::Stream;

/// Whether a block is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// It is free.
    Inactive,
    /// It was given back and waits for a stream.
    PendingFree,
    /// A program has it.
    Allocated,
}

impl BlockState {
    /// PyTorch's name of it.
    pub fn name(self) -> &'static str {
        match self {
            BlockState::Allocated => "active_allocated",
            BlockState::PendingFree => "active_pending_free",
            BlockState::Inactive => "inactive",
        }
    }
}

/// A piece of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentBlock {
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// What the program asked for last; stale in a free block.
    pub requested: u64,
    /// Whether it is in use.
    pub state: BlockState,
}

/// Memory that one call took from the device, or one contiguous mapped part of an expandable segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// Bytes of blocks that a program has.
    pub allocated: u64,
    /// Bytes of blocks that are in use.
    pub active: u64,
    /// Bytes that were asked for, over the blocks in use.
    pub requested: u64,
    /// The stream that it was taken for.
    pub stream: Stream,
    /// Whether it serves requests up to 1 MiB.
    pub small: bool,
    /// Whether it is part of an expandable segment.
    pub expandable: bool,
    /// The private pool that it belongs to; (0, 0) for none.
    pub pool: PoolId,
    /// Its number in the order in which segments were taken; what that number means changes with the version.
    pub order: u64,
    /// Its blocks, by address.
    pub blocks: Vec<SegmentBlock>,
}

impl<D> CachingAllocator<D> {
    /// All segments, by address.
    pub fn snapshot(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = self.blocks.heads().flat_map(|head| self.segments_from(head)).collect();
        segments.sort_by_key(|segment| segment.address);
        segments
    }

    /// The runs of blocks with memory in one chain.
    fn segments_from(&self, head: BlockId) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut run: Option<Segment> = None;
        let mut at = head.some();
        while let Some(id) = at {
            let block = &self.blocks[id];
            if block.mapped {
                run.get_or_insert_with(|| self.empty_segment(block)).push(block);
            } else {
                segments.extend(run.take());
            }
            at = block.next.some();
        }
        segments.extend(run);
        segments
    }

    fn empty_segment(&self, first: &Block) -> Segment {
        let pool = &self.pools[first.pool as usize];
        Segment {
            address: first.address,
            size: 0,
            allocated: 0,
            active: 0,
            requested: 0,
            stream: first.stream,
            small: pool.small,
            expandable: first.range.is_some(),
            pool: pool.private.unwrap_or_default(),
            order: first.order,
            blocks: Vec::new(),
        }
    }
}

impl Segment {
    fn push(&mut self, block: &Block) {
        let state = match (block.allocated, block.is_active()) {
            (true, _) => BlockState::Allocated,
            (false, true) => BlockState::PendingFree,
            (false, false) => BlockState::Inactive,
        };
        let Block { address, size, requested, .. } = *block;
        self.size += size;
        if block.allocated {
            self.allocated += size;
        }
        if block.is_active() {
            self.active += size;
            self.requested += requested;
        }
        self.blocks.push(SegmentBlock { address, size, requested, state });
    }
}
