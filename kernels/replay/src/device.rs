//! The device that a snapshot is replayed on.

use kernels::memory::{BareAddresses, DeviceError, DeviceMemory, Stream};
use std::collections::{HashMap, HashSet};

/// Addresses with nothing behind them, or those of the recording where it is replayed under its own settings. Events
/// are done when the recording says so.
#[derive(Debug)]
pub(crate) struct ReplayDevice {
    bare: BareAddresses,
    /// Addresses and ranges of the recording, and what stands for them in `bare`.
    bare_of: HashMap<u64, u64>,
    /// What the recording shows the next call to give.
    segment: Option<(u64, u64)>,
    range: Option<u64>,
    /// Bytes that the recording shows as free where it shows that nothing is given.
    refusing: Option<u64>,
    events: u64,
    pending: HashSet<u64>,
}

impl ReplayDevice {
    pub fn new(total: u64) -> ReplayDevice {
        ReplayDevice {
            bare: BareAddresses::new(total),
            bare_of: HashMap::new(),
            segment: None,
            range: None,
            refusing: None,
            events: 0,
            pending: HashSet::new(),
        }
    }

    /// Takes the memory of a segment that was there from the start.
    pub fn adopt(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        let bare = self.bare.allocate(bytes)?;
        self.bare_of.insert(address, bare);
        Ok(())
    }

    /// The next request for a segment of so many bytes gets this address.
    pub fn expect_segment(&mut self, address: u64, bytes: u64) {
        self.segment = Some((address, bytes));
    }

    /// The next reserved range begins at this address, unless one is already expected.
    pub fn expect_range(&mut self, address: u64) {
        self.range.get_or_insert(address);
    }

    /// No request is met, and so many bytes are free, until [`ReplayDevice::expect_nothing`].
    pub fn refuse(&mut self, free: u64) {
        self.refusing = Some(free);
    }

    /// What was expected is over.
    pub fn expect_nothing(&mut self) {
        (self.segment, self.range, self.refusing) = (None, None, None);
    }

    /// The event that was recorded last.
    pub fn last_event(&self) -> u64 {
        self.events
    }

    /// The event is done.
    pub fn complete(&mut self, event: u64) {
        self.pending.remove(&event);
    }

    fn bare_of(&mut self, address: u64) -> u64 {
        self.bare_of.remove(&address).unwrap_or(address)
    }
}

impl DeviceMemory for ReplayDevice {
    fn total(&self) -> u64 {
        self.bare.total()
    }

    fn free_bytes(&self) -> Result<u64, DeviceError> {
        self.refusing.map_or_else(|| self.bare.free_bytes(), Ok)
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        if self.refusing.is_some() {
            return Err(DeviceError::OutOfMemory);
        }
        let bare = self.bare.allocate(bytes)?;
        let Some((address, _)) = self.segment.take_if(|(_, expected)| *expected == bytes) else { return Ok(bare) };
        self.bare_of.insert(address, bare);
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Result<(), DeviceError> {
        let bare = self.bare_of(address);
        self.bare.free(bare)
    }

    fn reserve(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let bare = self.bare.reserve(bytes)?;
        let Some(address) = self.range.take() else { return Ok(bare) };
        self.bare_of.insert(address, bare);
        Ok(address)
    }

    fn release_range(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        let bare = self.bare_of(address);
        self.bare.release_range(bare, bytes)
    }

    fn create_page(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        if self.refusing.is_some() { Err(DeviceError::OutOfMemory) } else { self.bare.create_page(bytes) }
    }

    fn release_page(&mut self, page: u64) -> Result<(), DeviceError> {
        self.bare.release_page(page)
    }

    fn map(&mut self, address: u64, bytes: u64, page: u64) -> Result<(), DeviceError> {
        self.bare.map(address, bytes, page)
    }

    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.bare.unmap(address, bytes)
    }

    fn record_event(&mut self, _stream: Stream) -> Result<u64, DeviceError> {
        self.events += 1;
        self.pending.insert(self.events);
        Ok(self.events)
    }

    fn event_done(&mut self, event: u64) -> Result<bool, DeviceError> {
        Ok(!self.pending.contains(&event))
    }

    fn wait_for(&mut self, event: u64) -> Result<(), DeviceError> {
        self.complete(event);
        Ok(())
    }

    fn synchronize(&mut self, _stream: Stream) -> Result<(), DeviceError> {
        Ok(())
    }
}
