//! What can be seen of a tensor without changing it.

use super::backend;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

impl Tensor {
    /// Size of each dimension.
    pub fn shape(&self) -> &[usize] {
        self.layout().shape()
    }

    /// Distance between neighbours along each dimension, in elements.
    pub fn strides(&self) -> &[usize] {
        self.layout().strides()
    }

    /// Position of the first element in the storage, in elements.
    pub fn offset(&self) -> usize {
        self.layout().offset()
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.layout().numel()
    }

    /// Bytes of one element.
    pub fn element_size(&self) -> usize {
        self.dtype().element_size()
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.layout().is_contiguous()
    }

    /// The device that the elements are on.
    pub fn device(&self) -> Device {
        self.storage().device()
    }

    /// Address of the first element; 0 for a tensor without elements.
    pub fn data_ptr(&self) -> usize {
        if self.numel() == 0 { 0 } else { self.storage_ptr() + self.offset() * self.element_size() }
    }

    /// Address of the storage; 0 for a storage without bytes.
    pub fn storage_ptr(&self) -> usize {
        self.storage().address()
    }

    /// Bytes of the whole storage.
    pub fn storage_bytes(&self) -> usize {
        self.storage().bytes()
    }

    /// All values in row-major order; from a device they are copied first.
    ///
    /// # Errors
    /// None for host memory.
    pub fn values(&self) -> Result<Vec<Scalar>> {
        let here = self.to_device(&Device::Cpu, false)?;
        backend(&[&here])?.read(here.operand()?)
    }

    /// All elements in row-major order as bytes of this machine's order.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when the elements are scattered and there is no room to gather them.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let gathered = self.to_device(&Device::Cpu, false)?.contiguous()?;
        let size = gathered.element_size();
        Ok(gathered.storage().copy_bytes(gathered.offset() * size, gathered.numel() * size))
    }

    /// Whether two tensors have the same shape and the same values, compared in their promoted dtype. NaN equals nothing.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when dtypes differ and there is no room for a conversion.
    pub fn equal(&self, other: &Tensor) -> Result<bool> {
        if self.shape() != other.shape() {
            return Ok(false);
        }
        let common = DType::promote(self.dtype(), other.dtype());
        let (a, b) =
            (self.to_device(&Device::Cpu, false)?.to(common)?, other.to_device(&Device::Cpu, false)?.to(common)?);
        backend(&[&a, &b])?.equal(a.operand()?, b.operand()?)
    }
}
