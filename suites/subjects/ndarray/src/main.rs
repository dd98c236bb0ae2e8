//! The Rust crate ndarray as a subject: each op is what a user of ndarray writes for it.
//!
//! A tensor is an [`ndarray::ArcArray`], the only array of ndarray that shares its elements with others and lives on its
//! own. A write to a shared one copies first, so that it stays in the array that was written. Views that write through to
//! their origin are borrows of it in ndarray, and end with the statement that made them.
//!
//! What ndarray does is what is shown: operands have one element type, sums keep it, whole numbers are divided as such,
//! and slices that reach beyond the edge are refused.

mod element;
mod library;
mod places;
mod refusal;
mod tensor;

#[cfg(test)]
mod tests;

use subject::Identity;

/// The version of ndarray that is built in. ndarray does not tell it, so a test holds it against the lock file.
const VERSION: &str = "0.17.2";

fn main() -> std::io::Result<()> {
    subject::serve(&Identity { name: "ndarray", version: VERSION }, &mut library::NdArray)
}
