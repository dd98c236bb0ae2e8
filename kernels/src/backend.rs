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

/// The second input of a [`Binary`] operation.
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

    /// Adds up the elements over `dims`; `out` has the other dimensions, and the dtype of a sum.
    fn sum(&self, out: Operand<'_>, input: Operand<'_>, dims: &[usize]) -> Result<()>;

    /// Whether all pairs of elements are equal; NaN equals nothing.
    fn equal(&self, a: Operand<'_>, b: Operand<'_>) -> Result<bool>;

    /// The elements in row-major order.
    fn read(&self, input: Operand<'_>) -> Result<Vec<Scalar>>;

    /// Writes as many values as there are elements, in row-major order, converted as by [`Backend::copy`].
    fn write(&self, out: Operand<'_>, values: &[Scalar]) -> Result<()>;
}
