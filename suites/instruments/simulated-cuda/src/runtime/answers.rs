//! How the runtime answers: a code, remembered as this thread's last error.

use crate::contexts::enter_runtime;
use crate::errors::{Error, code, spell};
use crate::log;
use std::cell::Cell;
use std::ffi::{c_char, c_int};

thread_local! {
    static LAST: Cell<c_int> = const { Cell::new(0) };
}

/// The answer to a call that is about `bytes` at `address`.
pub fn answer_about(call: &str, address: u64, bytes: u64, result: Result<(), Error>) -> c_int {
    enter_runtime();
    let code = code(result);
    log::call(call, address, bytes, code);
    if code != 0 {
        // Where the thread is ending and has no last error any more, nobody can ask for it.
        let _ = LAST.try_with(|last| last.set(code));
    }
    code
}

/// The answer to a call that is about no memory.
pub fn answer(call: &str, result: Result<(), Error>) -> c_int {
    answer_about(call, 0, 0, result)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> c_int {
    let last = LAST.try_with(Cell::take).unwrap_or(0);
    log::call("cudaGetLastError", 0, 0, last);
    last
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> c_int {
    let last = LAST.try_with(Cell::get).unwrap_or(0);
    log::call("cudaPeekAtLastError", 0, 0, last);
    last
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(error: c_int) -> *const c_char {
    spell(error).map_or(c"cudaErrorUnknown", |spelling| spelling.runtime).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(error: c_int) -> *const c_char {
    spell(error).map_or(c"unknown error", |spelling| spelling.text).as_ptr()
}
