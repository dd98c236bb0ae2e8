//! What the driver says of a code.

use crate::errors::{Error, Spelling, code, spell};
use crate::places::{Place, put};
use std::ffi::{CStr, c_char, c_int};

#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorString(error: c_int, text: Place<*const c_char>) -> c_int {
    spelled(error, text, |spelling| spelling.text)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorName(error: c_int, text: Place<*const c_char>) -> c_int {
    spelled(error, text, |spelling| spelling.driver)
}

fn spelled(error: c_int, text: Place<*const c_char>, part: fn(&Spelling) -> &'static CStr) -> c_int {
    let found = spell(error).map(part);
    put(text, found.map_or(std::ptr::null(), CStr::as_ptr));
    code(found.map(|_| ()).ok_or(Error::INVALID_VALUE))
}
