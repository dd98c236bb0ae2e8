//! Differential testing: random programs of ops, carried out by two sides and compared op by op.
//!
//! A seed decides a program, so a disagreement is repeated by its seed alone. It is reported shrunk, as lines of PyTorch.

pub mod allocator;
mod campaign;
mod pair;
mod programs;
mod relabel;
mod shrink;
mod side;
mod tolerance;
mod views;

pub use campaign::{Campaign, Finding};
pub use pair::{Differs, Pair, Step, Stop};
pub use programs::{Dialect, program};
pub use side::{Remote, Side};
pub use views::chain;
