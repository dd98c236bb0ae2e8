//! The CUDA runtime: `libcudart.so.13`.

mod answers;
mod device;
mod events;
mod graphs;
mod kernels;
mod memory;
mod streams;
