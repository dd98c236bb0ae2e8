//! Memory of the device, and the pinned memory of the host.

use crate::backing::{Backing, reserve};
use crate::errors::Error;
use crate::settings::Settings;
use crate::space::Space;
use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE, c_int};
use std::collections::BTreeMap;

/// Device memory is given out in multiples of this many bytes.
pub const GRANULE: u64 = 2 << 20;
const BLOCKS: u64 = 0x7000_0000_0000;
const RESERVATIONS: u64 = 0x6000_0000_0000;
const RESERVABLE: u64 = 8 << 40;
const USABLE: c_int = PROT_READ | PROT_WRITE;

/// Who an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Device,
    Pinned,
}

/// A part of device memory that lies at one address and at one offset of the backing.
#[derive(Clone, Copy)]
pub struct Piece {
    pub address: u64,
    pub bytes: u64,
    pub offset: u64,
}

struct Mapping {
    bytes: u64,
    offset: u64,
    /// The physical memory mapped here; none for a block of `allocate`.
    physical: Option<u64>,
}

struct Physical {
    bytes: u64,
    offset: u64,
    /// One for its creator, one for each mapping.
    holders: u32,
}

struct Pinned {
    bytes: u64,
    allocated: bool,
}

/// All memory that the device knows of.
pub struct Memory {
    total: u64,
    used: u64,
    backing: Backing,
    blocks: Space,
    reservations: Space,
    offsets: Space,
    mappings: BTreeMap<u64, Mapping>,
    physical: BTreeMap<u64, Physical>,
    handles: u64,
    pinned: BTreeMap<u64, Pinned>,
}

impl Memory {
    /// The empty device. The error says which of its needs this machine cannot meet.
    pub fn new(settings: &Settings) -> Result<Memory, String> {
        // First fit may leave gaps: addresses are plenty, memory is what runs out.
        let range = 4 * settings.memory + (64 << 30);
        reserve(BLOCKS, range)?;
        reserve(RESERVATIONS, RESERVABLE)?;
        Ok(Memory {
            total: settings.memory,
            used: 0,
            backing: Backing::new(settings.backing, range)?,
            blocks: Space::new(BLOCKS, range),
            reservations: Space::new(RESERVATIONS, RESERVABLE),
            offsets: Space::new(0, range),
            mappings: BTreeMap::new(),
            physical: BTreeMap::new(),
            handles: 0,
            pinned: BTreeMap::new(),
        })
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn used(&self) -> u64 {
        self.used
    }

    pub fn backing(&self) -> &Backing {
        &self.backing
    }

    /// A block of `bytes` rounded up to the granule, at the lowest free address; 0 bytes are the address 0.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, Error> {
        if bytes == 0 {
            return Ok(0);
        }
        let bytes = bytes.checked_next_multiple_of(GRANULE).ok_or(Error::OUT_OF_MEMORY)?;
        let offset = self.claim(bytes)?;
        let Some(address) = self.blocks.take(bytes, GRANULE) else {
            self.unclaim(bytes, offset);
            return Err(Error::OUT_OF_MEMORY);
        };
        if !self.backing.map(address, bytes, offset, USABLE) {
            self.blocks.give(address);
            self.unclaim(bytes, offset);
            return Err(Error::OUT_OF_MEMORY);
        }
        self.mappings.insert(address, Mapping { bytes, offset, physical: None });
        Ok(address)
    }

    /// Frees a block: how large it was.
    pub fn free(&mut self, address: u64) -> Result<u64, Error> {
        let bytes = self.blocks.give(address).ok_or(Error::INVALID_VALUE)?;
        if let Some(mapping) = self.mappings.remove(&address) {
            self.backing.unmap(address, bytes);
            self.unclaim(bytes, mapping.offset);
        }
        Ok(bytes)
    }

    /// Reserves addresses, nothing behind them.
    pub fn reserve(&mut self, bytes: u64, alignment: u64) -> Result<u64, Error> {
        let alignment = alignment.max(GRANULE);
        if bytes == 0 || !bytes.is_multiple_of(GRANULE) || !alignment.is_power_of_two() {
            return Err(Error::INVALID_VALUE);
        }
        self.reservations.take(bytes, alignment).ok_or(Error::OUT_OF_MEMORY)
    }

