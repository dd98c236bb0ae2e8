//! Kernels that compute element by element.

use super::run;
use crate::backend::{Binary, Operand, Second, Unary};
use crate::dtype::DType;
use crate::element::{Arithmetic, Element, Float, Number, convert, with_float, with_number, with_type};
use crate::error::{Error, ErrorKind, Result};

pub(super) fn unary(operation: Unary, out: Operand<'_>, input: Operand<'_>) -> Result<()> {
    let dtype = input.dtype();
    match operation {
        Unary::Neg => with_number!(dtype, T => run::map(out, input, |x: T| computed::<T>(Number::neg(compute(x)))),
            else return Err(not_defined("neg", dtype))),
    }
    Ok(())
}

pub(super) fn binary(operation: Binary, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()> {
    let dtype = first.dtype();
    match operation {
        Binary::Add => with_type!(dtype, T => pairs::<T>(out, first, second, Arithmetic::add)),
        Binary::Mul => with_type!(dtype, T => pairs::<T>(out, first, second, Arithmetic::mul)),
        Binary::Sub => with_number!(dtype, T => pairs::<T>(out, first, second, Number::sub),
            else return Err(not_defined("sub", dtype))),
        Binary::Div => with_float!(dtype, T => pairs::<T>(out, first, second, Float::div),
            else return Err(not_defined("div", dtype))),
    }
    Ok(())
}

fn pairs<T: Element>(
    out: Operand<'_>,
    first: Operand<'_>,
    second: Second<'_>,
    f: impl Fn(T::Compute, T::Compute) -> T::Compute,
) {
    match second {
        Second::Tensor(second) => run::zip(out, first, second, |x: T, y: T| computed::<T>(f(compute(x), compute(y)))),
        Second::Number(number) => {
            // Not rounded to T: a 16-bit tensor meets the number in f32, and the result is rounded once.
            let number = T::Compute::from_scalar(number);
            run::map(out, first, |x: T| computed::<T>(f(compute(x), number)));
        }
    }
}

#[inline(always)]
fn compute<T: Element>(element: T) -> T::Compute {
    convert(element)
}

#[inline(always)]
fn computed<T: Element>(value: T::Compute) -> T {
    convert(value)
}

fn not_defined(operation: &str, dtype: DType) -> Error {
    Error::new(
        ErrorKind::DType,
        format!(
            "{operation} of {dtype} elements asked, which is not defined; convert the tensor to a dtype of numbers first"
        ),
    )
}
