//! Why the allocator did not do what was asked.

use super::super::DeviceError;
use super::oom::OutOfMemory;
use std::fmt;

/// Why the allocator did not do what was asked. Addresses and sizes are bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum AllocError {
    /// Neither the cache nor the device had enough.
    OutOfMemory(Box<OutOfMemory>),
    /// 2^60 bytes or more: refused without a look at anything.
    Absurd(u64),
    /// Refused before the device was asked, as `throw_on_cudamalloc_oom` wants.
    Rejected(u64),
    /// Nothing live begins at this address.
    UnknownPointer(u64),
    /// PyTorch would now return a segment to the device of which a part may still be in use.
    WouldCorrupt {
        /// The block that would be returned.
        address: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// A memory fraction outside 0 to 1.
    Fraction(f64),
    /// A private pool was begun twice, ended without a beginning, or is not known.
    Pool(String),
    /// A state to start from that no allocator can be in.
    Start(String),
    /// The device refused.
    Device(DeviceError),
}

impl From<DeviceError> for AllocError {
    fn from(error: DeviceError) -> AllocError {
        AllocError::Device(error)
    }
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocError::OutOfMemory(report) => report.fmt(f),
            AllocError::Absurd(_) => f.write_str("CUDA out of memory. Tried to allocate more than 1EB memory."),
            AllocError::Rejected(asked) => write!(
                f,
                "CUDA out of memory. Allocation was preemptively rejected because it would exceed \
                 per_process_memory_fraction limit. Requested size: {asked}"
            ),
            AllocError::UnknownPointer(address) => write!(f, "invalid device pointer: {address:#x}"),
            AllocError::WouldCorrupt { address, bytes } => write!(
                f,
                "the block of {bytes} bytes at {address:#x} is part of a segment that is in use, and PyTorch would \
                 return the segment to the device: the split limit was lowered, or expandable segments were switched \
                 off, after the segment was split"
            ),
            AllocError::Fraction(fraction) => write!(f, "invalid fraction:{fraction}. Please set within [0, 1]."),
            AllocError::Pool(what) | AllocError::Start(what) => f.write_str(what),
            AllocError::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AllocError {}
