//! Reading Python pickles that hold nothing but data.
//!
//! Own code, because a memory snapshot can be a gigabyte of which little is wanted: serde-pickle builds the whole value
//! and cannot stream. Here a [`Build`] is told of each value as it is finished and keeps what it likes.

mod decode;
mod machine;

pub use decode::{BadPickle, Scalar};
pub use machine::{Build, read};
