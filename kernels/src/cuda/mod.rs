//! Tensors on a CUDA device: memory under the caching allocator, streams, transfers, kernels.
//!
//! The driver is loaded when it is first asked for and never linked: without one, [`Cuda::open`] says so and the engine
//! works on the CPU. Reading order: `driver` (its functions, each with its error), `memory` (what the allocators take
//! from it), this file (a device that is open), `launch` and `kernels` (the backend), `transfer`,
//! `clock`.

mod clock;
mod driver;
mod kernels;
mod launch;
mod memory;
mod nvml;
mod transfer;

pub use clock::Lap;
pub use driver::Refused;
pub use memory::{DriverHost, DriverMemory};

use crate::error::{Error, ErrorKind, Result};
use crate::memory::{AllocError, CachingAllocator, PinnedAllocator, Settings};
use cudarc::driver::sys::{CUcontext, CUdevice};
use launch::Kernels;
use std::cell::{Cell, RefCell, RefMut};
use std::fmt;
use std::ptr::NonNull;
use std::rc::Rc;

/// A device that is open; handles to it are counted, and tensors on it hold one.
#[derive(Clone)]
pub struct Cuda(Rc<Open>);

struct Open {
    device: CUdevice,
    name: String,
    caching: RefCell<CachingAllocator<DriverMemory>>,
    pinned: RefCell<PinnedAllocator<DriverHost>>,
    kernels: Kernels,
    clock: Cell<Option<clock::Events>>,
    /// Whether everything was returned.
    closed: bool,
    /// Streams that were made, by number from 1; 0 is the default one.
    streams: RefCell<Vec<u64>>,
    /// The handle of the stream that work is for.
    stream: Cell<u64>,
    /// What the driver refused when a block was given back, and nobody was there to be told.
    lost: RefCell<Option<Error>>,
}

