//! Views: new tensors on the same storage, with the same version counter. The algebra is [`Layout`]'s.

use super::backend;
use crate::error::Result;
use crate::layout::Layout;
use crate::tensor::Tensor;

impl Tensor {
    /// The same elements under another shape, one size of which may be -1.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when the number of elements differs or strides do not allow it.
    pub fn view(&self, shape: &[i64]) -> Result<Tensor> {
        self.with_layout(self.layout().view(shape)?)
    }

    /// The same elements under another shape: a view where strides allow it, else a contiguous copy.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when the number of elements differs.
    pub fn reshape(&self, shape: &[i64]) -> Result<Tensor> {
        let sizes = self.layout().resolve(shape)?;
        match self.layout().reshaped(&sizes) {
            Some(layout) => self.with_layout(layout),
            None => {
                let copy = self.allocate_beside(Layout::contiguous(&sizes)?, self.dtype())?;
                let in_old_shape = Layout::contiguous(self.shape())?;
                backend(&[self])?.copy(copy.operand_as(&in_old_shape)?, self.operand()?)?;
                Ok(copy)
            }
        }
    }

    /// The `length` slices along `dim` from `start` on; a negative `start` counts from the end.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension or the range is not in the tensor.
    pub fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        self.with_layout(self.layout().narrow(dim, start, length)?)
    }

    /// The slice at `index` along `dim`, without that dimension; a negative `index` counts from the end.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension or the index is not in the tensor.
    pub fn select(&self, dim: i64, index: i64) -> Result<Tensor> {
        self.with_layout(self.layout().select(dim, index)?)
    }

    /// Two dimensions change places.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when a dimension is out of range.
    pub fn transpose(&self, a: i64, b: i64) -> Result<Tensor> {
        self.with_layout(self.layout().transpose(a, b)?)
    }

    /// Dimensions of size 1 repeated to the sizes given; -1 keeps a size; new dimensions may be added in front.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when a size other than 1 would change, or a dimension would be lost.
    pub fn expand(&self, shape: &[i64]) -> Result<Tensor> {
        self.with_layout(self.layout().expand(shape)?)
    }

    /// At most `chunks` views along `dim`, each of `ceil(size / chunks)` slices and the last of what remains.
    ///
    /// # Errors
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) when `chunks` is not positive;
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension is out of range.
    pub fn chunk(&self, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
        self.with_layouts(self.layout().chunk(chunks, dim)?)
    }

    /// Dimensions `first` to `last` joined into one: the tensor itself where nothing changes, a view where strides allow
    /// it, else a copy.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when a dimension is out of range;
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when `first` comes after `last`.
    pub fn flatten(&self, first: i64, last: i64) -> Result<Tensor> {
        let sizes = self.layout().flattened_sizes(first, last)?;
        if sizes.len() == self.layout().ndim() { Ok(self.share()) } else { self.reshape(&sizes) }
    }

    /// The dimensions in another order.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when not as many dimensions are named as there are;
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when one is out of range or named twice.
    pub fn permute(&self, dims: &[i64]) -> Result<Tensor> {
        self.with_layout(self.layout().permute(dims)?)
    }

    /// Dimension `source` moved to place `destination`.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when a dimension is out of range.
    pub fn movedim(&self, source: i64, destination: i64) -> Result<Tensor> {
        self.with_layout(self.layout().movedim(source, destination)?)
    }

    /// Every `step`-th slice along `dim` from `start` up to, not including, `end`; both wrap and are clipped.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension is out of range;
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) when the step is not positive.
    pub fn slice(&self, dim: i64, start: i64, end: i64, step: i64) -> Result<Tensor> {
        self.with_layout(self.layout().slice(dim, start, end, step)?)
    }

    /// Without dimension `dim` where its size is 1, else the same elements as they are.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension is out of range.
    pub fn squeeze(&self, dim: i64) -> Result<Tensor> {
        self.with_layout(self.layout().squeeze(dim)?)
    }

    /// With a dimension of size 1 put in at `dim`.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension is out of range.
    pub fn unsqueeze(&self, dim: i64) -> Result<Tensor> {
        self.with_layout(self.layout().unsqueeze(dim)?)
    }

    /// All windows of `size` slices of dimension `dim`, `step` apart, the window as last dimension.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension is out of range or the size more than there is;
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) when the size is negative or the step not positive.
    pub fn unfold(&self, dim: i64, size: i64, step: i64) -> Result<Tensor> {
        self.with_layout(self.layout().unfold(dim, size, step)?)
    }

    /// The storage under this shape, these strides and this offset, whatever layout the tensor has.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when lengths differ, a size is negative or the storage is too small;
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) when a stride or the offset is negative.
    pub fn as_strided(&self, shape: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
        self.with_layout(Layout::as_strided(shape, strides, offset)?)
    }

    /// A diagonal of two dimensions, as last dimension.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when a dimension is out of range, or both are the same.
    pub fn diagonal(&self, offset: i64, dim0: i64, dim1: i64) -> Result<Tensor> {
        self.with_layout(self.layout().diagonal(offset, dim0, dim1)?)
    }

    /// Views of `size` slices along `dim` each, the last of what remains.
    ///
    /// # Errors
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) when `size` makes no pieces;
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension is out of range.
    pub fn split(&self, size: i64, dim: i64) -> Result<Vec<Tensor>> {
        self.with_layouts(self.layout().split(size, dim)?)
    }

    /// Exactly `sections` views along `dim`, the first ones a slice longer where the size does not divide.
    ///
    /// # Errors
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) when `sections` is not positive;
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) when the dimension is out of range.
    pub fn tensor_split(&self, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
        self.with_layouts(self.layout().tensor_split(sections, dim)?)
    }

    fn with_layouts(&self, layouts: Vec<Layout>) -> Result<Vec<Tensor>> {
        layouts.into_iter().map(|layout| self.with_layout(layout)).collect()
    }
}
