//! The exported functions, as a program declares them.
#![allow(dead_code, clippy::missing_safety_doc, reason = "each test file uses some of CUDA's functions")]

pub mod driver;

use simulated_cuda as _;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub const MIB: usize = 1 << 20;
pub const BASE: usize = 0x7000_0000_0000;

unsafe extern "C" {
    pub safe fn cudaMalloc(pointer: &mut usize, bytes: usize) -> c_int;
    pub safe fn cudaFree(pointer: usize) -> c_int;
    pub safe fn cudaMemGetInfo(free: &mut usize, total: &mut usize) -> c_int;
    pub safe fn cudaGetLastError() -> c_int;
    pub safe fn cudaHostAlloc(pointer: &mut usize, bytes: usize, flags: u32) -> c_int;
    pub safe fn cudaFreeHost(pointer: usize) -> c_int;
    pub safe fn cudaHostRegister(pointer: usize, bytes: usize, flags: u32) -> c_int;
    pub safe fn cudaHostUnregister(pointer: usize) -> c_int;
    pub safe fn cudaPointerGetAttributes(attributes: &mut [u64; 11], pointer: usize) -> c_int;
    pub fn cudaMemcpy(to: usize, from: usize, bytes: usize, kind: c_int) -> c_int;
    pub fn cudaMemcpyAsync(to: usize, from: usize, bytes: usize, kind: c_int, stream: usize) -> c_int;
    pub fn cudaMemset(to: usize, value: c_int, bytes: usize) -> c_int;
    pub safe fn cudaStreamCreateWithPriority(stream: &mut usize, flags: u32, priority: c_int) -> c_int;
    pub safe fn cudaStreamSynchronize(stream: usize) -> c_int;
    pub safe fn cudaStreamBeginCapture(stream: usize, mode: c_int) -> c_int;
    pub safe fn cudaStreamEndCapture(stream: usize, graph: &mut usize) -> c_int;
    pub safe fn cudaDeviceSynchronize() -> c_int;
    pub safe fn cudaEventCreateWithFlags(event: &mut usize, flags: u32) -> c_int;
    pub safe fn cudaEventRecord(event: usize, stream: usize) -> c_int;
    pub safe fn cudaEventQuery(event: usize) -> c_int;
    pub safe fn cudaEventSynchronize(event: usize) -> c_int;
    pub safe fn cudaEventElapsedTime(milliseconds: &mut f32, start: usize, end: usize) -> c_int;
    pub safe fn cuMemAddressReserve(address: &mut usize, bytes: usize, align: usize, wanted: usize, f: u64) -> c_int;
    pub safe fn cuMemAddressFree(address: usize, bytes: usize) -> c_int;
    pub safe fn cuMemCreate(handle: &mut usize, bytes: usize, wanted: Option<&c_void>, flags: u64) -> c_int;
    pub safe fn cuMemRelease(handle: usize) -> c_int;
    pub safe fn cuMemMap(address: usize, bytes: usize, offset: usize, handle: usize, flags: u64) -> c_int;
    pub safe fn cuMemUnmap(address: usize, bytes: usize) -> c_int;
    pub safe fn cuMemSetAccess(address: usize, bytes: usize, access: &[c_int; 3], count: usize) -> c_int;
    pub fn cudaGetDriverEntryPointByVersion(
        name: *const c_char,
        function: &mut usize,
        version: u32,
        flags: u64,
        status: &mut c_int,
    ) -> c_int;
    pub safe fn nvmlDeviceGetComputeRunningProcesses(device: usize, count: &mut u32, use_: &mut [u64; 2]) -> c_int;
    pub fn nvmlDeviceGetName(device: usize, text: *mut c_char, room: u32) -> c_int;
    pub fn __cudaRegisterFunction(
        handle: usize,
        function: usize,
        device_function: usize,
        name: *const c_char,
        thread_limit: c_int,
        thread: usize,
        block: usize,
        block_extent: usize,
        grid_extent: usize,
        warp: usize,
    );
    pub fn cudaLaunchKernel(
        function: usize,
        grid: Extent,
        block: Extent,
        arguments: *const *const c_void,
        shared_bytes: usize,
        stream: usize,
    ) -> c_int;
    pub safe fn simulated_cuda_hold_events(held: c_int);
    pub safe fn simulated_cuda_complete_events();
    pub safe fn simulated_cuda_used() -> u64;
    pub safe fn simulated_cuda_recorded() -> u64;
    pub fn simulated_cuda_last_recorded(place: *mut c_char, room: usize) -> usize;
}

/// `dim3`.
#[repr(C)]
pub struct Extent(pub u32, pub u32, pub u32);

/// The tests of a file share one device: one at a time has it, and finds it empty.
pub fn device() -> MutexGuard<'static, ()> {
    static DEVICE: Mutex<()> = Mutex::new(());
    let guard = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(simulated_cuda_used(), 0, "the test before left memory behind");
    guard
}

/// A block of device memory.
pub fn malloc(bytes: usize) -> usize {
    let mut address = 0;
    assert_eq!(cudaMalloc(&mut address, bytes), 0, "cudaMalloc of {bytes} bytes");
    address
}

/// Copies from a slice to the device.
pub fn upload<T: Copy>(to: usize, from: &[T]) {
    // SAFETY: the device checks its own side; the other is the slice.
    assert_eq!(unsafe { cudaMemcpy(to, from.as_ptr().expose_provenance(), size_of_val(from), 1) }, 0);
}

/// Copies from the device.
pub fn download<T: Copy + Default>(from: usize, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    let to = values.as_mut_ptr().expose_provenance();
    // SAFETY: the device checks its own side; the other is the vector.
    assert_eq!(unsafe { cudaMemcpy(to, from, count * size_of::<T>(), 2) }, 0);
    values
}

/// A line of `/proc/self/status`, in MiB.
pub fn status(name: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("the process's own status");
    let line = text.lines().find(|line| line.starts_with(name)).expect("a line of this name");
    let kib = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kib.expect("a number of kB") / 1024.0
}
