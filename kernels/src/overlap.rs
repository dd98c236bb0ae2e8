//! Which writes are refused because memory would be read or written twice: PyTorch's decisions, not an exact solver.

use crate::error::{Error, ErrorKind, Result};
use crate::tensor::Tensor;

/// Refuses an output in which several elements share a position.
pub(crate) fn check_output(out: &Tensor) -> Result<()> {
    if !out.layout().repeats_elements() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Overlap,
        format!(
            "more than one element of the written-to tensor, shape {:?} with strides {:?}, refers to a single memory location; \
             clone the tensor before writing into it",
            out.layout().shape(),
            out.layout().strides()
        ),
    ))
}

/// Refuses an input that shares some positions with the output other than element for element.
///
/// Only tensors without gaps are decided on; what is too hard to say is let through.
pub(crate) fn check_input(out: &Tensor, input: &Tensor) -> Result<()> {
    if out.is_same(input) || !out.shares_storage(input) {
        return Ok(());
    }
    let (written, read) = (out.layout(), input.layout());
    if written.numel() == 0 || read.numel() == 0 || !written.is_dense() || !read.is_dense() {
        return Ok(());
    }
    let (from, to) = (written.offset().max(read.offset()), written.end().min(read.end()));
    let identical =
        written.offset() == read.offset() && written.end() == read.end() && written.strides() == read.strides();
    if from >= to || identical {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Overlap,
        format!(
            "some elements of the input tensor and the written-to tensor refer to a single memory location: positions {from} to {} \
             of their storage; clone the input before the operation",
            to - 1
        ),
    ))
}
