//! Elements moved into new storage: joined, copied, converted.

use super::backend;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::tensor::Tensor;

impl Tensor {
    /// Tensors joined along `dim`, in their promoted dtype. Tensors of shape `[0]` are passed over, as in PyTorch; of
    /// such alone the result is another, along any dimension.
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
        let dtype = promoted(parts).unwrap_or(first.dtype());
        let joined: Vec<&Tensor> = parts.iter().copied().filter(|part| part.shape() != [0]).collect();
        let Some(&model) = joined.first() else {
            return first.allocate_beside(Layout::contiguous(&[0])?, dtype);
        };
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
        let out = model.allocate_beside(Layout::contiguous(&shape)?, dtype)?;
        let mut start = 0;
        for part in joined {
            let length = part.shape()[along] as i64;
            let place = out.layout().narrow(along as i64, start, length)?;
            backend(&[&out, part])?.copy(out.operand_as(&place)?, part.operand()?)?;
            start += length;
        }
        Ok(out)
    }

    /// Tensors of one shape joined along a new dimension at `dim`, in their promoted dtype.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] for no tensors; [`ErrorKind::Shape`] when shapes differ; [`ErrorKind::Index`] when `dim` is out
    /// of range.
    pub fn stack(parts: &[&Tensor], dim: i64) -> Result<Tensor> {
        let Some(&first) = parts.first() else {
            return Err(Error::new(ErrorKind::Value, "stack of no tensors asked; give at least one"));
        };
        let along = first.layout().place(dim)?;
        if let Some(other) = parts.iter().find(|part| part.shape() != first.shape()) {
            return Err(Error::new(
                ErrorKind::Shape,
                format!("stack of shapes {:?} and {:?} asked; make them equal", first.shape(), other.shape()),
            ));
        }
        let mut shape = first.shape().to_vec();
        shape.insert(along, parts.len());
        let out = first.allocate_beside(Layout::contiguous(&shape)?, promoted(parts).unwrap_or(first.dtype()))?;
        for (index, part) in parts.iter().enumerate() {
            let place = out.layout().select(along as i64, index as i64)?;
            backend(&[&out, part])?.copy(out.operand_as(&place)?, part.operand()?)?;
        }
        Ok(out)
    }

    /// A copy of the elements in new storage, with the order of dimensions that they have in memory (PyTorch's `clone`).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn clone_data(&self) -> Result<Tensor> {
        self.converted(self.layout().of_copy()?, self.dtype())
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
        if dtype == self.dtype() { Ok(self.share()) } else { self.converted(self.layout().of_copy()?, dtype) }
    }

    fn converted(&self, layout: Layout, dtype: DType) -> Result<Tensor> {
        let out = self.allocate_beside(layout, dtype)?;
        backend(&[&out])?.copy(out.operand()?, self.operand()?)?;
        Ok(out)
    }
}

/// The dtype in which several tensors meet; `None` of none.
fn promoted(parts: &[&Tensor]) -> Option<DType> {
    let ranked = parts.iter().map(|part| part.ranked());
    ranked.reduce(|a, b| (DType::result_type(a, b), a.1.max(b.1))).map(|(dtype, _)| dtype)
}
