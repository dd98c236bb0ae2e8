//! Layouts made for the results of operations: broadcast shapes, and the order of dimensions of a new tensor.

use super::Layout;
use crate::error::{Error, ErrorKind, Result};
use std::cmp::Ordering;

impl Layout {
    /// The shape to which two shapes broadcast: aligned at the last dimension, sizes equal or one of them 1.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when two sizes differ and neither is 1.
    pub fn broadcast_shape(a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
        let ndim = a.len().max(b.len());
        let size_of = |shape: &[usize], dim: usize| (dim + shape.len()).checked_sub(ndim).map_or(1, |own| shape[own]);
        (0..ndim)
            .map(|dim| match (size_of(a, dim), size_of(b, dim)) {
                (x, y) if x == y || y == 1 => Ok(x),
                (1, y) => Ok(y),
                (x, y) => Err(Error::new(
                    ErrorKind::Shape,
                    format!(
                        "shapes {a:?} and {b:?} do not broadcast: the sizes {x} and {y} at dimension {dim} differ; \
                         make them equal, or one of them 1"
                    ),
                )),
            })
            .collect()
    }

    /// The layout of an elementwise result in new storage: dense, with dimensions in the order in which the operands,
    /// which broadcast to `shape`, have them in memory (the rule of PyTorch's TensorIterator).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the number of elements cannot be counted.
    pub fn of_result(shape: &[usize], operands: &[&Layout]) -> Result<Layout> {
        let whole = operands.iter().all(|operand| operand.shape == shape);
        if whole && operands.iter().all(|operand| operand.is_contiguous()) {
            return Layout::contiguous(shape);
        }
        if let Some(first) = operands.first()
            && whole
            && operands.iter().all(|operand| operand.is_dense() && operand.strides == first.strides)
        {
            return Ok(Layout { offset: 0, ..(*first).clone() });
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        // A stable insertion sort from the fastest dimension on: pairs that no operand can decide keep their order,
        // and, as such pairs make the comparison intransitive, a library sort would not do.
        for slot in (0..order.len()).rev() {
            let mut current = slot;
            for next in slot + 1..order.len() {
                match slower_first(shape, operands, order[current], order[next]) {
                    Some(Ordering::Greater) => {
                        order.swap(current, next);
                        current = next;
                    }
                    Some(Ordering::Less) => break,
                    _ => {}
                }
            }
        }
        Layout::dense(shape, &order)
    }

    /// The layout of a copy in new storage: the same strides where there are no gaps, else as of a result.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the number of elements cannot be counted.
    pub fn of_copy(&self) -> Result<Layout> {
        if self.is_dense() { Ok(Layout { offset: 0, ..self.clone() }) } else { Layout::of_result(&self.shape, &[self]) }
    }

    /// The stride with which the layout goes along a dimension of a shape that it broadcasts to: 0 where it repeats.
    fn broadcast_stride(&self, shape: &[usize], dim: usize) -> usize {
        let own = (dim + self.ndim()).checked_sub(shape.len());
        own.filter(|own| self.shape[*own] == shape[dim]).map_or(0, |own| self.strides[own])
    }
}

/// How two dimensions, `a` the one before, should lie in memory: `Less` when `a` is the slower one, `Greater` when they
/// should change places, `None` when no operand decides.
fn slower_first(shape: &[usize], operands: &[&Layout], a: usize, b: usize) -> Option<Ordering> {
    for operand in operands {
        let (stride_a, stride_b) = (operand.broadcast_stride(shape, a), operand.broadcast_stride(shape, b));
        // A stride of zero says nothing about the order.
        if stride_a == 0 || stride_b == 0 {
            continue;
        }
        match stride_b.cmp(&stride_a) {
            Ordering::Equal if shape[b] > shape[a] => return Some(Ordering::Greater),
            Ordering::Equal => {}
            decided => return Some(decided),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_from_the_last_dimension() {
        assert_eq!(Layout::broadcast_shape(&[2, 1, 3], &[4, 1]).unwrap(), [2, 4, 3]);
        assert_eq!(Layout::broadcast_shape(&[], &[0, 1]).unwrap(), [0, 1]);
        assert_eq!(Layout::broadcast_shape(&[2], &[3]).unwrap_err().kind, ErrorKind::Shape);
    }

    #[test]
    fn a_result_keeps_the_order_of_its_operands() {
        let rows = Layout::contiguous(&[2, 3]).unwrap();
        let columns = rows.transpose(0, 1).unwrap();
        assert_eq!(Layout::of_result(&[3, 2], &[&columns]).unwrap().strides(), [1, 3]);
        assert_eq!(Layout::of_result(&[2, 3], &[&rows]).unwrap().strides(), [3, 1]);
        let scattered = Layout::new(&[2, 3], &[1, 10], 0).unwrap();
        assert_eq!(Layout::of_result(&[2, 3], &[&scattered]).unwrap().strides(), [1, 2]);
        let row = Layout::contiguous(&[3]).unwrap();
        assert_eq!(Layout::of_result(&[2, 3], &[&row]).unwrap().strides(), [3, 1]);
        assert_eq!(Layout::of_result(&[3, 2], &[&row.unsqueeze(1).unwrap(), &columns]).unwrap().strides(), [1, 3]);
    }
}
