//! Kernels that bring many elements together.

use super::fold::{Fold, fold};
use super::{not_defined, run};
use crate::backend::{Operand, Reduction};
use crate::element::{Arithmetic, Element, convert, with_float, with_type};
use crate::error::Result;

pub(super) fn reduce(reduction: Reduction, out: Operand<'_>, input: Operand<'_>, dims: &[usize]) -> Result<()> {
    let dtype = input.dtype();
    match reduction {
        Reduction::Sum => with_type!(dtype, T => {
            sum::<T, _>(out, input, dims, convert::<_, <T as Element>::Total>);
        }),
        Reduction::Mean => {
            let count = dims.iter().map(|dim| input.layout().shape()[*dim]).product::<usize>() as f64;
            with_float!(dtype, T => sum::<T, _>(out, input, dims, |total| T::from_f64(total / count)),
                else return Err(not_defined("mean", dtype)));
        }
        Reduction::Min => with_type!(dtype, T => {
            type C = <T as Element>::Compute;
            extreme::<T>(out, input, dims, C::GREATEST, |element, least| element < least);
        }),
        Reduction::Max => with_type!(dtype, T => {
            type C = <T as Element>::Compute;
            extreme::<T>(out, input, dims, C::LEAST, |element, greatest| element > greatest);
        }),
    }
    Ok(())
}

/// The sum of all elements, made an element of the output.
fn sum<T: Element, D: Copy>(
    out: Operand<'_>,
    input: Operand<'_>,
    dims: &[usize],
    finish: impl Fn(T::Accumulator) -> D + Send + Sync,
) {
    let adding = Fold {
        start: T::Accumulator::from_i64(0),
        step: |total: T::Accumulator, element| total.add(convert(element)),
        join: T::Accumulator::add,
    };
    fold::<T, _, _>(out, input, dims, &adding, finish);
}

/// The element that is better than all others; NaN is better than any number.
fn extreme<T: Element>(
    out: Operand<'_>,
    input: Operand<'_>,
    dims: &[usize],
    start: T::Compute,
    better: impl Fn(T::Compute, T::Compute) -> bool + Send + Sync,
) {
    let choose = |best: T::Compute, element: T::Compute| {
        let is_nan = element.partial_cmp(&element).is_none();
        if better(element, best) || is_nan { element } else { best }
    };
    fold::<T, _, _>(out, input, dims, &Fold { start, step: &choose, join: &choose }, convert::<T::Compute, T>);
}

pub(super) fn equal(a: Operand<'_>, b: Operand<'_>) -> Result<bool> {
    Ok(with_type!(a.dtype(), T => run::all(a, b, |x: T, y: T| x.widen() == y.widen())))
}
