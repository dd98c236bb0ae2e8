//! The device and its one context.

use crate::device::{NAME, VERSION, attribute};
use crate::errors::{code, spell};
use crate::log;
use crate::places::{Place, put, put_text};
use crate::state::{check_device, state};
use std::ffi::{CStr, c_char, c_int, c_uint};

/// The handle of the primary context; nothing lies there.
const CONTEXT: u64 = 1;

#[unsafe(no_mangle)]
extern "C" fn cuInit(_flags: c_uint) -> c_int {
    log::call("cuInit", 0, 0, 0);
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: Place<c_int>) -> c_int {
    put(version, VERSION);
    log::call("cuDriverGetVersion", 0, 0, 0);
    0
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: Place<c_int>) -> c_int {
    put(count, 1);
    log::call("cuDeviceGetCount", 0, 0, 0);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGet(device: Place<c_int>, ordinal: c_int) -> c_int {
    put(device, ordinal);
    let code = code(check_device(ordinal));
    log::call("cuDeviceGet", 0, 0, code);
    code
}

/// # Safety
/// `text` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(text: *mut c_char, room: c_int, device: c_int) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { put_text(text, usize::try_from(room).unwrap_or(0), NAME) };
    let code = code(check_device(device));
    log::call("cuDeviceGetName", 0, 0, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceTotalMem_v2(bytes: Place<usize>, device: c_int) -> c_int {
    put(bytes, state().memory.total() as usize);
    let code = code(check_device(device));
    log::call("cuDeviceTotalMem_v2", 0, 0, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetAttribute(value: Place<c_int>, asked: c_int, device: c_int) -> c_int {
    put(value, attribute(asked));
    let code = code(check_device(device));
    log::call("cuDeviceGetAttribute", 0, 0, code);
    code
}

/// The primary context is there from the start, as after the runtime's first call.
#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxGetState(device: c_int, flags: Place<c_uint>, active: Place<c_int>) -> c_int {
    put(flags, 0);
    put(active, 1);
    let code = code(check_device(device));
    log::call("cuDevicePrimaryCtxGetState", 0, 0, code);
    code
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(context: Place<u64>, device: c_int) -> c_int {
    put(context, CONTEXT);
    let code = code(check_device(device));
    log::call("cuDevicePrimaryCtxRetain", 0, 0, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetCurrent(context: Place<u64>) -> c_int {
    put(context, CONTEXT);
    log::call("cuCtxGetCurrent", 0, 0, 0);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(_context: u64) -> c_int {
    log::call("cuCtxSetCurrent", 0, 0, 0);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorString(error: c_int, text: Place<*const c_char>) -> c_int {
    spelled(error, text, |spelling| spelling.text)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorName(error: c_int, text: Place<*const c_char>) -> c_int {
    spelled(error, text, |spelling| spelling.driver)
}

fn spelled(error: c_int, text: Place<*const c_char>, part: fn(&crate::errors::Spelling) -> &'static CStr) -> c_int {
    let found = spell(error).map(part);
    put(text, found.map_or(std::ptr::null(), CStr::as_ptr));
    code(found.map(|_| ()).ok_or(crate::errors::Error::INVALID_VALUE))
}
