//! Element types and their promotion.

use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;
use std::fmt;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DType {
    /// One byte, zero or one.
    Bool,
    /// Unsigned, one byte.
    U8,
    /// Signed, one byte.
    I8,
    /// Signed, two bytes.
    I16,
    /// Signed, four bytes.
    I32,
    /// Signed, eight bytes.
    I64,
    /// IEEE half precision.
    F16,
    /// The upper half of an f32: eight bits of exponent, eight of significand.
    Bf16,
    /// IEEE single precision, the default dtype.
    F32,
    /// IEEE double precision.
    F64,
}

/// How much an operand's dtype counts in promotion; a higher rank decides within its category (PyTorch's `result_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// A number that is no tensor.
    Number,
    /// A tensor of no dimensions.
    ZeroDim,
    /// A tensor of one dimension or more.
    Dimensioned,
}

impl DType {
    /// All dtypes.
    pub const ALL: [DType; 10] = [
        DType::Bool,
        DType::U8,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::F64,
    ];

    /// The short name, such as `f32`.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "u8",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// Bytes of one element.
    pub fn element_size(self) -> usize {
        match self {
            DType::Bool | DType::U8 | DType::I8 => 1,
            DType::I16 | DType::F16 | DType::Bf16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// Whether elements are floating-point numbers.
    pub fn is_floating(self) -> bool {
        matches!(self, DType::F16 | DType::Bf16 | DType::F32 | DType::F64)
    }

    /// The smallest dtype that holds both (PyTorch's `promote_types`): a floating dtype beats every integer, u8 and a
    /// signed byte meet in i16, f16 and bf16 in f32.
    pub fn promote(a: DType, b: DType) -> DType {
        match (a, b) {
            _ if a == b => a,
            (DType::U8, DType::I8) | (DType::I8, DType::U8) => DType::I16,
            (DType::F16, DType::Bf16) | (DType::Bf16, DType::F16) => DType::F32,
            // Apart from these two pairs the dtypes form a chain, in the order of their declaration.
            _ if (a as u8) < (b as u8) => b,
            _ => a,
        }
    }

    /// The dtype in which two operands of an arithmetic operation meet (PyTorch's `result_type`).
    ///
    /// Of two ranks the higher one decides alone, unless the lower one is of a higher category: bool, integer, floating.
    pub fn result_type(a: (DType, Rank), b: (DType, Rank)) -> DType {
        let ((higher, high), (lower, low)) = if a.1 >= b.1 { (a, b) } else { (b, a) };
        if high == low || higher == DType::Bool || (lower.is_floating() && !higher.is_floating()) {
            DType::promote(higher, lower)
        } else {
            higher
        }
    }

    /// The dtype of a tensor of this dtype combined with a Python number: an integer tensor and a float give f32.
    pub fn with_scalar(self, scalar: Scalar) -> DType {
        DType::result_type((self, Rank::Dimensioned), (scalar.dtype(), Rank::Number))
    }

    /// The dtype of a quotient: true division of integers gives the default dtype, f32.
    pub fn of_quotient(self) -> DType {
        if self.is_floating() { self } else { DType::F32 }
    }

    /// The dtype of a sum: integers and bools add up in i64.
    pub fn of_sum(self) -> DType {
        if self.is_floating() { self } else { DType::I64 }
    }

    /// Refuses to store a result of this dtype in an output of dtype `output` when the category would fall (PyTorch's
    /// `can_cast`): floating to integer or bool, integer to bool.
    ///
    /// # Errors
    /// [`ErrorKind::DType`].
    pub fn check_cast(self, output: DType) -> Result<()> {
        if self.category() <= output.category() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::DType,
            format!(
                "result type {self} can't be cast to the desired output type {output}; \
                 use the operation that makes a new tensor, or convert the tensor to {self} first"
            ),
        ))
    }

    fn category(self) -> u8 {
        match self {
            DType::Bool => 0,
            dtype if dtype.is_floating() => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PyTorch's `promote_types`, in the order of [`DType::ALL`].
    const PROMOTED: [&str; 10] = [
        "bool u8 i8 i16 i32 i64 f16 bf16 f32 f64",
        "u8 u8 i16 i16 i32 i64 f16 bf16 f32 f64",
        "i8 i16 i8 i16 i32 i64 f16 bf16 f32 f64",
        "i16 i16 i16 i16 i32 i64 f16 bf16 f32 f64",
        "i32 i32 i32 i32 i32 i64 f16 bf16 f32 f64",
        "i64 i64 i64 i64 i64 i64 f16 bf16 f32 f64",
        "f16 f16 f16 f16 f16 f16 f16 f32 f32 f64",
        "bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64",
        "f32 f32 f32 f32 f32 f32 f32 f32 f32 f64",
        "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
    ];

    #[test]
    fn promotion_follows_the_published_table() {
        for (a, row) in DType::ALL.into_iter().zip(PROMOTED) {
            let known: Vec<&str> = row.split(' ').collect();
            let seen = DType::ALL.map(|b| DType::promote(a, b).name());
            assert_eq!(seen[..], known, "{a}");
        }
    }

    #[test]
    fn numbers_and_zero_dim_tensors_do_not_widen_a_tensor_of_their_category() {
        use DType::*;
        assert_eq!(I32.with_scalar(Scalar::Int(1)), I32);
        assert_eq!(I32.with_scalar(Scalar::Float(1.0)), F32);
        assert_eq!(F16.with_scalar(Scalar::Float(1.0)), F16);
        assert_eq!(Bool.with_scalar(Scalar::Int(1)), I64);
        assert_eq!(U8.with_scalar(Scalar::Bool(true)), U8);
        assert_eq!(DType::result_type((F64, Rank::ZeroDim), (F32, Rank::Dimensioned)), F32);
        assert_eq!(DType::result_type((F64, Rank::ZeroDim), (I32, Rank::Dimensioned)), F64);
        assert_eq!(DType::result_type((I64, Rank::ZeroDim), (I8, Rank::Dimensioned)), I8);
    }

    #[test]
    fn a_result_is_not_stored_in_a_lower_category() {
        assert!(DType::F32.check_cast(DType::I32).is_err());
        assert!(DType::I64.check_cast(DType::Bool).is_err());
        assert!(DType::F64.check_cast(DType::F16).is_ok());
        assert!(DType::I64.check_cast(DType::U8).is_ok());
    }
}
