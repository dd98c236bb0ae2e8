//! Finding a free block, splitting it, and handing it out.

use super::block::{Block, BlockId, PoolIndex};
use super::size::{MIN_BLOCK, Request, SMALL};
use super::stats::Figure;
use super::{Action, CachingAllocator};
use crate::memory::{DeviceMemory, Stream};

impl<D: DeviceMemory> CachingAllocator<D> {
    /// Whether old blocks go back when the limit comes near.
    pub(super) fn collects_garbage(&self) -> bool {
        self.limit.is_some() && self.settings.garbage_collection_threshold > 0.0
    }

    /// The best free block for so many bytes, taken out of its pool.
    pub(super) fn take_free(&mut self, pool: PoolIndex, stream: Stream, rounded: u64) -> Option<BlockId> {
        if self.collects_garbage() {
            self.pools[pool as usize].searches += 1;
        }
        let (spot, best) = self.pools[pool as usize].best_fit(stream, rounded)?;
        let expandable = self.blocks[best].range.is_some();
        let found = if expandable { self.best_beside_expandable(pool, stream, rounded)? } else { best };
        let size = self.blocks[found].size;
        let (limit, rounding) = (self.settings.max_split_size, self.settings.max_non_split_rounding);
        // A block beyond the limit is not for small requests, and not for much smaller ones either. The search ends
        // here: PyTorch looks at no further block.
        if rounded < limit && size >= limit || rounded >= limit && size >= rounded.saturating_add(rounding) {
            return None;
        }
        if expandable {
            self.remove_free(found);
        } else {
            self.pools[pool as usize].remove_at(spot);
        }
        Some(found)
    }

    /// The block to take where the best fit is part of an expandable segment.
    fn best_beside_expandable(&self, pool: PoolIndex, stream: Stream, rounded: u64) -> Option<BlockId> {
        let mut fitting = self.pools[pool as usize].from(stream, rounded);
        let mut best = fitting.next()?;
        let is_expandable = |id: BlockId| self.blocks[id].range.is_some();
        if !self.settings.expandable_segments {
            return fitting.find(|id| !is_expandable(*id));
        }
        // Among expandable blocks the one whose end has least room to grow.
        let reach = |id: BlockId| {
            let block = &self.blocks[id];
            let behind = block.next.some().map(|next| &self.blocks[next]).filter(|next| !next.mapped);
            block.size + behind.map_or(0, |next| next.size)
        };
        for next in fitting {
            if !is_expandable(best) || reach(next) >= reach(best) {
                break;
            }
            best = next;
        }
        Some(best)
    }

    /// Whether what a request leaves of a block is worth keeping apart.
    fn should_split(&self, block: &Block, rounded: u64) -> bool {
        let rest = block.size - rounded;
        if self.is_small(block.pool) || self.settings.expandable_segments {
            rest >= MIN_BLOCK
        } else {
            rounded < self.settings.max_split_size && rest > SMALL
        }
    }

    /// Hands a block out, without what the request does not need of it, and gives its address.
    pub(super) fn hand_out(&mut self, found: BlockId, request: &Request) -> u64 {
        let was_split = self.blocks[found].is_split();
        let small = self.is_small(self.blocks[found].pool);
        let expandable = self.blocks[found].range.is_some();
        let id = if self.should_split(&self.blocks[found], request.rounded) {
            let rest = self.blocks[found].size - request.rounded;
            let front = self.split_front(found, request.rounded);
            self.insert_free(found);
            if expandable {
            } else if was_split {
                self.statistics[Figure::InactiveSplitBytes].take(small, request.rounded);
            } else {
                self.statistics[Figure::InactiveSplitBytes].add(small, rest);
                self.statistics[Figure::InactiveSplit].add(small, 1);
            }
            front
        } else {
            if was_split && !expandable {
                self.statistics[Figure::InactiveSplitBytes].take(small, self.blocks[found].size);
                self.statistics[Figure::InactiveSplit].take(small, 1);
            }
            found
        };
        let block = &mut self.blocks[id];
        block.allocated = true;
        block.requested = request.asked;
        let (address, size, stream) = (block.address, block.size, block.stream);
        self.by_address.insert(address, id);
        self.count_out(small, size, request.asked);
        self.note(Action::Alloc, address, request.asked, stream);
        address
    }

    /// Cuts the first bytes of a block off as a block of their own, which PyTorch makes anew while the rest stays.
    pub(super) fn split_front(&mut self, id: BlockId, bytes: u64) -> BlockId {
        let Block { address, stream, pool, order, range, mapped, .. } = self.blocks[id];
        let order = self.order_of_part(order);
        let front = Block { range, mapped, ..Block::new(address, bytes, stream, pool, order) };
        let front = self.blocks.insert_before(id, front);
        let rest = &mut self.blocks[id];
        rest.address += bytes;
        rest.size -= bytes;
        front
    }

    /// Counts a block as handed out.
    pub(super) fn count_out(&mut self, small: bool, size: u64, requested: u64) {
        let figures = &mut self.statistics;
        figures[Figure::Allocation].add(small, 1);
        figures[Figure::AllocatedBytes].add(small, size);
        figures[Figure::Active].add(small, 1);
        figures[Figure::ActiveBytes].add(small, size);
        figures[Figure::RequestedBytes].add(small, requested);
        if size >= self.settings.max_split_size {
            self.statistics.oversize_allocations.add(1);
        }
    }
}
