//! How elementwise operations meet: broadcasting, promotion and overlap, for results in place and in new storage alike.

use super::backend;
use crate::backend::{Backend, Binary, Comparison, Operand, Second, Unary};
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

    fn broadcast_shape(&self, first: &Tensor) -> Result<Vec<usize>> {
        match self {
            Other::Tensor(tensor) => Layout::broadcast_shape(first.shape(), tensor.shape()),
            Other::Number(_) => Ok(first.shape().to_vec()),
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
    let promoted = DType::result_type(a.ranked(), b.ranked());
    let dtype = match operation {
        Binary::Div => promoted.of_quotient(),
        Binary::Sub if [a.ranked().0, b.ranked().0].contains(&DType::Bool) => return Err(no_difference_of_bools()),
        _ => promoted,
    };
    if let Some(out) = out {
        overlap::check_output(out)?;
        if let Other::Tensor(b) = b {
            overlap::check_input(out, b)?;
        }
    }
    let shape = b.broadcast_shape(a)?;
    if let Some(out) = out {
        check_shape(out, &shape)?;
        dtype.check_cast(out.dtype())?;
    }
    let pair = Pair::of(operation, a, b, dtype, &shape)?;
    // A result of a wider dtype is computed beside the output and converted into it.
    let target = match out {
        Some(out) if out.dtype() == dtype => out.share(),
        _ => a.allocate_beside(pair.result(&shape)?, dtype)?,
    };
    pair.backend(&target)?.binary(operation, target.operand()?, pair.first.operand()?, pair.second()?)?;
    match out {
        Some(out) if out.dtype() != dtype => {
            backend(&[out])?.copy(out.operand()?, target.operand()?)?;
            Ok(out.share())
        }
        _ => Ok(target),
    }
}

fn no_difference_of_bools() -> Error {
    Error::new(
        ErrorKind::DType,
        "a difference with bools asked, which is not defined; convert them to a dtype of numbers first",
    )
}

/// A comparison in the promoted dtype, as bools in new storage.
pub(super) fn compare(comparison: Comparison, a: &Tensor, b: Other<'_>) -> Result<Tensor> {
    let shape = b.broadcast_shape(a)?;
    let pair = Pair::new(a, b, DType::result_type(a.ranked(), b.ranked()), &shape)?;
    let out = a.allocate_beside(pair.result(&shape)?, DType::Bool)?;
    pair.backend(&out)?.compare(comparison, out.operand()?, pair.first.operand()?, pair.second()?)?;
    Ok(out)
}

/// Two inputs as they meet: in one dtype and one shape.
struct Pair {
    first: Broadcast,
    second: Prepared,
}

impl Pair {
    fn new(a: &Tensor, b: Other<'_>, dtype: DType, shape: &[usize]) -> Result<Pair> {
        let first = Broadcast::new(a, dtype, shape)?;
        let second = match b {
            Other::Tensor(b) => Prepared::Tensor(Broadcast::new(b, dtype, shape)?),
            Other::Number(number) => Prepared::Number(number),
        };
        Ok(Pair { first, second })
    }

    /// The inputs of an arithmetic operation. With 16-bit floats PyTorch's processor kernels round a number before they
    /// add or subtract it, and keep one, or a tensor of no dimensions, in 32 bits where they multiply or divide by it.
    fn of(operation: Binary, a: &Tensor, b: Other<'_>, dtype: DType, shape: &[usize]) -> Result<Pair> {
        let sum = matches!(operation, Binary::Add | Binary::Sub);
        let second = match b {
            Other::Number(number) if sum => Other::Number(rounded(number, dtype)),
            Other::Tensor(b) if !sum && is_half(dtype) && b.shape().is_empty() && b.dtype().is_floating() => {
                b.values()?.first().map_or(Other::Tensor(b), |value| Other::Number(*value))
            }
            other => other,
        };
        Pair::new(a, second, dtype, shape)
    }

    /// The layout of a result in new storage.
    fn result(&self, shape: &[usize]) -> Result<Layout> {
        match &self.second {
            Prepared::Tensor(second) => Layout::of_result(shape, &[self.first.own(), second.own()]),
            // PyTorch sees a tensor of no dimensions here, which is not of the shape of the first.
            Prepared::Number(_) => Layout::of_result(shape, &[self.first.own(), &Layout::contiguous(&[])?]),
        }
    }

    /// Where the operation runs that writes into `out`.
    fn backend<'a>(&'a self, out: &'a Tensor) -> Result<&'a dyn Backend> {
        match &self.second {
            Prepared::Tensor(second) => backend(&[out, &self.first.tensor, &second.tensor]),
            Prepared::Number(_) => backend(&[out, &self.first.tensor]),
        }
    }

    fn second(&self) -> Result<Second<'_>> {
        Ok(match &self.second {
            Prepared::Tensor(second) => Second::Tensor(second.operand()?),
            Prepared::Number(number) => Second::Number(*number),
        })
    }
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16)
}

/// A number as an element of a 16-bit float dtype would hold it; itself in any other dtype.
fn rounded(number: Scalar, dtype: DType) -> Scalar {
    let short = number.as_f64() as f32;
    match dtype {
        DType::F16 => Scalar::Float(half::f16::from_f32(short).to_f64()),
        DType::Bf16 => Scalar::Float(half::bf16::from_f32(short).to_f64()),
        _ => number,
    }
}

/// An operand in the dtype of the operation, with the layout in which it has the shape of the result.
pub(super) struct Broadcast {
    tensor: Tensor,
    layout: Layout,
}

enum Prepared {
    Tensor(Broadcast),
    Number(Scalar),
}

impl Broadcast {
    pub(super) fn new(tensor: &Tensor, dtype: DType, shape: &[usize]) -> Result<Broadcast> {
        let tensor = tensor.to(dtype)?;
        let layout = tensor.layout().broadcast_to(shape)?;
        Ok(Broadcast { tensor, layout })
    }

    /// The tensor, converted.
    pub(super) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// The layout before it was broadcast, after it was converted: the one that decides the order of a result.
    pub(super) fn own(&self) -> &Layout {
        self.tensor.layout()
    }

    pub(super) fn operand(&self) -> Result<Operand<'_>> {
        self.tensor.operand_as(&self.layout)
    }
}

/// An operation of one input, in new storage.
pub(super) fn unary(operation: Unary, a: &Tensor) -> Result<Tensor> {
    let out = a.allocate_beside(Layout::of_result(a.shape(), &[a.layout()])?, a.dtype())?;
    backend(&[a])?.unary(operation, out.operand()?, a.operand()?)?;
    Ok(out)
}

/// The same with the input as the output; counts one write.
pub(super) fn unary_(operation: Unary, a: &Tensor) -> Result<()> {
    overlap::check_output(a)?;
    backend(&[a])?.unary(operation, a.operand()?, a.operand()?)?;
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
