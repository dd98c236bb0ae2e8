//! Errors as values: a kind to match on, and a sentence that says what was asked, what was found and what to do.

use std::fmt;

/// What went wrong. Conformance cases compare kinds; messages are for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes, or a shape and a stride, that do not fit together.
    Shape,
    /// A dtype that the operation is not defined on, or cannot give.
    DType,
    /// A write into memory that is read or written twice by the same operation.
    Overlap,
    /// More bytes than the system gives, or than can be counted.
    OutOfMemory,
    /// A dimension, index or range outside the tensor.
    Index,
    /// An argument whose value makes no sense, such as a step of zero.
    Value,
    /// Tensors on different devices, or a device that refused.
    Device,
    /// What this engine, or this machine, does not have.
    Unsupported,
}

impl ErrorKind {
    /// The kind as it is written in records: lower case, words joined by hyphens.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Shape => "shape",
            ErrorKind::DType => "dtype",
            ErrorKind::Overlap => "overlap",
            ErrorKind::OutOfMemory => "out-of-memory",
            ErrorKind::Index => "index",
            ErrorKind::Value => "value",
            ErrorKind::Device => "device",
            ErrorKind::Unsupported => "unsupported",
        }
    }
}

/// A refused or failed operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What went wrong, to match on.
    pub kind: ErrorKind,
    /// What was asked, what was found, what to do.
    pub message: String,
}

impl Error {
    /// An error of this kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The result of every operation of the engine.
pub type Result<T> = std::result::Result<T, Error>;
