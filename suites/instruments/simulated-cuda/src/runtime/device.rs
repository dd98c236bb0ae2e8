//! The device, and the driver's functions by name.

use super::answers::answer;
use crate::device::{PCI_BUS_ID, PRIORITIES, PROPERTIES_BYTES, VERSION, attribute, properties};
use crate::driver::entry_point;
use crate::errors::Error;
use crate::places::{Place, put, put_text};
use crate::state::{check_device, state};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};

/// `cudaDriverEntryPointSuccess` and `cudaDriverEntryPointSymbolNotFound`.
const FOUND: c_int = 0;
const NOT_FOUND: c_int = 1;

#[unsafe(no_mangle)]
extern "C" fn cudaGetDeviceCount(count: Place<c_int>) -> c_int {
    put(count, 1);
    answer("cudaGetDeviceCount", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetDevice(device: Place<c_int>) -> c_int {
    put(device, 0);
    answer("cudaGetDevice", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaSetDevice(device: c_int) -> c_int {
    answer("cudaSetDevice", check_device(device))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceSynchronize() -> c_int {
    state().synchronize_all();
    answer("cudaDeviceSynchronize", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDriverGetVersion(version: Place<c_int>) -> c_int {
    put(version, VERSION);
    answer("cudaDriverGetVersion", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaRuntimeGetVersion(version: Place<c_int>) -> c_int {
    put(version, VERSION);
    answer("cudaRuntimeGetVersion", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetDeviceProperties(place: Place<[u8; PROPERTIES_BYTES]>, device: c_int) -> c_int {
    let checked = check_device(device);
    if checked.is_ok() {
        put(place, properties(state().memory.total()));
    }
    answer("cudaGetDeviceProperties", checked)
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetAttribute(value: Place<c_int>, asked: c_int, device: c_int) -> c_int {
    put(value, attribute(asked));
    answer("cudaDeviceGetAttribute", check_device(device))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceGetStreamPriorityRange(lowest: Place<c_int>, highest: Place<c_int>) -> c_int {
    put(lowest, PRIORITIES.0);
    put(highest, PRIORITIES.1);
    answer("cudaDeviceGetStreamPriorityRange", Ok(()))
}

/// # Safety
/// `text` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaDeviceGetPCIBusId(text: *mut c_char, room: c_int, device: c_int) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { put_text(text, usize::try_from(room).unwrap_or(0), PCI_BUS_ID) };
    answer("cudaDeviceGetPCIBusId", check_device(device))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDeviceCanAccessPeer(can: Place<c_int>, _device: c_int, _peer: c_int) -> c_int {
    put(can, 0);
    answer("cudaDeviceCanAccessPeer", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaProfilerStart() -> c_int {
    answer("cudaProfilerStart", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaProfilerStop() -> c_int {
    answer("cudaProfilerStop", Ok(()))
}

/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaGetDriverEntryPointByVersion(
    name: *const c_char,
    function: Place<*const c_void>,
    _version: c_uint,
    _flags: c_ulonglong,
    status: Place<c_int>,
) -> c_int {
    if name.is_null() {
        return answer("cudaGetDriverEntryPointByVersion", Err(Error::INVALID_VALUE));
    }
    // SAFETY: as the caller promised.
    let found = entry_point(unsafe { CStr::from_ptr(name) });
    put(function, found.unwrap_or(std::ptr::null()));
    put(status, if found.is_some() { FOUND } else { NOT_FOUND });
    answer("cudaGetDriverEntryPointByVersion", Ok(()))
}
