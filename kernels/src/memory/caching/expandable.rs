//! Expandable segments: a wide range of addresses into which pages are mapped as they are needed.

use super::block::{Block, BlockId, PoolIndex, RangeIndex};
use super::size::SMALL_SEGMENT;
use super::{Action, AllocError, CachingAllocator};
use crate::memory::{DeviceError, DeviceMemory, Stream};
use std::collections::BTreeMap;

/// The addresses of one expandable segment.
#[derive(Debug)]
pub(super) struct Range {
    address: u64,
    bytes: u64,
    /// Bytes of a page: 2 MiB in the small pool, a large segment in the large one.
    page: u64,
    stream: Stream,
    /// Mapped pages by their place in the range, with their handles.
    pages: BTreeMap<u64, u64>,
}

impl Range {
    /// Takes every page away and gives the addresses back, going on where the device refuses.
    pub fn give_back(self, device: &mut impl DeviceMemory, refused: &mut Vec<DeviceError>) {
        for (place, handle) in self.pages {
            refused.extend(device.unmap(self.address + place * self.page, self.page).err());
            refused.extend(device.release_page(handle).err());
        }
        refused.extend(device.release_range(self.address, self.bytes).err());
    }
}

impl<D: DeviceMemory> CachingAllocator<D> {
    /// Bytes of addresses of an expandable segment: nine eighths of the device, in whole pages, where nothing is set.
    pub(super) fn range_bytes(&self, small: bool) -> u64 {
        self.settings.reserve(self.device.total(), small).next_multiple_of(self.page_bytes(small))
    }

    fn page_bytes(&self, small: bool) -> u64 {
        if small { SMALL_SEGMENT } else { self.settings.large_segment }
    }

    /// Maps pages until some place in an expandable segment of the stream holds so many bytes, and takes that block.
    pub(super) fn grow_range(
        &mut self,
        pool: PoolIndex,
        stream: Stream,
        rounded: u64,
    ) -> Result<Option<BlockId>, AllocError> {
        let mut block = match self.place_in_range(pool, stream, rounded) {
            Some(block) => block,
            None => match self.new_range(pool, stream)? {
                Some(block) => block,
                None => return Ok(None),
            },
        };
        if !self.blocks[block].mapped {
            let missing = self.blocks[block].size.min(rounded);
            if !self.map_block(block, missing)? {
                return Ok(None);
            }
        }
        while self.blocks[block].size < rounded {
            let Some(next) = self.blocks[block].next.some() else { return Ok(None) };
            let missing = (rounded - self.blocks[block].size).min(self.blocks[next].size);
            if !self.map_block(next, missing)? {
                return Ok(None);
            }
            block = next;
        }
        self.remove_free(block);
        Ok(Some(block))
    }

    /// The first run of free and unmapped blocks that is wide enough, by address.
    fn place_in_range(&self, pool: PoolIndex, stream: Stream, rounded: u64) -> Option<BlockId> {
        let usable = |id: BlockId| id.some().filter(|id| !self.blocks[*id].is_active());
        self.unmapped_of(pool, stream).find_map(|unmapped| {
            let start = usable(self.blocks[unmapped].prev).unwrap_or(unmapped);
            let (mut room, mut at) = (0, usable(start));
            while let Some(id) = at.filter(|_| room < rounded) {
                room += self.blocks[id].size;
                at = usable(self.blocks[id].next);
            }
            (room >= rounded).then_some(start)
        })
    }

