//! The reference engine of Tensormark: small, exact tensors over plain memory.
//!
//! Its rules are PyTorch's: which operations share a storage, which strides a view gets, which dtype a result has,
//! which writes are refused. Reading order: [`DType`], [`Layout`] (all view algebra), [`Storage`] (a block of bytes and
//! its version counter), [`Tensor`] (a handle); then `ops`, one file per family of operations, which holds every check
//! once; below them the `backend` seam, and `cpu`, the kernels. Beside them stand [`sharing()`], which says exactly whether two
//! layouts have memory in common, [`limits`], the plain loops that kernels are measured against, [`memory`], the
//! allocators of device memory and of page-locked host memory, and [`cuda`], tensors on a CUDA device where there is one.

mod backend;
mod cpu;
pub mod cuda;
mod device;
mod dtype;
mod element;
mod error;
mod layout;
pub mod limits;
pub mod memory;
mod ops;
mod overlap;
mod scalar;
mod sharing;
mod storage;
mod tensor;

pub use device::Device;
pub use dtype::{DType, Rank};
pub use error::{Error, ErrorKind, Result};
pub use layout::Layout;
pub use ops::Other;
pub use scalar::Scalar;
pub use sharing::{Sharing, sharing};
pub use storage::{ALIGNMENT, Storage};
pub use tensor::Tensor;
