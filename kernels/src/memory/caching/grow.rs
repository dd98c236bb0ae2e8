//! Asking the device when no cached block fits, and what is given up before a request fails.

use super::block::{Block, BlockId, PoolIndex};
use super::oom::OutOfMemory;
use super::size::Request;
use super::stats::Figure;
use super::{Action, AllocError, CachingAllocator};
use crate::memory::{DeviceError, DeviceMemory, Stream};

impl<D: DeviceMemory> CachingAllocator<D> {
    /// A block from the device. When the device has none, cached segments go back, first a few, then all, and it is
    /// asked again; what came back from streams meanwhile is not looked at, as in PyTorch.
    pub(super) fn grow(&mut self, pool: PoolIndex, stream: Stream, request: &Request) -> Result<BlockId, AllocError> {
        if self.collects_garbage() {
            self.collect_garbage()?;
        }
        if let Some(block) = self.ask_device(pool, stream, request)? {
            return Ok(block);
        }
        if self.release_available(pool, stream, request.rounded)?
            && let Some(block) = self.ask_device(pool, stream, request)?
        {
            return Ok(block);
        }
        self.release_cached()?;
        self.statistics.num_alloc_retries += 1;
        match self.ask_device(pool, stream, request)? {
            Some(block) => Ok(block),
            None => Err(AllocError::OutOfMemory(Box::new(self.report(pool, stream, request)?))),
        }
    }

    /// One attempt; nothing where the limit or the device does not allow it.
    fn ask_device(
        &mut self,
        pool: PoolIndex,
        stream: Stream,
        request: &Request,
    ) -> Result<Option<BlockId>, AllocError> {
        let bytes = request.segment;
        let would_hold = self.held.saturating_add(bytes);
        if self.limit.is_some_and(|limit| would_hold > limit) {
            return Ok(None);
        }
        if self.settings.throw_on_cudamalloc_oom {
            let allowed = self.settings.per_process_memory_fraction * self.device.total() as f64;
            if would_hold > allowed as u64 {
                self.statistics.num_oom_rejections += 1;
                return Err(AllocError::Rejected(request.asked));
            }
        }
        if self.settings.expandable_segments {
            return self.grow_range(pool, stream, request.rounded);
        }
        let address = match self.device.allocate(bytes) {
            Ok(address) => address,
            Err(DeviceError::OutOfMemory) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let small = self.is_small(pool);
        self.count_held(pool, bytes);
        self.statistics[Figure::Segment].add(small, 1);
        if bytes >= self.settings.max_split_size {
            self.statistics.oversize_segments.add(1);
        }
        self.note(Action::SegmentAlloc, address, bytes, stream);
        let order = self.order_of_segment();
        Ok(Some(self.blocks.add(Block::new(address, bytes, stream, pool, order))))
    }

    /// Counts memory that a call took from the device.
    pub(super) fn count_held(&mut self, pool: PoolIndex, bytes: u64) {
        let small = self.is_small(pool);
        self.held += bytes;
        self.statistics.num_device_alloc += 1;
        self.statistics[Figure::ReservedBytes].add(small, bytes);
        if let Some(private) = self.private_figures(pool) {
            private.add(small, bytes);
        }
    }

    /// Counts memory that a call returned to the device.
    pub(super) fn count_returned(&mut self, pool: PoolIndex, bytes: u64) {
        let small = self.is_small(pool);
        self.held -= bytes;
        self.statistics.num_device_free += 1;
        self.statistics[Figure::ReservedBytes].take(small, bytes);
        if let Some(private) = self.private_figures(pool) {
            private.take(small, bytes);
        }
    }

    fn report(&mut self, pool: PoolIndex, stream: Stream, request: &Request) -> Result<OutOfMemory, AllocError> {
        let free = self.device.free_bytes()?;
        self.note(Action::Oom, free, request.rounded, stream);
        self.statistics.num_ooms += 1;
        let small = self.is_small(pool);
        let reserve = self.range_bytes(small);
        Ok(OutOfMemory {
            requested: request.asked,
            segment: request.segment,
            total: self.device.total(),
            free,
            process: self.device.process_bytes(),
            limit: self.limit,
            live: self.statistics.live(),
            held: self.statistics.held(),
            private_cached: self.private_cached(),
            version: self.version,
            expandable: self.settings.expandable_segments,
            beyond_reserve: (request.rounded > reserve).then_some((request.rounded, reserve)),
        })
    }
}
