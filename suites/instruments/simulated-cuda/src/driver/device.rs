//! The driver and its one device.

use super::answers::{Needs, answer};
use crate::device::{NAME, VERSION, attribute};
use crate::errors::Error;
use crate::places::{Place, put, put_text};
use crate::state::{check_device, state};
use std::ffi::{c_char, c_int, c_uint};

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: c_uint) -> c_int {
    answer("cuInit", Needs::Nothing, || {
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        state().contexts.initialize();
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: Place<c_int>) -> c_int {
    answer("cuDriverGetVersion", Needs::Nothing, || {
        put(version, VERSION);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: Place<c_int>) -> c_int {
    answer("cuDeviceGetCount", Needs::Driver, || {
        put(count, 1);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGet(device: Place<c_int>, ordinal: c_int) -> c_int {
    answer("cuDeviceGet", Needs::Driver, || {
        check_device(ordinal)?;
        put(device, ordinal);
        Ok(())
    })
}

/// # Safety
/// `text` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(text: *mut c_char, room: c_int, device: c_int) -> c_int {
    answer("cuDeviceGetName", Needs::Driver, || {
        check_device(device)?;
        // SAFETY: as the caller promised.
        unsafe { put_text(text, usize::try_from(room).unwrap_or(0), NAME) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceTotalMem_v2(bytes: Place<usize>, device: c_int) -> c_int {
    answer("cuDeviceTotalMem_v2", Needs::Driver, || {
        check_device(device)?;
        put(bytes, state().memory.total() as usize);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetAttribute(value: Place<c_int>, asked: c_int, device: c_int) -> c_int {
    answer("cuDeviceGetAttribute", Needs::Driver, || {
        check_device(device)?;
        put(value, attribute(asked));
        Ok(())
    })
}
