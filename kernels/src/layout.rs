//! Where the elements of a tensor lie in its storage: shape, strides and offset, and all view algebra on them.

mod order;
mod parts;
mod reshape;
mod strided;
mod views;

use crate::error::{Error, ErrorKind, Result};
use std::fmt;

/// Shape, strides and offset, all in elements.
///
/// Element `[i, j, ..]` lies at `offset + i * strides[0] + j * strides[1] + ..`. Strides are never negative, as in PyTorch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    shape: Vec<usize>,
    strides: Vec<usize>,
    offset: usize,
}

impl Layout {
    /// A layout as given; nothing says yet that a storage is large enough for it.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when `shape` and `strides` differ in length; [`ErrorKind::OutOfMemory`] when the number of
    /// elements or the last position cannot be counted.
    pub fn new(shape: &[usize], strides: &[usize], offset: usize) -> Result<Layout> {
        check_lengths(shape, strides)?;
        Layout { shape: shape.to_vec(), strides: strides.to_vec(), offset }.counted()
    }

    /// The row-major layout of `shape`, from position 0.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the number of elements cannot be counted.
    pub fn contiguous(shape: &[usize]) -> Result<Layout> {
        let order: Vec<usize> = (0..shape.len()).collect();
        Layout::dense(shape, &order)
    }

    /// A layout without gaps whose dimensions lie in memory in the order given, the slowest first.
    fn dense(shape: &[usize], order: &[usize]) -> Result<Layout> {
        let mut strides = vec![0; shape.len()];
        let mut step: usize = 1;
        for &dim in order.iter().rev() {
            strides[dim] = step;
            // A dimension of no elements counts as one, so that the strides of the others stay apart.
            step = step.checked_mul(shape[dim].max(1)).ok_or_else(|| too_large(shape))?;
        }
        Layout { shape: shape.to_vec(), strides, offset: 0 }.counted()
    }

    /// The layout itself, unless its elements or positions are more than can be counted.
    ///
    /// Empty dimensions count as one and every stride as often as its size, so that no sum or product of view algebra,
    /// which only ever takes part of them, can overflow.
    fn counted(self) -> Result<Layout> {
        let numel = self.shape.iter().try_fold(1_usize, |numel, size| numel.checked_mul((*size).max(1)));
        let end = self
            .shape
            .iter()
            .zip(&self.strides)
            .try_fold(self.offset, |end, (size, stride)| end.checked_add(size.checked_mul(*stride)?));
        match (numel, end) {
            (Some(_), Some(..usize::MAX)) => Ok(self),
            _ => Err(too_large(&self.shape)),
        }
    }

    /// Sizes as the numbers of elements that they are.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when one is negative.
    pub(crate) fn sizes(sizes: &[i64]) -> Result<Vec<usize>> {
        let shape = sizes.iter().map(|size| usize::try_from(*size)).collect::<std::result::Result<Vec<_>, _>>();
        shape.map_err(|_| {
            Error::new(ErrorKind::Shape, format!("a tensor of shape {sizes:?} asked; sizes cannot be negative"))
        })
    }

    /// Size of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Distance between neighbours along each dimension, in elements.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// Position of the first element, in elements from the start of the storage.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements; a tensor of no dimensions has one.
    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    /// The position after the last element, in elements from the start of the storage: what the storage must hold.
    pub fn end(&self) -> usize {
        if self.numel() == 0 {
            return self.offset;
        }
        let steps: usize = self.shape.iter().zip(&self.strides).map(|(size, stride)| (size - 1) * stride).sum();
        self.offset + steps + 1
    }

