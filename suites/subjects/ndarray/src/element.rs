//! The element types, and the way into them and out of them.

use crate::tensor::Shared;
use subject::{DType, Fail, Scalar, Value};

/// An element type that arrays of ndarray compute with.
pub(crate) trait Element: Copy {
    /// Its name in the protocol.
    const DTYPE: DType;

    /// The number as Rust's `as` converts it; any but zero is true.
    fn cast(number: Scalar) -> Self;

    /// The number that travels.
    fn scalar(self) -> Scalar;

    /// Appends its bytes, the lowest first.
    fn push_bytes(self, bytes: &mut Vec<u8>);
}

/// The number as a user writes it beside an array of `T`; unsupported where the compiler takes no such literal.
pub(crate) fn literal<T: Element>(number: Scalar) -> Result<T, Fail> {
    let element = T::cast(number);
    let can_be_written = match (number, element.scalar()) {
        (Scalar::Float(_), kept) => matches!(kept, Scalar::Float(_)),
        (Scalar::Int(asked), Scalar::Int(kept)) => asked == kept,
        (Scalar::Int(asked), Scalar::Bool(kept)) => asked == i64::from(kept),
        _ => true,
    };
    if can_be_written {
        return Ok(element);
    }
    let number = Value::from(number);
    Err(Fail::unsupported(format!("ndarray takes numbers of an array's own element type: {number} is no {}", T::DTYPE)))
}

/// The number as a user writes it beside this array.
pub(crate) fn beside<T: Element>(_: &Shared<T>, number: Scalar) -> Result<T, Fail> {
    literal(number)
}

macro_rules! elements {
    ($($type:ty: $dtype:ident, $scalar:ident as $wide:ty;)*) => { $(
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;

            #[inline]
            fn cast(number: Scalar) -> $type {
                match number {
                    Scalar::Bool(value) => u8::from(value) as $type,
                    Scalar::Int(value) => value as $type,
                    Scalar::Float(value) => value as $type,
                }
            }

            #[inline]
            fn scalar(self) -> Scalar {
                Scalar::$scalar(<$wide>::from(self))
            }

            #[inline]
            fn push_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )* };
}

elements! {
    u8: U8, Int as i64;
    i8: I8, Int as i64;
    i16: I16, Int as i64;
    i32: I32, Int as i64;
    i64: I64, Int as i64;
    f32: F32, Float as f64;
    f64: F64, Float as f64;
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    #[inline]
    fn cast(number: Scalar) -> bool {
        match number {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
        }
    }

    #[inline]
    fn scalar(self) -> Scalar {
        Scalar::Bool(self)
    }

    #[inline]
    fn push_bytes(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}