impl Cuda {
    /// Opens a device, with these settings of its allocators.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] where there is no driver, no such device, or a driver that is too old;
    /// [`ErrorKind::Device`] for what the driver refuses.
    pub fn open(ordinal: i32, settings: Settings) -> Result<Cuda> {
        driver::present()?;
        driver::init()?;
        let count = driver::count()?;
        if ordinal < 0 || ordinal >= count {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("device {ordinal} asked, and the driver shows {count}: devices count from 0"),
            ));
        }
        let device = driver::device(ordinal)?;
        let context = driver::retain_context(device)?;
        // From here on the context goes back whatever fails.
        let opened = Cuda::in_context(device, context, settings);
        opened.inspect_err(|_| drop(driver::release_context(device)))
    }

    fn in_context(device: CUdevice, context: CUcontext, settings: Settings) -> Result<Cuda> {
        driver::set_context(context)?;
        let (_, total) = driver::memory()?;
        let name = driver::name(device)?;
        let pinned = PinnedAllocator::new(DriverHost, settings.pinned.clone());
        let caching = CachingAllocator::new(DriverMemory::new(device, total), settings);
        Ok(Cuda(Rc::new(Open {
            device,
            name,
            caching: RefCell::new(caching),
            pinned: RefCell::new(pinned),
            kernels: Kernels::default(),
            clock: Cell::default(),
            closed: false,
            streams: RefCell::default(),
            stream: Cell::new(0),
            lost: RefCell::default(),
        })))
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The version of CUDA that the driver knows, such as 13000.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] for what the driver refuses.
    pub fn driver_version(&self) -> Result<i32> {
        Ok(driver::version()?)
    }

    /// Whether two handles are to the same open device.
    pub fn is_same(&self, other: &Cuda) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Waits until all that the device was asked is done.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] for what the driver refuses, also of work asked for before.
    pub fn synchronize(&self) -> Result<()> {
        driver::synchronize()?;
        self.tell_lost()
    }

    /// Makes a stream the one that work is for: 0 is the default one, others are made in the order of their numbers.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] for what the driver refuses.
    pub fn set_stream(&self, number: usize) -> Result<()> {
        self.0.stream.set(self.stream_of(number)?);
        Ok(())
    }

    /// The handle of a stream by its number.
    fn stream_of(&self, number: usize) -> Result<u64> {
        let mut streams = self.0.streams.borrow_mut();
        while streams.len() < number {
            streams.push(driver::create_stream()?);
        }
        Ok(if number == 0 { 0 } else { streams[number - 1] })
    }

    /// The handle of the stream that work is for.
    fn stream(&self) -> u64 {
        self.0.stream.get()
    }

    /// Bytes of the device that nobody holds, and all of them.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] for what the driver refuses.
    pub fn memory(&self) -> Result<(u64, u64)> {
        Ok(driver::memory()?)
    }

    /// The allocator of device memory. No tensor may come or go while it is held.
    pub fn caching(&self) -> RefMut<'_, CachingAllocator<DriverMemory>> {
        self.0.caching.borrow_mut()
    }

    /// Returns cached device memory and page-locked memory that is free.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] for what the driver refuses.
    pub fn empty_caches(&self) -> Result<()> {
        self.0.caching.borrow_mut().empty_cache().map_err(of_allocator)?;
        self.0.pinned.borrow_mut().empty_cache().map_err(of_allocator)
    }

    /// The allocator of page-locked host memory. No tensor may come or go while it is held.
    pub fn pinned(&self) -> RefMut<'_, PinnedAllocator<DriverHost>> {
        self.0.pinned.borrow_mut()
    }

    /// A block of device memory for the current stream.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<u64> {
        self.tell_lost()?;
        self.0.caching.borrow_mut().allocate(bytes, self.stream()).map_err(of_allocator)
    }

    /// Gives a block back. What the driver refuses is told by the next call that can fail.
    pub(crate) fn free(&self, address: u64) {
        let freed = self.0.caching.borrow_mut().free(address);
        self.keep_lost(freed);
    }

    /// A block of page-locked host memory.
    pub(crate) fn allocate_pinned(&self, bytes: u64) -> Result<NonNull<u8>> {
        self.tell_lost()?;
        let address = self.0.pinned.borrow_mut().allocate(bytes).map_err(of_allocator)?;
        let place = NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize));
        place.ok_or_else(|| Error::new(ErrorKind::OutOfMemory, format!("{bytes} bytes of page-locked memory asked")))
    }

    /// Gives a block of page-locked host memory back.
    pub(crate) fn free_pinned(&self, place: NonNull<u8>) {
        let freed = self.0.pinned.borrow_mut().free(place.as_ptr().expose_provenance() as u64);
        self.keep_lost(freed);
    }

    /// Takes so many bytes from the driver itself, past the caching allocator, and gives them back.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::Device`] for what else the driver refuses.
    pub fn take_and_give_back(&self, bytes: u64) -> Result<()> {
        Ok(driver::free(driver::allocate(bytes)?)?)
    }

    /// Says that a stream uses a block of device memory, too.
    pub(crate) fn record_stream(&self, address: u64, number: usize) -> Result<()> {
        let stream = self.stream_of(number)?;
        self.0.caching.borrow_mut().record_stream(address, stream).map_err(of_allocator)
    }

    fn keep_lost(&self, freed: std::result::Result<(), AllocError>) {
        if let Err(error) = freed {
            self.0.lost.borrow_mut().get_or_insert_with(|| of_allocator(error));
        }
    }

    fn tell_lost(&self) -> Result<()> {
        self.0.lost.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Lets the device go; it must be the last handle. Everything is returned, also where the driver refuses some of it.
    ///
    /// # Errors
    /// The first refusal; [`ErrorKind::Value`] while tensors or handles are left.
    pub fn close(self) -> Result<()> {
        let Ok(mut open) = Rc::try_unwrap(self.0) else {
            return Err(Error::new(ErrorKind::Value, "the device is still in use: drop its tensors first"));
        };
        open.give_all_back()
    }
}

impl Open {
    /// Gives everything back once, going on where the driver refuses; the error is the first refusal.
    fn give_all_back(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        let mut refusals = Vec::new();
        refusals.extend(self.lost.get_mut().take());
        let synchronized = driver::synchronize();
        refusals.extend(synchronized.err().map(Error::from));
        refusals.extend(self.caching.get_mut().give_all_back().into_iter().map(of_allocator));
        refusals.extend(self.pinned.get_mut().give_all_back().into_iter().map(of_allocator));
        for stream in self.streams.get_mut().drain(..) {
            refusals.extend(driver::destroy_stream(stream).err().map(Error::from));
        }
        refusals.extend(self.clock.take().map(clock::Events::destroy).unwrap_or_default());
        refusals.extend(self.kernels.unload());
        refusals.extend(driver::release_context(self.device).err().map(Error::from));
        refusals.into_iter().next().map_or(Ok(()), Err)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.give_all_back();
    }
}

fn of_allocator(error: AllocError) -> Error {
    let kind = match error {
        AllocError::OutOfMemory(_) | AllocError::Absurd(_) | AllocError::Rejected(_) => ErrorKind::OutOfMemory,
        _ => ErrorKind::Device,
    };
    Error::new(kind, error.to_string())
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("name", &self.name()).finish_non_exhaustive()
    }
}
