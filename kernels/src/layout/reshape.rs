//! The same elements in row-major order under another shape.

use super::Layout;
use crate::error::{Error, ErrorKind, Result};

impl Layout {
    /// The shape that `sizes` mean for this many elements; one size may be -1 and is worked out.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when the sizes do not give as many elements, or the -1 is not alone or not decided.
    pub fn resolve(&self, sizes: &[i64]) -> Result<Vec<usize>> {
        let numel = self.numel();
        let refuse = |why: &str| {
            Error::new(
                ErrorKind::Shape,
                format!("shape {sizes:?} is invalid for {numel} elements of shape {:?}: {why}", self.shape),
            )
        };
        let mut known: usize = 1;
        let mut open = None;
        for (dim, &size) in sizes.iter().enumerate() {
            match (size, open) {
                (-1, None) => open = Some(dim),
                (-1, Some(_)) => return Err(refuse("only one size can be worked out from -1")),
                (..-1, _) => return Err(refuse("sizes cannot be negative")),
                _ => {
                    known = known
                        .checked_mul(size as usize)
                        .ok_or_else(|| refuse("it has more elements than can be counted"))?
                }
            }
        }
        let mut shape: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
        match open {
            Some(_) if known == 0 => Err(refuse("beside a size of 0, -1 could be anything; give the size")),
            Some(dim) if numel.is_multiple_of(known) => {
                shape[dim] = numel / known;
                Ok(shape)
            }
            None if known == numel => Ok(shape),
            _ => Err(refuse("the products of the sizes must be equal")),
        }
    }

    /// The same elements in row-major order under another shape, without moving any; `None` when strides cannot say it,
    /// because a dimension of `shape` would span two that do not continue each other (PyTorch's rule for `view`).
    ///
    /// `shape` has as many elements as the layout.
    pub fn reshaped(&self, shape: &[usize]) -> Option<Layout> {
        if self.numel() == 0 {
            let strides =
                if self.shape == shape { self.strides.clone() } else { Layout::contiguous(shape).ok()?.strides };
            return Some(Layout { shape: shape.to_vec(), strides, offset: self.offset });
        }
        let mut strides = vec![1; shape.len()];
        let mut dim = shape.len();
        for (numel, stride) in self.blocks() {
            let mut taken = 1;
            while dim > 0 && (taken < numel || shape[dim - 1] == 1) {
                dim -= 1;
                strides[dim] = taken * stride;
                taken *= shape[dim];
            }
            if taken != numel {
                return None;
            }
        }
        Some(Layout { shape: shape.to_vec(), strides, offset: self.offset })
    }

    /// Runs of dimensions that continue each other, as (elements, stride), the fastest first.
    fn blocks(&self) -> Vec<(usize, usize)> {
        let mut blocks: Vec<(usize, usize)> = Vec::new();
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            match blocks.last_mut() {
                Some((numel, base)) if size == 1 || stride == *numel * *base => *numel *= size,
                _ => blocks.push((size, stride)),
            }
        }
        blocks
    }

    /// The layout as `shape`, one size of which may be -1.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when the number of elements differs, or the layout cannot be viewed so without a copy.
    pub fn view(&self, sizes: &[i64]) -> Result<Layout> {
        let shape = self.resolve(sizes)?;
        self.reshaped(&shape).ok_or_else(|| {
            Error::new(
                ErrorKind::Shape,
                format!(
                    "shape {:?} with strides {:?} cannot be viewed as {shape:?}: a dimension would span two subspaces that \
                     do not continue each other; use reshape, which copies where it must",
                    self.shape, self.strides
                ),
            )
        })
    }

    /// The sizes with dimensions `first` to `last` joined into one; with no dimensions, one of size 1.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when a dimension is out of range; [`ErrorKind::Shape`] when `first` comes after `last`.
    pub fn flattened_sizes(&self, first: i64, last: i64) -> Result<Vec<i64>> {
        let (from, to) = (self.dim(first)?, self.dim(last)?);
        if from > to {
            return Err(Error::new(
                ErrorKind::Shape,
                format!("flatten from dimension {first} to {last}; the first must not come after the last"),
            ));
        }
        if self.ndim() == 0 {
            return Ok(vec![1]);
        }
        let sizes = |dims: &[usize]| dims.iter().map(|size| *size as i64).collect::<Vec<_>>();
        let joined: usize = self.shape[from..=to].iter().product();
        Ok([sizes(&self.shape[..from]), vec![joined as i64], sizes(&self.shape[to + 1..])].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Layout {
        Layout::contiguous(&[2, 3]).unwrap()
    }

    #[test]
    fn a_transposed_layout_cannot_be_viewed_flat() {
        let view = rows().transpose(0, -1).unwrap();
        assert_eq!(view.view(&[6]).unwrap_err().kind, ErrorKind::Shape);
        assert_eq!(view.view(&[3, 1, -1]).unwrap().strides(), [1, 6, 3]);
    }

    #[test]
    fn an_open_size_must_be_decided() {
        assert_eq!(rows().resolve(&[-1, 2]).unwrap(), [3, 2]);
        assert!(rows().resolve(&[-1, -1]).is_err());
        assert!(rows().resolve(&[4, -1]).is_err());
        assert!(Layout::contiguous(&[0]).unwrap().resolve(&[0, -1]).is_err());
        assert!(rows().resolve(&[-2, -3]).is_err());
    }
}
