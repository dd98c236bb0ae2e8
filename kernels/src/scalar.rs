//! Numbers outside tensors.

use crate::dtype::DType;
use std::fmt;

/// One number, as Python has it: an argument of an operation, or an element read from a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float, in double precision.
    Float(f64),
}

impl Scalar {
    /// The dtype with which the number takes part in promotion: floats count as the default dtype, f32.
    pub fn dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(_) => DType::I64,
            Scalar::Float(_) => DType::F32,
        }
    }

    /// The number in double precision; integers beyond 2^53 are rounded.
    pub fn as_f64(self) -> f64 {
        match self {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
        }
    }

    /// Whether an element of `dtype` can hold the number without overflow.
    ///
    /// PyTorch's rule for `fill_` and `full`: fractions are cut off, infinities fit every floating dtype, a NaN fits no
    /// integer, and u8 takes the integers -255 to -1 modulo 256.
    pub fn fits(self, dtype: DType) -> bool {
        let value = match self {
            Scalar::Bool(_) => return true,
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
        };
        let (low, high) = match dtype {
            DType::Bool => return true,
            DType::U8 => (if matches!(self, Scalar::Int(_)) { -255.0 } else { 0.0 }, 255.0),
            DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
            DType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
            DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
            // 2^63 itself is the first float that does not fit, so the bound is the float below it.
            DType::I64 => {
                (i64::MIN as f64, if matches!(self, Scalar::Int(_)) { f64::MAX } else { (i64::MAX as f64).next_down() })
            }
            DType::F16 => (f64::from(half::f16::MIN), f64::from(half::f16::MAX)),
            DType::Bf16 => (f64::from(half::bf16::MIN), f64::from(half::bf16::MAX)),
            DType::F32 => (f64::from(f32::MIN), f64::from(f32::MAX)),
            DType::F64 => return true,
        };
        if dtype.is_floating() && !value.is_finite() {
            return true;
        }
        low <= value && value <= high
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(value) => value.fmt(f),
            Scalar::Int(value) => value.fmt(f),
            Scalar::Float(value) => fmt::Debug::fmt(value, f),
        }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Scalar {
        Scalar::Bool(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Scalar {
        Scalar::Int(i64::from(value))
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Scalar {
        Scalar::Int(value)
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::Float(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_fits_where_pytorch_lets_it_be_filled() {
        assert!(Scalar::Int(-1).fits(DType::U8));
        assert!(!Scalar::Int(256).fits(DType::U8));
        assert!(!Scalar::Float(-0.5).fits(DType::U8));
        assert!(Scalar::Float(1.5).fits(DType::I32));
        assert!(!Scalar::Float(f64::NAN).fits(DType::I64));
        assert!(Scalar::Float(f64::NAN).fits(DType::F16));
        assert!(!Scalar::Float(1e6).fits(DType::F16));
        assert!(Scalar::Float(1e6).fits(DType::Bf16));
        assert!(Scalar::Float(f64::INFINITY).fits(DType::F32));
        assert!(Scalar::Int(i64::MAX).fits(DType::I64));
        assert!(!Scalar::Float(9.3e18).fits(DType::I64));
    }
}
