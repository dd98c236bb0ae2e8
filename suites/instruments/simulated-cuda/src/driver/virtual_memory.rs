//! Addresses and physical memory apart from each other.

use super::answers::{Needs, allocate, answer, answer_about, release};
use crate::errors::Error;
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
    answer("cuMemGetAllocationGranularity", Needs::Driver, || {
        put(bytes, GRANULE as usize);
        Ok(())
    })
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
    allocate("cuMemAddressReserve", Needs::Driver, address, bytes, || {
        state().memory.reserve(bytes as u64, alignment as u64)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressFree(address: u64, bytes: usize) -> c_int {
    release("cuMemAddressFree", Needs::Driver, address, || {
        state().memory.unreserve(address, bytes as u64).map(|()| bytes as u64)
    })
}

/// In the log, the address of a handle is its number.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemCreate(handle: Place<u64>, bytes: usize, _wanted: *const c_void, _flags: c_ulonglong) -> c_int {
    allocate("cuMemCreate", Needs::Driver, handle, bytes, || state().memory.create(bytes as u64))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemRelease(handle: u64) -> c_int {
    release("cuMemRelease", Needs::Driver, handle, || state().memory.release(handle).map(|()| 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemRetainAllocationHandle(handle: Place<u64>, address: u64) -> c_int {
    answer_about("cuMemRetainAllocationHandle", Needs::Driver, address, 0, || {
        let handle = handle.ok_or(Error::INVALID_VALUE)?;
        put(Some(handle), state().memory.retain(address)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, _flags: c_ulonglong) -> c_int {
    answer_about("cuMemMap", Needs::Driver, address, bytes as u64, || {
        if offset != 0 {
            return Err(Error::INVALID_VALUE);
        }
        state().memory.map(address, bytes as u64, handle)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemUnmap(address: u64, bytes: usize) -> c_int {
    release("cuMemUnmap", Needs::Driver, address, || state().unmap(address, bytes as u64).map(|()| bytes as u64))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemSetAccess(address: u64, bytes: usize, access: Option<&Access>, count: usize) -> c_int {
    answer_about("cuMemSetAccess", Needs::Driver, address, bytes as u64, || {
        let known = access.filter(|access| count > 0 && access.kind == 1 && access.device == 0);
        let flags = known.ok_or(Error::INVALID_VALUE)?.flags;
        state().set_access(address, bytes as u64, flags & 1 != 0, flags & 2 != 0)
    })
}
