//! Addresses and physical memory apart from each other.

use crate::errors::{Error, code};
use crate::log;
use crate::memory::GRANULE;
use crate::places::{Place, put};
use crate::state::state;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

/// `CUmemAccessDesc`: who may do what.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Access {
    kind: c_int,
    device: c_int,
    /// 0 nothing, 1 read, 3 read and write.
    flags: c_uint,
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAllocationGranularity(bytes: Place<usize>, _wanted: *const c_void, _option: c_int) -> c_int {
    put(bytes, GRANULE as usize);
    log::call("cuMemGetAllocationGranularity", 0, 0, 0);
    0
}

/// The address that a program would like is not looked at.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressReserve(
    address: Place<u64>,
    bytes: usize,
    alignment: usize,
    _wanted: u64,
    _flags: c_ulonglong,
) -> c_int {
    let got = state().memory.reserve(bytes as u64, alignment as u64);
    put(address, got.unwrap_or(0));
    let code = code(got.map(|_| ()));
    log::call("cuMemAddressReserve", got.unwrap_or(0), bytes as u64, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressFree(address: u64, bytes: usize) -> c_int {
    let code = code(state().memory.unreserve(address, bytes as u64));
    log::call("cuMemAddressFree", address, bytes as u64, code);
    code
}

/// In the log, the address of a handle is its number.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemCreate(handle: Place<u64>, bytes: usize, _wanted: *const c_void, _flags: c_ulonglong) -> c_int {
    let got = state().memory.create(bytes as u64);
    put(handle, got.unwrap_or(0));
    let code = code(got.map(|_| ()));
    log::call("cuMemCreate", got.unwrap_or(0), bytes as u64, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemRelease(handle: u64) -> c_int {
    let code = code(state().memory.release(handle));
    log::call("cuMemRelease", handle, 0, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemRetainAllocationHandle(handle: Place<u64>, address: u64) -> c_int {
    let got = state().memory.retain(address);
    put(handle, got.unwrap_or(0));
    let code = code(got.map(|_| ()));
    log::call("cuMemRetainAllocationHandle", address, 0, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, _flags: c_ulonglong) -> c_int {
    let mapped =
        if offset == 0 { state().memory.map(address, bytes as u64, handle) } else { Err(Error::INVALID_VALUE) };
    let code = code(mapped);
    log::call("cuMemMap", address, bytes as u64, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemUnmap(address: u64, bytes: usize) -> c_int {
    let code = code(state().memory.unmap(address, bytes as u64));
    log::call("cuMemUnmap", address, bytes as u64, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemSetAccess(address: u64, bytes: usize, access: Option<&Access>, count: usize) -> c_int {
    let access = access.filter(|access| count > 0 && access.kind == 1 && access.device == 0);
    let set = access.ok_or(Error::INVALID_VALUE).and_then(|access| {
        state().memory.set_access(address, bytes as u64, access.flags & 1 != 0, access.flags & 2 != 0)
    });
    let code = code(set);
    log::call("cuMemSetAccess", address, bytes as u64, code);
    code
}
