//! Memory of the device and pinned memory of the host.

use super::answers::{Needs, allocate, answer, answer_about, release};
use crate::errors::Error;
use crate::memory::Owner;
use crate::places::{Place, put};
use crate::state::state;
use std::ffi::{c_int, c_uint};

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE` and its values.
const MEMORY_TYPE: c_int = 2;
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;

#[unsafe(no_mangle)]
extern "C" fn cuMemGetInfo_v2(free: Place<usize>, total: Place<usize>) -> c_int {
    answer("cuMemGetInfo_v2", Needs::Context, || {
        let memory = &state().memory;
        put(free, (memory.total() - memory.used()) as usize);
        put(total, memory.total() as usize);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAlloc_v2(address: Place<u64>, bytes: usize) -> c_int {
    allocate("cuMemAlloc_v2", Needs::Context, address, bytes, || {
        some(bytes)?;
        state().memory.allocate(bytes as u64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    release("cuMemFree_v2", Needs::Context, address, || state().free(address))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostAlloc(address: Place<u64>, bytes: usize, _flags: c_uint) -> c_int {
    allocate("cuMemHostAlloc", Needs::Context, address, bytes, || {
        some(bytes)?;
        state().memory.allocate_pinned(bytes as u64)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeHost(address: u64) -> c_int {
    release("cuMemFreeHost", Needs::Context, address, || state().free_pinned(address))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostRegister_v2(address: u64, bytes: usize, _flags: c_uint) -> c_int {
    // The address is told by the caller, not to it.
    let mut known = std::mem::MaybeUninit::uninit();
    allocate("cuMemHostRegister_v2", Needs::Context, Some(&mut known), bytes, || {
        state().memory.register(address, bytes as u64).map(|()| address)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostUnregister(address: u64) -> c_int {
    release("cuMemHostUnregister", Needs::Context, address, || state().unregister(address).map(|()| 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAddressRange_v2(base: Place<u64>, bytes: Place<usize>, address: u64) -> c_int {
    answer_about("cuMemGetAddressRange_v2", Needs::Context, address, 0, || {
        let (start, length, _) = state().memory.find(address).ok_or(Error::INVALID_VALUE)?;
        put(base, start);
        put(bytes, length as usize);
        Ok(())
    })
}

/// Tells the type of memory only. Memory that CUDA does not know is no value that it could tell of.
#[unsafe(no_mangle)]
extern "C" fn cuPointerGetAttribute(value: Place<c_uint>, asked: c_int, address: u64) -> c_int {
    answer_about("cuPointerGetAttribute", Needs::Context, address, 0, || {
        if asked != MEMORY_TYPE {
            return Err(Error::NOT_SUPPORTED);
        }
        let (_, _, owner) = state().memory.find(address).ok_or(Error::INVALID_VALUE)?;
        put(value, if owner == Owner::Device { DEVICE } else { HOST });
        Ok(())
    })
}

fn some(bytes: usize) -> Result<(), Error> {
    if bytes == 0 { Err(Error::INVALID_VALUE) } else { Ok(()) }
}
