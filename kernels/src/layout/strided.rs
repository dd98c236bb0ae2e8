//! View algebra on strides: steps, windows, diagonals, dimensions of size 1, and strides as given.

use super::{Layout, check_lengths};
use crate::error::{Error, ErrorKind, Result};

impl Layout {
    /// The dimensions in another order, the one at `dims[0]` first.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when not as many dimensions are named as there are; [`ErrorKind::Index`] when one is out of
    /// range or named twice.
    pub fn permute(&self, dims: &[i64]) -> Result<Layout> {
        let refuse = |kind| {
            Error::new(
                kind,
                format!("shape {:?} in the order {dims:?} asked; name each of its dimensions once", self.shape),
            )
        };
        if dims.len() != self.ndim() {
            return Err(refuse(ErrorKind::Shape));
        }
        let order = dims.iter().map(|dim| self.dim(*dim)).collect::<Result<Vec<_>>>()?;
        if (0..order.len()).any(|slot| order[..slot].contains(&order[slot])) {
            return Err(refuse(ErrorKind::Index));
        }
        Ok(self.ordered(&order))
    }

    fn ordered(&self, order: &[usize]) -> Layout {
        Layout {
            shape: order.iter().map(|dim| self.shape[*dim]).collect(),
            strides: order.iter().map(|dim| self.strides[*dim]).collect(),
            offset: self.offset,
        }
    }

    /// Dimension `source` moved to place `destination`, the others in their order.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when a dimension is out of range.
    pub fn movedim(&self, source: i64, destination: i64) -> Result<Layout> {
        let (source, destination) = (self.dim(source)?, self.dim(destination)?);
        let mut order: Vec<usize> = (0..self.ndim()).filter(|dim| *dim != source).collect();
        if self.ndim() > 0 {
            order.insert(destination, source);
        }
        Ok(self.ordered(&order))
    }

    /// Every `step`-th slice along `dim` from `start` up to, not including, `end`. Negative bounds count from the end, and
    /// both are clipped to the tensor.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when the dimension is out of range; [`ErrorKind::Value`] when the step is not positive;
    /// [`ErrorKind::OutOfMemory`] when the stride cannot be counted.
    pub fn slice(&self, dim: i64, start: i64, end: i64, step: i64) -> Result<Layout> {
        let dim = self.dim_of_many(dim, "slice")?;
        let size = self.shape[dim];
        let step = usize::try_from(step).ok().filter(|step| *step > 0).ok_or_else(|| {
            Error::new(ErrorKind::Value, format!("slice with step {step} asked; the step must be greater than 0"))
        })?;
        let clipped = |bound: i64| {
            let wrapped = if bound < 0 { bound.saturating_add(size as i64) } else { bound };
            usize::try_from(wrapped).unwrap_or(0).min(size)
        };
        let (first, last) = (clipped(start), clipped(end));
        let mut view = self.range(dim, first, last.saturating_sub(first).div_ceil(step));
        view.strides[dim] = view.strides[dim].saturating_mul(step);
        view.counted()
    }

    /// Without dimension `dim` where its size is 1, else as it is.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when the dimension is out of range.
    pub fn squeeze(&self, dim: i64) -> Result<Layout> {
        let dim = self.dim(dim)?;
        Ok(if self.shape.get(dim) == Some(&1) { self.without(&[dim]) } else { self.clone() })
    }

    /// The place that `dim` names for a new dimension: one more than there are dimensions.
    pub(crate) fn place(&self, dim: i64) -> Result<usize> {
        let places = self.ndim() as i64 + 1;
        let wrapped = if dim < 0 { dim.saturating_add(places) } else { dim };
        usize::try_from(wrapped).ok().filter(|dim| *dim <= self.ndim()).ok_or_else(|| {
            Error::new(
                ErrorKind::Index,
                format!(
                    "no dimension can be put in at {dim} of shape {:?}; the place must lie in [{}, {}]",
                    self.shape,
                    -places,
                    places - 1
                ),
            )
        })
    }

    /// With a dimension of size 1 put in at `dim`, which may be one more than the last.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when the dimension is out of range.
    pub fn unsqueeze(&self, dim: i64) -> Result<Layout> {
        let dim = self.place(dim)?;
        let mut view = self.clone();
        let stride = self.shape.get(dim).map_or(1, |size| size * self.strides[dim]);
        view.shape.insert(dim, 1);
        view.strides.insert(dim, stride);
        view.counted()
    }

