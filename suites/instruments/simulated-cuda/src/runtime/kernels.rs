//! Registering kernels and launching them.

use super::answers::answer;
use crate::errors::Error;
use crate::kernels::launch;
use crate::places::{Place, put};
use crate::state::state;
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// `dim3`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Extent {
    x: c_uint,
    y: c_uint,
    z: c_uint,
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
struct LaunchConfiguration {
    grid: Extent,
    block: Extent,
    shared_bytes: usize,
    stream: u64,
    attributes: *const c_void,
    attribute_count: c_uint,
}

/// `cudaFuncAttributes` of CUDA 13, whose names end where nothing is said any more.
#[repr(C)]
struct FunctionAttributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    most_threads: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    caches: c_int,
    most_shared_bytes: c_int,
    rest: [u8; 96],
}

#[derive(Clone, Copy)]
struct Call {
    grid: Extent,
    block: Extent,
    shared_bytes: usize,
    stream: u64,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

/// The handle is the program's own address of what it registers; nothing is kept of the code in it.
#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(binary: *mut *mut c_void) -> *mut *mut c_void {
    binary
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(_handle: *mut *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(_handle: *mut *mut c_void) -> c_char {
    1
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(
    _handle: *mut *mut c_void,
    function: u64,
    _device_function: *mut c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_extent: *mut c_void,
    _grid_extent: *mut c_void,
    _warp: *mut c_int,
) {
    if !name.is_null() {
        state().kernels.register(function, name);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(
    _handle: *mut *mut c_void,
    variable: u64,
    _device_address: *mut c_char,
    _name: *const c_char,
    _external: c_int,
    bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    state().kernels.register_variable(variable, bytes as u64);
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(grid: Extent, block: Extent, shared_bytes: usize, stream: u64) -> c_uint {
    CALLS.with_borrow_mut(|calls| calls.push(Call { grid, block, shared_bytes, stream }));
    0
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPopCallConfiguration(
    grid: Place<Extent>,
    block: Place<Extent>,
    shared_bytes: Place<usize>,
    stream: Place<u64>,
) -> c_int {
    let Some(call) = CALLS.with_borrow_mut(Vec::pop) else {
        return answer("__cudaPopCallConfiguration", Err(Error::MISSING_CONFIGURATION));
    };
    put(grid, call.grid);
    put(block, call.block);
    put(shared_bytes, call.shared_bytes);
    put(stream, call.stream);
    0
}

/// A kernel's handle is the address of the function that stands for it.
#[unsafe(no_mangle)]
extern "C" fn __cudaGetKernel(kernel: Place<u64>, function: u64) -> c_int {
    if state().kernels.is_registered(function) {
        put(kernel, function);
        return 0;
    }
    answer("__cudaGetKernel", Err(Error::INVALID_DEVICE_FUNCTION))
}

/// # Safety
/// `arguments` are those of the kernel.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaLaunchKernel(
    kernel: u64,
    _grid: Extent,
    _block: Extent,
    arguments: *const *const c_void,
    _shared_bytes: usize,
    stream: u64,
) -> c_int {
    // SAFETY: as the caller promised.
    answer("__cudaLaunchKernel", unsafe { launch(kernel, arguments, stream) })
}

/// # Safety
/// `arguments` are those of the function.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchKernel(
    function: u64,
    _grid: Extent,
    _block: Extent,
    arguments: *const *const c_void,
    _shared_bytes: usize,
    stream: u64,
) -> c_int {
    // SAFETY: as the caller promised.
    answer("cudaLaunchKernel", unsafe { launch(function, arguments, stream) })
}

/// # Safety
/// `arguments` are those of the function.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchCooperativeKernel(
    function: u64,
    _grid: Extent,
    _block: Extent,
    arguments: *const *const c_void,
    _shared_bytes: usize,
    stream: u64,
) -> c_int {
    // SAFETY: as the caller promised.
    answer("cudaLaunchCooperativeKernel", unsafe { launch(function, arguments, stream) })
}

/// # Safety
/// `arguments` are those of the function.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchKernelExC(
    configuration: Option<&LaunchConfiguration>,
    function: u64,
    arguments: *const *const c_void,
) -> c_int {
    let launched = match configuration {
        // SAFETY: as the caller promised.
        Some(configuration) => unsafe { launch(function, arguments, configuration.stream) },
        None => Err(Error::INVALID_VALUE),
    };
    answer("cudaLaunchKernelExC", launched)
}

#[unsafe(no_mangle)]
extern "C" fn cudaFuncGetAttributes(attributes: Place<FunctionAttributes>, function: u64) -> c_int {
    if !state().kernels.is_registered(function) {
        return answer("cudaFuncGetAttributes", Err(Error::INVALID_DEVICE_FUNCTION));
    }
    let told = FunctionAttributes {
        shared_bytes: 0,
        constant_bytes: 0,
        local_bytes: 0,
        most_threads: 1024,
        registers: 32,
        ptx_version: 90,
        binary_version: 90,
        caches: 0,
        most_shared_bytes: 232_448,
        rest: [0; 96],
    };
    put(attributes, told);
    answer("cudaFuncGetAttributes", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFuncSetAttribute(_function: u64, _attribute: c_int, _value: c_int) -> c_int {
    answer("cudaFuncSetAttribute", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Place<c_int>,
    _function: u64,
    _threads: c_int,
    _shared_bytes: usize,
) -> c_int {
    put(blocks, 2);
    answer("cudaOccupancyMaxActiveBlocksPerMultiprocessor", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: Place<c_int>,
    _function: u64,
    _threads: c_int,
    _shared_bytes: usize,
    _flags: c_uint,
) -> c_int {
    put(blocks, 2);
    answer("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", Ok(()))
}
