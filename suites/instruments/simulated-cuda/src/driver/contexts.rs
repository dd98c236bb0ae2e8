//! Contexts. One that goes takes nothing with it: what the program left can still be counted.

use super::answers::{Needs, answer, release};
use crate::contexts::{PRIMARY, current, pop_current, push_current, set_current};
use crate::errors::Error;
use crate::places::{Place, put};
use crate::state::{check_device, state};
use std::ffi::{c_int, c_uint, c_void};

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxGetState(device: c_int, flags: Place<c_uint>, active: Place<c_int>) -> c_int {
    answer("cuDevicePrimaryCtxGetState", Needs::Driver, || {
        check_device(device)?;
        put(flags, 0);
        put(active, c_int::from(state().contexts.primary_is_active()));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(context: Place<u64>, device: c_int) -> c_int {
    answer("cuDevicePrimaryCtxRetain", Needs::Driver, || {
        check_device(device)?;
        state().contexts.retain_primary();
        put(context, PRIMARY);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int {
    release("cuDevicePrimaryCtxRelease_v2", Needs::Driver, 0, || {
        check_device(device)?;
        state().contexts.release_primary().map(|()| 0)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxCreate_v4(context: Place<u64>, _wanted: *const c_void, _flags: c_uint, device: c_int) -> c_int {
    answer("cuCtxCreate_v4", Needs::Driver, || {
        check_device(device)?;
        let context = context.ok_or(Error::INVALID_VALUE)?;
        let made = state().contexts.create();
        push_current(made);
        put(Some(context), made);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxDestroy_v2(context: u64) -> c_int {
    release("cuCtxDestroy_v2", Needs::Driver, 0, || {
        state().contexts.destroy(context)?;
        pop_current(context);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetCurrent(context: Place<u64>) -> c_int {
    answer("cuCtxGetCurrent", Needs::Driver, || {
        put(context, current());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: u64) -> c_int {
    answer("cuCtxSetCurrent", Needs::Driver, || {
        if context != 0 && !state().contexts.exists(context) {
            return Err(Error::INVALID_CONTEXT);
        }
        set_current(context);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSynchronize() -> c_int {
    answer("cuCtxSynchronize", Needs::Context, || {
        state().synchronize_all();
        Ok(())
    })
}
