//! Copies between the host and the device.

use super::{Cuda, driver, of_allocator};
use crate::device::Device;
use crate::error::Result;
use crate::layout::Layout;
use crate::memory::AllocError;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// A host tensor whose pages are locked.
pub struct Registration {
    tensor: Tensor,
    cuda: Cuda,
}

impl Registration {
    /// A copy on the device that returns before it is done: the tensor must not be written before the device was waited
    /// for.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{OutOfMemory, Device}`.
    pub fn upload(&self) -> Result<Tensor> {
        self.cuda.copy_up(&self.tensor, false)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Copies that are under way read the pages.
        let waited = driver::synchronize().and(driver::unregister(self.tensor.storage_ptr() as u64));
        self.cuda.keep_lost(waited.map_err(|refused| AllocError::Device(refused.into())));
    }
}

impl Cuda {
    /// A copy of a host tensor on the device.
    ///
    /// Pageable memory is staged by the driver, so that it may be written again at once. Page-locked memory is read when
    /// the stream comes to it: its block is not handed out again before.
    pub(crate) fn upload(&self, host: &Tensor, non_blocking: bool) -> Result<Tensor> {
        self.copy_up(host, !(non_blocking && host.is_pinned()))
    }

    fn copy_up(&self, host: &Tensor, wait: bool) -> Result<Tensor> {
        let source = host.contiguous()?;
        let out = Tensor::allocate_on(&Device::Cuda(self.clone()), Layout::contiguous(host.shape())?, host.dtype())?;
        let Some(block) = source.storage().host_block().filter(|_| source.numel() > 0) else { return Ok(out) };
        let size = source.element_size();
        let bytes = (source.numel() * size) as u64;
        // SAFETY: the elements lie in the block from their offset on.
        let from = unsafe { block.as_ptr().add(source.offset() * size) };
        // SAFETY: `source` holds the block until the copy is done, or, if it is page-locked and nobody waits here, the
        // allocator keeps it until the stream has come past it.
        unsafe { driver::upload(out.data_ptr() as u64, from, bytes, self.stream()) }?;
        if wait {
            driver::synchronize_stream(self.stream())?;
        } else if source.is_pinned() {
            self.keep_pinned(&source)?;
        }
        Ok(out)
    }

    /// A copy of a device tensor on the host: in pageable memory, there when this returns; or, where the copy does not
    /// block, in page-locked memory, there when the device was waited for.
    pub(crate) fn download(&self, device: &Tensor, non_blocking: bool) -> Result<Tensor> {
        let source = device.contiguous()?;
        let layout = Layout::contiguous(device.shape())?;
        let (numel, dtype) = (layout.numel(), device.dtype());
        let storage =
            if non_blocking { Storage::empty_pinned(self, numel, dtype)? } else { Storage::empty(numel, dtype)? };
        let out = Tensor::on(storage, layout, dtype)?;
        let Some(block) = out.storage().host_block() else { return Ok(out) };
        let bytes = (numel * dtype.element_size()) as u64;
        // SAFETY: the new block has room for all elements; the device's stays on this stream until the copy is done, and
        // the new one is kept by the allocator until then where nobody waits here.
        unsafe { driver::download(block.as_ptr(), source.data_ptr() as u64, bytes, self.stream()) }?;
        if non_blocking {
            self.keep_pinned(&out)?;
        } else {
            driver::synchronize_stream(self.stream())?;
        }
        Ok(out)
    }

    /// Copies bytes within the device.
    pub(super) fn copy_bytes(&self, to: u64, from: u64, bytes: u64) -> Result<()> {
        if bytes == 0 || to == from { Ok(()) } else { Ok(driver::copy(to, from, bytes, self.stream())?) }
    }

    /// Locks the pages of a host tensor's storage, for copies that need not be staged, until the answer is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Device`](crate::ErrorKind::Device) for what the driver refuses: pages that are locked already, and
    /// memory of a device.
    pub fn register(&self, host: &Tensor) -> Result<Registration> {
        let bytes = host.storage_bytes() as u64;
        driver::register(host.storage_ptr() as u64, bytes)?;
        Ok(Registration { tensor: host.share(), cuda: self.clone() })
    }

    /// Tells the pinned allocator that the current stream uses the tensor's block.
    fn keep_pinned(&self, tensor: &Tensor) -> Result<()> {
        self.pinned().record_stream(tensor.storage_ptr() as u64, self.stream()).map_err(of_allocator)
    }
}
