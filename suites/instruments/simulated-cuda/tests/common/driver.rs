//! The driver's functions, and what a program does with them first.

use super::*;

unsafe extern "C" {
    pub safe fn cuInit(flags: u32) -> c_int;
    pub safe fn cuDriverGetVersion(version: &mut c_int) -> c_int;
    pub safe fn cuDeviceGetCount(count: &mut c_int) -> c_int;
    pub safe fn cuDeviceGet(device: &mut c_int, ordinal: c_int) -> c_int;
    pub fn cuDeviceGetName(text: *mut c_char, room: c_int, device: c_int) -> c_int;
    pub safe fn cuDeviceGetAttribute(value: &mut c_int, asked: c_int, device: c_int) -> c_int;
    pub safe fn cuDevicePrimaryCtxGetState(device: c_int, flags: &mut u32, active: &mut c_int) -> c_int;
    pub safe fn cuDevicePrimaryCtxRetain(context: &mut usize, device: c_int) -> c_int;
    pub safe fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int;
    pub safe fn cuCtxGetCurrent(context: &mut usize) -> c_int;
    pub safe fn cuCtxSetCurrent(context: usize) -> c_int;
    pub safe fn cuCtxCreate_v4(context: &mut usize, wanted: usize, flags: u32, device: c_int) -> c_int;
    pub safe fn cuCtxDestroy_v2(context: usize) -> c_int;
    pub safe fn cuCtxSynchronize() -> c_int;
    pub safe fn cuMemGetInfo_v2(free: &mut usize, total: &mut usize) -> c_int;
    pub safe fn cuMemAlloc_v2(address: &mut usize, bytes: usize) -> c_int;
    pub safe fn cuMemFree_v2(address: usize) -> c_int;
    pub safe fn cuMemHostAlloc(address: &mut usize, bytes: usize, flags: u32) -> c_int;
    pub safe fn cuMemFreeHost(address: usize) -> c_int;
    pub safe fn cuMemHostRegister_v2(address: usize, bytes: usize, flags: u32) -> c_int;
    pub safe fn cuMemHostUnregister(address: usize) -> c_int;
    pub safe fn cuPointerGetAttribute(value: &mut u32, asked: c_int, address: usize) -> c_int;
    pub fn cuMemcpyHtoD_v2(to: usize, from: usize, bytes: usize) -> c_int;
    pub fn cuMemcpyDtoH_v2(to: usize, from: usize, bytes: usize) -> c_int;
    pub fn cuMemcpyHtoDAsync_v2(to: usize, from: usize, bytes: usize, stream: usize) -> c_int;
    pub fn cuMemcpyDtoHAsync_v2(to: usize, from: usize, bytes: usize, stream: usize) -> c_int;
    pub safe fn cuMemcpyDtoDAsync_v2(to: usize, from: usize, bytes: usize, stream: usize) -> c_int;
    pub safe fn cuMemsetD8Async(to: usize, value: u8, count: usize, stream: usize) -> c_int;
    pub safe fn cuMemsetD32Async(to: usize, value: u32, count: usize, stream: usize) -> c_int;
    pub safe fn cuStreamCreate(stream: &mut usize, flags: u32) -> c_int;
    pub safe fn cuStreamCreateWithPriority(stream: &mut usize, flags: u32, priority: c_int) -> c_int;
    pub safe fn cuStreamDestroy_v2(stream: usize) -> c_int;
    pub safe fn cuStreamSynchronize(stream: usize) -> c_int;
    pub safe fn cuStreamQuery(stream: usize) -> c_int;
    pub safe fn cuStreamWaitEvent(stream: usize, event: usize, flags: u32) -> c_int;
    pub safe fn cuEventCreate(event: &mut usize, flags: u32) -> c_int;
    pub safe fn cuEventDestroy_v2(event: usize) -> c_int;
    pub safe fn cuEventRecord(event: usize, stream: usize) -> c_int;
    pub safe fn cuEventQuery(event: usize) -> c_int;
    pub safe fn cuEventSynchronize(event: usize) -> c_int;
    pub safe fn cuEventElapsedTime(milliseconds: &mut f32, start: usize, end: usize) -> c_int;
    pub safe fn cuEventElapsedTime_v2(milliseconds: &mut f32, start: usize, end: usize) -> c_int;
    pub fn cuModuleLoadData(module: &mut usize, image: *const c_char) -> c_int;
    pub safe fn cuModuleUnload(module: usize) -> c_int;
    pub fn cuModuleGetFunction(function: &mut usize, module: usize, name: *const c_char) -> c_int;
    pub fn cuLaunchKernel(
        function: usize,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_bytes: u32,
        stream: usize,
        arguments: *const *const c_void,
        packed: *const *const c_void,
    ) -> c_int;
    pub safe fn cuGetErrorName(code: c_int, text: &mut *const c_char) -> c_int;
    pub safe fn cuGetErrorString(code: c_int, text: &mut *const c_char) -> c_int;
    pub safe fn simulated_cuda_driver_calls() -> u64;
    pub safe fn simulated_cuda_failed() -> u64;
    pub fn simulated_cuda_failed_call(place: *mut c_char, room: usize) -> usize;
    pub safe fn simulated_cuda_left(counts: &mut [u64; 6]);
}

