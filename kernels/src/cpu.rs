//! Kernels for host memory.
//!
//! Each operation chooses its element type once and then walks the operands in [`walk`] runs; [`run`]
//! and [`fold`] hold the loops, and [`parallel`] shares large walks among threads.

mod arithmetic;
mod fold;
mod matmul;
mod parallel;
mod reduce;
mod run;
mod transfer;
mod walk;

use crate::backend::{Backend, Binary, Comparison, Operand, Reduction, Second, Unary};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;

/// The processor.
pub(crate) struct Cpu;

impl Backend for Cpu {
    fn fill(&self, out: Operand<'_>, value: Scalar) -> Result<()> {
        transfer::fill(out, value)
    }

    fn ramp(&self, out: Operand<'_>, start: Scalar, step: Scalar) -> Result<()> {
        transfer::ramp(out, start, step)
    }

    fn copy(&self, out: Operand<'_>, input: Operand<'_>) -> Result<()> {
        transfer::copy(out, input)
    }

    fn unary(&self, operation: Unary, out: Operand<'_>, input: Operand<'_>) -> Result<()> {
        arithmetic::unary(operation, out, input)
    }

    fn binary(&self, operation: Binary, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()> {
        arithmetic::binary(operation, out, first, second)
    }

    fn compare(&self, comparison: Comparison, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()> {
        arithmetic::compare(comparison, out, first, second)
    }

    fn select(&self, out: Operand<'_>, condition: Operand<'_>, first: Operand<'_>, second: Operand<'_>) -> Result<()> {
        transfer::select(out, condition, first, second)
    }

    fn reduce(&self, reduction: Reduction, out: Operand<'_>, input: Operand<'_>, dims: &[usize]) -> Result<()> {
        reduce::reduce(reduction, out, input, dims)
    }

    fn matmul(&self, out: Operand<'_>, first: Operand<'_>, second: Operand<'_>) -> Result<()> {
        matmul::matmul(out, first, second)
    }

    fn equal(&self, a: Operand<'_>, b: Operand<'_>) -> Result<bool> {
        reduce::equal(a, b)
    }

    fn read(&self, input: Operand<'_>) -> Result<Vec<Scalar>> {
        transfer::read(input)
    }

    fn write(&self, out: Operand<'_>, values: &[Scalar]) -> Result<()> {
        transfer::write(out, values)
    }
}

fn not_defined(operation: &str, dtype: DType) -> Error {
    Error::new(
        ErrorKind::DType,
        format!(
            "{operation} of {dtype} elements asked, which is not defined; convert the tensor to another dtype first"
        ),
    )
}
