//! The CUDA driver: `libcuda.so.1`.

mod device;
mod entry_points;
mod memory;
mod virtual_memory;

pub use entry_points::entry_point;
