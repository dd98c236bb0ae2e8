//! What a program asks about memory, and writes of single values.

use crate::backing::Backing;
use crate::copies::fill;
use crate::errors::{Error, code};
use crate::log;
use crate::places::{Place, put};
use crate::state::state;
use std::ffi::{c_int, c_uint};

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAddressRange_v2(base: Place<u64>, bytes: Place<usize>, address: u64) -> c_int {
    let found = state().memory.find(address).ok_or(Error::INVALID_VALUE);
    if let Ok((start, length, _)) = found {
        put(base, start);
        put(bytes, length as usize);
    }
    let code = code(found.map(|_| ()));
    log::call("cuMemGetAddressRange_v2", address, 0, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD32Async(address: u64, value: c_uint, count: usize, _stream: u64) -> c_int {
    let code = code(write(address, value, count as u64));
    log::call("cuMemsetD32Async", address, 4 * count as u64, code);
    code
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue32_v2(_stream: u64, address: u64, value: c_uint, _flags: c_uint) -> c_int {
    let code = code(write(address, value, 1));
    log::call("cuStreamWriteValue32_v2", address, 4, code);
    code
}

fn write(address: u64, value: u32, count: u64) -> Result<(), Error> {
    let values = {
        let memory = &state().memory;
        memory.pieces(address, 4 * count)?;
        matches!(memory.backing(), Backing::Host(_))
    };
    if values {
        fill(address, &value.to_le_bytes(), 4 * count);
    }
    Ok(())
}
