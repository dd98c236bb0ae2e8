//! Writes in place. Each is the operation of the same name with the tensor itself as the output, keeps storage and
//! layout, and counts one write.
//!
//! Refused, as in PyTorch: a tensor in which elements share a position (but by `fill_` and `zero_`, whose result is the
//! same), an operand that shares positions other than element for element, a result of a higher category of dtype.

use super::backend;
use super::create::check_fits;
use super::elementwise::{Other, binary_, check_shape, unary_};
use crate::backend::{Binary, Unary};
use crate::error::Result;
use crate::layout::Layout;
use crate::overlap;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

impl Tensor {
    /// Adds a number or a broadcast tensor.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, DType, Overlap}`.
    pub fn add_<'a>(&self, other: impl Into<Other<'a>>) -> Result<()> {
        binary_(Binary::Add, self, other.into())
    }

    /// Subtracts a number or a broadcast tensor.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, DType, Overlap}`.
    pub fn sub_<'a>(&self, other: impl Into<Other<'a>>) -> Result<()> {
        binary_(Binary::Sub, self, other.into())
    }

    /// Multiplies by a number or a broadcast tensor.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, DType, Overlap}`.
    pub fn mul_<'a>(&self, other: impl Into<Other<'a>>) -> Result<()> {
        binary_(Binary::Mul, self, other.into())
    }

    /// Divides by a number or a broadcast tensor; refused on integers, whose quotient is f32.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, DType, Overlap}`.
    pub fn div_<'a>(&self, other: impl Into<Other<'a>>) -> Result<()> {
        binary_(Binary::Div, self, other.into())
    }

    /// Turns every element into its negative.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{DType, Overlap}`.
    pub fn neg_(&self) -> Result<()> {
        unary_(Unary::Neg, self)
    }

    /// Sets every element.
    ///
    /// # Errors
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) when the value overflows the dtype.
    pub fn fill_(&self, value: impl Into<Scalar>) -> Result<()> {
        let value = value.into();
        check_fits(value, self.dtype())?;
        backend(&[self])?.fill(self.operand()?, value)?;
        self.bump_version();
        Ok(())
    }

    /// Sets every element to zero.
    ///
    /// # Errors
    /// None for host memory.
    pub fn zero_(&self) -> Result<()> {
        self.fill_(0)
    }

    /// Copies a tensor into this one, broadcast to its shape and converted to its dtype. Elements copied into
    /// themselves stay as they are.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind)`::{Shape, Overlap}`; of a device also `{OutOfMemory, Device, Unsupported}`.
    pub fn copy_(&self, other: &Tensor) -> Result<()> {
        self.copy_from(other, false)
    }

    /// The same, and a copy between the host and a device that does not block returns before it is done where the host's
    /// pages are locked and both tensors are contiguous and of one shape and dtype: neither may be written, nor this one
    /// read, before the device was waited for.
    ///
    /// # Errors
    /// As of [`Tensor::copy_`].
    pub fn copy_from(&self, other: &Tensor, non_blocking: bool) -> Result<()> {
        let same_elements =
            self.shares_storage(other) && self.layout() == other.layout() && self.dtype() == other.dtype();
        if !same_elements {
            overlap::check_output(self)?;
            overlap::check_input(self, other)?;
            check_shape(self, &Layout::broadcast_shape(self.shape(), other.shape())?)?;
            self.copy_elements(other, non_blocking)?;
        }
        self.bump_version();
        Ok(())
    }

    fn copy_elements(&self, other: &Tensor, non_blocking: bool) -> Result<()> {
        let (here, there) = (self.storage().cuda(), other.storage().cuda());
        let as_it_is = self.shape() == other.shape()
            && self.dtype() == other.dtype()
            && self.is_contiguous()
            && other.is_contiguous();
        if let (Some(cuda), None) | (None, Some(cuda)) = (here, there)
            && as_it_is
        {
            return cuda.copy_across(self, other, non_blocking);
        }
        // A copy to another device goes there first, as it is.
        let other = other.to_device(&self.device(), false)?;
        let layout = other.layout().broadcast_to(self.shape())?;
        backend(&[self, &other])?.copy(self.operand()?, other.operand_as(&layout)?)
    }
}
