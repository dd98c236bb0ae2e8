//! A block of memory and its version counter.

use crate::backend::Operand;
use crate::cuda::Cuda;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use std::alloc;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// Bytes to which the start of every block is aligned.
pub const ALIGNMENT: usize = 64;

/// A block of bytes and the count of writes into it.
///
/// The bytes requested of the system are exactly those of the elements. No elements need no block: its address is 0.
#[derive(Debug)]
pub struct Storage {
    /// Where it lies; for a device an address there, which is never followed here.
    block: Option<NonNull<u8>>,
    place: Place,
    bytes: usize,
    version: Cell<u64>,
    /// The device for whose copies the pages of ordinary host memory are locked.
    registered: RefCell<Option<Cuda>>,
}

/// Who gave the block.
#[derive(Debug)]
enum Place {
    Host,
    /// Page-locked host memory of a device's pinned allocator.
    Pinned(Cuda),
    Device(Cuda),
}

impl Storage {
    /// A block on a device.
    ///
    /// # Errors
    /// As of [`Storage::empty`]; [`ErrorKind::Device`] for what the driver refuses.
    pub(crate) fn empty_on(device: &Device, numel: usize, dtype: DType) -> Result<Storage> {
        match device {
            Device::Cpu => Storage::empty(numel, dtype),
            Device::Cuda(cuda) => Storage::of(Place::Device(cuda.clone()), numel, dtype, |bytes| {
                let address = cuda.allocate(bytes)?;
                Ok(NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize)))
            }),
        }
    }

    /// A block of page-locked host memory.
    ///
    /// # Errors
    /// As of [`Storage::empty_on`].
    pub(crate) fn empty_pinned(cuda: &Cuda, numel: usize, dtype: DType) -> Result<Storage> {
        Storage::of(Place::Pinned(cuda.clone()), numel, dtype, |bytes| cuda.allocate_pinned(bytes).map(Some))
    }

    fn of(
        place: Place,
        numel: usize,
        dtype: DType,
        take: impl FnOnce(u64) -> Result<Option<NonNull<u8>>>,
    ) -> Result<Storage> {
        let bytes = numel.checked_mul(dtype.element_size()).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!("{numel} elements of {dtype} asked: their bytes cannot be counted"),
            )
        })?;
        let block = if bytes == 0 { None } else { take(bytes as u64)? };
        Ok(Storage::at(block, place, bytes))
    }

    fn at(block: Option<NonNull<u8>>, place: Place, bytes: usize) -> Storage {
        Storage { block, place, bytes, version: Cell::new(0), registered: RefCell::default() }
    }

    /// The device that it lies on.
    pub fn device(&self) -> Device {
        match &self.place {
            Place::Host | Place::Pinned(_) => Device::Cpu,
            Place::Device(cuda) => Device::Cuda(cuda.clone()),
        }
    }

    /// The CUDA device that it lies on, where it does.
    pub(crate) fn cuda(&self) -> Option<&Cuda> {
        if let Place::Device(cuda) = &self.place { Some(cuda) } else { None }
    }

    /// The device whose pinned allocator gave it, where one did.
    pub(crate) fn pinned_by(&self) -> Option<&Cuda> {
        if let Place::Pinned(cuda) = &self.place { Some(cuda) } else { None }
    }

    /// Whether its pages are locked: because the block is pinned, or because they were registered.
    pub(crate) fn is_locked(&self) -> bool {
        self.pinned_by().is_some() || self.registered.borrow().is_some()
    }

    /// Locks the pages for copies to and from a device.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] for what is no ordinary host memory, or locked already; [`ErrorKind::Device`] for what the
    /// driver refuses.
    pub(crate) fn register(&self, cuda: &Cuda) -> Result<()> {
        if !matches!(self.place, Place::Host) || self.registered.borrow().is_some() {
            let found = if self.cuda().is_some() { "memory of a device" } else { "memory that is locked already" };
            return Err(Error::new(
                ErrorKind::Value,
                format!("pages to be locked asked, found {found}: give ordinary host memory"),
            ));
        }
        if let Some(block) = self.block {
            cuda.register(block, self.bytes)?;
            self.registered.replace(Some(cuda.clone()));
        }
        Ok(())
    }

    /// Waits for the device and unlocks the pages again.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] where they are not registered; [`ErrorKind::Device`] for what the driver refuses.
    pub(crate) fn unregister(&self) -> Result<()> {
        match (self.registered.take(), self.block) {
            (Some(cuda), Some(block)) => cuda.unregister(block),
            _ => Err(Error::new(
                ErrorKind::Value,
                "pages to be unlocked asked, which were not locked: register them first",
            )),
        }
    }

    /// The block of host memory; nothing where there is none, or it lies on a device.
    pub(crate) fn host_block(&self) -> Option<NonNull<u8>> {
        self.block.filter(|_| self.cuda().is_none())
    }

    /// A block for `numel` elements of `dtype`, not written.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the bytes cannot be counted or the system does not give them.
    pub fn empty(numel: usize, dtype: DType) -> Result<Storage> {
        let size = dtype.element_size();
        let out_of_memory = |what: &str| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!("{numel} elements of {dtype}, {size} bytes each, asked: {what}; ask for fewer"),
            )
        };
        let bytes = numel.checked_mul(size).ok_or_else(|| out_of_memory("storage size calculation overflowed"))?;
        if bytes == 0 {
            return Ok(Storage::at(None, Place::Host, bytes));
        }
        let request = alloc::Layout::from_size_align(bytes, ALIGNMENT)
            .map_err(|_| out_of_memory("more bytes than one block can have"))?;
        // SAFETY: the request is not of zero bytes.
        let block = unsafe { alloc::alloc(request) };
        // Elements may be read before they are written. To the compiler, a block whose address went through a black box
        // may have been filled by others, so such a read gives some value, as in C libraries.
        let block =
            NonNull::new(std::hint::black_box(block)).ok_or_else(|| out_of_memory("the system does not give them"))?;
        advise_large_pages(block, bytes);
        Ok(Storage::at(Some(block), Place::Host, bytes))
    }

    /// Address of the first byte; 0 for no bytes.
    pub fn address(&self) -> usize {
        self.block.map_or(0, |block| block.as_ptr() as usize)
    }

    /// Bytes of the block.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A copy of `length` bytes from `start`; fewer where the block ends before, none where it is not host memory.
    pub(crate) fn copy_bytes(&self, start: usize, length: usize) -> Vec<u8> {
        let Some(block) = self.host_block() else { return Vec::new() };
        let start = start.min(self.bytes);
        let length = length.min(self.bytes - start);
        // SAFETY: the range lies in the block, which lives as long as the borrow of the storage; any byte is a valid u8,
        // and nothing writes during the copy, since a storage is neither `Send` nor `Sync`.
        unsafe { std::slice::from_raw_parts(block.as_ptr().add(start), length) }.to_vec()
    }

    /// The count of writes into the storage through tensors that share it, those with a counter of their own apart.
    pub(crate) fn version(&self) -> &Cell<u64> {
        &self.version
    }

    /// Checks that every element of a layout lies in the block.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when the block is too small.
    pub(crate) fn check_holds(&self, layout: &Layout, dtype: DType) -> Result<()> {
        let needed = if layout.numel() == 0 { Some(0) } else { layout.end().checked_mul(dtype.element_size()) };
        if needed.is_some_and(|needed| needed <= self.bytes) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Shape,
            format!(
                "shape {:?} with strides {:?} at offset {} ends after {} elements of {dtype}, outside the storage of {} bytes; \
                 choose a layout inside it",
                layout.shape(),
                layout.strides(),
                layout.offset(),
                layout.end(),
                self.bytes
            ),
        ))
    }

    /// The elements of a layout, as a backend sees them.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when the block is too small.
    pub(crate) fn operand<'a>(&'a self, layout: &'a Layout, dtype: DType) -> Result<Operand<'a>> {
        self.check_holds(layout, dtype)?;
        let block = self.block.unwrap_or(NonNull::dangling());
        // SAFETY: the layout lies in the block, which lives as long as the borrow of the storage, and was allocated with
        // an alignment that is enough for every dtype. A storage is neither `Send` nor `Sync`.
        Ok(unsafe { Operand::new(block, layout, dtype) })
    }
}

