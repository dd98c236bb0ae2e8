//! CUDA's error codes, as far as they are answered here.

use std::ffi::{CStr, c_int};

/// A code that is not success. The runtime and the driver share these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub c_int);

impl Error {
    pub const INVALID_VALUE: Error = Error(1);
    pub const OUT_OF_MEMORY: Error = Error(2);
    pub const INVALID_SYMBOL: Error = Error(13);
    pub const MISSING_CONFIGURATION: Error = Error(52);
    pub const INVALID_DEVICE_FUNCTION: Error = Error(98);
    pub const INVALID_DEVICE: Error = Error(101);
    pub const INVALID_RESOURCE_HANDLE: Error = Error(400);
    pub const ILLEGAL_STATE: Error = Error(401);
    pub const NOT_READY: Error = Error(600);
    pub const HOST_MEMORY_ALREADY_REGISTERED: Error = Error(712);
    pub const HOST_MEMORY_NOT_REGISTERED: Error = Error(713);
    pub const NOT_SUPPORTED: Error = Error(801);
    pub const CAPTURE_UNSUPPORTED: Error = Error(900);
}

/// The code of a result: 0 for success.
pub fn code(result: Result<(), Error>) -> c_int {
    result.map_or_else(|error| error.0, |()| 0)
}

/// What is said about one code.
pub struct Spelling {
    code: c_int,
    pub runtime: &'static CStr,
    pub driver: &'static CStr,
    pub text: &'static CStr,
}

const fn spelling(code: c_int, runtime: &'static CStr, driver: &'static CStr, text: &'static CStr) -> Spelling {
    Spelling { code, runtime, driver, text }
}

/// The names and the text of a code, where it is one of those answered here.
pub fn spell(code: c_int) -> Option<&'static Spelling> {
    SPELLINGS.iter().find(|spelling| spelling.code == code)
}

static SPELLINGS: [Spelling; 14] = [
    spelling(0, c"cudaSuccess", c"CUDA_SUCCESS", c"no error"),
    spelling(1, c"cudaErrorInvalidValue", c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    spelling(2, c"cudaErrorMemoryAllocation", c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    spelling(13, c"cudaErrorInvalidSymbol", c"CUDA_ERROR_UNKNOWN", c"invalid device symbol"),
    spelling(52, c"cudaErrorMissingConfiguration", c"CUDA_ERROR_UNKNOWN", c"launch without a configuration"),
    spelling(98, c"cudaErrorInvalidDeviceFunction", c"CUDA_ERROR_UNKNOWN", c"invalid device function"),
    spelling(101, c"cudaErrorInvalidDevice", c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    spelling(400, c"cudaErrorInvalidResourceHandle", c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle"),
    spelling(401, c"cudaErrorIllegalState", c"CUDA_ERROR_ILLEGAL_STATE", c"the operation is not allowed in this state"),
    spelling(600, c"cudaErrorNotReady", c"CUDA_ERROR_NOT_READY", c"device not ready"),
    spelling(
        712,
        c"cudaErrorHostMemoryAlreadyRegistered",
        c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        c"host memory is registered already",
    ),
    spelling(
        713,
        c"cudaErrorHostMemoryNotRegistered",
        c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
        c"host memory is not registered",
    ),
    spelling(801, c"cudaErrorNotSupported", c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported"),
    spelling(
        900,
        c"cudaErrorStreamCaptureUnsupported",
        c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        c"operation not permitted when stream is capturing",
    ),
];