    /// All windows of `size` slices of dimension `dim`, `step` apart, the window as last dimension. No dimensions count
    /// as one of size 1.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when the dimension is out of range or the size more than there is; [`ErrorKind::Value`] when the
    /// size is negative or the step not positive.
    pub fn unfold(&self, dim: i64, size: i64, step: i64) -> Result<Layout> {
        let dim = self.dim(dim)?;
        let (whole, stride) = if self.ndim() == 0 { (1, 1) } else { (self.shape[dim], self.strides[dim]) };
        let window = usize::try_from(size).ok().filter(|window| *window <= whole);
        let (Some(window), Some(step)) = (window, usize::try_from(step).ok().filter(|step| *step > 0)) else {
            let kind = if size > whole as i64 { ErrorKind::Index } else { ErrorKind::Value };
            return Err(Error::new(
                kind,
                format!(
                    "windows of {size}, {step} apart, of dimension {dim} of size {whole} asked; \
                     a window may have 0 to {whole} slices, and the step must be greater than 0"
                ),
            ));
        };
        let mut view = self.clone();
        if self.ndim() > 0 {
            view.shape[dim] = (whole - window) / step + 1;
            view.strides[dim] = stride.saturating_mul(step);
        }
        view.shape.push(window);
        view.strides.push(stride);
        view.counted()
    }

    /// This shape, these strides and this offset, whatever the layout was; nothing says yet that a storage is large enough.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when lengths differ or a size is negative; [`ErrorKind::Value`] when a stride or the offset is
    /// negative.
    pub fn as_strided(shape: &[i64], strides: &[i64], offset: i64) -> Result<Layout> {
        check_lengths(shape, strides)?;
        let sizes = Layout::sizes(shape)?;
        let steps = strides.iter().map(|stride| usize::try_from(*stride)).collect::<std::result::Result<Vec<_>, _>>();
        match (steps, usize::try_from(offset)) {
            (Ok(steps), Ok(offset)) => Layout::new(&sizes, &steps, offset),
            _ => Err(Error::new(
                ErrorKind::Value,
                format!("strides {strides:?} at offset {offset} asked; neither strides nor the offset may be negative"),
            )),
        }
    }

