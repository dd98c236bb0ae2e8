//! Kernels that move elements: fill, copy with conversion, read and write.

use super::run;
use crate::backend::Operand;
use crate::dtype::DType;
use crate::element::{Element, Wide, convert, with_bits, with_type};
use crate::error::Result;
use crate::scalar::Scalar;

pub(super) fn fill(out: Operand<'_>, value: Scalar) -> Result<()> {
    with_type!(out.dtype(), T => {
        let element = T::from_scalar(value);
        run::fill(out, element);
    });
    Ok(())
}

pub(super) fn ramp(out: Operand<'_>, start: Scalar, step: Scalar) -> Result<()> {
    let mut index: i64 = 0;
    let mut count = || {
        index += 1;
        index - 1
    };
    with_type!(out.dtype(), T => match (start, step) {
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => {
            let (start, step) = (start.as_f64(), step.as_f64());
            run::generate(out, || T::from_f64(start + count() as f64 * step));
        }
        _ => {
            let (start, step) = (i64::from_scalar(start), i64::from_scalar(step));
            run::generate(out, || T::from_i64(start.wrapping_add(count().wrapping_mul(step))));
        }
    });
    Ok(())
}

pub(super) fn copy(out: Operand<'_>, input: Operand<'_>) -> Result<()> {
    if out.dtype() == input.dtype() {
        // Bits are moved as they are: a conversion could change those of a NaN.
        with_bits!(out.dtype(), B => run::map::<B, B>(out, input, |bits| bits));
        return Ok(());
    }
    with_type!(out.dtype(), D => with_type!(input.dtype(), S => run::convert_all::<S, D>(out, input)));
    Ok(())
}

pub(super) fn select(out: Operand<'_>, condition: Operand<'_>, first: Operand<'_>, second: Operand<'_>) -> Result<()> {
    with_bits!(out.dtype(), B => run::select::<B>(out, condition, first, second));
    Ok(())
}

pub(super) fn read(input: Operand<'_>) -> Result<Vec<Scalar>> {
    let mut values = Vec::with_capacity(input.layout().numel());
    match input.dtype() {
        DType::Bool => {
            run::visit(input, |element: crate::element::Bool| values.push(Scalar::Bool(element.widen() != 0)))
        }
        dtype if dtype.is_floating() => with_type!(dtype, T => {
            run::visit(input, |element: T| values.push(Scalar::Float(convert::<T, f64>(element))));
        }),
        dtype => with_type!(dtype, T => {
            run::visit(input, |element: T| values.push(Scalar::Int(element.widen().convert())));
        }),
    }
    Ok(values)
}

pub(super) fn write(out: Operand<'_>, values: &[Scalar]) -> Result<()> {
    let mut values = values.iter();
    with_type!(out.dtype(), T => {
        run::generate(out, || values.next().map_or_else(|| T::from_i64(0), |value| T::from_scalar(*value)));
    });
    Ok(())
}
