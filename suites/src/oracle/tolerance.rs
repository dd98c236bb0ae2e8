//! How far apart two sums of the same numbers may be.
//!
//! Libraries add floats in an order of their own. Whatever the order, a sum of n terms is off by no more than about
//! n / 2 roundings of the sum of the terms' absolute values, so two sums agree when they are no further apart than
//! `(n + 1) * epsilon * sum of absolute values`, with the epsilon of the result's dtype. A mean is a sum divided by n,
//! and each element of a matrix product is a sum. All other values must be equal.

use super::Side;
use subject::{DType, Handle, Op, Value};

/// Whether the two lists of values of `result`, made by `made` a moment ago, are as near as two orders of summation are.
pub(super) fn within(side: &mut dyn Side, made: &Op, result: &Handle, left: &Value, right: &Value) -> bool {
    let (Some(left), Some(right)) = (floats(left), floats(right)) else { return false };
    let Some((epsilon, most)) = limits(side, result) else { return false };
    let Some((terms, magnitudes)) = magnitudes(side, made) else { return false };
    left.len() == right.len()
        && left.len() == magnitudes.len()
        && left.iter().zip(&right).zip(&magnitudes).all(|((left, right), magnitude)| {
            left == right
                || (left.is_nan() && right.is_nan())
                // One order may leave the range of the dtype on its way where the other does not.
                || (magnitude.is_finite() && *magnitude >= most)
                || (left - right).abs() <= (terms + 1.0) * epsilon * magnitude
        })
}

/// Epsilon and greatest finite value of a tensor's dtype; `None` where it is exact.
fn limits(side: &mut dyn Side, tensor: &Handle) -> Option<(f64, f64)> {
    match side.call(&Op::Dtype { a: tensor.clone() }).ok()? {
        Value::Text(name) => match DType::from_name(&name)? {
            DType::F16 => Some((2f64.powi(-10), 65504.0)),
            DType::Bf16 => Some((2f64.powi(-7), 2f64.powi(127) * (2.0 - 2f64.powi(-7)))),
            DType::F32 => Some((f32::EPSILON.into(), f32::MAX.into())),
            DType::F64 => Some((f64::EPSILON, f64::MAX)),
            _ => None,
        },
        _ => None,
    }
}

/// The number of terms of each sum that an op adds up, and the sum of their absolute values for each element of its
/// result; `None` for an op that adds nothing up.
fn magnitudes(side: &mut dyn Side, made: &Op) -> Option<(f64, Vec<f64>)> {
    match made {
        Op::Sum { a } => {
            let (_, values) = read(side, a)?;
            Some((values.len() as f64, vec![values.iter().sum()]))
        }
        Op::Mean { a } => {
            let (_, values) = read(side, a)?;
            let terms = values.len() as f64;
            Some((terms, vec![values.iter().sum::<f64>() / terms]))
        }
        Op::SumDim { a, dim } => {
            let (shape, values) = read(side, a)?;
            let at = if *dim < 0 { shape.len().checked_sub(dim.unsigned_abs() as usize)? } else { *dim as usize };
            let Some(&size) = shape.get(at) else { return Some((1.0, values)) };
            let inner: usize = shape[at + 1..].iter().product();
            let outer: usize = shape[..at].iter().product();
            let of = |place: usize| {
                let (block, within) = (place / inner, place % inner);
                (0..size).map(|row| values[(block * size + row) * inner + within]).sum()
            };
            Some((size as f64, (0..outer * inner).map(of).collect()))
        }
        Op::Matmul { a, b } => {
            let ((left, a), (right, b)) = (read(side, a)?, read(side, b)?);
            let (&[rows, terms], &[_, columns]) = (left.as_slice(), right.as_slice()) else { return None };
            let of = |place: usize| {
                let (row, column) = (place / columns, place % columns);
                (0..terms).map(|term| a[row * terms + term] * b[term * columns + column]).sum()
            };
            Some((terms as f64, (0..rows * columns).map(of).collect()))
        }
        _ => None,
    }
}

/// Shape and absolute values of a tensor.
fn read(side: &mut dyn Side, a: &Handle) -> Option<(Vec<usize>, Vec<f64>)> {
    let shape = floats(&side.call(&Op::Shape { a: a.clone() }).ok()?)?;
    let values = floats(&side.call(&Op::Values { a: a.clone() }).ok()?)?;
    Some((shape.into_iter().map(|size| size as usize).collect(), values.into_iter().map(f64::abs).collect()))
}

fn floats(value: &Value) -> Option<Vec<f64>> {
    let Value::List(list) = value else { return None };
    let float = |value: &Value| match value {
        Value::Float(float) => Some(*float),
        Value::Int(int) => Some(*int as f64),
        _ => None,
    };
    list.iter().map(float).collect()
}
