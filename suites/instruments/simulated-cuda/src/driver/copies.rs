//! Copies and fills.

use super::answers::{Needs, answer_about};
use crate::copies::{copy_now, copy_on, set};
use crate::errors::Error;
use crate::state::state;
use std::ffi::{c_int, c_uchar, c_uint};

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) -> c_int {
    answer_about("cuMemcpyHtoD_v2", Needs::Context, to, bytes as u64, || {
        check(to, from, bytes)?;
        copy_now(to, from, bytes as u64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) -> c_int {
    answer_about("cuMemcpyDtoH_v2", Needs::Context, to, bytes as u64, || {
        check(from, to, bytes)?;
        copy_now(to, from, bytes as u64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) -> c_int {
    answer_about("cuMemcpyHtoDAsync_v2", Needs::Context, to, bytes as u64, || {
        check(to, from, bytes)?;
        on_stream(stream, "cuMemcpyHtoDAsync_v2", || copy_on(stream, to, from, bytes as u64))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) -> c_int {
    answer_about("cuMemcpyDtoHAsync_v2", Needs::Context, to, bytes as u64, || {
        check(from, to, bytes)?;
        on_stream(stream, "cuMemcpyDtoHAsync_v2", || copy_on(stream, to, from, bytes as u64))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) -> c_int {
    answer_about("cuMemcpyDtoDAsync_v2", Needs::Context, to, bytes as u64, || {
        state().memory.pieces(to, bytes as u64)?;
        check(from, to, bytes)?;
        on_stream(stream, "cuMemcpyDtoDAsync_v2", || copy_on(stream, to, from, bytes as u64))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(address: u64, value: c_uchar, count: usize, stream: u64) -> c_int {
    fill("cuMemsetD8Async", stream, address, &[value], count)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD32Async(address: u64, value: c_uint, count: usize, stream: u64) -> c_int {
    fill("cuMemsetD32Async", stream, address, &value.to_le_bytes(), count)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue32_v2(stream: u64, address: u64, value: c_uint, _flags: c_uint) -> c_int {
    fill("cuStreamWriteValue32_v2", stream, address, &value.to_le_bytes(), 1)
}

fn fill(call: &'static str, stream: u64, address: u64, pattern: &[u8], count: usize) -> c_int {
    let width = pattern.len() as u64;
    let bytes = (count as u64).checked_mul(width);
    answer_about(call, Needs::Context, address, bytes.unwrap_or(0), || {
        let bytes = bytes.filter(|_| address.is_multiple_of(width)).ok_or(Error::INVALID_VALUE)?;
        on_stream(stream, call, || set(stream, address, pattern, bytes, false))
    })
}

/// Checks that one side is device memory that is there, and that there is another side.
fn check(device: u64, other: u64, bytes: usize) -> Result<(), Error> {
    if other == 0 && bytes > 0 {
        return Err(Error::INVALID_VALUE);
    }
    state().memory.pieces(device, bytes as u64).map(|_| ())
}

/// Does work on a stream, or records it where the stream is being captured.
fn on_stream(stream: u64, call: &str, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    if state().captured(stream, call) { Ok(()) } else { work() }
}
