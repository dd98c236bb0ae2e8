//! Streams.

use super::answers::answer;
use crate::places::{Place, put};
use crate::state::state;
use crate::streams::is_blocking;
use std::ffi::{c_int, c_uint, c_void};

#[unsafe(no_mangle)]
extern "C" fn cudaStreamCreate(stream: Place<u64>) -> c_int {
    put(stream, state().streams.create(0, true));
    answer("cudaStreamCreate", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamCreateWithFlags(stream: Place<u64>, flags: c_uint) -> c_int {
    put(stream, state().streams.create(0, is_blocking(flags)));
    answer("cudaStreamCreateWithFlags", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamCreateWithPriority(stream: Place<u64>, flags: c_uint, priority: c_int) -> c_int {
    put(stream, state().streams.create(priority, is_blocking(flags)));
    answer("cudaStreamCreateWithPriority", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamDestroy(stream: u64) -> c_int {
    let destroyed = state().destroy_stream(stream);
    answer("cudaStreamDestroy", destroyed)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamGetPriority(stream: u64, priority: Place<c_int>) -> c_int {
    let found = state().streams.priority(stream);
    put(priority, found.unwrap_or(0));
    answer("cudaStreamGetPriority", found.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamQuery(stream: u64) -> c_int {
    let completed = state().query(stream);
    answer("cudaStreamQuery", completed)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamSynchronize(stream: u64) -> c_int {
    let synchronized = state().synchronize(stream);
    answer("cudaStreamSynchronize", synchronized)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamWaitEvent(stream: u64, event: u64, _flags: c_uint) -> c_int {
    let waits = state().streams.wait(stream, event);
    answer("cudaStreamWaitEvent", waits)
}

/// # Safety
/// `function` may be called with `data`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaLaunchHostFunc(
    stream: u64,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> c_int {
    let checked = state().before_work(stream);
    if checked.is_ok()
        && let Some(function) = function
    {
        // SAFETY: as the caller promised.
        unsafe { function(data) };
    }
    answer("cudaLaunchHostFunc", checked)
}

/// # Safety
/// `function` may be called with `data`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudaStreamAddCallback(
    stream: u64,
    function: Option<unsafe extern "C" fn(u64, c_int, *mut c_void)>,
    data: *mut c_void,
    _flags: c_uint,
) -> c_int {
    let checked = state().before_work(stream);
    if checked.is_ok()
        && let Some(function) = function
    {
        // SAFETY: as the caller promised.
        unsafe { function(stream, 0, data) };
    }
    answer("cudaStreamAddCallback", checked)
}
