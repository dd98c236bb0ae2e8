//! Plots as SVG that carries classes and no colour, so that one style sheet serves light, dark and print.

mod curves;
mod ink;
mod svg;

pub mod bars;
pub mod timeline;

pub use curves::{Plot, Point, Series, Size, draw};
