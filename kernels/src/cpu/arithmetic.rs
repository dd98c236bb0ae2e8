//! Kernels that compute element by element.

use super::{not_defined, run};
use crate::backend::{Binary, Comparison, Operand, Second, Unary};
use crate::element::{Arithmetic, Bool, Element, Float, Number, with_float, with_number, with_type};
use crate::error::Result;

pub(super) fn unary(operation: Unary, out: Operand<'_>, input: Operand<'_>) -> Result<()> {
    let dtype = input.dtype();
    match operation {
        Unary::Neg => with_number!(dtype, T => run::map::<T, T>(out, input, Number::neg),
            else return Err(not_defined("neg", dtype))),
    }
    Ok(())
}

pub(super) fn binary(operation: Binary, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()> {
    let dtype = first.dtype();
    match operation {
        Binary::Add => with_type!(dtype, T => pairs::<T, T>(out, first, second, Arithmetic::add)),
        Binary::Mul => with_type!(dtype, T => pairs::<T, T>(out, first, second, Arithmetic::mul)),
        Binary::Sub => with_number!(dtype, T => pairs::<T, T>(out, first, second, Number::sub),
            else return Err(not_defined("sub", dtype))),
        Binary::Div => with_float!(dtype, T => pairs::<T, T>(out, first, second, Float::div),
            else return Err(not_defined("div", dtype))),
    }
    Ok(())
}

pub(super) fn compare(comparison: Comparison, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()> {
    // Behind a pointer: one loop for a type, not one for each comparison of a type.
    with_type!(first.dtype(), T => {
        type Number = <T as Element>::Compute;
        let holds: fn(Number, Number) -> _ = match comparison {
            Comparison::Eq => |x, y| (x == y).into(),
            Comparison::Ne => |x, y| (x != y).into(),
            Comparison::Lt => |x, y| (x < y).into(),
            Comparison::Le => |x, y| (x <= y).into(),
        };
        pairs::<T, Bool>(out, first, second, holds);
    });
    Ok(())
}

fn pairs<S: Element, D: Element>(
    out: Operand<'_>,
    first: Operand<'_>,
    second: Second<'_>,
    f: impl Fn(S::Compute, S::Compute) -> D::Compute + Send + Sync,
) {
    match second {
        Second::Tensor(second) => run::zip::<S, D>(out, first, second, f),
        Second::Number(number) => {
            // Not rounded to S: a 16-bit tensor meets the number in f32, and the result is rounded once.
            let number = S::Compute::from_scalar(number);
            run::map::<S, D>(out, first, |x| f(x, number));
        }
    }
}
