//! Kernels for host memory.
//!
//! Each operation chooses its element type once and then walks the operands in [`walk`] runs; [`run`] holds the loops.

mod arithmetic;
mod reduce;
mod run;
mod transfer;
mod walk;

use crate::backend::{Backend, Binary, Operand, Second, Unary};
use crate::error::Result;
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

    fn sum(&self, out: Operand<'_>, input: Operand<'_>, dims: &[usize]) -> Result<()> {
        reduce::sum(out, input, dims)
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
