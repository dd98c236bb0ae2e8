//! Dimensions, sizes and indices of the protocol as ndarray takes them: whole numbers from zero up.

use ndarray::{Axis, IxDyn};
use subject::Fail;

/// A dimension, which counts from the end when negative.
pub(crate) fn axis(dim: i64, ndim: usize) -> Result<Axis, Fail> {
    let found = from_end(dim, ndim).filter(|axis| *axis < ndim);
    let found = found.ok_or_else(|| Fail::error("index", format!("no dimension {dim} in an array that has {ndim}")))?;
    Ok(Axis(found))
}

/// A place in a dimension, which counts from the end when negative. Whether it is too far is for ndarray to say.
pub(crate) fn place(index: i64, size: usize) -> Result<usize, Fail> {
    from_end(index, size).ok_or_else(|| Fail::error("index", format!("index {index} lies before the first of {size}")))
}

/// How many; ndarray has no negative numbers for it.
pub(crate) fn count(number: i64) -> Result<usize, Fail> {
    usize::try_from(number).map_err(|_| Fail::error("other", format!("ndarray counts in usize, found {number}")))
}

/// A shape. ndarray has no size that is inferred.
pub(crate) fn shape(sizes: &[i64]) -> Result<IxDyn, Fail> {
    let sizes: Option<Vec<usize>> = sizes.iter().map(|size| usize::try_from(*size).ok()).collect();
    sizes.map(|sizes| IxDyn(&sizes)).ok_or_else(|| Fail::unsupported("ndarray has no size of a dimension below 0"))
}

/// The order of the axes with one of them moved.
pub(crate) fn moved(ndim: usize, source: Axis, destination: Axis) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ndim).filter(|axis| *axis != source.index()).collect();
    order.insert(destination.index(), source.index());
    order
}

fn from_end(index: i64, size: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => size.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}