    /// Gives reserved addresses back; nothing may be mapped there.
    pub fn unreserve(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        let whole = self.reservations.around(address) == Some((address, bytes));
        if !whole || self.mappings.range(address..address + bytes).next().is_some() {
            return Err(Error::INVALID_VALUE);
        }
        self.reservations.give(address);
        Ok(())
    }

    /// Physical memory without an address: its handle.
    pub fn create(&mut self, bytes: u64) -> Result<u64, Error> {
        if bytes == 0 || !bytes.is_multiple_of(GRANULE) {
            return Err(Error::INVALID_VALUE);
        }
        let offset = self.claim(bytes)?;
        self.handles += 1;
        self.physical.insert(self.handles, Physical { bytes, offset, holders: 1 });
        Ok(self.handles)
    }

    /// The handle of what is mapped around an address, held once more.
    pub fn retain(&mut self, address: u64) -> Result<u64, Error> {
        let (_, mapping) = self.mapping_around(address).ok_or(Error::INVALID_VALUE)?;
        let handle = mapping.physical.ok_or(Error::INVALID_VALUE)?;
        self.hold(handle)?;
        Ok(handle)
    }

    /// Lets go of a handle; its memory is free when it is mapped nowhere.
    pub fn release(&mut self, handle: u64) -> Result<(), Error> {
        let physical = self.physical.get_mut(&handle).ok_or(Error::INVALID_VALUE)?;
        physical.holders -= 1;
        if physical.holders == 0 {
            let (bytes, offset) = (physical.bytes, physical.offset);
            self.physical.remove(&handle);
            self.unclaim(bytes, offset);
        }
        Ok(())
    }

    /// Maps the whole of a handle into a reservation. It cannot be used before `set_access`.
    pub fn map(&mut self, address: u64, bytes: u64, handle: u64) -> Result<(), Error> {
        let end = address.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
        let (start, length) = self.reservations.around(address).ok_or(Error::INVALID_VALUE)?;
        let physical = self.physical.get(&handle).ok_or(Error::INVALID_VALUE)?;
        let offset = physical.offset;
        let last = self.mappings.range(..end).next_back();
        let taken = last.is_some_and(|(start, mapping)| start + mapping.bytes > address);
        if physical.bytes != bytes || !address.is_multiple_of(GRANULE) || end > start + length || taken {
            return Err(Error::INVALID_VALUE);
        }
        if !self.backing.map(address, bytes, offset, PROT_NONE) {
            return Err(Error::OUT_OF_MEMORY);
        }
        self.mappings.insert(address, Mapping { bytes, offset, physical: Some(handle) });
        self.hold(handle)
    }

