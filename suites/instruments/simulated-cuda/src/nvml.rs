//! The management library: `libnvidia-ml.so.1`.

use crate::device::{DRIVER_VERSION_TEXT, NAME, UUID_TEXT, VERSION};
use crate::log;
use crate::places::{Place, put, put_text};
use crate::state::state;
use std::ffi::{CStr, c_char, c_int, c_uint};

const SUCCESS: c_int = 0;
const INVALID_ARGUMENT: c_int = 2;
const NOT_SUPPORTED: c_int = 3;
const INSUFFICIENT_SIZE: c_int = 7;
/// The handle of the device; nothing lies there.
const DEVICE: u64 = 1;

/// `nvmlProcessInfo_v1_t`.
#[repr(C)]
struct ProcessUse {
    process: c_uint,
    bytes: u64,
}

/// `nvmlMemory_t`.
#[repr(C)]
struct MemoryUse {
    total: u64,
    free: u64,
    used: u64,
}

fn answer(call: &str, code: c_int) -> c_int {
    log::call(call, 0, 0, code);
    code
}

#[unsafe(no_mangle)]
extern "C" fn nvmlInit() -> c_int {
    answer("nvmlInit", SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlInit_v2() -> c_int {
    answer("nvmlInit_v2", SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlShutdown() -> c_int {
    answer("nvmlShutdown", SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlErrorString(code: c_int) -> *const c_char {
    match code {
        SUCCESS => c"Success",
        INVALID_ARGUMENT => c"Invalid Argument",
        NOT_SUPPORTED => c"Not Supported",
        INSUFFICIENT_SIZE => c"Insufficient Size",
        _ => c"Unknown Error",
    }
    .as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn nvmlSystemGetCudaDriverVersion_v2(version: Place<c_int>) -> c_int {
    put(version, VERSION);
    answer("nvmlSystemGetCudaDriverVersion_v2", SUCCESS)
}

/// # Safety
/// `text` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlSystemGetDriverVersion(text: *mut c_char, room: c_uint) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { put_text(text, room as usize, DRIVER_VERSION_TEXT) };
    answer("nvmlSystemGetDriverVersion", SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetCount_v2(count: Place<c_uint>) -> c_int {
    put(count, 1);
    answer("nvmlDeviceGetCount_v2", SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: Place<u64>) -> c_int {
    put(device, DEVICE);
    answer("nvmlDeviceGetHandleByIndex_v2", if index == 0 { SUCCESS } else { INVALID_ARGUMENT })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(_bus_id: *const c_char, device: Place<u64>) -> c_int {
    put(device, DEVICE);
    answer("nvmlDeviceGetHandleByPciBusId_v2", SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetHandleByUUID(_uuid: *const c_char, device: Place<u64>) -> c_int {
    put(device, DEVICE);
    answer("nvmlDeviceGetHandleByUUID", SUCCESS)
}

/// # Safety
/// `text` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetName(_device: u64, text: *mut c_char, room: c_uint) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { told("nvmlDeviceGetName", text, room, NAME) }
}

/// # Safety
/// `text` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn nvmlDeviceGetUUID(_device: u64, text: *mut c_char, room: c_uint) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { told("nvmlDeviceGetUUID", text, room, UUID_TEXT) }
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetMemoryInfo(_device: u64, memory: Place<MemoryUse>) -> c_int {
    {
        let known = &state().memory;
        let (total, used) = (known.total(), known.used());
        put(memory, MemoryUse { total, free: total - used, used });
    }
    answer("nvmlDeviceGetMemoryInfo", SUCCESS)
}

/// This process, with the device memory that it has; no other uses the device.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetComputeRunningProcesses(
    _device: u64,
    count: Option<&mut c_uint>,
    processes: Place<ProcessUse>,
) -> c_int {
    let Some(count) = count else { return answer("nvmlDeviceGetComputeRunningProcesses", INVALID_ARGUMENT) };
    let room = *count;
    *count = 1;
    if room == 0 || processes.is_none() {
        return answer("nvmlDeviceGetComputeRunningProcesses", INSUFFICIENT_SIZE);
    }
    put(processes, ProcessUse { process: std::process::id(), bytes: state().memory.used() });
    answer("nvmlDeviceGetComputeRunningProcesses", SUCCESS)
}

/// No fabric: everything after the version stays zero, as far as its first form reaches.
#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetGpuFabricInfoV(_device: u64, information: Option<&mut [c_uint; 9]>) -> c_int {
    if let Some([_version, rest @ ..]) = information {
        *rest = [0; 8];
    }
    answer("nvmlDeviceGetGpuFabricInfoV", SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkRemoteDeviceType(_device: u64, _link: c_uint, _kind: Place<c_int>) -> c_int {
    answer("nvmlDeviceGetNvLinkRemoteDeviceType", NOT_SUPPORTED)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetNvLinkRemotePciInfo_v2(_device: u64, _link: c_uint, _information: *mut c_char) -> c_int {
    answer("nvmlDeviceGetNvLinkRemotePciInfo_v2", NOT_SUPPORTED)
}

/// # Safety
/// `text` is null or has `room` bytes.
unsafe fn told(call: &str, text: *mut c_char, room: c_uint, what: &CStr) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { put_text(text, room as usize, what) };
    answer(call, SUCCESS)
}
