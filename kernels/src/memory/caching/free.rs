//! Taking blocks back: streams that still use them, and merging with free neighbours.

use super::block::BlockId;
use super::stats::Figure;
use super::{Action, AllocError, CachingAllocator};
use crate::memory::DeviceMemory;
use std::mem;

impl<D: DeviceMemory> CachingAllocator<D> {
    /// A program gives a block back; it is free at once, or when all streams that use it have come so far.
    pub(super) fn take_back(&mut self, id: BlockId) -> Result<(), AllocError> {
        let block = &mut self.blocks[id];
        block.allocated = false;
        let uses = mem::take(&mut block.uses);
        let (address, size, requested, stream, pool) =
            (block.address, block.size, block.requested, block.stream, block.pool);
        let small = self.is_small(pool);
        self.statistics[Figure::Allocation].take(small, 1);
        self.statistics[Figure::AllocatedBytes].take(small, size);
        if size >= self.settings.max_split_size {
            self.statistics.oversize_allocations.take(1);
        }
        self.note(Action::FreeRequested, address, requested, stream);
        if uses.is_empty() {
            self.make_free(id);
        }
        for stream in uses {
            let event = self.device.record_event(stream)?;
            self.blocks[id].events += 1;
            self.events.entry(stream).or_default().push_back((event, id));
        }
        Ok(())
    }

    /// Frees the blocks whose streams have come past their last use, looking at each stream's events in order.
    pub(super) fn process_events(&mut self) -> Result<(), AllocError> {
        if self.events.is_empty() {
            return Ok(());
        }
        let mut events = mem::take(&mut self.events);
        let mut failed = Ok(());
        for waiting in events.values_mut() {
            while let Some((event, id)) = waiting.front().copied() {
                match self.device.event_done(event) {
                    Ok(true) => {
                        waiting.pop_front();
                        self.event_passed(id);
                    }
                    Ok(false) => break,
                    Err(error) => {
                        failed = Err(error.into());
                        break;
                    }
                }
            }
        }
        events.retain(|_, waiting| !waiting.is_empty());
        self.events = events;
        failed
    }

    /// Waits for every event, so that no block waits for one.
    pub(super) fn wait_for_events(&mut self) -> Result<(), AllocError> {
        self.statistics.num_sync_all_streams += 1;
        while let Some(mut waiting) = self.events.first_entry() {
            match waiting.get_mut().pop_front() {
                None => drop(waiting.remove()),
                Some((event, id)) => {
                    self.device.wait_for(event)?;
                    self.event_passed(id);
                }
            }
        }
        Ok(())
    }

    fn event_passed(&mut self, id: BlockId) {
        self.blocks[id].events -= 1;
        if self.blocks[id].events == 0 {
            self.make_free(id);
        }
    }

    /// The block goes into its pool, merged with free neighbours.
    fn make_free(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        let (address, size, requested, stream, pool) =
            (block.address, block.size, block.requested, block.stream, block.pool);
        let small = self.is_small(pool);
        let expandable = block.range.is_some();
        self.note(Action::FreeCompleted, address, requested, stream);
        let (mut parts, mut bytes) = (0, 0);
        for merged in self.merge(id) {
            if merged > 0 {
                parts -= 1;
                bytes -= merged as i64;
            }
        }
        self.insert_free(id);
        if self.blocks[id].is_split() {
            parts += 1;
            bytes += self.blocks[id].size as i64;
        }
        if !expandable {
            self.statistics[Figure::InactiveSplit].change(small, parts);
            self.statistics[Figure::InactiveSplitBytes].change(small, bytes);
        }
        self.statistics[Figure::Active].take(small, 1);
        self.statistics[Figure::ActiveBytes].take(small, size);
        self.statistics[Figure::RequestedBytes].take(small, requested);
    }

    /// Takes in the neighbours before and behind that are free and, like the block, with memory or without. Gives the
    /// bytes that each brought.
    pub(super) fn merge(&mut self, id: BlockId) -> [u64; 2] {
        let before = self.take_in(id, self.blocks[id].prev);
        let behind = self.take_in(id, self.blocks[id].next);
        [before, behind]
    }

    fn take_in(&mut self, id: BlockId, neighbour: BlockId) -> u64 {
        let Some(neighbour) = neighbour.some() else { return 0 };
        let other = &self.blocks[neighbour];
        if other.is_active() || other.mapped != self.blocks[id].mapped {
            return 0;
        }
        if other.mapped {
            self.remove_free(neighbour);
        } else {
            self.remove_unmapped(neighbour);
        }
        self.blocks.absorb(id, neighbour)
    }
}
