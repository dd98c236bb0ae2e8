//! How elementwise operations meet: broadcasting, promotion and overlap, for results in place and in new storage alike.

use super::backend;
use crate::backend::{Binary, Operand, Second, Unary};
use crate::dtype::{DType, Rank};
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::overlap;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The second operand of an operation: a tensor or a number.
#[derive(Debug, Clone, Copy)]
pub enum Other<'a> {
    /// A tensor, broadcast against the first operand.
    Tensor(&'a Tensor),
    /// A number, which promotes only across categories.
    Number(Scalar),
}

impl<'a> From<&'a Tensor> for Other<'a> {
    fn from(tensor: &'a Tensor) -> Other<'a> {
        Other::Tensor(tensor)
    }
}

impl<S: Into<Scalar>> From<S> for Other<'_> {
    fn from(number: S) -> Self {
        Other::Number(number.into())
    }
}

impl Other<'_> {
    fn ranked(&self) -> (DType, Rank) {
        match self {
            Other::Tensor(tensor) => tensor.ranked(),
            Other::Number(number) => (number.dtype(), Rank::Number),
        }
    }
}

/// A result in new storage.
pub(super) fn binary(operation: Binary, a: &Tensor, b: Other<'_>) -> Result<Tensor> {
    compute(operation, None, a, b)
}

/// The same with the first operand as the output; counts one write.
pub(super) fn binary_(operation: Binary, a: &Tensor, b: Other<'_>) -> Result<()> {
    compute(operation, Some(a), a, b)?;
    a.bump_version();
    Ok(())
}

fn compute(operation: Binary, out: Option<&Tensor>, a: &Tensor, b: Other<'_>) -> Result<Tensor> {
    if let Some(out) = out {
        overlap::check_output(out)?;
        if let Other::Tensor(b) = b {
            overlap::check_input(out, b)?;
        }
    }
    let shape = match b {
        Other::Tensor(b) => Layout::broadcast_shape(a.shape(), b.shape())?,
        Other::Number(_) => a.shape().to_vec(),
    };
    let promoted = DType::result_type(a.ranked(), b.ranked());
    let dtype = if operation == Binary::Div { promoted.of_quotient() } else { promoted };
    if let Some(out) = out {
        check_shape(out, &shape)?;
        dtype.check_cast(out.dtype())?;
    }
    let first = Broadcast::new(a, dtype, &shape)?;
    let second = match b {
        Other::Tensor(b) => Prepared::Tensor(Broadcast::new(b, dtype, &shape)?),
        Other::Number(number) => Prepared::Number(number),
    };
    // A result of a wider dtype is computed beside the output and converted into it.
    let target = match out {
        Some(out) if out.dtype() == dtype => out.share(),
        _ => {
            let layout = match &second {
                Prepared::Tensor(second) => Layout::of_result(&shape, &[&first.layout, &second.layout])?,
                Prepared::Number(_) => Layout::of_result(&shape, &[&first.layout])?,
            };
            Tensor::allocate(layout, dtype)?
        }
    };
    let second = match &second {
        Prepared::Tensor(second) => Second::Tensor(second.operand()?),
        Prepared::Number(number) => Second::Number(*number),
    };
    backend().binary(operation, target.operand()?, first.operand()?, second)?;
    match out {
        Some(out) if out.dtype() != dtype => {
            backend().copy(out.operand()?, target.operand()?)?;
            Ok(out.share())
        }
        _ => Ok(target),
    }
}

/// An operand in the dtype of the operation, with the layout in which it has the shape of the result.
struct Broadcast {
    tensor: Tensor,
    layout: Layout,
}

enum Prepared {
    Tensor(Broadcast),
    Number(Scalar),
}

impl Broadcast {
    fn new(tensor: &Tensor, dtype: DType, shape: &[usize]) -> Result<Broadcast> {
        let tensor = tensor.to(dtype)?;
        let layout = tensor.layout().broadcast_to(shape)?;
        Ok(Broadcast { tensor, layout })
    }

    fn operand(&self) -> Result<Operand<'_>> {
        self.tensor.operand_as(&self.layout)
    }
}

/// An operation of one input, in new storage.
pub(super) fn unary(operation: Unary, a: &Tensor) -> Result<Tensor> {
    let out = Tensor::allocate(Layout::of_result(a.shape(), &[a.layout()])?, a.dtype())?;
    backend().unary(operation, out.operand()?, a.operand()?)?;
    Ok(out)
}

/// The same with the input as the output; counts one write.
pub(super) fn unary_(operation: Unary, a: &Tensor) -> Result<()> {
    overlap::check_output(a)?;
    backend().unary(operation, a.operand()?, a.operand()?)?;
    a.bump_version();
    Ok(())
}

/// Refuses an output that does not have the shape of the result: outputs are not broadcast.
pub(super) fn check_shape(out: &Tensor, shape: &[usize]) -> Result<()> {
    if out.shape() == shape {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Shape,
        format!(
            "the written-to tensor of shape {:?} does not match the broadcast shape {shape:?}; \
             write into a tensor of that shape, or use the operation that makes a new tensor",
            out.shape()
        ),
    ))
}
