//! Rust types behind dtypes: conversion, the type each is computed in, and dispatch from a dtype to its type.

use crate::scalar::Scalar;
use half::{bf16, f16};

/// One byte that means a truth value. Any byte is valid, so that memory never written can be read.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Bool(u8);

/// An element as it lies in memory.
pub(crate) trait Element: Copy + 'static {
    /// A type that holds every value exactly and from which all conversions start.
    type Wide: Wide;
    /// The type in which operations are computed; the result is rounded once.
    type Compute: Element;
    /// The type of a sum.
    type Total: Element;
    /// The type in which a sum is built up.
    type Accumulator: Number;

    fn widen(self) -> Self::Wide;
    fn from_i64(value: i64) -> Self;
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;

    fn from_scalar(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => Self::from_i64(i64::from(value)),
            Scalar::Int(value) => Self::from_i64(value),
            Scalar::Float(value) => Self::from_f64(value),
        }
    }
}

/// Where conversions start: i64, f32 or f64.
pub(crate) trait Wide: Copy + PartialEq {
    fn convert<D: Element>(self) -> D;
}

/// Converts one element: integers wrap, floats lose their fraction, anything but zero is true.
#[inline(always)]
pub(crate) fn convert<S: Element, D: Element>(value: S) -> D {
    value.widen().convert()
}

/// Arithmetic that every dtype has; on bools it is "or" and "and".
pub(crate) trait Arithmetic: Element {
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
}

/// Arithmetic of numbers; integers wrap.
pub(crate) trait Number: Arithmetic {
    fn sub(self, other: Self) -> Self;
    fn neg(self) -> Self;
}

/// Arithmetic of floating-point numbers.
pub(crate) trait Float: Number {
    fn div(self, other: Self) -> Self;
}

impl Wide for i64 {
    #[inline(always)]
    fn convert<D: Element>(self) -> D {
        D::from_i64(self)
    }
}

impl Wide for f32 {
    #[inline(always)]
    fn convert<D: Element>(self) -> D {
        D::from_f32(self)
    }
}

impl Wide for f64 {
    #[inline(always)]
    fn convert<D: Element>(self) -> D {
        D::from_f64(self)
    }
}

impl Element for Bool {
    type Wide = i64;
    type Compute = Bool;
    type Total = i64;
    type Accumulator = i64;

    #[inline(always)]
    fn widen(self) -> i64 {
        i64::from(self.0 != 0)
    }

    #[inline(always)]
    fn from_i64(value: i64) -> Bool {
        Bool(u8::from(value != 0))
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Bool {
        Bool(u8::from(value != 0.0))
    }

    #[inline(always)]
    fn from_f64(value: f64) -> Bool {
        Bool(u8::from(value != 0.0))
    }
}

impl Arithmetic for Bool {
    #[inline(always)]
    fn add(self, other: Bool) -> Bool {
        Bool(u8::from(self.0 | other.0 != 0))
    }

    #[inline(always)]
    fn mul(self, other: Bool) -> Bool {
        Bool(u8::from(self.0 != 0 && other.0 != 0))
    }
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Element for $type {
            type Wide = i64;
            type Compute = $type;
            type Total = i64;
            type Accumulator = i64;

            #[inline(always)]
            fn widen(self) -> i64 {
                i64::from(self)
            }

            #[inline(always)]
            fn from_i64(value: i64) -> $type {
                value as $type
            }

            // By way of i64, so that a negative float becomes the same u8 as the negative integer.
            #[inline(always)]
            fn from_f32(value: f32) -> $type {
                value as i64 as $type
            }

            #[inline(always)]
            fn from_f64(value: f64) -> $type {
                value as i64 as $type
            }
        }

        impl Arithmetic for $type {
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
        }

        impl Number for $type {
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn neg(self) -> $type {
                self.wrapping_neg()
            }
        }
    )* };
}

integers!(u8, i8, i16, i32, i64);

/// Floating types: the wide type is also the one they are computed in.
macro_rules! floats {
    ($($type:ty, $wide:ty, $widen:expr, $from_f32:expr, $from_f64:expr;)*) => { $(
        impl Element for $type {
            type Wide = $wide;
            type Compute = $wide;
            type Total = $type;
            // Wider than needed for one element: a sum of many keeps the digits that f32 would lose on the way.
            type Accumulator = f64;

            #[inline(always)]
            fn widen(self) -> $wide {
                $widen(self)
            }

            #[inline(always)]
            fn from_i64(value: i64) -> $type {
                <$wide as Wide>::convert(value as $wide)
            }

            #[inline(always)]
            fn from_f32(value: f32) -> $type {
                $from_f32(value)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> $type {
                $from_f64(value)
            }
        }
    )* };
}

// The 16-bit floats are reached through f32 from everywhere, as in PyTorch.
floats! {
    f16, f32, f16::to_f32, f16::from_f32, |value| f16::from_f32(value as f32);
    bf16, f32, bf16::to_f32, bf16::from_f32, |value| bf16::from_f32(value as f32);
    f32, f32, |value| value, |value| value, |value| value as f32;
    f64, f64, |value| value, f64::from, |value| value;
}

macro_rules! float_arithmetic {
    ($($type:ty),*) => { $(
        impl Arithmetic for $type {
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self + other
            }

            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self * other
            }
        }

        impl Number for $type {
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self - other
            }

            #[inline(always)]
            fn neg(self) -> $type {
                -self
            }
        }

        impl Float for $type {
            #[inline(always)]
            fn div(self, other: $type) -> $type {
                self / other
            }
        }
    )* };
}

float_arithmetic!(f32, f64);

/// Runs an expression with a name standing for the Rust type of a dtype: one match on the dtype, then one loop per type.
macro_rules! dispatch {
    ($dtype:expr, $T:ident => $body:expr, [$($variant:ident $type:ty),*] $(, $otherwise:expr)?) => {
        match $dtype {
            $($crate::dtype::DType::$variant => {
                type $T = $type;
                $body
            })*
            $(_ => $otherwise,)?
        }
    };
}

/// Dispatches over every dtype.
macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::element::dispatch!($dtype, $T => $body,
            [Bool $crate::element::Bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64,
             F16 half::f16, Bf16 half::bf16, F32 f32, F64 f64])
    };
}

/// Dispatches over every dtype but bool.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr, else $otherwise:expr) => {
        $crate::element::dispatch!($dtype, $T => $body,
            [U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 half::f16, Bf16 half::bf16, F32 f32, F64 f64], $otherwise)
    };
}

/// Dispatches over the floating dtypes.
macro_rules! with_float {
    ($dtype:expr, $T:ident => $body:expr, else $otherwise:expr) => {
        $crate::element::dispatch!($dtype, $T => $body, [F16 half::f16, Bf16 half::bf16, F32 f32, F64 f64], $otherwise)
    };
}

pub(crate) use {dispatch, with_float, with_number, with_type};
