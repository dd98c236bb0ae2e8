//! Streams.

use super::answers::{Needs, answer, make, release};
use crate::errors::Error;
use crate::places::Place;
use crate::state::state;
use crate::streams::is_blocking;
use std::ffi::{c_int, c_uint};

const NON_BLOCKING: c_uint = 1;

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreate(stream: Place<u64>, flags: c_uint) -> c_int {
    make("cuStreamCreate", stream, || create(flags, 0))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreateWithPriority(stream: Place<u64>, flags: c_uint, priority: c_int) -> c_int {
    make("cuStreamCreateWithPriority", stream, || create(flags, priority))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(stream: u64) -> c_int {
    release("cuStreamDestroy_v2", Needs::Context, 0, || state().destroy_stream(stream).map(|()| 0))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamSynchronize(stream: u64) -> c_int {
    answer("cuStreamSynchronize", Needs::Context, || state().synchronize(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamQuery(stream: u64) -> c_int {
    answer("cuStreamQuery", Needs::Context, || state().query(stream))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamWaitEvent(stream: u64, event: u64, _flags: c_uint) -> c_int {
    answer("cuStreamWaitEvent", Needs::Context, || state().streams.wait(stream, event))
}

fn create(flags: c_uint, priority: c_int) -> Result<u64, Error> {
    if flags > NON_BLOCKING {
        return Err(Error::INVALID_VALUE);
    }
    Ok(state().streams.create(priority, is_blocking(flags)))
}
