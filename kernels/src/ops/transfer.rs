//! Tensors made on a device, moved between devices, and page-locked.

use super::backend;
use super::create::check_fits;
use crate::cuda::Cuda;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::storage::Storage;
use crate::tensor::Tensor;

impl Tensor {
    /// A new tensor on a device whose values are whatever its storage holds.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, OutOfMemory, Device}`.
    pub fn empty_on(shape: &[i64], dtype: DType, device: &Device) -> Result<Tensor> {
        Tensor::allocate_on(device, Layout::contiguous(&Layout::sizes(shape)?)?, dtype)
    }

    /// A new tensor on a device that holds one value everywhere.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, Value, OutOfMemory, Device, Unsupported}`.
    pub fn full_on(shape: &[i64], value: impl Into<Scalar>, dtype: DType, device: &Device) -> Result<Tensor> {
        let value = value.into();
        check_fits(value, dtype)?;
        let out = Tensor::empty_on(shape, dtype, device)?;
        backend(&[&out])?.fill(out.operand()?, value)?;
        Ok(out)
    }

    /// A new tensor in page-locked host memory whose values are whatever its storage holds.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, OutOfMemory, Device}`.
    pub fn empty_pinned(shape: &[i64], dtype: DType, cuda: &Cuda) -> Result<Tensor> {
        let layout = Layout::contiguous(&Layout::sizes(shape)?)?;
        Tensor::on(Storage::empty_pinned(cuda, layout.numel(), dtype)?, layout, dtype)
    }

    /// The tensor itself where it is pinned, else a copy in page-locked host memory.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{OutOfMemory, Device}`.
    pub fn pin_memory(&self, cuda: &Cuda) -> Result<Tensor> {
        if self.is_pinned() {
            return Ok(self.share());
        }
        let layout = self.layout().of_copy()?;
        let out = Tensor::on(Storage::empty_pinned(cuda, layout.numel(), self.dtype())?, layout, self.dtype())?;
        let here = self.to_device(&Device::Cpu, false)?;
        backend(&[&out, &here])?.copy(out.operand()?, here.operand()?)?;
        Ok(out)
    }

    /// Whether the storage lies in page-locked host memory.
    pub fn is_pinned(&self) -> bool {
        self.storage().is_locked()
    }

    /// Locks the pages of the storage, ordinary host memory, so that copies to and from a device need not be staged.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Value, Device}`.
    pub fn register(&self, cuda: &Cuda) -> Result<()> {
        self.storage().register(cuda)
    }

    /// Waits for the device and unlocks the pages of the storage again; a storage that goes does so, too.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Value, Device}`.
    pub fn unregister(&self) -> Result<()> {
        self.storage().unregister()
    }

    /// The tensor itself where it is on this device, else a copy there.
    ///
    /// A copy that does not block returns before it is done. From page-locked memory it reads the source when the stream
    /// comes to it: do not write it before. To the host it gives a page-locked tensor whose values are there when the
    /// device was waited for.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{OutOfMemory, Device, Unsupported}`.
    pub fn to_device(&self, device: &Device, non_blocking: bool) -> Result<Tensor> {
        match (self.storage().cuda(), device) {
            (None, Device::Cpu) => Ok(self.share()),
            (Some(here), Device::Cuda(there)) if here.is_same(there) => Ok(self.share()),
            (None, Device::Cuda(cuda)) => cuda.upload(self, non_blocking),
            (Some(cuda), Device::Cpu) => cuda.download(self, non_blocking),
            (Some(_), Device::Cuda(_)) => self.to_device(&Device::Cpu, false)?.to_device(device, non_blocking),
        }
    }

    /// Says that a stream of the device uses the tensor, too: its block is not handed out again before that stream has
    /// come past what it was asked until the tensor goes.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Device, Value}`.
    pub fn record_stream(&self, stream: usize) -> Result<()> {
        match self.storage().cuda() {
            Some(cuda) => cuda.record_stream(self.storage_ptr() as u64, stream),
            None => Ok(()),
        }
    }
}
