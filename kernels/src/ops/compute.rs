//! Results in new storage.

use super::backend;
use super::elementwise::{Other, binary, unary};
use crate::backend::{Binary, Unary};
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
    /// [`ErrorKind::Shape`] when shapes do not broadcast; [`ErrorKind::DType`] for two bools.
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

    /// The sum of all elements, a tensor of no dimensions.
    ///
    /// # Errors
    /// As of [`Tensor::sum_over`].
    pub fn sum(&self) -> Result<Tensor> {
        let all: Vec<i64> = (0..self.layout().ndim() as i64).collect();
        self.sum_over(&all)
    }

    /// The sums over some dimensions, which go away. Integers and bools add up in i64 and wrap; floats add up in f64 and
    /// are rounded once to their dtype.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when a dimension is out of range or named twice.
    pub fn sum_over(&self, dims: &[i64]) -> Result<Tensor> {
        let mut over = Vec::with_capacity(dims.len());
        for &dim in dims {
            let dim = self.layout().dim(dim)?;
            if over.contains(&dim) {
                return Err(Error::new(
                    ErrorKind::Index,
                    format!("dimension {dim} appears twice in {dims:?}; name it once"),
                ));
            }
            // Without dimensions, 0 and -1 name none.
            if dim < self.layout().ndim() {
                over.push(dim);
            }
        }
        over.sort_unstable();
        let out = Tensor::allocate(Layout::contiguous(self.layout().without(&over).shape())?, self.dtype().of_sum())?;
        backend().sum(out.operand()?, self.operand()?, &over)?;
        Ok(out)
    }

    /// Tensors joined along `dim`, in their promoted dtype. Tensors of shape `[0]` are passed over, as in PyTorch.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] for no tensors; [`ErrorKind::Shape`] when sizes beside `dim` differ or a tensor has no
    /// dimensions; [`ErrorKind::Index`] when `dim` is out of range.
    pub fn cat(parts: &[&Tensor], dim: i64) -> Result<Tensor> {
        let refuse = |why: String| Error::new(ErrorKind::Shape, format!("cat along dimension {dim} asked: {why}"));
        let Some(&first) = parts.first() else {
            return Err(Error::new(ErrorKind::Value, "cat of no tensors asked; give at least one"));
        };
        if let Some(at) = parts.iter().position(|part| part.layout().ndim() == 0) {
            return Err(refuse(format!("tensor {at} has no dimensions; give it one with view([1])")));
        }
        let dtype = parts.iter().map(|part| part.ranked()).reduce(|a, b| (DType::result_type(a, b), a.1.max(b.1)));
        let dtype = dtype.map_or(first.dtype(), |(dtype, _)| dtype);
        let joined: Vec<&Tensor> = parts.iter().copied().filter(|part| part.shape() != [0]).collect();
        let model = joined.first().copied().unwrap_or(first);
        let along = model.layout().dim(dim)?;
        for part in &joined {
            let fits = part.layout().ndim() == model.layout().ndim()
                && (0..part.layout().ndim()).all(|d| d == along || part.shape()[d] == model.shape()[d]);
            if !fits {
                return Err(refuse(format!(
                    "shapes {:?} and {:?} differ beside it; make them equal",
                    model.shape(),
                    part.shape()
                )));
            }
        }
        let mut shape = model.shape().to_vec();
        shape[along] = joined.iter().map(|part| part.shape()[along]).sum();
        let out = Tensor::allocate(Layout::contiguous(&shape)?, dtype)?;
        let mut start = 0;
        for part in joined {
            let length = part.shape()[along] as i64;
            let place = out.layout().narrow(along as i64, start, length)?;
            backend().copy(out.operand_as(&place)?, part.operand()?)?;
            start += length;
        }
        Ok(out)
    }

    /// A copy of the elements in new storage, with the order of dimensions that they have in memory (PyTorch's `clone`).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn clone_data(&self) -> Result<Tensor> {
        self.converted(Layout::of_result(self.shape(), &[self.layout()])?, self.dtype())
    }

    /// The tensor itself where it is contiguous, else a contiguous copy.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn contiguous(&self) -> Result<Tensor> {
        if self.is_contiguous() {
            Ok(self.share())
        } else {
            self.converted(Layout::contiguous(self.shape())?, self.dtype())
        }
    }

    /// The tensor itself where it has this dtype, else a converted copy: integers wrap, floats lose their fraction,
    /// anything but zero is true.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn to(&self, dtype: DType) -> Result<Tensor> {
        if dtype == self.dtype() {
            Ok(self.share())
        } else {
            self.converted(Layout::of_result(self.shape(), &[self.layout()])?, dtype)
        }
    }

    fn converted(&self, layout: Layout, dtype: DType) -> Result<Tensor> {
        let out = Tensor::allocate(layout, dtype)?;
        backend().copy(out.operand()?, self.operand()?)?;
        Ok(out)
    }
}
