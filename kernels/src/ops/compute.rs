//! Results in new storage.

use super::backend;
use super::elementwise::{Broadcast, Other, binary, compare, unary};
use crate::backend::{Binary, Comparison, Unary};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::tensor::Tensor;

impl Tensor {
    /// `self + other`, broadcast; on bools, "or".
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast.
    pub fn add<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        binary(Binary::Add, self, other.into())
    }

    /// `self - other`, broadcast.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast; [`ErrorKind::DType`] for bools.
    pub fn sub<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        binary(Binary::Sub, self, other.into())
    }

    /// `self * other`, broadcast; on bools, "and".
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast.
    pub fn mul<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        binary(Binary::Mul, self, other.into())
    }

    /// `self / other`, broadcast: true division, so that integers give f32.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast.
    pub fn div<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        binary(Binary::Div, self, other.into())
    }

    /// The negative of every element.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] for bools.
    pub fn neg(&self) -> Result<Tensor> {
        unary(Unary::Neg, self)
    }

    /// Whether `self == other`, element by element, broadcast, in their promoted dtype: a tensor of bools.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast.
    pub fn eq<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        compare(Comparison::Eq, self, other.into())
    }

    /// Whether `self != other`, element by element, broadcast, in their promoted dtype: a tensor of bools.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast.
    pub fn ne<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        compare(Comparison::Ne, self, other.into())
    }

    /// Whether `self < other`, element by element, broadcast, in their promoted dtype: a tensor of bools.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast.
    pub fn lt<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        compare(Comparison::Lt, self, other.into())
    }

    /// Whether `self <= other`, element by element, broadcast, in their promoted dtype: a tensor of bools.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when shapes do not broadcast.
    pub fn le<'a>(&self, other: impl Into<Other<'a>>) -> Result<Tensor> {
        compare(Comparison::Le, self, other.into())
    }

    /// The element of `a` where that of `condition` is true, else that of `b`, broadcast, in their promoted dtype.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] when the condition is neither of bools nor of u8; [`ErrorKind::Shape`] when shapes do not
    /// broadcast.
    pub fn where_else(condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        if !matches!(condition.dtype(), DType::Bool | DType::U8) {
            return Err(Error::new(
                ErrorKind::DType,
                format!("a condition of {} elements asked; compare them first, which gives bools", condition.dtype()),
            ));
        }
        let shape = Layout::broadcast_shape(condition.shape(), a.shape())?;
        let shape = Layout::broadcast_shape(&shape, b.shape())?;
        let dtype = DType::result_type(a.ranked(), b.ranked());
        let condition = Broadcast::new(condition, condition.dtype(), &shape)?;
        let (a, b) = (Broadcast::new(a, dtype, &shape)?, Broadcast::new(b, dtype, &shape)?);
        let out =
            a.tensor().allocate_beside(Layout::of_result(&shape, &[condition.own(), a.own(), b.own()])?, dtype)?;
        backend(&[&out, condition.tensor(), a.tensor(), b.tensor()])?.select(
            out.operand()?,
            condition.operand()?,
            a.operand()?,
            b.operand()?,
        )?;
        Ok(out)
    }

    /// The matrix product of two tensors of two dimensions and one dtype.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when a tensor has not two dimensions, or the columns of the first are not as many as the rows
    /// of the second; [`ErrorKind::DType`] when dtypes differ, and for bools.
    pub fn matmul(&self, other: &Tensor) -> Result<Tensor> {
        let (&[rows, depth], &[depth_too, columns]) = (self.shape(), other.shape()) else {
            return Err(Error::new(
                ErrorKind::Shape,
                format!(
                    "the matrix product of shapes {:?} and {:?} asked; give each two dimensions",
                    self.shape(),
                    other.shape()
                ),
            ));
        };
        if depth != depth_too {
            return Err(Error::new(
                ErrorKind::Shape,
                format!(
                    "matrices of shapes {:?} and {:?} cannot be multiplied: {depth} columns meet {depth_too} rows; \
                     make them equal",
                    self.shape(),
                    other.shape()
                ),
            ));
        }
        if self.dtype() != other.dtype() {
            return Err(Error::new(
                ErrorKind::DType,
                format!(
                    "the matrix product of {} and {} elements asked; convert one to the dtype of the other",
                    self.dtype(),
                    other.dtype()
                ),
            ));
        }
        let out = self.allocate_beside(Layout::contiguous(&[rows, columns])?, self.dtype())?;
        backend(&[self, other])?.matmul(out.operand()?, self.operand()?, other.operand()?)?;
        Ok(out)
    }
}
