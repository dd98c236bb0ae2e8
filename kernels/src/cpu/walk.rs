//! The way through several operands of one shape at once.

use crate::layout::Layout;

/// Dimensions of `N` operands of one shape, joined where they continue each other in all of them.
#[derive(Clone)]
pub(super) struct Walk<const N: usize> {
    outer: Vec<(usize, [usize; N])>,
    inner: (usize, [usize; N]),
    offsets: [usize; N],
}

/// `length` elements of each operand, from `offsets` on, at distances of `strides` elements.
pub(super) struct Run<const N: usize> {
    pub(super) offsets: [usize; N],
    pub(super) strides: [usize; N],
    pub(super) length: usize,
}

impl<const N: usize> Walk<N> {
    /// The walk over layouts of one shape, in row-major order.
    pub(super) fn new(layouts: [&Layout; N]) -> Walk<N> {
        let all: Vec<usize> = (0..layouts[0].ndim()).collect();
        Walk::over(layouts, &all)
    }

    /// The walk over some dimensions of layouts that agree in these, the others standing at 0.
    pub(super) fn over(layouts: [&Layout; N], dims: &[usize]) -> Walk<N> {
        let mut joined: Vec<(usize, [usize; N])> = Vec::new();
        for &dim in dims {
            let size = layouts[0].shape()[dim];
            debug_assert!(layouts.iter().all(|layout| layout.shape()[dim] == size));
            let strides = layouts.map(|layout| layout.strides()[dim]);
            match joined.last_mut() {
                _ if size == 1 => {}
                Some((before, steps)) if (0..N).all(|i| steps[i] == strides[i] * size) => {
                    *before *= size;
                    *steps = strides;
                }
                _ => joined.push((size, strides)),
            }
        }
        let inner = joined.pop().unwrap_or((1, [1; N]));
        Walk { outer: joined, inner, offsets: layouts.map(Layout::offset) }
    }

    /// Elements of each operand.
    pub(super) fn len(&self) -> usize {
        self.outer.iter().map(|(size, _)| size).product::<usize>() * self.inner.0
    }

    /// The walk in at most `count` parts, in order: cut along the slowest dimension that gives as many, else the largest.
    pub(super) fn pieces(&self, count: usize) -> Vec<Walk<N>> {
        let size = |dim: usize| self.outer.get(dim).unwrap_or(&self.inner).0;
        let dims = 0..=self.outer.len();
        let cut =
            dims.clone().find(|dim| size(*dim) >= count).or_else(|| dims.max_by_key(|dim| size(*dim))).unwrap_or(0);
        let length = size(cut).div_ceil(count.max(1)).max(1);
        let piece = |start: usize| {
            let mut piece = self.clone();
            let (size, strides) = piece.outer.get_mut(cut).unwrap_or(&mut piece.inner);
            (0..N).for_each(|i| piece.offsets[i] += start * strides[i]);
            *size = length.min(*size - start);
            piece
        };
        (0..size(cut)).step_by(length).map(piece).collect()
    }

    /// Calls `body` with every run, in row-major order. Offsets are counted from `base`.
    pub(super) fn each(&self, base: [usize; N], mut body: impl FnMut(Run<N>)) {
        let (length, strides) = self.inner;
        if length == 0 || self.outer.iter().any(|(size, _)| *size == 0) {
            return;
        }
        let mut offsets: [usize; N] = std::array::from_fn(|i| base[i] + self.offsets[i]);
        let mut position = vec![0; self.outer.len()];
        loop {
            body(Run { offsets, strides, length });
            let mut dim = self.outer.len();
            loop {
                let Some(current) = dim.checked_sub(1) else { return };
                dim = current;
                let (size, steps) = self.outer[dim];
                position[dim] += 1;
                (0..N).for_each(|i| offsets[i] += steps[i]);
                if position[dim] < size {
                    break;
                }
                position[dim] = 0;
                (0..N).for_each(|i| offsets[i] -= steps[i] * size);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(layouts: [&Layout; 2]) -> Vec<[usize; 2]> {
        let mut seen = Vec::new();
        Walk::new(layouts).each([0, 0], |run| {
            for k in 0..run.length {
                seen.push([run.offsets[0] + k * run.strides[0], run.offsets[1] + k * run.strides[1]]);
            }
        });
        seen
    }

    #[test]
    fn two_orders_are_walked_side_by_side() {
        let rows = Layout::contiguous(&[2, 3]).unwrap();
        let columns = Layout::new(&[2, 3], &[1, 2], 10).unwrap();
        assert_eq!(visited([&rows, &columns]), [[0, 10], [1, 12], [2, 14], [3, 11], [4, 13], [5, 15]]);
    }

    #[test]
    fn pieces_in_order_are_the_walk() {
        let layouts = [Layout::contiguous(&[2, 3, 5]).unwrap(), Layout::new(&[2, 3, 5], &[1, 20, 3], 7).unwrap()];
        let runs = |walk: &Walk<2>| {
            let mut seen = Vec::new();
            walk.each([0, 0], |run| {
                seen.extend((0..run.length).map(|k| [0, 1].map(|i| run.offsets[i] + k * run.strides[i])));
            });
            seen
        };
        let walk = Walk::new([&layouts[0], &layouts[1]]);
        assert_eq!(walk.len(), 30);
        for count in 1..8 {
            let mut parts: Vec<_> = walk.pieces(count).iter().flat_map(runs).collect();
            assert!(walk.pieces(count).len() <= count);
            parts.sort_unstable();
            assert_eq!(parts, runs(&walk), "{count}");
        }
        assert_eq!(walk.pieces(2).len(), 2);
    }

    #[test]
    fn what_continues_is_one_run() {
        let block = Layout::contiguous(&[2, 1, 3]).unwrap();
        let mut runs = 0;
        Walk::new([&block, &block]).each([0, 0], |run| {
            assert_eq!(run.length, 6);
            runs += 1;
        });
        assert_eq!(runs, 1);
    }

    #[test]
    fn no_dimensions_are_one_element_and_no_elements_no_run() {
        let one = Layout::new(&[], &[], 4).unwrap();
        assert_eq!(visited([&one, &one]), [[4, 4]]);
        let none = Layout::contiguous(&[2, 0, 3]).unwrap();
        assert!(visited([&none, &none]).is_empty());
    }
}
