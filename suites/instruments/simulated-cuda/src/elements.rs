//! Arithmetic of the elements that kernels work on.

use half::{bf16, f16};

/// An element of a tensor.
pub trait Element: Copy {
    /// What a kernel is given as a number: the widest of the kind.
    type Value: Copy;

    /// The nearest element to a number; integers wrap.
    fn of(value: Self::Value) -> Self;

    fn plus(self, other: Self) -> Self;

    fn times(self, other: Self) -> Self;

    fn plus_value(self, value: Self::Value) -> Self {
        self.plus(Self::of(value))
    }

    fn times_value(self, value: Self::Value) -> Self {
        self.times(Self::of(value))
    }
}

macro_rules! floats {
    ($($float:ty)*) => {$(
        impl Element for $float {
            type Value = f64;

            fn of(value: f64) -> Self {
                value as $float
            }

            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}
floats! { f32 f64 }

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Element for $integer {
            type Value = i64;

            fn of(value: i64) -> Self {
                value as $integer
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}
integers! { i32 i64 }

/// Computed in `f32` and rounded once.
macro_rules! short_floats {
    ($($float:ty)*) => {$(
        impl Element for $float {
            type Value = f64;

            fn of(value: f64) -> Self {
                <$float>::from_f32(to_odd(value))
            }

            fn plus(self, other: Self) -> Self {
                <$float>::from_f32(self.to_f32() + other.to_f32())
            }

            fn times(self, other: Self) -> Self {
                <$float>::from_f32(self.to_f32() * other.to_f32())
            }

            fn plus_value(self, value: f64) -> Self {
                <$float>::from_f32(self.to_f32() + value as f32)
            }

            fn times_value(self, value: f64) -> Self {
                <$float>::from_f32(self.to_f32() * value as f32)
            }
        }
    )*};
}
short_floats! { f16 bf16 }

/// The `f32` toward zero, made odd where something is lost: rounding it further gives what one rounding of `value` would.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || near.is_nan() || near.is_infinite() {
        return near;
    }
    let toward_zero = if back.abs() > value.abs() { near.to_bits() - 1 } else { near.to_bits() };
    f32::from_bits(toward_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::Element;
    use half::{bf16, f16};

    #[test]
    fn a_number_becomes_a_short_float_in_one_rounding() {
        let tie = 1.0 + 0.5_f64.powi(11);
        assert_eq!(
            [tie, tie + 1e-12, tie - 1e-12].map(f16::of),
            [1.0, 1.0 + f32::powi(0.5, 10), 1.0].map(f16::from_f32)
        );
        assert_eq!([-tie, -tie - 1e-12].map(f16::of), [-1.0, -1.0 - f32::powi(0.5, 10)].map(f16::from_f32));
        let tie = 1.0 + 0.5_f64.powi(8);
        assert_eq!([tie, tie + 1e-12].map(bf16::of), [1.0, 1.0 + f32::powi(0.5, 7)].map(bf16::from_f32));
        assert_eq!([1e300, -1e300].map(f16::of), [f16::INFINITY, f16::NEG_INFINITY]);
        assert_eq!([5e-324, 0.0].map(f16::of), [f16::ZERO, f16::ZERO]);
        assert!(f16::of(f64::NAN).is_nan());
    }

    #[test]
    fn a_number_is_not_rounded_to_a_short_float_before_it_is_used() {
        let third = 1.0 / 3.0;
        assert_eq!(f16::from_f32(3.0).times_value(third), f16::from_f32(1.0));
        assert_eq!(f16::from_f32(2048.0).plus_value(0.5 + 0.75), f16::from_f32(2050.0));
    }

    #[test]
    fn integers_wrap() {
        assert_eq!((i32::MAX.plus(1), i32::of(1 << 33 | 5), i64::MIN.times_value(3)), (i32::MIN, 5, i64::MIN));
    }
}