    /// Whether the elements lie in row-major order without gaps. Strides of dimensions of size one do not matter, and
    /// no elements are always contiguous.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if size != 1 && stride != expected {
                return self.numel() == 0;
            }
            expected *= size;
        }
        true
    }

    /// Whether the elements fill one range of the storage, each position once, in any order of dimensions.
    pub fn is_dense(&self) -> bool {
        if self.is_contiguous() {
            return true;
        }
        let mut dims: Vec<(usize, usize)> =
            self.strides.iter().copied().zip(self.shape.iter().copied()).filter(|(_, size)| *size != 1).collect();
        dims.sort_unstable();
        let mut expected = 1;
        dims.iter().all(|&(stride, size)| {
            let fits = stride == expected;
            expected *= size;
            fits
        })
    }

    /// Whether every element certainly has a position of its own: each stride steps over all that smaller ones reach.
    pub(crate) fn keeps_elements_apart(&self) -> bool {
        let mut dims: Vec<(usize, usize)> =
            self.strides.iter().copied().zip(self.shape.iter().copied()).filter(|(_, size)| *size > 1).collect();
        dims.sort_unstable();
        let mut reached = 0;
        dims.iter().all(|&(stride, size)| {
            let steps_over = stride > reached;
            reached += (size - 1) * stride;
            steps_over
        })
    }

    /// Whether several elements certainly share a position: a stride of zero over more than one element.
    ///
    /// Other overlaps, which only an explicit choice of strides can make, are not looked for, as in PyTorch.
    pub fn repeats_elements(&self) -> bool {
        self.numel() != 0 && self.shape.iter().zip(&self.strides).any(|(size, stride)| *size > 1 && *stride == 0)
    }
}

fn check_lengths<T: fmt::Debug>(shape: &[T], strides: &[T]) -> Result<()> {
    if shape.len() == strides.len() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Shape,
        format!(
            "shape {shape:?} has {} dimensions but strides {strides:?} have {}; give one stride per dimension",
            shape.len(),
            strides.len()
        ),
    ))
}

fn too_large(shape: &[usize]) -> Error {
    Error::new(
        ErrorKind::OutOfMemory,
        format!(
            "storage size calculation overflowed: shape {shape:?} has more elements than can be counted; ask for fewer"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_one_and_zero_do_not_spoil_contiguity() {
        assert!(Layout::new(&[2, 1, 3], &[3, 99, 1], 5).unwrap().is_contiguous());
        assert!(Layout::new(&[2, 0], &[7, 9], 0).unwrap().is_contiguous());
        assert!(Layout::contiguous(&[]).unwrap().is_contiguous());
        assert!(!Layout::new(&[2, 3], &[1, 2], 0).unwrap().is_contiguous());
    }

    #[test]
    fn a_transposed_layout_is_dense_and_a_column_is_not() {
        assert!(Layout::new(&[2, 3], &[1, 2], 0).unwrap().is_dense());
        assert!(!Layout::new(&[3], &[2], 0).unwrap().is_dense());
        assert!(!Layout::new(&[3], &[0], 0).unwrap().is_dense());
    }

    #[test]
    fn elements_are_apart_where_strides_step_over_smaller_ones() {
        for (shape, strides, apart) in [
            (&[2, 3][..], &[1, 2][..], true),
            (&[3, 2], &[10, 3], true),
            (&[3, 2], &[1, 1], false),
            (&[3, 2], &[2, 5], true),
            (&[3, 2], &[2, 4], false),
            (&[3, 1], &[0, 1], false),
            (&[1, 3], &[0, 1], true),
        ] {
            let layout = Layout::new(shape, strides, 0).unwrap();
            assert_eq!(layout.keeps_elements_apart(), apart, "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn the_end_counts_from_the_start_of_the_storage() {
        assert_eq!(Layout::new(&[2, 3], &[10, 2], 4).unwrap().end(), 4 + 10 + 4 + 1);
        assert_eq!(Layout::new(&[2, 0], &[10, 2], 4).unwrap().end(), 4);
        assert_eq!(Layout::contiguous(&[]).unwrap().end(), 1);
    }

    #[test]
    fn more_elements_than_can_be_counted_are_an_error() {
        let error = Layout::contiguous(&[1 << 40, 1 << 40]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutOfMemory);
        assert!(Layout::new(&[2], &[usize::MAX], 0).is_err());
    }
}
