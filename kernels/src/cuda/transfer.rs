//! Copies between the host and the device.

use super::{Cuda, driver, of_allocator};
use crate::device::Device;
use crate::error::Result;
use crate::layout::Layout;
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::ptr::NonNull;

impl Cuda {
    /// A copy of a host tensor on the device.
    ///
    /// Pageable memory is staged by the driver, so that it may be written again at once. Page-locked memory is read when
    /// the stream comes to it: its block is not handed out again before.
    pub(crate) fn upload(&self, host: &Tensor, non_blocking: bool) -> Result<Tensor> {
        let source = host.contiguous()?;
        let out = Tensor::allocate_on(&Device::Cuda(self.clone()), Layout::contiguous(host.shape())?, host.dtype())?;
        self.copy_up(&out, &source, non_blocking)?;
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
        self.copy_down(&out, &source, non_blocking)?;
        Ok(out)
    }

    /// Copies the bytes of one tensor into another, one on the host and one on the device, both contiguous, of one dtype
    /// and of as many elements.
    pub(crate) fn copy_across(&self, to: &Tensor, from: &Tensor, non_blocking: bool) -> Result<()> {
        if to.storage().cuda().is_some() {
            self.copy_up(to, from, non_blocking)
        } else {
            self.copy_down(to, from, non_blocking)
        }
    }

    fn copy_up(&self, device: &Tensor, host: &Tensor, non_blocking: bool) -> Result<()> {
        let Some(from) = first_byte(host) else { return Ok(()) };
        // SAFETY: the tensors have as many bytes. `host` holds the block until the copy is done, or, if it is
        // page-locked and nobody waits here, its block is kept until the stream has come past it.
        unsafe { driver::upload(device.data_ptr() as u64, from, bytes(host), self.stream()) }?;
        self.wait_or_keep(host, non_blocking)
    }

    fn copy_down(&self, host: &Tensor, device: &Tensor, non_blocking: bool) -> Result<()> {
        let Some(to) = first_byte(host) else { return Ok(()) };
        // SAFETY: the tensors have as many bytes. The device's block stays on this stream until the copy is done, and
        // the host's is waited for, or kept until then.
        unsafe { driver::download(to, device.data_ptr() as u64, bytes(host), self.stream()) }?;
        self.wait_or_keep(host, non_blocking)
    }

    /// After a copy was asked for: waits for it, or, where nobody wants to and the pages are locked, keeps them for it.
    fn wait_or_keep(&self, host: &Tensor, non_blocking: bool) -> Result<()> {
        if !(non_blocking && host.is_pinned()) {
            return Ok(driver::synchronize_stream(self.stream())?);
        }
        // Registered pages are unlocked and freed only after the device was waited for.
        if host.storage().pinned_by().is_none() {
            return Ok(());
        }
        self.pinned().record_stream(host.storage_ptr() as u64, self.stream()).map_err(of_allocator)
    }

    /// Copies bytes within the device.
    pub(super) fn copy_bytes(&self, to: u64, from: u64, bytes: u64) -> Result<()> {
        if bytes == 0 || to == from { Ok(()) } else { Ok(driver::copy(to, from, bytes, self.stream())?) }
    }

    /// Locks the pages of a host block, for copies that need not be staged.
    pub(crate) fn register(&self, block: NonNull<u8>, bytes: usize) -> Result<()> {
        Ok(driver::register(block.as_ptr().expose_provenance() as u64, bytes as u64)?)
    }

    /// Unlocks them when the copies that read or write them are done.
    pub(crate) fn unregister(&self, block: NonNull<u8>) -> Result<()> {
        Ok(driver::synchronize().and(driver::unregister(block.as_ptr().expose_provenance() as u64))?)
    }

    /// Unlocks them where nobody is there to be told of a refusal: the next call that can fail tells it.
    pub(crate) fn unregister_lost(&self, block: NonNull<u8>) {
        if let Err(error) = self.unregister(block) {
            self.0.lost.borrow_mut().get_or_insert(error);
        }
    }
}

/// Address of the first element of a host tensor; nothing where it has none.
fn first_byte(host: &Tensor) -> Option<*mut u8> {
    let block = host.storage().host_block().filter(|_| host.numel() > 0)?;
    // SAFETY: the elements lie in the block from their offset on.
    Some(unsafe { block.as_ptr().add(host.offset() * host.element_size()) })
}

fn bytes(tensor: &Tensor) -> u64 {
    (tensor.numel() * tensor.element_size()) as u64
}
