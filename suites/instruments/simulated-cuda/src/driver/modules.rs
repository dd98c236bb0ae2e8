//! Modules and launches of their functions.

use super::answers::{Needs, answer, make, release};
use crate::device::attribute;
use crate::errors::Error;
use crate::modules::launch;
use crate::places::Place;
use crate::state::state;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The attributes of the device that limit a launch.
const THREADS_OF_A_BLOCK: c_int = 1;
const LIMITS: [c_int; 6] = [5, 6, 7, 2, 3, 4];
const SHARED_BYTES_OF_A_BLOCK: c_int = 97;

/// Takes PTX text only: there is no device whose binaries could be known.
///
/// # Safety
/// `image` is null, or bytes up to a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadData(module: Place<u64>, image: *const c_char) -> c_int {
    make("cuModuleLoadData", module, || {
        if image.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: as the caller promised.
        let text = unsafe { CStr::from_ptr(image) }.to_string_lossy();
        state().modules.load(&text)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: u64) -> c_int {
    release("cuModuleUnload", Needs::Context, 0, || state().modules.unload(module).map(|()| 0))
}

/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunction(function: Place<u64>, module: u64, name: *const c_char) -> c_int {
    make("cuModuleGetFunction", function, || {
        if name.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: as the caller promised.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        state().modules.function(module, &name)
    })
}

/// Takes the addresses of the arguments; arguments packed into one buffer are refused.
///
/// # Safety
/// `arguments` are those of the function.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchKernel(
    function: u64,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: u64,
    arguments: *const *const c_void,
    packed: *const *const c_void,
) -> c_int {
    answer("cuLaunchKernel", Needs::Context, || {
        if !packed.is_null() {
            return Err(Error::NOT_SUPPORTED);
        }
        let limit = |asked: c_int| u64::from(attribute(asked).unsigned_abs());
        let extents = [grid_x, grid_y, grid_z, block_x, block_y, block_z].map(u64::from);
        let fit = extents.iter().zip(LIMITS).all(|(extent, asked)| (1..=limit(asked)).contains(extent));
        let threads: u64 = extents[3..].iter().product();
        let shared_fit = u64::from(shared_bytes) <= limit(SHARED_BYTES_OF_A_BLOCK);
        if !fit || threads > limit(THREADS_OF_A_BLOCK) || !shared_fit {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: as the caller promised.
        unsafe { launch(function, arguments, stream) }
    })
}
