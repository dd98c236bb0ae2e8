//! Events.

use super::answers::{Needs, answer, make, release};
use crate::errors::Error;
use crate::places::Place;
use crate::state::state;
use std::ffi::{c_int, c_uint};

#[unsafe(no_mangle)]
extern "C" fn cuEventCreate(event: Place<u64>, _flags: c_uint) -> c_int {
    make("cuEventCreate", event, || Ok(state().streams.create_event()))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventDestroy_v2(event: u64) -> c_int {
    release("cuEventDestroy_v2", Needs::Context, 0, || state().streams.destroy_event(event).map(|()| 0))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventRecord(event: u64, stream: u64) -> c_int {
    answer("cuEventRecord", Needs::Context, || state().streams.record(event, stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventQuery(event: u64) -> c_int {
    answer("cuEventQuery", Needs::Context, || state().query_event(event))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventSynchronize(event: u64) -> c_int {
    answer("cuEventSynchronize", Needs::Context, || state().synchronize_event(event))
}

/// Refused: there is no device whose time could be told.
#[unsafe(no_mangle)]
extern "C" fn cuEventElapsedTime(_milliseconds: Place<f32>, _start: u64, _end: u64) -> c_int {
    answer("cuEventElapsedTime", Needs::Context, || Err(Error::NOT_SUPPORTED))
}

/// Refused, as `cuEventElapsedTime`.
#[unsafe(no_mangle)]
extern "C" fn cuEventElapsedTime_v2(_milliseconds: Place<f32>, _start: u64, _end: u64) -> c_int {
    answer("cuEventElapsedTime_v2", Needs::Context, || Err(Error::NOT_SUPPORTED))
}
