//! The driver's functions, each with its error: what was called and what the driver said.

use crate::error::{Error, ErrorKind};
use crate::memory::DeviceError;
use cudarc::driver::sys;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr;

/// A call that the driver refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The function.
    pub call: &'static str,
    /// The driver's number for it.
    pub code: i32,
    /// The driver's words.
    pub words: String,
}

/// The driver's number for memory that is not there.
const OUT_OF_MEMORY: i32 = 2;
/// The driver's number for what it does not know.
const NOT_FOUND: i32 = 500;
/// The driver's number for work that is not done.
const NOT_READY: i32 = 600;
/// The driver's number for what the device cannot do at all.
const NOT_SUPPORTED: i32 = 801;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {} ({})", self.call, self.words, self.code)
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        let kind = match refused.code {
            OUT_OF_MEMORY => ErrorKind::OutOfMemory,
            NOT_SUPPORTED => ErrorKind::Unsupported,
            _ => ErrorKind::Device,
        };
        Error::new(kind, refused.to_string())
    }
}

impl From<Refused> for DeviceError {
    fn from(refused: Refused) -> DeviceError {
        match refused.code {
            OUT_OF_MEMORY => DeviceError::OutOfMemory,
            _ => DeviceError::Other(refused.to_string()),
        }
    }
}

type Answer<T> = Result<T, Refused>;

/// The functions that this engine calls: a driver that lacks one is too old.
const NEEDED: [&str; 40] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuGetErrorString",
    "cuMemGetInfo_v2",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemAddressReserve",
    "cuMemAddressFree",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemSetAccess",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuEventDestroy_v2",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuLaunchKernel",
];

/// The driver's library.
const LIBRARY: &str = "libcuda.so.1";

/// What to say where there is no driver.
pub(super) const NO_DRIVER: &str = "no CUDA driver (libcuda.so.1 not found)";

/// Whether a driver is there with every function that is called; the error says what is missing.
///
/// Asked before anything else: cudarc looks its functions up when they are first called, and panics where it finds none.
pub(super) fn present() -> Result<(), Error> {
    let missing = |what: String| Error::new(ErrorKind::Unsupported, what);
    // SAFETY: loading the driver runs its own initialisers, as any program that uses CUDA does.
    if !unsafe { sys::is_culib_present() } {
        return Err(missing(NO_DRIVER.into()));
    }
    // SAFETY: as above; the library is loaded already.
    let library = unsafe { libloading::Library::new(LIBRARY) }.map_err(|_| missing(NO_DRIVER.into()))?;
    // SAFETY: the symbol is only looked for, never called through this type.
    let lacks = |name: &&str| unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err();
    match NEEDED.iter().find(|name| lacks(name)) {
        Some(name) => Err(missing(format!("the CUDA driver is too old: it has no {name}; install a newer driver"))),
        None => Ok(()),
    }
}

fn check(call: &'static str, code: sys::CUresult) -> Answer<()> {
    if code == sys::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut words: *const std::ffi::c_char = ptr::null();
    // SAFETY: the driver writes a pointer to text of its own, or leaves it.
    let told = unsafe { sys::cuGetErrorString(code, &mut words) } == sys::CUresult::CUDA_SUCCESS && !words.is_null();
    let words = if told {
        // SAFETY: the driver's text ends with a zero and is never changed.
        unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
    } else {
        "an error without words".into()
    };
    Err(Refused { call, code: code as i32, words })
}

/// Calls a function of the driver that gives nothing, or writes its answer where the last argument says.
macro_rules! call {
    ($name:ident($($argument:expr),*)) => {
        // SAFETY: the caller of this macro passes what the function's documentation asks for.
        check(stringify!($name), unsafe { sys::$name($($argument),*) })
    };
}

/// Starts the driver; nothing can be called before.
pub(super) fn init() -> Answer<()> {
    call!(cuInit(0))
}

/// The version of CUDA that the driver knows, such as 13000.
pub(super) fn version() -> Answer<i32> {
    let mut version = 0;
    call!(cuDriverGetVersion(&mut version)).map(|()| version)
}

/// How many devices there are.
pub(super) fn count() -> Answer<i32> {
    let mut count = 0;
    call!(cuDeviceGetCount(&mut count)).map(|()| count)
}

/// The device of this number.
pub(super) fn device(ordinal: i32) -> Answer<sys::CUdevice> {
    let mut device = 0;
    call!(cuDeviceGet(&mut device, ordinal)).map(|()| device)
}

