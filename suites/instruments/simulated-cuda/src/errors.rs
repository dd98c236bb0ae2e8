//! CUDA's error codes, as far as they are answered here.

use std::ffi::{CStr, c_int};

/// A code that is not success. The runtime and the driver share these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub c_int);

impl Error {
    pub const INVALID_VALUE: Error = Error(1);
    pub const OUT_OF_MEMORY: Error = Error(2);
    pub const NOT_INITIALIZED: Error = Error(3);
    pub const INVALID_SYMBOL: Error = Error(13);
    pub const MISSING_CONFIGURATION: Error = Error(52);
    pub const INVALID_DEVICE_FUNCTION: Error = Error(98);
    pub const INVALID_DEVICE: Error = Error(101);
    pub const INVALID_IMAGE: Error = Error(200);
    pub const INVALID_CONTEXT: Error = Error(201);
    pub const INVALID_PTX: Error = Error(218);
    pub const INVALID_RESOURCE_HANDLE: Error = Error(400);
    pub const ILLEGAL_STATE: Error = Error(401);
    pub const NOT_FOUND: Error = Error(500);
    pub const NOT_READY: Error = Error(600);
    pub const ILLEGAL_ADDRESS: Error = Error(700);
    pub const CONTEXT_IS_DESTROYED: Error = Error(709);
    pub const HOST_MEMORY_ALREADY_REGISTERED: Error = Error(712);
    pub const HOST_MEMORY_NOT_REGISTERED: Error = Error(713);
    pub const MISALIGNED_ADDRESS: Error = Error(716);
    pub const NOT_SUPPORTED: Error = Error(801);
    pub const CAPTURE_UNSUPPORTED: Error = Error(900);
    pub const UNKNOWN: Error = Error(999);
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

static SPELLINGS: [Spelling; 23] = [
    spelling(0, c"cudaSuccess", c"CUDA_SUCCESS", c"no error"),
    spelling(1, c"cudaErrorInvalidValue", c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    spelling(2, c"cudaErrorMemoryAllocation", c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    spelling(3, c"cudaErrorInitializationError", c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
    spelling(13, c"cudaErrorInvalidSymbol", c"CUDA_ERROR_UNKNOWN", c"invalid device symbol"),
    spelling(52, c"cudaErrorMissingConfiguration", c"CUDA_ERROR_UNKNOWN", c"launch without a configuration"),
    spelling(98, c"cudaErrorInvalidDeviceFunction", c"CUDA_ERROR_UNKNOWN", c"invalid device function"),
    spelling(101, c"cudaErrorInvalidDevice", c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    spelling(200, c"cudaErrorInvalidKernelImage", c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid"),
    spelling(201, c"cudaErrorDeviceUninitialized", c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context"),
    spelling(218, c"cudaErrorInvalidPtx", c"CUDA_ERROR_INVALID_PTX", c"the PTX text is invalid"),
    spelling(400, c"cudaErrorInvalidResourceHandle", c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle"),
    spelling(401, c"cudaErrorIllegalState", c"CUDA_ERROR_ILLEGAL_STATE", c"the operation is not allowed in this state"),
    spelling(500, c"cudaErrorSymbolNotFound", c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
    spelling(600, c"cudaErrorNotReady", c"CUDA_ERROR_NOT_READY", c"device not ready"),
    spelling(700, c"cudaErrorIllegalAddress", c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access"),
    spelling(709, c"cudaErrorContextIsDestroyed", c"CUDA_ERROR_CONTEXT_IS_DESTROYED", c"the context is destroyed"),
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
    spelling(716, c"cudaErrorMisalignedAddress", c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address"),
    spelling(801, c"cudaErrorNotSupported", c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported"),
    spelling(
        900,
        c"cudaErrorStreamCaptureUnsupported",
        c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        c"operation not permitted when stream is capturing",
    ),
    spelling(999, c"cudaErrorUnknown", c"CUDA_ERROR_UNKNOWN", c"unknown error"),
];
