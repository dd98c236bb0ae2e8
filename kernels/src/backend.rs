//! The seam between checks and kernels: families of operations on raw operands.
//!
//! Above it every check, promotion and allocation is done once; a device implements [`Backend`] and nothing else.

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::scalar::Scalar;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The elements of one tensor: where its block starts, and where in it they lie.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    block: NonNull<u8>,
    layout: &'a Layout,
    dtype: DType,
    storage: PhantomData<&'a ()>,
}

impl<'a> Operand<'a> {
    /// # Safety
    /// For `'a`, every element of `layout` must lie in a live block that starts at `block`, be aligned for `dtype`, and
    /// be reached by no other thread and through no reference.
    pub(crate) unsafe fn new(block: NonNull<u8>, layout: &'a Layout, dtype: DType) -> Operand<'a> {
        Operand { block, layout, dtype, storage: PhantomData }
    }

    /// Start of the block, not of the first element.
    pub fn block(&self) -> NonNull<u8> {
        self.block
    }

    /// Where in the block the elements lie.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
}

/// Operations of one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// The negative; not of bools.
    Neg,
}

/// Operations of two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// The sum; on bools, "or".
    Add,
    /// The difference; not of bools.
    Sub,
    /// The product; on bools, "and".
    Mul,
    /// The quotient; of floating dtypes only.
    Div,
}

/// Comparisons of two inputs; false where one is NaN, but for `Ne`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The same value.
    Eq,
    /// Another value.
    Ne,
    /// Less.
    Lt,
    /// Less or the same value.
    Le,
}

/// Ways to bring many elements together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The sum, in the dtype of a sum; floats are rounded once.
    Sum,
    /// The sum over the number of elements, rounded once; of floating dtypes only.
    Mean,
    /// The least; NaN where there is one. Of no elements, the greatest value of the dtype.
    Min,
    /// The greatest; NaN where there is one. Of no elements, the least value of the dtype.
    Max,
}

/// The second input of an operation of two.
#[derive(Clone, Copy)]
pub enum Second<'a> {
    /// A tensor of the dtype and shape of the first input.
    Tensor(Operand<'a>),
    /// A number, rounded to the type in which the operation is computed.
    Number(Scalar),
}

/// A device that runs kernels.
///
/// Shapes agree already and inputs and output have one dtype, except where a method says otherwise. 16-bit floats are
/// computed in f32 and rounded once; integers wrap. The output may be an input, element for element; any other overlap
/// is either refused above or leaves values that depend on the order of elements.
///
/// # Errors
/// Of every method: [`ErrorKind::DType`](crate::ErrorKind::DType) for a dtype that the operation is not defined on.
pub trait Backend {
    /// Writes one number into every element, converted as by [`Backend::copy`].
    fn fill(&self, out: Operand<'_>, value: Scalar) -> Result<()>;

    /// Writes `start + i * step` into element `i` in row-major order: exactly for integers, computed in f64 for floats.
    fn ramp(&self, out: Operand<'_>, start: Scalar, step: Scalar) -> Result<()>;

    /// Copies elements, converting between any two dtypes: integers wrap, floats lose their fraction, anything but zero
    /// is true.
    fn copy(&self, out: Operand<'_>, input: Operand<'_>) -> Result<()>;

    /// Applies an operation to every element.
    fn unary(&self, operation: Unary, out: Operand<'_>, input: Operand<'_>) -> Result<()>;

    /// Applies an operation to every pair of elements.
    fn binary(&self, operation: Binary, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()>;

    /// Compares every pair of elements; `out` is of bools.
    fn compare(&self, comparison: Comparison, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()>;

    /// Takes every element from `first` where the element of `condition`, one byte, is not zero, else from `second`.
    fn select(&self, out: Operand<'_>, condition: Operand<'_>, first: Operand<'_>, second: Operand<'_>) -> Result<()>;

    /// Brings the elements over `dims` together; `out` has the other dimensions and, but for sums, the dtype of the input.
    fn reduce(&self, reduction: Reduction, out: Operand<'_>, input: Operand<'_>, dims: &[usize]) -> Result<()>;

    /// The matrix product of `[n, k]` and `[k, m]`; `out` is another `[n, m]`. Not of bools; 16-bit floats add up in f32.
    fn matmul(&self, out: Operand<'_>, first: Operand<'_>, second: Operand<'_>) -> Result<()>;

    /// Whether all pairs of elements are equal; NaN equals nothing.
    fn equal(&self, a: Operand<'_>, b: Operand<'_>) -> Result<bool>;

    /// The elements in row-major order.
    fn read(&self, input: Operand<'_>) -> Result<Vec<Scalar>>;

    /// Writes as many values as there are elements, in row-major order, converted as by [`Backend::copy`].
    fn write(&self, out: Operand<'_>, values: &[Scalar]) -> Result<()>;
}
