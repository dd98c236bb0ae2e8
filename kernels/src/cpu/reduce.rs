//! Kernels that bring many elements together.

use super::run::{self, Fold};
use crate::backend::Operand;
use crate::element::{Arithmetic, Element, convert, with_type};
use crate::error::Result;

pub(super) fn sum(out: Operand<'_>, input: Operand<'_>, dims: &[usize]) -> Result<()> {
    with_type!(input.dtype(), T => {
        type A = <T as Element>::Accumulator;
        let adding = Fold { start: A::from_i64(0), step: |total: A, element: T| total.add(convert(element)), join: A::add };
        run::fold(out, input, dims, &adding, convert::<A, <T as Element>::Total>);
    });
    Ok(())
}

pub(super) fn equal(a: Operand<'_>, b: Operand<'_>) -> Result<bool> {
    Ok(with_type!(a.dtype(), T => run::all(a, b, |x: T, y: T| x.widen() == y.widen())))
}
