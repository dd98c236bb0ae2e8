//! Kernels by name, and their start.

use super::Cuda;
use super::driver;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use cudarc::driver::sys::{CUfunction, CUmodule};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};

/// Threads of a block.
const THREADS: u64 = 256;
/// The most blocks of one launch: the loops in the kernels take the rest.
const BLOCKS: u64 = 4096;
/// The most dimensions of a strided kernel, after neighbours that lie side by side were made one.
const RANK: usize = 8;

/// The kernels as PTX, which the driver translates for its device when it loads them, by how their names begin.
const PTX: [(&[&str], &str); 4] = [
    (&["fill_", "add_", "mul_"], concat!(include_str!("../../cuda/elementwise.ptx"), "\0")),
    (&["convert_"], concat!(include_str!("../../cuda/convert.ptx"), "\0")),
    (&["sum_", "finish_"], concat!(include_str!("../../cuda/reduce.ptx"), "\0")),
    (&["gate"], concat!(include_str!("../../cuda/gate.ptx"), "\0")),
];

/// The kernels of one device. Each family is loaded when one of it is first started.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    modules: [Cell<Option<CUmodule>>; PTX.len()],
    functions: RefCell<HashMap<String, CUfunction>>,
}

impl Kernels {
    /// The kernel of this name.
    fn function(&self, name: &str) -> Result<CUfunction> {
        if let Some(function) = self.functions.borrow().get(name) {
            return Ok(*function);
        }
        let family = PTX.iter().position(|(starts, _)| starts.iter().any(|start| name.starts_with(start)));
        let family = family.ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("there is no kernel {name}")))?;
        let module = match self.modules[family].get() {
            Some(module) => module,
            None => {
                let text = CStr::from_bytes_with_nul(PTX[family].1.as_bytes()).unwrap_or(c"");
                let module = driver::load_module(text)?;
                self.modules[family].set(Some(module));
                module
            }
        };
        // Names are letters, digits and underscores.
        let text = CString::new(name).unwrap_or_default();
        let function = driver::function(module, &text)?;
        self.functions.borrow_mut().insert(name.to_owned(), function);
        Ok(function)
    }

    /// Unloads all of them; gives what the driver refused.
    pub fn unload(&mut self) -> Vec<Error> {
        self.functions.get_mut().clear();
        let modules = self.modules.iter_mut().filter_map(|module| module.take());
        modules.filter_map(|module| driver::unload_module(module).err()).map(Error::from).collect()
    }
}

/// The places of up to three operands: shape, and strides in elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walk {
    rank: u32,
    padding: u32,
    numel: u64,
    size: [u64; RANK],
    stride: [[i64; RANK]; 3],
}

impl Walk {
    /// The walk over layouts of one shape, with neighbouring dimensions joined where all layouts allow it; nothing where
    /// too many are left.
    pub fn over(layouts: &[&Layout]) -> Option<Walk> {
        let shape = layouts[0].shape();
        let mut walk =
            Walk { rank: 0, padding: 0, numel: layouts[0].numel() as u64, size: [1; RANK], stride: [[0; RANK]; 3] };
        let mut joined: Vec<(u64, Vec<i64>)> = Vec::new();
        for (dim, size) in shape.iter().enumerate().filter(|(_, size)| **size != 1) {
            let strides: Vec<i64> = layouts.iter().map(|layout| layout.strides()[dim] as i64).collect();
            match joined.last_mut() {
                Some((outer, outer_strides))
                    if outer_strides.iter().zip(&strides).all(|(outer, inner)| *outer == inner * *size as i64) =>
                {
                    *outer *= *size as u64;
                    *outer_strides = strides;
                }
                _ => joined.push((*size as u64, strides)),
            }
        }
        if joined.len() > RANK {
            return None;
        }
        walk.rank = joined.len() as u32;
        for (dim, (size, strides)) in joined.into_iter().enumerate() {
            walk.size[dim] = size;
            for (operand, stride) in strides.into_iter().enumerate() {
                walk.stride[operand][dim] = stride;
            }
        }
        Some(walk)
    }

    /// Elements of each operand.
    pub fn numel(&self) -> u64 {
        self.numel
    }

    /// Whether every operand lies in one run without gaps.
    pub fn is_one_run(&self, operands: usize) -> bool {
        self.rank == 0 || self.rank == 1 && self.stride[..operands].iter().all(|strides| strides[0] == 1)
    }
}

/// A parameter of a kernel.
#[derive(Debug, Clone)]
pub(super) enum Parameter {
    /// An address.
    Address(u64),
    /// A count.
    Count(u64),
    /// A number for float dtypes.
    Float(f64),
    /// A number for integer dtypes.
    Int(i64),
    /// The places of strided operands.
    Walk(Box<Walk>),
}

impl Parameter {
    fn place(&mut self) -> *mut c_void {
        match self {
            Parameter::Address(value) | Parameter::Count(value) => std::ptr::from_mut(value).cast(),
            Parameter::Float(value) => std::ptr::from_mut(value).cast(),
            Parameter::Int(value) => std::ptr::from_mut(value).cast(),
            Parameter::Walk(value) => std::ptr::from_mut(&mut **value).cast(),
        }
    }
}

/// Blocks for so many elements, of which a thread takes `each` at a time.
pub(super) fn blocks(elements: u64, each: u64) -> u32 {
    elements.div_ceil(each).div_ceil(THREADS).clamp(1, BLOCKS) as u32
}

impl Cuda {
    /// Starts a kernel on the current stream.
    ///
    /// # Safety
    /// The parameters are those of this kernel, and their addresses lead to blocks that stay allocated on this stream, or
    /// are known to the allocator as used by it.
    pub(super) unsafe fn launch(&self, name: &str, blocks: u32, parameters: &mut [Parameter]) -> Result<()> {
        let function = self.0.kernels.function(name)?;
        let mut places: Vec<*mut c_void> = parameters.iter_mut().map(Parameter::place).collect();
        // SAFETY: as promised by the caller; the driver copies the parameters before it returns.
        Ok(unsafe { driver::launch(function, blocks, THREADS as u32, self.stream(), &mut places) }?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_lie_side_by_side_become_one() {
        let dense = Layout::contiguous(&[2, 3, 4]).unwrap();
        let walk = Walk::over(&[&dense, &dense]).unwrap();
        assert!(walk.is_one_run(2));
        assert_eq!((walk.rank, walk.numel, walk.size[0]), (1, 24, 24));
        let turned = Layout::new(&[2, 3, 4], &[1, 2, 6], 0).unwrap();
        let walk = Walk::over(&[&dense, &turned]).unwrap();
        assert!(!walk.is_one_run(2));
        assert_eq!((walk.rank, walk.size[..3].to_vec()), (3, vec![2, 3, 4]));
        assert_eq!(walk.stride[1][..3], [1, 2, 6]);
        let none = Layout::contiguous(&[]).unwrap();
        assert!(Walk::over(&[&none]).unwrap().is_one_run(1));
        assert_eq!(size_of::<Walk>(), 272);
    }

    #[test]
    fn a_launch_has_a_block_at_least_and_not_too_many() {
        assert_eq!(blocks(0, 4), 1);
        assert_eq!(blocks(1025, 4), 2);
        assert_eq!(blocks(1 << 40, 1), 4096);
    }
}
