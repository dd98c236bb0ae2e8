//! The driver's functions by name.

use super::contexts::{cuCtxGetCurrent, cuCtxSetCurrent};
use super::copies::{cuMemsetD32Async, cuStreamWriteValue32_v2};
use super::device::{cuDeviceGet, cuDeviceGetAttribute, cuDeviceTotalMem_v2};
use super::errors::{cuGetErrorName, cuGetErrorString};
use super::memory::cuMemGetAddressRange_v2;
use super::virtual_memory::{cuMemAddressFree, cuMemAddressReserve, cuMemCreate, cuMemGetAllocationGranularity};
use super::virtual_memory::{cuMemMap, cuMemRelease, cuMemRetainAllocationHandle, cuMemSetAccess, cuMemUnmap};
use crate::errors::Error;
use crate::log;
use std::ffi::{CStr, c_int, c_void};

/// Functions without which PyTorch does not start, for sharing memory between processes.
const REFUSED: [&[u8]; 3] =
    [b"cuMemExportToShareableHandle", b"cuMemImportFromShareableHandle", b"cuMemGetAllocationPropertiesFromHandle"];

/// The function that a program gets for a name without a version.
pub fn entry_point(name: &CStr) -> Option<*const c_void> {
    let function: *const c_void = match name.to_bytes() {
        b"cuCtxGetCurrent" => cuCtxGetCurrent as *const c_void,
        b"cuCtxSetCurrent" => cuCtxSetCurrent as *const c_void,
        b"cuDeviceGet" => cuDeviceGet as *const c_void,
        b"cuDeviceGetAttribute" => cuDeviceGetAttribute as *const c_void,
        b"cuDeviceTotalMem" => cuDeviceTotalMem_v2 as *const c_void,
        b"cuGetErrorName" => cuGetErrorName as *const c_void,
        b"cuGetErrorString" => cuGetErrorString as *const c_void,
        b"cuMemAddressFree" => cuMemAddressFree as *const c_void,
        b"cuMemAddressReserve" => cuMemAddressReserve as *const c_void,
        b"cuMemCreate" => cuMemCreate as *const c_void,
        b"cuMemGetAddressRange" => cuMemGetAddressRange_v2 as *const c_void,
        b"cuMemGetAllocationGranularity" => cuMemGetAllocationGranularity as *const c_void,
        b"cuMemMap" => cuMemMap as *const c_void,
        b"cuMemRelease" => cuMemRelease as *const c_void,
        b"cuMemRetainAllocationHandle" => cuMemRetainAllocationHandle as *const c_void,
        b"cuMemSetAccess" => cuMemSetAccess as *const c_void,
        b"cuMemUnmap" => cuMemUnmap as *const c_void,
        b"cuMemsetD32Async" => cuMemsetD32Async as *const c_void,
        b"cuStreamWriteValue32" => cuStreamWriteValue32_v2 as *const c_void,
        name if REFUSED.contains(&name) => refuse as *const c_void,
        _ => return None,
    };
    Some(function)
}

extern "C" fn refuse() -> c_int {
    log::stubbed("a driver function that is not modelled", Error::NOT_SUPPORTED.0);
    Error::NOT_SUPPORTED.0
}
