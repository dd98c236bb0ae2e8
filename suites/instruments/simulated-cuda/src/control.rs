//! What a program that knows of the simulation may ask of it.

use crate::injection::{calls, failed};
use crate::log;
use crate::places::{Place, put, put_text};
use crate::state::state;
use std::ffi::{CStr, CString, c_char, c_int};

/// Whether events recorded from now on stay pending until they are waited for or completed.
#[unsafe(no_mangle)]
extern "C" fn simulated_cuda_hold_events(held: c_int) {
    state().streams.hold(held != 0);
}

/// Completes all pending events.
#[unsafe(no_mangle)]
extern "C" fn simulated_cuda_complete_events() {
    state().synchronize_all();
}

/// Bytes of device memory in use, in whole granules.
#[unsafe(no_mangle)]
extern "C" fn simulated_cuda_used() -> u64 {
    state().memory.used()
}

/// How many launches were recorded and not computed: since the first of them, values on the device are unreliable.
#[unsafe(no_mangle)]
extern "C" fn simulated_cuda_recorded() -> u64 {
    state().kernels.recorded().0
}

/// Writes the name of the last launch that was not computed, cut to `room` bytes with its closing zero: the length of
/// the whole name.
///
/// # Safety
/// `place` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn simulated_cuda_last_recorded(place: *mut c_char, room: usize) -> usize {
    let name = CString::new(state().kernels.recorded().1).unwrap_or_default();
    // SAFETY: as the caller promised.
    unsafe { put_text(place, room, &name) };
    name.as_bytes().len()
}

/// How many calls of the driver there were.
#[unsafe(no_mangle)]
extern "C" fn simulated_cuda_driver_calls() -> u64 {
    calls()
}

/// 1 where the call of the driver that the environment chose was reached and failed.
#[unsafe(no_mangle)]
extern "C" fn simulated_cuda_failed() -> u64 {
    u64::from(failed().is_some())
}

/// Writes the name of the call that failed, as `simulated_cuda_last_recorded` does.
///
/// # Safety
/// `place` is null or has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn simulated_cuda_failed_call(place: *mut c_char, room: usize) -> usize {
    let name = CString::new(failed().unwrap_or("")).unwrap_or_default();
    // SAFETY: as the caller promised.
    unsafe { put_text(place, room, &name) };
    name.as_bytes().len()
}

/// What is still there, as `State::left` says.
#[unsafe(no_mangle)]
extern "C" fn simulated_cuda_left(counts: Place<[u64; 6]>) {
    put(counts, state().left());
}

/// A call of a function that exists by name only, in one of the generated libraries: logs it and returns `answer`.
/// `computes` says that values are missing after it.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn simulated_cuda_stubbed(name: *const c_char, answer: c_int, computes: c_int) -> c_int {
    // SAFETY: as the caller promised.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    if computes != 0 {
        state().kernels.record(&name);
    }
    log::stubbed(&name, answer);
    answer
}
