//! Memory of the device, pinned memory of the host, copies.

use super::answers::{answer, answer_about};
use crate::copies::{copy_now, copy_on, set};
use crate::errors::Error;
use crate::kernels::variable;
use crate::memory::Owner;
use crate::places::{Place, put};
use crate::state::state;
use crate::streams::LEGACY;
use std::ffi::{c_int, c_uint};

/// `cudaPointerAttributes` of CUDA 13.
#[repr(C)]
struct PointerAttributes {
    kind: c_int,
    device: c_int,
    device_pointer: u64,
    host_pointer: u64,
    reserved: [u64; 8],
}

const UNREGISTERED: (c_int, c_int) = (0, -2);
const PINNED: (c_int, c_int) = (1, 0);
const DEVICE: (c_int, c_int) = (2, 0);

#[unsafe(no_mangle)]
extern "C" fn cudaMalloc(pointer: Place<u64>, bytes: usize) -> c_int {
    let got = state().memory.allocate(bytes as u64);
    put(pointer, got.unwrap_or(0));
    answer_about("cudaMalloc", got.unwrap_or(0), bytes as u64, got.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFree(pointer: u64) -> c_int {
    let freed = if pointer == 0 { Ok(0) } else { state().free(pointer) };
    answer_about("cudaFree", pointer, freed.unwrap_or(0), freed.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemGetInfo(free: Place<usize>, total: Place<usize>) -> c_int {
    {
        let memory = &state().memory;
        put(free, (memory.total() - memory.used()) as usize);
        put(total, memory.total() as usize);
    }
    answer("cudaMemGetInfo", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostAlloc(pointer: Place<u64>, bytes: usize, _flags: c_uint) -> c_int {
    let got = state().memory.allocate_pinned(bytes as u64);
    put(pointer, got.unwrap_or(0));
    answer_about("cudaHostAlloc", got.unwrap_or(0), bytes as u64, got.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeHost(pointer: u64) -> c_int {
    let freed = if pointer == 0 { Ok(0) } else { state().free_pinned(pointer) };
    answer_about("cudaFreeHost", pointer, freed.unwrap_or(0), freed.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostRegister(pointer: u64, bytes: usize, _flags: c_uint) -> c_int {
    let registered = state().memory.register(pointer, bytes as u64);
    answer_about("cudaHostRegister", pointer, bytes as u64, registered)
}

#[unsafe(no_mangle)]
extern "C" fn cudaHostUnregister(pointer: u64) -> c_int {
    let forgotten = state().unregister(pointer);
    answer_about("cudaHostUnregister", pointer, 0, forgotten)
}

#[unsafe(no_mangle)]
extern "C" fn cudaPointerGetAttributes(attributes: Place<PointerAttributes>, pointer: u64) -> c_int {
    let owner = state().memory.find(pointer).map(|(_, _, owner)| owner);
    let ((kind, device), device_pointer, host_pointer) = match owner {
        Some(Owner::Device) => (DEVICE, pointer, 0),
        Some(Owner::Pinned) => (PINNED, pointer, pointer),
        None => (UNREGISTERED, 0, pointer),
    };
    put(attributes, PointerAttributes { kind, device, device_pointer, host_pointer, reserved: [0; 8] });
    answer_about("cudaPointerGetAttributes", pointer, 0, Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy(to: u64, from: u64, bytes: usize, _kind: c_int) -> c_int {
    answer_about("cudaMemcpy", to, bytes as u64, copy_now(to, from, bytes as u64))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyAsync(to: u64, from: u64, bytes: usize, _kind: c_int, stream: u64) -> c_int {
    answer_about("cudaMemcpyAsync", to, bytes as u64, copied(stream, to, from, bytes))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyPeerAsync(
    to: u64,
    _to_device: c_int,
    from: u64,
    _from_device: c_int,
    bytes: usize,
    stream: u64,
) -> c_int {
    answer_about("cudaMemcpyPeerAsync", to, bytes as u64, copied(stream, to, from, bytes))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpy2DAsync(
    to: u64,
    to_pitch: usize,
    from: u64,
    from_pitch: usize,
    width: usize,
    height: usize,
    _kind: c_int,
    stream: u64,
) -> c_int {
    let rows = (0..height)
        .try_for_each(|row| copied(stream, to + (row * to_pitch) as u64, from + (row * from_pitch) as u64, width));
    answer_about("cudaMemcpy2DAsync", to, (width * height) as u64, rows)
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemset(to: u64, value: c_int, bytes: usize) -> c_int {
    answer_about("cudaMemset", to, bytes as u64, set(LEGACY, to, &[value as u8], bytes as u64, true))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemsetAsync(to: u64, value: c_int, bytes: usize, stream: u64) -> c_int {
    let done = if state().captured(stream, "cudaMemsetAsync") {
        Ok(())
    } else {
        set(stream, to, &[value as u8], bytes as u64, true)
    };
    answer_about("cudaMemsetAsync", to, bytes as u64, done)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetSymbolAddress(pointer: Place<u64>, symbol: u64) -> c_int {
    let found = variable(symbol);
    put(pointer, found.map_or(0, |(address, _)| address));
    answer("cudaGetSymbolAddress", found.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaMemcpyToSymbol(symbol: u64, from: u64, bytes: usize, offset: usize, _kind: c_int) -> c_int {
    let done = variable(symbol).and_then(|(address, size)| {
        let fits = bytes.checked_add(offset).is_some_and(|end| end as u64 <= size);
        if fits { copy_now(address + offset as u64, from, bytes as u64) } else { Err(Error::INVALID_VALUE) }
    });
    answer_about("cudaMemcpyToSymbol", symbol, bytes as u64, done)
}

fn copied(stream: u64, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
    if state().captured(stream, "cudaMemcpyAsync") { Ok(()) } else { copy_on(stream, to, from, bytes as u64) }
}
