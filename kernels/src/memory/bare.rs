//! A device of addresses with nothing behind them.

use super::{DeviceError, DeviceMemory, Stream};
use std::collections::{BTreeMap, HashMap};

/// Where device memory begins, and where reserved ranges do.
const MEMORY: u64 = 0x7000_0000_0000;
const RANGES: u64 = 0x6000_0000_0000;
/// Device memory is handed out in whole granules.
const GRANULE: u64 = 2 << 20;
/// The first handle of a page.
const FIRST_PAGE: u64 = 0x1000;

/// A call that was made of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceCall {
    /// The name of the CUDA function.
    pub name: &'static str,
    /// The address or handle; 0 where the call failed.
    pub address: u64,
    /// Bytes asked for; 0 where the call has no size.
    pub bytes: u64,
    /// Whether it gave what was asked.
    pub done: bool,
}

/// Addresses of a device that is not there: the lowest gap that is wide enough is given, in granules of 2 MiB.
///
/// Events are done at once, or, where [`BareAddresses::hold_events`] says so, when [`BareAddresses::complete_events`]
/// is called or the allocator itself waits for them.
#[derive(Debug, Default)]
pub struct BareAddresses {
    total: u64,
    used: u64,
    memory: Gaps,
    ranges: Gaps,
    pages: HashMap<u64, u64>,
    pages_made: u64,
    /// Events that are not done, with their stream.
    pending: BTreeMap<u64, Stream>,
    events_made: u64,
    held: bool,
    calls: Option<Vec<DeviceCall>>,
    /// Whether [`DeviceMemory::process_bytes`] tells what is used.
    tells_process: bool,
}

impl BareAddresses {
    /// A device of so many bytes.
    pub fn new(total: u64) -> BareAddresses {
        BareAddresses { total, memory: Gaps::from(MEMORY), ranges: Gaps::from(RANGES), ..BareAddresses::default() }
    }

    /// Whether events that are recorded from now on stay pending.
    pub fn hold_events(&mut self, held: bool) {
        self.held = held;
    }

    /// All streams catch up: every event is done.
    pub fn complete_events(&mut self) {
        self.pending.clear();
    }

    /// Also tells what the process holds, as a driver with its management library does.
    pub fn tell_process_bytes(&mut self) {
        self.tells_process = true;
    }

    /// Notes every call from now on, for [`BareAddresses::take_calls`].
    pub fn note_calls(&mut self) {
        self.calls = Some(Vec::new());
    }

    /// The calls noted since the last time.
    pub fn take_calls(&mut self) -> Vec<DeviceCall> {
        self.calls.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note(&mut self, name: &'static str, bytes: u64, given: Result<u64, DeviceError>) -> Result<u64, DeviceError> {
        if let Some(calls) = &mut self.calls {
            calls.push(DeviceCall { name, address: *given.as_ref().unwrap_or(&0), bytes, done: given.is_ok() });
        }
        given
    }

    fn take(&mut self, bytes: u64) -> Result<(), DeviceError> {
        let used = self.used.checked_add(bytes).filter(|used| *used <= self.total).ok_or(DeviceError::OutOfMemory)?;
        self.used = used;
        Ok(())
    }
}

impl DeviceMemory for BareAddresses {
    fn total(&self) -> u64 {
        self.total
    }

    fn free_bytes(&self) -> Result<u64, DeviceError> {
        Ok(self.total - self.used)
    }

    fn process_bytes(&self) -> Option<u64> {
        self.tells_process.then_some(self.used)
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let whole = granules(bytes)?;
        let given = self.take(whole).map(|()| self.memory.take(whole, bytes));
        self.note("cudaMalloc", bytes, given)
    }

    fn free(&mut self, address: u64) -> Result<(), DeviceError> {
        let (whole, asked) = self.memory.give_back(address).ok_or_else(|| unknown("cudaFree", address))?;
        self.used -= whole;
        self.note("cudaFree", asked, Ok(address)).map(drop)
    }

    fn reserve(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let room = |address: u64| address.checked_add(bytes).is_some_and(|end| end <= MEMORY);
        let address = Some(self.ranges.gap(bytes)).filter(|address| room(*address));
        let given = address.ok_or(DeviceError::OutOfMemory);
        if let Ok(address) = given {
            self.ranges.put(address, bytes, bytes);
        }
        self.note("cuMemAddressReserve", bytes, given)
    }

    fn release_range(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.ranges.give_back(address).ok_or_else(|| unknown("cuMemAddressFree", address))?;
        self.note("cuMemAddressFree", bytes, Ok(address)).map(drop)
    }

    fn create_page(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let given = self.take(bytes).map(|()| {
            let page = FIRST_PAGE + self.pages_made;
            self.pages_made += 1;
            self.pages.insert(page, bytes);
            page
        });
        self.note("cuMemCreate", bytes, given)
    }

    fn release_page(&mut self, page: u64) -> Result<(), DeviceError> {
        self.used -= self.pages.remove(&page).ok_or_else(|| unknown("cuMemRelease", page))?;
        self.note("cuMemRelease", 0, Ok(page)).map(drop)
    }

    fn map(&mut self, address: u64, bytes: u64, _page: u64) -> Result<(), DeviceError> {
        self.note("cuMemMap", bytes, Ok(address)).map(drop)
    }

    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.note("cuMemUnmap", bytes, Ok(address)).map(drop)
    }

    fn record_event(&mut self, stream: Stream) -> Result<u64, DeviceError> {
        let event = self.events_made;
        self.events_made += 1;
        if self.held {
            self.pending.insert(event, stream);
        }
        Ok(event)
    }

    fn event_done(&mut self, event: u64) -> Result<bool, DeviceError> {
        Ok(!self.pending.contains_key(&event))
    }

    fn wait_for(&mut self, event: u64) -> Result<(), DeviceError> {
        // A stream does its work in order: what was recorded on it before this event is done, too.
        if let Some(stream) = self.pending.get(&event).copied() {
            self.pending.retain(|other, on| *other > event || *on != stream);
        }
        Ok(())
    }

    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError> {
        self.pending.retain(|_, on| *on != stream);
        Ok(())
    }
}

/// Whole granules that hold so many bytes.
fn granules(bytes: u64) -> Result<u64, DeviceError> {
    bytes.max(1).checked_next_multiple_of(GRANULE).ok_or(DeviceError::OutOfMemory)
}

fn unknown(call: &str, address: u64) -> DeviceError {
    DeviceError::Other(format!("{call}: {address:#x} was never given out, or was given back before"))
}

/// Ranges of addresses above a start, given out first fit.
#[derive(Debug, Default)]
struct Gaps {
    start: u64,
    /// Address, then bytes taken and bytes asked for.
    taken: BTreeMap<u64, (u64, u64)>,
}

impl Gaps {
    fn from(start: u64) -> Gaps {
        Gaps { start, taken: BTreeMap::new() }
    }

    fn take(&mut self, bytes: u64, asked: u64) -> u64 {
        let address = self.gap(bytes);
        self.put(address, bytes, asked);
        address
    }

    /// The lowest address behind which so many bytes are free.
    fn gap(&self, bytes: u64) -> u64 {
        let mut at = self.start;
        for (address, (taken, _)) in &self.taken {
            if address - at >= bytes {
                break;
            }
            at = address + taken;
        }
        at
    }

    fn put(&mut self, address: u64, bytes: u64, asked: u64) {
        self.taken.insert(address, (bytes, asked));
    }

    fn give_back(&mut self, address: u64) -> Option<(u64, u64)> {
        self.taken.remove(&address)
    }
}
