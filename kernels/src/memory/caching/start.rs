//! Starting in the middle: an allocator that holds what a snapshot shows.

use super::block::{Block, BlockId};
use super::stats::Figure;
use super::{AllocError, CachingAllocator, LARGE_POOL, SMALL_POOL, Settings};
use crate::memory::{DeviceMemory, Stream};

/// A block of a segment to start with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockStart {
    /// Its bytes.
    pub size: u64,
    /// What the program asked for, where it has the block.
    pub live: Option<u64>,
}

/// A segment to start with, of a default pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentStart {
    /// Its address.
    pub address: u64,
    /// The stream that it was taken for.
    pub stream: Stream,
    /// Whether it serves requests up to 1 MiB.
    pub small: bool,
    /// Its blocks from its first byte to its last.
    pub blocks: Vec<BlockStart>,
}

impl<D: DeviceMemory> CachingAllocator<D> {
    /// An allocator that already holds these segments, taken in this order. The device must know them: they are
    /// returned to it like any others. Sums and counters of calls begin at 0.
    pub fn with_segments(device: D, settings: Settings, segments: &[SegmentStart]) -> Result<Self, AllocError> {
        let mut allocator = CachingAllocator::new(device, settings);
        for segment in segments {
            allocator.add_segment(segment)?;
        }
        allocator.reset_accumulated();
        Ok(allocator)
    }

    fn add_segment(&mut self, segment: &SegmentStart) -> Result<(), AllocError> {
        let SegmentStart { address, stream, small, ref blocks } = *segment;
        let sizes = || blocks.iter().map(|block| block.size);
        let bytes = sizes().try_fold(0u64, u64::checked_add).filter(|bytes| address.checked_add(*bytes).is_some());
        let Some(bytes) = bytes.filter(|_| !blocks.is_empty() && sizes().all(|size| size > 0)) else {
            return Err(AllocError::Start(format!(
                "the segment at {address:#x} has no block, or blocks without bytes"
            )));
        };
        let pool = if small { SMALL_POOL } else { LARGE_POOL };
        let order = self.order_of_segment();
        let (mut at, mut before) = (address, BlockId::NONE);
        for start in blocks {
            let mut block = Block::new(at, start.size, stream, pool, order);
            block.allocated = start.live.is_some();
            block.requested = start.live.unwrap_or(0);
            let id = match before.some() {
                Some(before) => self.blocks.insert_after(before, block),
                None => self.blocks.add(block),
            };
            if start.live.is_some() && self.by_address.insert(at, id).is_some() {
                return Err(AllocError::Start(format!("two blocks begin at {at:#x}")));
            }
            (at, before) = (at + start.size, id);
        }
        self.count_held(pool, bytes);
        self.statistics[Figure::Segment].add(small, 1);
        self.count_blocks(before, small);
        Ok(())
    }

    /// Counts the blocks of a new segment, from its last to its first, into pools and figures.
    fn count_blocks(&mut self, last: BlockId, small: bool) {
        let mut at = last.some();
        while let Some(id) = at {
            let Block { size, requested, allocated, prev, .. } = self.blocks[id];
            if allocated {
                self.count_out(small, size, requested);
            } else {
                if self.blocks[id].is_split() {
                    self.statistics[Figure::InactiveSplit].add(small, 1);
                    self.statistics[Figure::InactiveSplitBytes].add(small, size);
                }
                self.insert_free(id);
            }
            at = prev.some();
        }
    }
}
