//! Events.

use super::answers::answer;
use crate::errors::Error;
use crate::places::{Place, put};
use crate::state::state;
use std::ffi::{c_int, c_uint};

#[unsafe(no_mangle)]
extern "C" fn cudaEventCreate(event: Place<u64>) -> c_int {
    put(event, state().streams.create_event());
    answer("cudaEventCreate", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventCreateWithFlags(event: Place<u64>, _flags: c_uint) -> c_int {
    put(event, state().streams.create_event());
    answer("cudaEventCreateWithFlags", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventDestroy(event: u64) -> c_int {
    let destroyed = state().streams.destroy_event(event);
    answer("cudaEventDestroy", destroyed)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventRecord(event: u64, stream: u64) -> c_int {
    let recorded = state().streams.record(event, stream);
    answer("cudaEventRecord", recorded)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventRecordWithFlags(event: u64, stream: u64, _flags: c_uint) -> c_int {
    let recorded = state().streams.record(event, stream);
    answer("cudaEventRecordWithFlags", recorded)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventQuery(event: u64) -> c_int {
    let completed = state().query_event(event);
    answer("cudaEventQuery", completed)
}

#[unsafe(no_mangle)]
extern "C" fn cudaEventSynchronize(event: u64) -> c_int {
    let synchronized = state().synchronize_event(event);
    answer("cudaEventSynchronize", synchronized)
}

/// Refused: there is no device whose time could be told.
#[unsafe(no_mangle)]
extern "C" fn cudaEventElapsedTime(_milliseconds: Place<f32>, _start: u64, _end: u64) -> c_int {
    answer("cudaEventElapsedTime", Err(Error::NOT_SUPPORTED))
}
