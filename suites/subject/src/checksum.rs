//! What a program's result is, small enough to travel and exact enough to catch a wrong kernel.

use crate::{DType, Scalar};
use half::{bf16, f16};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checksum {
    /// Number of elements.
    pub elements: u64,
    /// CRC-32 (as in zlib) of the elements' little-endian bytes in row-major order.
    pub crc32: u32,
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements with CRC-32 {:08x}", self.elements, self.crc32)
    }
}

impl Checksum {
    /// The checksum of elements that lie in row-major order as little-endian bytes.
    pub fn of_bytes(elements: u64, bytes: &[u8]) -> Checksum {
        Checksum { elements, crc32: crc32fast::hash(bytes) }
    }
}

/// The checksum of these values as elements of `dtype`.
pub fn checksum(values: &[Scalar], dtype: DType) -> Checksum {
    let mut hasher = crc32fast::Hasher::new();
    for value in values {
        let float = value.as_f64();
        let int = if let Scalar::Int(i) = value { *i } else { float as i64 };
        match dtype {
            DType::Bool | DType::U8 | DType::I8 => hasher.update(&[int as u8]),
            DType::I16 => hasher.update(&(int as i16).to_le_bytes()),
            DType::I32 => hasher.update(&(int as i32).to_le_bytes()),
            DType::I64 => hasher.update(&int.to_le_bytes()),
            DType::F16 => hasher.update(&f16::from_f64(float).to_le_bytes()),
            DType::Bf16 => hasher.update(&bf16::from_f64(float).to_le_bytes()),
            DType::F32 => hasher.update(&(float as f32).to_le_bytes()),
            DType::F64 => hasher.update(&float.to_le_bytes()),
        }
    }
    Checksum { elements: values.len() as u64, crc32: hasher.finalize() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_zlibs_over_the_elements_bytes() {
        let ones = [Scalar::Float(1.0), Scalar::Float(2.0)];
        // python: zlib.crc32(struct.pack("<2f", 1, 2))
        assert_eq!(checksum(&ones, DType::F32), Checksum::of_bytes(2, &[0, 0, 128, 63, 0, 0, 0, 64]));
        assert_eq!(Checksum::of_bytes(2, &[0, 0, 128, 63, 0, 0, 0, 64]).crc32, 0x2e3f_a576);
        assert_ne!(checksum(&ones, DType::F32), checksum(&ones, DType::F64));
    }
}
