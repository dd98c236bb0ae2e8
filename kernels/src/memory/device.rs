//! What an allocator takes its memory from.

use std::fmt;

/// A stream of a device, by the value of its handle: the caching allocator orders streams by it. 0 is the default one.
pub type Stream = u64;

/// Why a device did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceError {
    /// It has not so much memory left.
    OutOfMemory,
    /// Anything else, in the device's own words.
    Other(String),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::OutOfMemory => f.write_str("out of memory"),
            DeviceError::Other(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for DeviceError {}

/// The memory, address space and events of one device. All sizes are bytes.
pub trait DeviceMemory {
    /// Bytes that the device has.
    fn total(&self) -> u64;
    /// Bytes that nobody holds.
    fn free_bytes(&self) -> Result<u64, DeviceError>;
    /// Bytes that this process holds as the driver shows them, with what no allocator knows of; where it tells.
    fn process_bytes(&self) -> Option<u64> {
        None
    }
    /// Takes so many bytes and gives their address (`cudaMalloc`).
    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Gives back what `allocate` gave (`cudaFree`).
    fn free(&mut self, address: u64) -> Result<(), DeviceError>;
    /// Reserves a range of addresses with nothing behind it (`cuMemAddressReserve`).
    fn reserve(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Gives a reserved range back (`cuMemAddressFree`).
    fn release_range(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError>;
    /// Takes a page of memory without an address, and gives its handle (`cuMemCreate`).
    fn create_page(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Gives a page back (`cuMemRelease`).
    fn release_page(&mut self, page: u64) -> Result<(), DeviceError>;
    /// Puts a page behind reserved addresses, readable and writable (`cuMemMap`, `cuMemSetAccess`).
    fn map(&mut self, address: u64, bytes: u64, page: u64) -> Result<(), DeviceError>;
    /// Takes the page behind addresses away (`cuMemUnmap`).
    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError>;
    /// Marks the place that a stream has come to, and gives the event's handle.
    fn record_event(&mut self, stream: Stream) -> Result<u64, DeviceError>;
    /// Whether the stream has passed the event. An event that is done is forgotten.
    fn event_done(&mut self, event: u64) -> Result<bool, DeviceError>;
    /// Waits until the stream has passed the event, and forgets it.
    fn wait_for(&mut self, event: u64) -> Result<(), DeviceError>;
    /// Waits until a stream has done all that it was asked.
    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError>;
}

/// Page-locked memory of the host, and the events of streams that use it. All sizes are bytes.
pub trait HostMemory {
    /// Takes page-locked memory and gives its address (`cudaHostAlloc`).
    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Gives it back (`cudaFreeHost`).
    fn free(&mut self, address: u64) -> Result<(), DeviceError>;
    /// Takes ordinary memory and locks its pages (`cudaHostRegister`).
    fn register(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Unlocks it and gives it back (`cudaHostUnregister`).
    fn unregister(&mut self, address: u64) -> Result<(), DeviceError>;
    /// Marks the place that a stream has come to, and gives the event's handle.
    fn record_event(&mut self, stream: Stream) -> Result<u64, DeviceError>;
    /// Whether the stream has passed the event. An event that is done is forgotten.
    fn event_done(&mut self, event: u64) -> Result<bool, DeviceError>;
}