/// Starts the driver and makes the primary context the current one of this thread.
pub fn start() {
    let mut context = 0;
    assert_eq!([cuInit(0), cuDevicePrimaryCtxRetain(&mut context, 0), cuCtxSetCurrent(context)], [0; 3]);
}

/// What a call that tells one answer told, where it succeeded.
pub fn told<T: Default>(call: impl FnOnce(&mut T) -> c_int) -> T {
    let mut value = T::default();
    assert_eq!(call(&mut value), 0);
    value
}

/// A block of device memory.
pub fn alloc(bytes: usize) -> usize {
    told(|address| cuMemAlloc_v2(address, bytes))
}

/// A non-blocking stream.
pub fn stream() -> usize {
    told(|stream| cuStreamCreate(stream, 1))
}

/// Pinned memory for some numbers.
pub struct Pinned(pub usize, usize);

impl Pinned {
    pub fn new(values: &[u32]) -> Pinned {
        let address = told(|address| cuMemHostAlloc(address, size_of_val(values), 0));
        let mut pinned = Pinned(address, values.len());
        pinned.values().copy_from_slice(values);
        pinned
    }

    pub fn values(&mut self) -> &mut [u32] {
        let start = std::ptr::with_exposed_provenance_mut(self.0);
        // SAFETY: pinned memory of this size; the device writes to it only within calls.
        unsafe { std::slice::from_raw_parts_mut(start, self.1) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        assert_eq!(cuMemFreeHost(self.0), 0);
    }
}

/// Enqueues an upload.
pub fn upload_on(stream: usize, to: usize, from: usize, bytes: usize) {
    // SAFETY: the device checks its own side; the tests give memory of this size.
    assert_eq!(unsafe { cuMemcpyHtoDAsync_v2(to, from, bytes, stream) }, 0);
}

/// Enqueues a download.
pub fn download_on(stream: usize, to: usize, from: usize, bytes: usize) {
    // SAFETY: as for an upload.
    assert_eq!(unsafe { cuMemcpyDtoHAsync_v2(to, from, bytes, stream) }, 0);
}

/// Loads a module that has these kernels.
pub fn module(kernels: &[&str]) -> usize {
    let entries: String = kernels.iter().map(|name| format!(".visible .entry {name}() {{ ret; }}\n")).collect();
    let text = format!(".version 9.0\n.target sm_90\n.address_size 64\n{entries}\0");
    // SAFETY: a text with its closing zero.
    told(|module| unsafe { cuModuleLoadData(module, text.as_ptr().cast()) })
}

/// A kernel of a module; the error where there is none.
pub fn function(module: usize, name: &str) -> Result<usize, c_int> {
    let (name, mut function) = (format!("{name}\0"), 0);
    // SAFETY: a text with its closing zero.
    match unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr().cast()) } {
        0 => Ok(function),
        code => Err(code),
    }
}

/// Launches a kernel with the addresses of its arguments.
pub fn launch_on(stream: usize, function: usize, arguments: &[*const c_void]) -> c_int {
    let arguments = arguments.as_ptr();
    // SAFETY: the tests give the arguments that the kernel has.
    unsafe { cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, stream, arguments, std::ptr::null()) }
}

/// The current context of this thread.
pub fn current() -> usize {
    told(|context| cuCtxGetCurrent(context))
}
