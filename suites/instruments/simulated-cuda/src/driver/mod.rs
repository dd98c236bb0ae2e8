//! The CUDA driver: `libcuda.so.1`.

mod answers;
mod contexts;
mod copies;
mod device;
mod entry_points;
mod errors;
mod events;
mod memory;
mod modules;
mod streams;
mod virtual_memory;

pub use entry_points::entry_point;
