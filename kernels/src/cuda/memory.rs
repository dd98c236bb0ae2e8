//! The driver as a source of device memory and of page-locked host memory.

use super::{driver, nvml};
use crate::memory::{DeviceError, DeviceMemory, HostMemory, Stream};
use cudarc::driver::sys::CUdevice;

/// The memory, addresses and events of one device.
#[derive(Debug)]
pub struct DriverMemory {
    device: CUdevice,
    total: u64,
}

impl DriverMemory {
    pub(super) fn new(device: CUdevice, total: u64) -> DriverMemory {
        DriverMemory { device, total }
    }
}

type Answer<T> = Result<T, DeviceError>;

impl DeviceMemory for DriverMemory {
    fn total(&self) -> u64 {
        self.total
    }

    fn free_bytes(&self) -> Answer<u64> {
        Ok(driver::memory()?.0)
    }

    fn process_bytes(&self) -> Option<u64> {
        nvml::process_bytes()
    }

    fn allocate(&mut self, bytes: u64) -> Answer<u64> {
        Ok(driver::allocate(bytes)?)
    }

    fn free(&mut self, address: u64) -> Answer<()> {
        Ok(driver::free(address)?)
    }

    fn reserve(&mut self, bytes: u64) -> Answer<u64> {
        Ok(driver::reserve(bytes)?)
    }

    fn release_range(&mut self, address: u64, bytes: u64) -> Answer<()> {
        Ok(driver::release_range(address, bytes)?)
    }

    fn create_page(&mut self, bytes: u64) -> Answer<u64> {
        Ok(driver::create_page(bytes, self.device)?)
    }

    fn release_page(&mut self, page: u64) -> Answer<()> {
        Ok(driver::release_page(page)?)
    }

    fn map(&mut self, address: u64, bytes: u64, page: u64) -> Answer<()> {
        Ok(driver::map(address, bytes, page, self.device)?)
    }

    fn unmap(&mut self, address: u64, bytes: u64) -> Answer<()> {
        Ok(driver::unmap(address, bytes)?)
    }

    fn record_event(&mut self, stream: Stream) -> Answer<u64> {
        record_event(stream)
    }

    fn event_done(&mut self, event: u64) -> Answer<bool> {
        event_done(event)
    }

    fn wait_for(&mut self, event: u64) -> Answer<()> {
        let waited = driver::wait_for_event(event);
        driver::destroy_event(event).and(waited).map_err(DeviceError::from)
    }

    fn synchronize(&mut self, stream: Stream) -> Answer<()> {
        Ok(driver::synchronize_stream(stream)?)
    }
}

/// Page-locked memory of the host. What is registered is taken here first, as ordinary memory.
#[derive(Debug)]
pub struct DriverHost;

impl HostMemory for DriverHost {
    fn allocate(&mut self, bytes: u64) -> Answer<u64> {
        Ok(driver::allocate_host(bytes)?)
    }

    fn free(&mut self, address: u64) -> Answer<()> {
        Ok(driver::free_host(address)?)
    }

    fn register(&mut self, _bytes: u64) -> Answer<u64> {
        Err(DeviceError::Other("pinned_use_cuda_host_register is not supported by this engine".into()))
    }

    fn unregister(&mut self, address: u64) -> Answer<()> {
        Ok(driver::unregister(address)?)
    }

    fn record_event(&mut self, stream: Stream) -> Answer<u64> {
        record_event(stream)
    }

    fn event_done(&mut self, event: u64) -> Answer<bool> {
        event_done(event)
    }
}

fn record_event(stream: Stream) -> Answer<u64> {
    let event = driver::create_event()?;
    match driver::record_event(event, stream) {
        Ok(()) => Ok(event),
        Err(refused) => {
            // The first refusal is what is told.
            let _ = driver::destroy_event(event);
            Err(refused.into())
        }
    }
}

fn event_done(event: u64) -> Answer<bool> {
    let done = driver::event_done(event)?;
    if done {
        driver::destroy_event(event)?;
    }
    Ok(done)
}