    /// Undoes the mappings that make up a range.
    pub fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        let pieces = self.pieces(address, bytes)?;
        let whole =
            pieces.iter().all(|piece| self.mappings.get(&piece.address).is_some_and(|m| m.bytes == piece.bytes));
        if !whole || self.reservations.around(address).is_none() {
            return Err(Error::INVALID_VALUE);
        }
        for piece in pieces {
            self.backing.unmap(piece.address, piece.bytes);
            if let Some(handle) = self.mappings.remove(&piece.address).and_then(|mapping| mapping.physical) {
                self.release(handle)?;
            }
        }
        Ok(())
    }

    /// Allows or forbids the use of a mapped range.
    pub fn set_access(&mut self, address: u64, bytes: u64, read: bool, write: bool) -> Result<(), Error> {
        self.pieces(address, bytes)?;
        let protection = if read { PROT_READ } else { PROT_NONE } | if write { PROT_WRITE } else { PROT_NONE };
        if self.backing.protect(address, bytes, protection) { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    /// The mapped pieces that make up a range of device memory; an error when a part of it is not mapped.
    pub fn pieces(&self, address: u64, bytes: u64) -> Result<Vec<Piece>, Error> {
        let end = address.checked_add(bytes).ok_or(Error::INVALID_VALUE)?;
        let (mut at, mut pieces) = (address, Vec::new());
        while at < end {
            let (start, mapping) = self.mapping_around(at).ok_or(Error::INVALID_VALUE)?;
            let bytes = (start + mapping.bytes).min(end) - at;
            pieces.push(Piece { address: at, bytes, offset: mapping.offset + (at - start) });
            at += bytes;
        }
        Ok(pieces)
    }

    /// Whether an address can only be one of the device.
    pub fn is_device(&self, address: u64) -> bool {
        self.blocks.contains(address) || self.reservations.contains(address)
    }

    /// Start, length and owner of the allocation, reservation or registered range around an address.
    pub fn find(&self, address: u64) -> Option<(u64, u64, Owner)> {
        let device = self.blocks.around(address).or_else(|| self.reservations.around(address));
        let pinned = || {
            let (&start, pinned) = self.pinned.range(..=address).next_back()?;
            (address - start < pinned.bytes).then_some((start, pinned.bytes, Owner::Pinned))
        };
        device.map(|(start, bytes)| (start, bytes, Owner::Device)).or_else(pinned)
    }

    /// Pinned memory of the host: private memory of this process, as with a real device.
    pub fn allocate_pinned(&mut self, bytes: u64) -> Result<u64, Error> {
        if bytes == 0 {
            return Ok(0);
        }
        let kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        // SAFETY: a new mapping.
        let got = unsafe { libc::mmap(std::ptr::null_mut(), bytes as usize, USABLE, kind, -1, 0) };
        if got == MAP_FAILED {
            return Err(Error::OUT_OF_MEMORY);
        }
        self.pinned.insert(got.expose_provenance() as u64, Pinned { bytes, allocated: true });
        Ok(got.expose_provenance() as u64)
    }

    /// Frees pinned memory: how large it was.
    pub fn free_pinned(&mut self, address: u64) -> Result<u64, Error> {
        let Some(&Pinned { bytes, allocated: true }) = self.pinned.get(&address) else {
            return Err(Error::INVALID_VALUE);
        };
        self.pinned.remove(&address);
        // SAFETY: mapped by `allocate_pinned`; the caller is done with it.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(address as usize), bytes as usize) };
        Ok(bytes)
    }

    /// Makes a range of the host known as pinned.
    pub fn register(&mut self, address: u64, bytes: u64) -> Result<(), Error> {
        if address == 0 || bytes == 0 {
            return Err(Error::INVALID_VALUE);
        }
        if self.find(address).is_some() {
            return Err(Error::HOST_MEMORY_ALREADY_REGISTERED);
        }
        self.pinned.insert(address, Pinned { bytes, allocated: false });
        Ok(())
    }

    /// Forgets a registered range.
    pub fn unregister(&mut self, address: u64) -> Result<(), Error> {
        match self.pinned.get(&address) {
            Some(Pinned { allocated: false, .. }) => self.pinned.remove(&address),
            _ => return Err(Error::HOST_MEMORY_NOT_REGISTERED),
        };
        Ok(())
    }

    /// Bytes of pinned memory, and the number of registered ranges.
    pub fn pinned(&self) -> (u64, u64) {
        let (allocated, registered): (Vec<_>, Vec<_>) = self.pinned.values().partition(|pinned| pinned.allocated);
        (allocated.iter().map(|pinned| pinned.bytes).sum(), registered.len() as u64)
    }

    fn mapping_around(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (&start, mapping) = self.mappings.range(..=address).next_back()?;
        (address - start < mapping.bytes).then_some((start, mapping))
    }

    fn hold(&mut self, handle: u64) -> Result<(), Error> {
        self.physical.get_mut(&handle).ok_or(Error::INVALID_VALUE)?.holders += 1;
        Ok(())
    }

    fn claim(&mut self, bytes: u64) -> Result<u64, Error> {
        if bytes > self.total - self.used {
            return Err(Error::OUT_OF_MEMORY);
        }
        let offset = self.offsets.take(bytes, GRANULE).ok_or(Error::OUT_OF_MEMORY)?;
        self.used += bytes;
        Ok(offset)
    }

    fn unclaim(&mut self, bytes: u64, offset: u64) {
        self.backing.discard(offset, bytes);
        self.offsets.give(offset);
        self.used -= bytes;
    }
}