    /// Reserves the addresses of a new segment: one block without memory. Nothing where no such range is left.
    fn new_range(&mut self, pool: PoolIndex, stream: Stream) -> Result<Option<BlockId>, AllocError> {
        let small = self.is_small(pool);
        let (bytes, page) = (self.range_bytes(small), self.page_bytes(small));
        let address = match self.device.reserve(bytes) {
            Ok(address) => address,
            Err(DeviceError::OutOfMemory) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let range = Range { address, bytes, page, stream, pages: BTreeMap::new() };
        Ok(Some(self.add_range(pool, range)))
    }

    /// Keeps a range, as one block without memory.
    fn add_range(&mut self, pool: PoolIndex, range: Range) -> BlockId {
        let (address, bytes, stream) = (range.address, range.bytes, range.stream);
        let place = match self.ranges.iter().position(Option::is_none) {
            Some(vacant) => {
                self.ranges[vacant] = Some(range);
                vacant
            }
            None => {
                self.ranges.push(Some(range));
                self.ranges.len() - 1
            }
        };
        let order = self.order_of_segment();
        let block = Block::new(address, bytes, stream, pool, order);
        let id = self.blocks.add(Block { range: Some(place as RangeIndex), mapped: false, ..block });
        self.insert_unmapped(id);
        id
    }

    /// Puts memory behind the first bytes of a block without, in whole pages, and merges it with free neighbours. Gives
    /// whether the device had so much.
    fn map_block(&mut self, id: BlockId, bytes: u64) -> Result<bool, AllocError> {
        let Block { address, size, stream, pool, order, range, .. } = self.blocks[id];
        let Some(mapped) = self.map_pages(range, address, bytes)? else { return Ok(false) };
        self.remove_unmapped(id);
        self.blocks[id].mapped = true;
        if mapped < size {
            let order = self.order_of_part(order);
            let rest = Block::new(address + mapped, size - mapped, stream, pool, order);
            let rest = self.blocks.insert_after(id, Block { range, mapped: false, ..rest });
            self.insert_unmapped(rest);
            self.blocks[id].size = mapped;
        }
        self.merge(id);
        self.insert_free(id);
        self.count_held(pool, mapped);
        self.note(Action::SegmentMap, address, mapped, stream);
        Ok(true)
    }

    /// Creates pages for so many bytes, then maps them. Where one cannot be created, those before it go back.
    fn map_pages(&mut self, range: Option<RangeIndex>, from: u64, bytes: u64) -> Result<Option<u64>, AllocError> {
        let Some(range) = range.and_then(|range| self.ranges[range as usize].as_mut()) else { return Ok(None) };
        let page = range.page;
        let first = (from - range.address) / page;
        let end = (from + bytes - range.address).div_ceil(page);
        let mut handles = Vec::new();
        for _ in first..end {
            match self.device.create_page(page) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    for handle in handles {
                        self.device.release_page(handle)?;
                    }
                    return match error {
                        DeviceError::OutOfMemory => Ok(None),
                        error => Err(error.into()),
                    };
                }
            }
        }
        let mut handles = (first..end).zip(handles);
        while let Some((place, handle)) = handles.next() {
            if let Err(error) = self.device.map(range.address + place * page, page, handle) {
                // What was mapped before stays known by the range; what was not is given back.
                self.device.release_page(handle)?;
                handles.try_for_each(|(_, handle)| self.device.release_page(handle))?;
                return Err(error.into());
            }
            range.pages.insert(place, handle);
        }
        Ok(Some((end - first) * page))
    }

    /// Takes the whole pages of a free block away. A segment without any page left is given up.
    pub(super) fn unmap_block(&mut self, id: BlockId) -> Result<(), AllocError> {
        let Block { address, size, stream, pool, order, range: Some(place), .. } = self.blocks[id] else {
            return Ok(());
        };
        let Some(range) = self.ranges[place as usize].as_mut() else { return Ok(()) };
        let page = range.page;
        let first = (address - range.address).div_ceil(page);
        let end = (address + size - range.address) / page;
        if first >= end {
            return Ok(());
        }
        self.device.synchronize(stream)?;
        for place in first..end {
            self.device.unmap(range.address + place * page, page)?;
            if let Some(handle) = range.pages.remove(&place) {
                self.device.release_page(handle)?;
            }
        }
        let start = range.address + first * page;
        let unmapped = (end - first) * page;
        self.remove_free(id);
        let before = start - address;
        if before > 0 {
            let front = self.split_front(id, before);
            self.insert_free(front);
        }
        let behind = size - before - unmapped;
        if behind > 0 {
            let order = self.order_of_part(order);
            let rest = Block::new(start + unmapped, behind, stream, pool, order);
            let rest = self.blocks.insert_after(id, Block { range: Some(place), ..rest });
            self.insert_free(rest);
        }
        let block = &mut self.blocks[id];
        block.size = unmapped;
        block.mapped = false;
        self.merge(id);
        self.insert_unmapped(id);
        self.count_returned(pool, unmapped);
        self.note(Action::SegmentUnmap, start, unmapped, stream);
        if self.blocks[id].is_split() { Ok(()) } else { self.give_range_up(id, place) }
    }

    fn give_range_up(&mut self, id: BlockId, place: RangeIndex) -> Result<(), AllocError> {
        self.remove_unmapped(id);
        self.blocks.remove(id);
        match self.ranges[place as usize].take() {
            Some(range) => Ok(self.device.release_range(range.address, range.bytes)?),
            None => Ok(()),
        }
    }
}

impl<D> CachingAllocator<D> {
    pub(super) fn insert_unmapped(&mut self, id: BlockId) {
        let Block { stream, address, pool, .. } = self.blocks[id];
        self.pools[pool as usize].unmapped.insert((stream, address), id);
    }

    pub(super) fn remove_unmapped(&mut self, id: BlockId) {
        let Block { stream, address, pool, .. } = self.blocks[id];
        self.pools[pool as usize].unmapped.remove(&(stream, address));
    }
}
