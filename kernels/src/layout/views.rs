//! View algebra on dimensions: their order, ranges of them, repetition.

use super::Layout;
use crate::error::{Error, ErrorKind, Result};

impl Layout {
    /// The dimension that `dim` names; negative ones count from the end. With no dimensions, 0 and -1 are accepted.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when `dim` is out of range.
    pub fn dim(&self, dim: i64) -> Result<usize> {
        let ndim = self.ndim().max(1) as i64;
        match dim {
            0.. if dim < ndim => Ok(dim as usize),
            ..0 if dim >= -ndim => Ok((dim + ndim) as usize),
            _ => Err(Error::new(
                ErrorKind::Index,
                format!(
                    "dimension {dim} is out of range for shape {:?}; it must lie in [{}, {}]",
                    self.shape,
                    -ndim,
                    ndim - 1
                ),
            )),
        }
    }

    /// Like [`Layout::dim`], for what needs a dimension to work along.
    pub(super) fn dim_of_many(&self, dim: i64, operation: &str) -> Result<usize> {
        if self.ndim() == 0 {
            return Err(Error::new(
                ErrorKind::Index,
                format!(
                    "{operation} needs a tensor of at least one dimension, and this one has none; give it one with view([1])"
                ),
            ));
        }
        self.dim(dim)
    }

    /// Two dimensions change places.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when a dimension is out of range.
    pub fn transpose(&self, a: i64, b: i64) -> Result<Layout> {
        let (a, b) = (self.dim(a)?, self.dim(b)?);
        let mut view = self.clone();
        if self.ndim() > 0 {
            view.shape.swap(a, b);
            view.strides.swap(a, b);
        }
        Ok(view)
    }

    /// The `length` slices along `dim` from `start` on; a negative `start` counts from the end.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when the dimension or the range is not in the tensor.
    pub fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<Layout> {
        let dim = self.dim_of_many(dim, "narrow")?;
        let size = self.shape[dim];
        let first = if start < 0 { start.saturating_add(size as i64) } else { start };
        let range = usize::try_from(first).ok().zip(usize::try_from(length).ok());
        match range {
            Some((first, length)) if first <= size && length <= size - first => Ok(self.range(dim, first, length)),
            _ => Err(Error::new(
                ErrorKind::Index,
                format!(
                    "narrow from {start} over {length} does not lie in dimension {dim} of size {size}; \
                     start + length may be at most {size}, and neither length nor the wrapped start below 0"
                ),
            )),
        }
    }

    pub(super) fn range(&self, dim: usize, first: usize, length: usize) -> Layout {
        let mut view = self.clone();
        view.offset += first * self.strides[dim];
        view.shape[dim] = length;
        view
    }

    /// The slice at `index` along `dim`, without that dimension; a negative `index` counts from the end.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when the dimension or the index is not in the tensor.
    pub fn select(&self, dim: i64, index: i64) -> Result<Layout> {
        let dim = self.dim_of_many(dim, "select")?;
        let size = self.shape[dim];
        let wrapped = if index < 0 { index.saturating_add(size as i64) } else { index };
        let position = usize::try_from(wrapped).ok().filter(|position| *position < size).ok_or_else(|| {
            Error::new(
                ErrorKind::Index,
                format!(
                    "index {index} is out of range for dimension {dim} of size {size}; it must lie in [-{size}, {size})"
                ),
            )
        })?;
        let mut view = self.range(dim, position, 1);
        view.shape.remove(dim);
        view.strides.remove(dim);
        Ok(view)
    }