    /// The diagonal of two dimensions that starts `offset` columns to the right of their first element, or, when negative,
    /// as many rows below it, as last dimension. Beyond the edge it has no elements.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when a dimension is out of range, or both are the same.
    pub fn diagonal(&self, offset: i64, dim0: i64, dim1: i64) -> Result<Layout> {
        let (rows, columns) = (self.dim(dim0)?, self.dim(dim1)?);
        if rows == columns {
            return Err(Error::new(
                ErrorKind::Index,
                format!("the diagonal of dimensions {dim0} and {dim1} asked, which are the same; name two"),
            ));
        }
        let shift = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let (down, right) = if offset < 0 { (shift, 0) } else { (0, shift) };
        let length = self.shape[rows].saturating_sub(down).min(self.shape[columns].saturating_sub(right));
        let mut view = self.without(&[rows, columns]);
        if length > 0 {
            view.offset += down * self.strides[rows] + right * self.strides[columns];
        }
        view.shape.push(length);
        view.strides.push(self.strides[rows] + self.strides[columns]);
        view.counted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Layout {
        Layout::contiguous(&[2, 3]).unwrap()
    }

    fn parts(layout: Result<Layout>) -> (Vec<usize>, Vec<usize>, usize) {
        let layout = layout.unwrap();
        (layout.shape().to_vec(), layout.strides().to_vec(), layout.offset())
    }

    #[test]
    fn bounds_of_a_slice_wrap_and_are_clipped() {
        assert_eq!(parts(rows().slice(1, -2, i64::MAX, 1)), (vec![2, 2], vec![3, 1], 1));
        assert_eq!(parts(rows().slice(1, i64::MIN, i64::MAX, 2)), (vec![2, 2], vec![3, 2], 0));
        assert_eq!(parts(rows().slice(-1, 2, 1, 1)), (vec![2, 0], vec![3, 1], 2));
        assert_eq!(rows().slice(1, 0, 2, i64::MAX).unwrap().shape(), [2, 1]);
        assert_eq!(rows().slice(0, 0, 2, i64::MAX).unwrap_err().kind, ErrorKind::OutOfMemory);
        assert_eq!(rows().slice(0, 0, 2, 0).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(rows().slice(2, 0, 2, 1).unwrap_err().kind, ErrorKind::Index);
    }

    #[test]
    fn dimensions_of_size_one_come_and_go() {
        assert_eq!(parts(rows().unsqueeze(0)), (vec![1, 2, 3], vec![6, 3, 1], 0));
        assert_eq!(parts(rows().unsqueeze(-1)), (vec![2, 3, 1], vec![3, 1, 1], 0));
        assert_eq!(rows().unsqueeze(-4).unwrap_err().kind, ErrorKind::Index);
        assert_eq!(rows().unsqueeze(1).unwrap().squeeze(1).unwrap(), rows());
        assert_eq!(rows().squeeze(1).unwrap(), rows());
        let one = Layout::contiguous(&[]).unwrap();
        assert_eq!(one.squeeze(-1).unwrap(), one);
        assert_eq!(one.squeeze(1).unwrap_err().kind, ErrorKind::Index);
    }

    #[test]
    fn an_order_names_each_dimension_once() {
        assert_eq!(parts(rows().permute(&[-1, 0])), (vec![3, 2], vec![1, 3], 0));
        for dims in [[0, 0], [0, -2], [0, 2]] {
            assert_eq!(rows().permute(&dims).unwrap_err().kind, ErrorKind::Index, "{dims:?}");
        }
        assert_eq!(rows().permute(&[0]).unwrap_err().kind, ErrorKind::Shape);
        let block = Layout::contiguous(&[2, 3, 4]).unwrap();
        assert_eq!(block.movedim(0, -1).unwrap().shape(), [3, 4, 2]);
        assert_eq!(block.movedim(2, 0).unwrap().shape(), [4, 2, 3]);
        assert_eq!(block.movedim(3, 0).unwrap_err().kind, ErrorKind::Index);
    }

    #[test]
    fn windows_overlap_where_the_step_is_less_than_their_size() {
        let line = Layout::contiguous(&[5]).unwrap();
        assert_eq!(parts(line.unfold(0, 3, 1)), (vec![3, 3], vec![1, 1], 0));
        assert_eq!(parts(line.unfold(0, 2, 3)), (vec![2, 2], vec![3, 1], 0));
        assert_eq!(line.unfold(0, 0, 1).unwrap().shape(), [6, 0]);
        assert_eq!(line.unfold(0, 1, i64::MAX).unwrap().shape(), [1, 1]);
        for (size, step, kind) in [(6, 1, ErrorKind::Index), (-1, 1, ErrorKind::Value), (2, 0, ErrorKind::Value)] {
            assert_eq!(line.unfold(0, size, step).unwrap_err().kind, kind, "{size}, {step}");
        }
        assert_eq!(Layout::contiguous(&[]).unwrap().unfold(0, 1, 1).unwrap().shape(), [1]);
    }

    #[test]
    fn a_diagonal_starts_at_an_edge() {
        assert_eq!(parts(rows().diagonal(1, 0, 1)), (vec![2], vec![4], 1));
        assert_eq!(parts(rows().diagonal(-1, 0, 1)), (vec![1], vec![4], 3));
        for offset in [3, -2, i64::MAX, i64::MIN] {
            assert_eq!(parts(rows().diagonal(offset, 0, 1)), (vec![0], vec![4], 0));
        }
        assert_eq!(rows().diagonal(0, 1, -1).unwrap_err().kind, ErrorKind::Index);
        assert_eq!(Layout::contiguous(&[3]).unwrap().diagonal(0, 0, 1).unwrap_err().kind, ErrorKind::Index);
    }

    #[test]
    fn strides_as_given_are_not_negative() {
        assert_eq!(parts(Layout::as_strided(&[2, 2], &[1, 1], 3)), (vec![2, 2], vec![1, 1], 3));
        assert_eq!(Layout::as_strided(&[2], &[-1], 3).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(Layout::as_strided(&[2], &[1], -1).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(Layout::as_strided(&[2], &[], 0).unwrap_err().kind, ErrorKind::Shape);
        assert_eq!(Layout::as_strided(&[-2], &[1], 0).unwrap_err().kind, ErrorKind::Shape);
    }
}
