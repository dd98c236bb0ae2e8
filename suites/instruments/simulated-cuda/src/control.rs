//! What a program that knows of the simulation may ask of it.

use crate::log;
use crate::places::put_text;
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
    state().streams.synchronize_all();
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
