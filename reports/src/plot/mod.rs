//! Plots as SVG that carries classes and no colour, so that one style sheet serves light, dark and print.

mod curves;
mod ink;
mod svg;
mod unit;

pub mod bars;
pub mod timeline;

pub use curves::{Plot, Point, Series, Size, draw};
pub use unit::Unit;
