//! New tensors in storage of their own.
//!
//! Sizes are signed, as everywhere in arguments; a negative one is an error of kind shape. Every function fails with
//! [`ErrorKind::OutOfMemory`] when the bytes cannot be counted or the system does not give them.

use super::backend;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

impl Tensor {
    /// A new tensor whose values are whatever its storage holds; nothing is written.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`], [`ErrorKind::OutOfMemory`].
    pub fn empty(shape: &[i64], dtype: DType) -> Result<Tensor> {
        Tensor::allocate(Layout::contiguous(&Layout::sizes(shape)?)?, dtype)
    }

    /// A new tensor of zeros, written like any other value.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`], [`ErrorKind::OutOfMemory`].
    pub fn zeros(shape: &[i64], dtype: DType) -> Result<Tensor> {
        Tensor::full(shape, 0, dtype)
    }

    /// A new tensor of ones.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`], [`ErrorKind::OutOfMemory`].
    pub fn ones(shape: &[i64], dtype: DType) -> Result<Tensor> {
        Tensor::full(shape, 1, dtype)
    }

    /// A new tensor that holds one value everywhere.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] when the value overflows the dtype; [`ErrorKind::Shape`], [`ErrorKind::OutOfMemory`].
    pub fn full(shape: &[i64], value: impl Into<Scalar>, dtype: DType) -> Result<Tensor> {
        let value = value.into();
        check_fits(value, dtype)?;
        let out = Tensor::empty(shape, dtype)?;
        backend(&[&out])?.fill(out.operand()?, value)?;
        Ok(out)
    }

    /// The numbers from `start` up to, not including, `end`, `step` apart: `ceil((end - start) / step)` of them.
    ///
    /// Without a dtype, integers give i64 and anything else f32.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] when the step is zero, leads away from the end, or a bound is not finite;
    /// [`ErrorKind::DType`] for bools.
    pub fn arange(start: Scalar, end: Scalar, step: Scalar, dtype: Option<DType>) -> Result<Tensor> {
        let refuse = |why: &str| {
            Err(Error::new(ErrorKind::Value, format!("the numbers from {start} to {end} by {step} asked: {why}")))
        };
        let is_float = [start, end, step].iter().any(|number| number.dtype().is_floating());
        let (from, to, by) = (start.as_f64(), end.as_f64(), step.as_f64());
        if !(from.is_finite() && to.is_finite() && by.is_finite()) {
            return refuse("give finite bounds and a finite step");
        }
        if by == 0.0 {
            return refuse("the step must not be zero");
        }
        if (to - from) * by < 0.0 {
            return refuse("the step leads away from the end; change its sign or the bounds");
        }
        let count = ((to - from) / by).ceil() as i64;
        let dtype = dtype.unwrap_or(if is_float { DType::F32 } else { DType::I64 });
        if dtype == DType::Bool {
            return Err(Error::new(ErrorKind::DType, "a range of bools asked; choose a dtype of numbers"));
        }
        let out = Tensor::empty(&[count], dtype)?;
        backend(&[&out])?.ramp(out.operand()?, start, step)?;
        Ok(out)
    }

    /// A new tensor that holds these values in row-major order. Integers lose fractions; floats become infinite beyond
    /// their range.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] when there are not as many values as elements; [`ErrorKind::Value`] when one overflows an
    /// integer dtype; [`ErrorKind::OutOfMemory`].
    pub fn from_values(values: &[Scalar], shape: &[i64], dtype: DType) -> Result<Tensor> {
        let layout = Layout::contiguous(&Layout::sizes(shape)?)?;
        if layout.numel() != values.len() {
            return Err(Error::new(
                ErrorKind::Shape,
                format!(
                    "shape {shape:?} has {} elements but {} values are given; give as many",
                    layout.numel(),
                    values.len()
                ),
            ));
        }
        if !dtype.is_floating() {
            values.iter().try_for_each(|value| check_fits(*value, dtype))?;
        }
        let out = Tensor::allocate(layout, dtype)?;
        backend(&[&out])?.write(out.operand()?, values)?;
        Ok(out)
    }
}

/// Refuses a number that an element cannot hold (PyTorch's rule for `full` and `fill_`).
pub(super) fn check_fits(value: Scalar, dtype: DType) -> Result<()> {
    if value.fits(dtype) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Value,
        format!(
            "value {value} cannot be converted to {dtype} without overflow; give a value in range or choose a wider dtype"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_ceiled_and_keeps_its_kind() {
        let range = |start: f64, end, step| Tensor::arange(start.into(), f64::into(end), f64::into(step), None);
        let floats = range(0.0, 1.0, 0.4).unwrap();
        assert_eq!((floats.dtype(), floats.numel()), (DType::F32, 3));
        let ints = Tensor::arange(5.into(), 0.into(), (-2).into(), None).unwrap();
        assert_eq!(ints.values().unwrap(), [5, 3, 1].map(Scalar::Int));
        assert_eq!(range(0.0, 1.0, 0.0).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(range(0.0, 1.0, -1.0).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(range(0.0, f64::NAN, 1.0).unwrap_err().kind, ErrorKind::Value);
        let halves = Tensor::arange(0.into(), 3.into(), 1.into(), Some(DType::F16)).unwrap();
        assert_eq!(halves.values().unwrap(), [0.0, 1.0, 2.0].map(Scalar::Float));
    }

    #[test]
    fn values_must_fit_their_place() {
        assert_eq!(Tensor::full(&[1], 300, DType::U8).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(Tensor::from_values(&[300.into()], &[1], DType::U8).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(Tensor::from_values(&[(-1).into()], &[1], DType::U8).unwrap().values().unwrap(), [Scalar::Int(255)]);
        let beyond = Tensor::from_values(&[1e6.into()], &[1], DType::F16).unwrap();
        assert_eq!(beyond.values().unwrap(), [Scalar::Float(f64::INFINITY)]);
        assert_eq!(Tensor::from_values(&[1.into()], &[2], DType::U8).unwrap_err().kind, ErrorKind::Shape);
        assert_eq!(Tensor::zeros(&[2, -1], DType::F32).unwrap_err().kind, ErrorKind::Shape);
    }

    #[test]
    fn too_much_memory_is_an_error_of_its_kind() {
        for size in [1 << 50, 1 << 62, i64::MAX] {
            assert_eq!(Tensor::empty(&[size], DType::F64).unwrap_err().kind, ErrorKind::OutOfMemory);
        }
        assert_eq!(Tensor::ones(&[1 << 40, 1 << 40], DType::U8).unwrap_err().kind, ErrorKind::OutOfMemory);
    }
}
