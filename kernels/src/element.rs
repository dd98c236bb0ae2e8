//! Rust types behind dtypes: conversion, the type each is computed in, and dispatch from a dtype to its type.

use crate::scalar::Scalar;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use std::cmp::Ordering;

/// One byte that means a truth value. Any byte is valid, so that memory never written can be read.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Bool(u8);

/// An element as it lies in memory.
pub(crate) trait Element: Copy + Send + Sync + 'static {
    /// A type that holds every value exactly and from which all conversions start.
    type Wide: Wide;
    /// The type in which operations are computed; the result is rounded once.
    type Compute: Element<Compute = Self::Compute> + Arithmetic + PartialOrd;
    /// The type of a sum.
    type Total: Element;
    /// The type in which a sum is built up.
    type Accumulator: Number;
    /// Whether [`Element::load`] and [`Element::store`] of many are faster than conversions one by one.
    const BUFFERED: bool = false;
    /// No value is less.
    const LEAST: Self;
    /// No value is greater.
    const GREATEST: Self;

    /// The element that a computed value is.
    #[inline(always)]
    fn computed(value: Self::Compute) -> Self {
        convert(value)
    }

    /// Elements into the type they are computed in, one for one.
    fn load(from: &[Self], to: &mut [Self::Compute]) {
        from.iter().zip(to).for_each(|(from, to)| *to = convert(*from));
    }

    /// Back, one for one.
    fn store(from: &[Self::Compute], to: &mut [Self]) {
        from.iter().zip(to).for_each(|(from, to)| *to = Self::computed(*from));
    }

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

/// Ordered by truth, whatever byte it is written with.
impl PartialEq for Bool {
    #[inline(always)]
    fn eq(&self, other: &Bool) -> bool {
        (self.0 != 0) == (other.0 != 0)
    }
}

impl PartialOrd for Bool {
    #[inline(always)]
    fn partial_cmp(&self, other: &Bool) -> Option<Ordering> {
        (self.0 != 0).partial_cmp(&(other.0 != 0))
    }
}

impl From<bool> for Bool {
    #[inline(always)]
    fn from(value: bool) -> Bool {
        Bool(u8::from(value))
    }
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
    const LEAST: Bool = Bool(0);
    const GREATEST: Bool = Bool(1);

    #[inline(always)]
    fn computed(value: Bool) -> Bool {
        value
    }

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
            const LEAST: $type = <$type>::MIN;
            const GREATEST: $type = <$type>::MAX;

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

/// Floating types that are computed in themselves.
macro_rules! floats {
    ($($type:ident),*) => { $(
        impl Element for $type {
            type Wide = $type;
            type Compute = $type;
            type Total = $type;
            // Wider than needed for one element: a sum of many keeps the digits that f32 would lose on the way.
            type Accumulator = f64;
            const LEAST: $type = <$type>::NEG_INFINITY;
            const GREATEST: $type = <$type>::INFINITY;

            #[inline(always)]
            fn widen(self) -> $type {
                self
            }

            #[inline(always)]
            fn from_i64(value: i64) -> $type {
                value as $type
            }

            #[inline(always)]
            fn from_f32(value: f32) -> $type {
                $type::from(value)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> $type {
                value as $type
            }
        }
    )* };
}

floats!(f32, f64);

/// Conversions of slices, which use the processor's own instructions where it has them.
macro_rules! sixteen_bits {
    ($($type:ty),*) => { $(
        impl Element for $type {
            type Wide = f32;
            type Compute = f32;
            type Total = $type;
            type Accumulator = f64;
            const BUFFERED: bool = true;
            const LEAST: $type = <$type>::NEG_INFINITY;
            const GREATEST: $type = <$type>::INFINITY;

            fn load(from: &[$type], to: &mut [f32]) {
                from.convert_to_f32_slice(to);
            }

            fn store(from: &[f32], to: &mut [$type]) {
                to.convert_from_f32_slice(from);
            }

            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }

            // Reached through f32 from everywhere, as in PyTorch.
            #[inline(always)]
            fn from_i64(value: i64) -> $type {
                <$type>::from_f32(value as f32)
            }

            #[inline(always)]
            fn from_f32(value: f32) -> $type {
                <$type>::from_f32(value)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> $type {
                <$type>::from_f32(value as f32)
            }
        }
    )* };
}

sixteen_bits!(f16, bf16);

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

/// Dispatches over the integers of the sizes of dtypes, for what moves bits and never looks at them.
macro_rules! with_bits {
    ($dtype:expr, $B:ident => $body:expr) => {
        $crate::element::dispatch!($dtype, $B => $body,
            [Bool i8, U8 i8, I8 i8, I16 i16, I32 i32, I64 i64, F16 i16, Bf16 i16, F32 i32, F64 i64])
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

pub(crate) use {dispatch, with_bits, with_float, with_number, with_type};