/// Blocks of this many bytes and more ask for large pages: first touch costs about a fifth then.
const LARGE_BLOCK: usize = 4 << 20;

/// Asks the system to back a large block with large pages; it may decline, which changes nothing but time.
#[cfg(target_os = "linux")]
fn advise_large_pages(block: NonNull<u8>, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let skipped = block.as_ptr().align_offset(page);
    if bytes < LARGE_BLOCK.max(skipped) {
        return;
    }
    let length = (bytes - skipped) / page * page;
    // SAFETY: the range lies in the block that was just allocated, and this advice changes neither what the bytes are nor
    // who may touch them.
    let _ = unsafe { madvise(block.as_ptr().add(skipped).cast(), length, Advice::LinuxHugepage) };
}

/// Other systems choose their pages themselves.
#[cfg(not(target_os = "linux"))]
fn advise_large_pages(_: NonNull<u8>, _: usize) {}

impl Drop for Storage {
    fn drop(&mut self) {
        let Some(block) = self.block else { return };
        if let Some(cuda) = self.registered.take() {
            cuda.unregister_lost(block);
        }
        match &self.place {
            Place::Host => {}
            Place::Pinned(cuda) => return cuda.free_pinned(block),
            Place::Device(cuda) => return cuda.free(block.as_ptr().expose_provenance() as u64),
        }
        // SAFETY: `empty` allocated the block with this size and alignment, which were valid there, and nothing else
        // frees it.
        unsafe { alloc::dealloc(block.as_ptr(), alloc::Layout::from_size_align_unchecked(self.bytes, ALIGNMENT)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_aligned_and_no_bytes_have_no_address() {
        let storage = Storage::empty(3, DType::F16).unwrap();
        assert_eq!(storage.bytes(), 6);
        assert_eq!(storage.address() % ALIGNMENT, 0);
        assert_ne!(storage.address(), 0);
        assert_eq!(Storage::empty(0, DType::F64).unwrap().address(), 0);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        for numel in [1 << 50, isize::MAX as usize / 8, isize::MAX as usize, usize::MAX] {
            assert_eq!(Storage::empty(numel, DType::F64).unwrap_err().kind, ErrorKind::OutOfMemory, "{numel}");
        }
    }

    #[test]
    fn a_layout_outside_the_block_is_refused() {
        let storage = Storage::empty(6, DType::F32).unwrap();
        let fits = Layout::new(&[2, 3], &[1, 2], 0).unwrap();
        assert!(storage.check_holds(&fits, DType::F32).is_ok());
        assert!(storage.check_holds(&fits, DType::F64).is_err());
        assert!(storage.check_holds(&Layout::new(&[2], &[1], 5).unwrap(), DType::F32).is_err());
        assert!(storage.check_holds(&Layout::new(&[0], &[1], 50).unwrap(), DType::F32).is_ok());
    }
}
