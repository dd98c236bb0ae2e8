//! The operations on tensors, one file per family. Every check stands here, once, for every backend.

mod compute;
mod copy;
mod create;
mod elementwise;
mod observe;
mod reduce;
mod transfer;
mod view;
mod write;

pub use elementwise::Other;

use crate::backend::Backend;
use crate::cpu::Cpu;
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::Tensor;

/// Where the kernels of an operation run: on the device that all its tensors are on.
fn backend<'a>(tensors: &[&'a Tensor]) -> Result<&'a dyn Backend> {
    let Some((first, others)) = tensors.split_first() else { return Ok(&Cpu) };
    let device = first.storage().cuda();
    for other in others {
        let same = match (device, other.storage().cuda()) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same(other),
            _ => false,
        };
        if !same {
            return Err(Error::new(
                ErrorKind::Device,
                format!(
                    "an operation on tensors on {} and {} asked: move them to one device",
                    first.storage().device(),
                    other.storage().device()
                ),
            ));
        }
    }
    Ok(match device {
        None => &Cpu,
        Some(cuda) => cuda,
    })
}
