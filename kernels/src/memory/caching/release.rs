//! Giving segments back to the device.

use super::block::Slab;
use super::block::{BlockId, PoolIndex};
use super::stats::Figure;
use super::{Action, AllocError, CachingAllocator, LARGE_POOL, SMALL_POOL};
use crate::memory::{DeviceError, DeviceMemory, Stream};

impl<D: DeviceMemory> CachingAllocator<D> {
    /// Returns a segment that is one free block.
    fn release_segment(&mut self, id: BlockId) -> Result<(), AllocError> {
        let block = &self.blocks[id];
        let (address, bytes, stream, pool) = (block.address, block.size, block.stream, block.pool);
        if block.is_split() {
            return Err(AllocError::WouldCorrupt { address, bytes });
        }
        self.device.free(address)?;
        let small = self.is_small(pool);
        self.note(Action::SegmentFree, address, bytes, stream);
        self.count_returned(pool, bytes);
        self.statistics[Figure::Segment].take(small, 1);
        if bytes >= self.settings.max_split_size {
            self.statistics.oversize_segments.take(1);
        }
        self.remove_free(id);
        self.blocks.remove(id);
        Ok(())
    }

    /// Returns oversize blocks of the stream until a request fits: one that is large enough by itself, else the largest
    /// ones together. Only with a split limit. Gives whether enough went back.
    pub(super) fn release_available(
        &mut self,
        pool: PoolIndex,
        stream: Stream,
        rounded: u64,
    ) -> Result<bool, AllocError> {
        let limit = self.settings.max_split_size;
        if limit == u64::MAX {
            return Ok(false);
        }
        let wanted = rounded.max(limit);
        let blocks = &self.pools[pool as usize];
        let enough = blocks.from(stream, wanted).next().filter(|id| self.blocks[*id].range.is_none());
        if let Some(enough) = enough {
            self.release_segment(enough)?;
            return Ok(true);
        }
        let smaller: Vec<BlockId> =
            blocks.below(stream, wanted).take_while(|id| self.blocks[*id].size >= limit).collect();
        let mut released = 0;
        for id in smaller {
            if released >= wanted {
                break;
            }
            if self.blocks[id].range.is_none() {
                released += self.blocks[id].size;
                self.release_segment(id)?;
            }
        }
        Ok(released >= wanted)
    }

    /// Waits for all streams, then returns every segment that is one free block, and unmaps the whole pages of
    /// expandable ones: large pool first, then small, then private pools that nothing allocates to any more.
    pub(super) fn release_cached(&mut self) -> Result<(), AllocError> {
        self.wait_for_events()?;
        for pool in [LARGE_POOL, SMALL_POOL] {
            self.release_pool_blocks(pool)?;
        }
        self.release_private()
    }

    /// Returns everything to the device, whatever is in use, and goes on where the device refuses. The allocator is of no
    /// use afterwards. Gives the refusals.
    pub(crate) fn give_all_back(&mut self) -> Vec<AllocError> {
        let mut refused: Vec<DeviceError> = Vec::new();
        for (event, _) in std::mem::take(&mut self.events).into_values().flatten() {
            refused.extend(self.device.wait_for(event).err());
        }
        let heads: Vec<BlockId> = self.blocks.heads().filter(|head| self.blocks[*head].range.is_none()).collect();
        for head in heads {
            refused.extend(self.device.free(self.blocks[head].address).err());
        }
        for range in std::mem::take(&mut self.ranges).into_iter().flatten() {
            range.give_back(&mut self.device, &mut refused);
        }
        self.blocks = Slab::default();
        self.by_address.clear();
        refused.into_iter().map(AllocError::from).collect()
    }

    /// Returns what is free in one pool.
    pub(super) fn release_pool_blocks(&mut self, pool: PoolIndex) -> Result<(), AllocError> {
        let (expandable, plain): (Vec<BlockId>, Vec<BlockId>) =
            self.pools[pool as usize].all().into_iter().partition(|id| self.blocks[*id].range.is_some());
        for id in plain {
            if !self.blocks[id].is_split() {
                self.release_segment(id)?;
            }
        }
        expandable.into_iter().try_for_each(|id| self.unmap_block(id))
    }

    /// Returns old cached segments of the large pool while more is held than the threshold allows: those at least as
    /// old, in searches, as the average, round by round.
    pub(super) fn collect_garbage(&mut self) -> Result<(), AllocError> {
        let limit = self.limit.unwrap_or(u64::MAX);
        let allowed = (self.settings.garbage_collection_threshold * limit as f64) as u64;
        if self.held <= allowed {
            return Ok(());
        }
        let target = self.held - allowed;
        let pool = &self.pools[LARGE_POOL as usize];
        let searches = pool.searches;
        let mut whole: Vec<(BlockId, u64)> =
            pool.all().into_iter().map(|id| (id, searches - self.blocks[id].stamp)).collect();
        whole.retain(|(id, _)| !self.blocks[*id].is_split());
        let mut ages: u64 = whole.iter().map(|(_, age)| age).sum();
        let mut count = whole.len() as u64;
        // Whole expandable segments count for the average, and stay.
        whole.retain(|(id, _)| self.blocks[*id].range.is_none());
        let mut reclaimed = 0;
        while reclaimed < target && count > 0 {
            let average = ages as f64 / count as f64;
            let (old, young): (Vec<_>, Vec<_>) = whole.into_iter().partition(|(_, age)| *age as f64 >= average);
            if old.is_empty() {
                break;
            }
            for (id, age) in old {
                reclaimed += self.blocks[id].size;
                ages -= age;
                count -= 1;
                self.release_segment(id)?;
            }
            whole = young;
        }
        Ok(())
    }
}

impl<D> CachingAllocator<D> {
    /// The stream's parts without memory, by address.
    pub(super) fn unmapped_of(&self, pool: PoolIndex, stream: Stream) -> impl Iterator<Item = BlockId> + '_ {
        let unmapped = &self.pools[pool as usize].unmapped;
        unmapped.range((stream, 0)..=(stream, u64::MAX)).map(|(_, id)| *id)
    }
}
