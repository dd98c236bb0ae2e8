//! How ndarray refuses: by an error, or by a panic with the reason as its message.

use ndarray::ShapeError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use subject::Fail;

/// Fragments of ndarray's messages, and the kind of error that they tell. The first that fits counts.
const KINDS: [(&str, &str); 14] = [
    ("ShapeError/Incompatible", "shape"),
    ("ShapeError/OutOfBounds", "index"),
    ("ShapeError/Overflow", "out-of-memory"),
    ("Shape too large", "out-of-memory"),
    ("capacity overflow", "out-of-memory"),
    ("could not broadcast", "shape"),
    ("not compatible for matrix multiplication", "shape"),
    ("Dot product for ArrayD", "shape"),
    ("out of bounds", "index"),
    // Each of the next two checks has two messages, with debug assertions and without.
    ("past end of axis", "index"),
    ("<= axis_len", "index"),
    ("must be less than axis length", "index"),
    ("index < dim", "index"),
    ("each axis must be listed exactly once", "index"),
];

/// Runs an expression of ndarray; a panic becomes an error with ndarray's message.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Fail> {
    // What is written to when ndarray panics is an array that stays valid, with its old elements or some new ones.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| refused(message(&*panic)))
}

/// ndarray's error as the protocol's.
pub(crate) fn shape_error(error: ShapeError) -> Fail {
    refused(&error.to_string())
}

fn refused(message: &str) -> Fail {
    let kind = KINDS.iter().find(|(fragment, _)| message.contains(fragment)).map_or("other", |(_, kind)| kind);
    Fail::error(kind, message)
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("ndarray panicked without a message")
}