    /// Dimensions of size 1 repeated to the sizes given, by a stride of zero; -1 keeps a size; new dimensions may be
    /// added in front.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when a size other than 1 would change, or a dimension would be lost.
    pub fn expand(&self, sizes: &[i64]) -> Result<Layout> {
        let refuse = |why: String| {
            Error::new(ErrorKind::Shape, format!("cannot expand shape {:?} to {sizes:?}: {why}", self.shape))
        };
        let added =
            sizes.len().checked_sub(self.ndim()).ok_or_else(|| refuse("name every dimension of the tensor".into()))?;
        let mut view = Layout { shape: vec![0; sizes.len()], strides: vec![0; sizes.len()], offset: self.offset };
        for dim in (0..sizes.len()).rev() {
            let own = dim.checked_sub(added);
            let (size, stride) = match own {
                None if self.ndim() == 0 => (1, 0),
                Some(own) => (self.shape[own], self.strides[own]),
                None => (1, view.shape.get(dim + 1).map_or(1, |next| next * view.strides[dim + 1])),
            };
            let target = match (sizes[dim], own) {
                (-1, Some(_)) => size,
                (asked, _) => usize::try_from(asked).map_err(|_| {
                    refuse(format!("size {asked} at dimension {dim}; only an existing size can be kept with -1"))
                })?,
            };
            if target != size && size != 1 {
                return Err(refuse(format!(
                    "the size {size} at dimension {dim} is not 1, so it cannot become {target}"
                )));
            }
            view.shape[dim] = target;
            view.strides[dim] = if target == size { stride } else { 0 };
        }
        view.counted()
    }

    /// The layout of the first elements along some dimensions, without these dimensions.
    pub(crate) fn without(&self, dims: &[usize]) -> Layout {
        let kept = |sizes: &[usize]| (0..sizes.len()).filter(|dim| !dims.contains(dim)).map(|dim| sizes[dim]).collect();
        Layout { shape: kept(&self.shape), strides: kept(&self.strides), offset: self.offset }
    }

    /// Expanded to a shape that this one broadcasts to.
    pub(crate) fn broadcast_to(&self, shape: &[usize]) -> Result<Layout> {
        let sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        self.expand(&sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Layout {
        Layout::contiguous(&[2, 3]).unwrap()
    }

    #[test]
    fn no_dimensions_have_no_slices() {
        let one = Layout::contiguous(&[]).unwrap();
        assert_eq!(one.select(0, 0).unwrap_err().kind, ErrorKind::Index);
        assert_eq!(one.narrow(0, 0, 0).unwrap_err().kind, ErrorKind::Index);
        assert_eq!(one.transpose(0, -1).unwrap(), one);
        assert_eq!(one.view(&[1, 1]).unwrap().strides(), [1, 1]);
        assert_eq!(one.flattened_sizes(0, -1).unwrap(), [1]);
    }

    #[test]
    fn expansion_repeats_only_sizes_of_one() {
        let column = rows().narrow(1, 0, 1).unwrap();
        assert_eq!(column.expand(&[4, -1, 5]).unwrap().strides(), [0, 3, 0]);
        assert_eq!(column.expand(&[3, 5]).unwrap_err().kind, ErrorKind::Shape);
        assert_eq!(column.expand(&[-1, 2, 5]).unwrap_err().kind, ErrorKind::Shape);
        assert_eq!(column.expand(&[5]).unwrap_err().kind, ErrorKind::Shape);
    }

    #[test]
    fn ranges_and_indices_outside_are_refused() {
        for (start, length) in [(1, 2), (-3, 1), (0, -1), (i64::MIN, 1), (0, i64::MAX)] {
            assert_eq!(rows().narrow(0, start, length).unwrap_err().kind, ErrorKind::Index, "{start}, {length}");
        }
        assert_eq!(rows().narrow(1, -1, 1).unwrap().offset(), 2);
        assert_eq!(rows().narrow(1, 3, 0).unwrap().shape(), [2, 0]);
        for index in [2, -3, i64::MIN] {
            assert_eq!(rows().select(0, index).unwrap_err().kind, ErrorKind::Index);
        }
        assert_eq!(rows().select(-1, -1).unwrap(), Layout::new(&[2], &[3], 2).unwrap());
    }
}