/// The name of a device.
pub(super) fn name(device: sys::CUdevice) -> Answer<String> {
    let mut text = [0; 256];
    call!(cuDeviceGetName(text.as_mut_ptr(), text.len() as i32, device))?;
    let bytes: Vec<u8> = text.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The context that all users of a device in this process share.
pub(super) fn retain_context(device: sys::CUdevice) -> Answer<sys::CUcontext> {
    let mut context = ptr::null_mut();
    call!(cuDevicePrimaryCtxRetain(&mut context, device)).map(|()| context)
}

/// Lets the shared context go.
pub(super) fn release_context(device: sys::CUdevice) -> Answer<()> {
    call!(cuDevicePrimaryCtxRelease_v2(device))
}

/// Makes a context that of this thread.
pub(super) fn set_context(context: sys::CUcontext) -> Answer<()> {
    call!(cuCtxSetCurrent(context))
}

/// Waits until all that the device was asked is done.
pub(super) fn synchronize() -> Answer<()> {
    call!(cuCtxSynchronize())
}

/// Bytes that nobody holds, and all bytes.
pub(super) fn memory() -> Answer<(u64, u64)> {
    let (mut free, mut total) = (0, 0);
    call!(cuMemGetInfo_v2(&mut free, &mut total)).map(|()| (free as u64, total as u64))
}

/// Takes device memory.
pub(super) fn allocate(bytes: u64) -> Answer<u64> {
    let mut address = 0;
    call!(cuMemAlloc_v2(&mut address, bytes as usize)).map(|()| address)
}

/// Gives it back.
pub(super) fn free(address: u64) -> Answer<()> {
    call!(cuMemFree_v2(address))
}

/// Takes page-locked host memory.
pub(super) fn allocate_host(bytes: u64) -> Answer<u64> {
    let mut place: *mut c_void = ptr::null_mut();
    call!(cuMemHostAlloc(&mut place, bytes as usize, 0)).map(|()| place.expose_provenance() as u64)
}

/// Gives it back.
pub(super) fn free_host(address: u64) -> Answer<()> {
    call!(cuMemFreeHost(host(address)))
}

/// Locks the pages of ordinary host memory.
pub(super) fn register(address: u64, bytes: u64) -> Answer<()> {
    call!(cuMemHostRegister_v2(host(address), bytes as usize, 0))
}

/// Unlocks them.
pub(super) fn unregister(address: u64) -> Answer<()> {
    call!(cuMemHostUnregister(host(address)))
}

fn host(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// A stream by the value of its handle; 0 is the default stream.
fn stream(handle: u64) -> sys::CUstream {
    ptr::with_exposed_provenance_mut(handle as usize)
}

/// Copies from the host, in the order of a stream.
///
/// # Safety
/// The source has so many bytes, and where it is page-locked they stay as they are until the stream has come so far.
pub(super) unsafe fn upload(to: u64, from: *const u8, bytes: u64, on: u64) -> Answer<()> {
    call!(cuMemcpyHtoDAsync_v2(to, from.cast(), bytes as usize, stream(on)))
}

/// Copies to the host, in the order of a stream.
///
/// # Safety
/// The destination has room for so many bytes, and nothing reads or frees it until the stream has come so far.
pub(super) unsafe fn download(to: *mut u8, from: u64, bytes: u64, on: u64) -> Answer<()> {
    call!(cuMemcpyDtoHAsync_v2(to.cast(), from, bytes as usize, stream(on)))
}

/// Copies within the device, in the order of a stream.
pub(super) fn copy(to: u64, from: u64, bytes: u64, on: u64) -> Answer<()> {
    call!(cuMemcpyDtoDAsync_v2(to, from, bytes as usize, stream(on)))
}

/// Reserves addresses.
pub(super) fn reserve(bytes: u64) -> Answer<u64> {
    let mut address = 0;
    call!(cuMemAddressReserve(&mut address, bytes as usize, 0, 0, 0)).map(|()| address)
}

/// Gives them back.
pub(super) fn release_range(address: u64, bytes: u64) -> Answer<()> {
    call!(cuMemAddressFree(address, bytes as usize))
}

/// What pages are made of, and where they may be used: this device.
fn location(device: sys::CUdevice) -> sys::CUmemLocation {
    // SAFETY: the type is plain numbers, for which zero is a value.
    let mut location: sys::CUmemLocation = unsafe { std::mem::zeroed() };
    location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device;
    location
}

/// Takes a page of device memory without an address.
pub(super) fn create_page(bytes: u64, device: sys::CUdevice) -> Answer<u64> {
    // SAFETY: the type is plain numbers and pointers, for which zero is a value.
    let mut properties: sys::CUmemAllocationProp = unsafe { std::mem::zeroed() };
    properties.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location(device);
    let mut page = 0;
    call!(cuMemCreate(&mut page, bytes as usize, &properties, 0)).map(|()| page)
}

/// Gives a page back.
pub(super) fn release_page(page: u64) -> Answer<()> {
    call!(cuMemRelease(page))
}

/// Puts a page behind addresses, readable and writable.
pub(super) fn map(address: u64, bytes: u64, page: u64, device: sys::CUdevice) -> Answer<()> {
    call!(cuMemMap(address, bytes as usize, 0, page, 0))?;
    // SAFETY: the type is plain numbers, for which zero is a value.
    let mut access: sys::CUmemAccessDesc = unsafe { std::mem::zeroed() };
    access.location = location(device);
    access.flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    call!(cuMemSetAccess(address, bytes as usize, &access, 1)).inspect_err(|_| drop(unmap(address, bytes)))
}

/// Takes the page away.
pub(super) fn unmap(address: u64, bytes: u64) -> Answer<()> {
    call!(cuMemUnmap(address, bytes as usize))
}

/// Makes a stream that does not wait for the default one.
pub(super) fn create_stream() -> Answer<u64> {
    let mut handle = ptr::null_mut();
    let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
    call!(cuStreamCreate(&mut handle, flags)).map(|()| handle.expose_provenance() as u64)
}

/// Ends a stream.
pub(super) fn destroy_stream(handle: u64) -> Answer<()> {
    call!(cuStreamDestroy_v2(stream(handle)))
}

/// Waits for a stream.
pub(super) fn synchronize_stream(handle: u64) -> Answer<()> {
    call!(cuStreamSynchronize(stream(handle)))
}

/// An event by the value of its handle.
fn event(handle: u64) -> sys::CUevent {
    ptr::with_exposed_provenance_mut(handle as usize)
}

/// Makes an event without a clock.
pub(super) fn create_event() -> Answer<u64> {
    event_with(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
}

/// Makes an event with a clock.
pub(super) fn create_timed_event() -> Answer<u64> {
    event_with(sys::CUevent_flags::CU_EVENT_DEFAULT)
}

fn event_with(flags: sys::CUevent_flags) -> Answer<u64> {
    let mut handle = ptr::null_mut();
    call!(cuEventCreate(&mut handle, flags as u32)).map(|()| handle.expose_provenance() as u64)
}

/// Milliseconds between two events that are done.
pub(super) fn elapsed(start: u64, stop: u64) -> Answer<f32> {
    type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
    const NAME: &str = "cuEventElapsedTime";
    let refused = |_| Refused { call: NAME, code: NOT_FOUND, words: "this driver has no such function".into() };
    let mut milliseconds = 0.0;
    // SAFETY: the driver is loaded; its function of this name has this type in every version. The bindings know only the
    // one that came with CUDA 12.8, which older drivers lack.
    let code = unsafe {
        let library = libloading::Library::new(LIBRARY).map_err(refused)?;
        let function = library.get::<Elapsed>(NAME.as_bytes()).map_err(refused)?;
        function(&mut milliseconds, event(start), event(stop))
    };
    check(NAME, code).map(|()| milliseconds)
}

/// Marks where a stream has come to.
pub(super) fn record_event(handle: u64, on: u64) -> Answer<()> {
    call!(cuEventRecord(event(handle), stream(on)))
}

/// Whether the stream has come past it.
pub(super) fn event_done(handle: u64) -> Answer<bool> {
    match call!(cuEventQuery(event(handle))) {
        Ok(()) => Ok(true),
        Err(refused) if refused.code == NOT_READY => Ok(false),
        Err(refused) => Err(refused),
    }
}

/// Waits for an event.
pub(super) fn wait_for_event(handle: u64) -> Answer<()> {
    call!(cuEventSynchronize(event(handle)))
}

/// Ends an event.
pub(super) fn destroy_event(handle: u64) -> Answer<()> {
    call!(cuEventDestroy_v2(event(handle)))
}

/// Loads a module from PTX.
pub(super) fn load_module(ptx: &CStr) -> Answer<sys::CUmodule> {
    let mut module = ptr::null_mut();
    call!(cuModuleLoadData(&mut module, ptx.as_ptr().cast())).map(|()| module)
}

/// Unloads it.
pub(super) fn unload_module(module: sys::CUmodule) -> Answer<()> {
    call!(cuModuleUnload(module))
}

/// A function of a module.
pub(super) fn function(module: sys::CUmodule, name: &CStr) -> Answer<sys::CUfunction> {
    let mut function = ptr::null_mut();
    call!(cuModuleGetFunction(&mut function, module, name.as_ptr())).map(|()| function)
}

/// Starts a kernel of so many blocks of so many threads.
///
/// # Safety
/// The parameters are those that the kernel takes, and lead to memory that is live until the stream has come so far.
pub(super) unsafe fn launch(
    function: sys::CUfunction,
    blocks: u32,
    threads: u32,
    on: u64,
    parameters: &mut [*mut c_void],
) -> Answer<()> {
    let (none, at) = (ptr::null_mut(), parameters.as_mut_ptr());
    call!(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream(on), at, none))
}

#[cfg(test)]
mod tests {
    use super::NEEDED;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_that_is_called_is_looked_for_first() {
        let source = include_str!("driver.rs").split("#[cfg(test)]").next().unwrap();
        let called = source.split("call!(").skip(1).map(|rest| rest.split('(').next().unwrap());
        let named = source.split("sys::cu").skip(1).map(|rest| rest.split('(').next().unwrap());
        let named = named.filter(|name| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_'));
        let mut found: BTreeSet<String> = called.map(str::to_owned).collect();
        found.extend(named.map(|name| format!("cu{name}")));
        found.insert("cuEventElapsedTime".into());
        let needed: BTreeSet<String> = NEEDED.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(needed, found);
    }
}
