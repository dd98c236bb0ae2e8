//! Where tensors lie.

use crate::cuda::Cuda;
use std::fmt;

/// A device that holds tensors and runs operations on them.
#[derive(Debug, Clone)]
pub enum Device {
    /// The processor and its memory.
    Cpu,
    /// A CUDA device that is open.
    Cuda(Cuda),
}

impl Device {
    /// Whether two are the same.
    pub fn is_same(&self, other: &Device) -> bool {
        match (self, other) {
            (Device::Cpu, Device::Cpu) => true,
            (Device::Cuda(one), Device::Cuda(other)) => one.is_same(other),
            _ => false,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Device::Cpu => "cpu",
            Device::Cuda(_) => "cuda:0",
        })
    }
}
