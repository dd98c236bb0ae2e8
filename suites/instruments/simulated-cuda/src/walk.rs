//! The positions that a kernel visits in its operands.

use crate::errors::Error;

const RANK: usize = 8;
/// The result and two inputs.
pub const OPERANDS: usize = 3;

/// What a strided kernel is given by value: `size` in row-major order, and for each operand its strides, in elements.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Walk {
    rank: u32,
    padding: u32,
    count: u64,
    size: [u64; RANK],
    stride: [[i64; RANK]; OPERANDS],
}

impl Walk {
    /// Over `count` elements that lie side by side in each operand.
    pub fn contiguous(count: u64) -> Walk {
        let mut walk = Walk { rank: 1, padding: 0, count, size: [0; RANK], stride: [[0; RANK]; OPERANDS] };
        walk.size[0] = count;
        walk.stride.iter_mut().for_each(|stride| stride[0] = 1);
        walk
    }

    /// The first and the last position in an operand; none where there are no elements. An error where rank and sizes do
    /// not fit the number of elements.
    pub fn bounds(&self, operand: usize) -> Result<Option<(i128, i128)>, Error> {
        let rank = self.rank as usize;
        let sizes = self.size.get(..rank).ok_or(Error::INVALID_VALUE)?;
        let count = sizes.iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
        if count != Some(self.count) {
            return Err(Error::INVALID_VALUE);
        }
        if self.count == 0 {
            return Ok(None);
        }
        let mut bounds = (0, 0);
        for (size, stride) in sizes.iter().zip(&self.stride[operand]) {
            let way = i128::from(size - 1) * i128::from(*stride);
            bounds = (bounds.0 + way.min(0), bounds.1 + way.max(0));
        }
        Ok(Some(bounds))
    }

    /// Visits the positions in the operands, element for element.
    pub fn each(&self, mut visit: impl FnMut([i64; OPERANDS])) {
        let rank = self.rank as usize;
        let (mut index, mut at) = ([0; RANK], [0_i64; OPERANDS]);
        for _ in 0..self.count {
            visit(at);
            for dimension in (0..rank).rev() {
                index[dimension] += 1;
                let last = index[dimension] == self.size[dimension];
                let back = if last { index[dimension] as i64 } else { 0 };
                for (at, stride) in at.iter_mut().zip(&self.stride) {
                    *at = at.wrapping_add(stride[dimension].wrapping_mul(1_i64.wrapping_sub(back)));
                }
                if !last {
                    break;
                }
                index[dimension] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RANK, Walk};
    use crate::errors::Error;

    #[test]
    fn positions_follow_sizes_and_strides() {
        let mut walk = Walk::contiguous(6);
        (walk.rank, walk.size[0], walk.size[1]) = (2, 2, 3);
        walk.stride[0][..2].copy_from_slice(&[3, 1]);
        walk.stride[1][..2].copy_from_slice(&[1, -2]);
        let mut seen = Vec::new();
        walk.each(|[out, a, _]| seen.push((out, a)));
        assert_eq!(seen, [(0, 0), (1, -2), (2, -4), (3, 1), (4, -1), (5, -3)]);
        assert_eq!(walk.bounds(1), Ok(Some((-4, 1))));
        walk.count = 5;
        assert_eq!(walk.bounds(1), Err(Error::INVALID_VALUE));
        walk.rank = 9;
        assert_eq!(walk.bounds(1), Err(Error::INVALID_VALUE));
    }

    #[test]
    fn no_dimensions_are_one_element_and_an_empty_one_none() {
        let mut walk = Walk::contiguous(1);
        walk.rank = 0;
        assert_eq!(walk.bounds(0), Ok(Some((0, 0))));
        let mut count = 0;
        walk.each(|_| count += 1);
        assert_eq!(count, 1);
        assert_eq!(Walk::contiguous(0).bounds(0), Ok(None));
        assert_eq!((size_of::<Walk>(), RANK), (272, 8));
    }
}
