//! How the driver answers: what a call needs, whether it is the one that fails, and its code.

use crate::contexts::check_current;
use crate::errors::{Error, code};
use crate::injection::chosen;
use crate::log;
use crate::places::{Place, put};
use crate::state::state;
use std::ffi::c_int;

/// What must be there before a call.
#[derive(Clone, Copy)]
pub enum Needs {
    Nothing,
    /// `cuInit` was called.
    Driver,
    /// The thread has a current context.
    Context,
}

fn check(needs: Needs) -> Result<(), Error> {
    match needs {
        Needs::Nothing => Ok(()),
        Needs::Driver => state().contexts.check_initialized(),
        Needs::Context => check_current(),
    }
}

/// The answer to a call that is about no memory.
pub fn answer(call: &'static str, needs: Needs, work: impl FnOnce() -> Result<(), Error>) -> c_int {
    answer_about(call, needs, 0, 0, work)
}

/// The answer to a call that is about `bytes` at `address`.
pub fn answer_about(
    call: &'static str,
    needs: Needs,
    address: u64,
    bytes: u64,
    work: impl FnOnce() -> Result<(), Error>,
) -> c_int {
    let done = if chosen(call) { Err(Error::UNKNOWN) } else { check(needs).and_then(|()| work()) };
    told(call, address, bytes, done)
}

/// The answer to a call that makes something and tells its handle.
pub fn make(call: &'static str, handle: Place<u64>, work: impl FnOnce() -> Result<u64, Error>) -> c_int {
    answer(call, Needs::Context, || {
        // Before anything is made that nobody could give back.
        let handle = handle.ok_or(Error::INVALID_VALUE)?;
        put(Some(handle), work()?);
        Ok(())
    })
}

/// The answer to a call that allocates `bytes` and tells their address.
pub fn allocate(
    call: &'static str,
    needs: Needs,
    address: Place<u64>,
    bytes: usize,
    work: impl FnOnce() -> Result<u64, Error>,
) -> c_int {
    // Not out of memory: that a program may make good by giving something back, and then no error is left to see.
    let allocated = if chosen(call) {
        Err(Error::UNKNOWN)
    } else {
        check(needs).and_then(|()| if address.is_some() { work() } else { Err(Error::INVALID_VALUE) })
    };
    if let Ok(allocated) = allocated {
        put(address, allocated);
    }
    told(call, allocated.unwrap_or(0), bytes as u64, allocated.map(|_| ()))
}

/// The answer to a call that gives something back, which says how many bytes; it does so even where it is the one that
/// fails.
pub fn release(call: &'static str, needs: Needs, address: u64, work: impl FnOnce() -> Result<u64, Error>) -> c_int {
    let chosen = chosen(call);
    let released = check(needs).and_then(|()| work());
    let bytes = released.unwrap_or(0);
    told(call, address, bytes, if chosen { Err(Error::UNKNOWN) } else { released.map(|_| ()) })
}

fn told(call: &str, address: u64, bytes: u64, result: Result<(), Error>) -> c_int {
    let code = code(result);
    log::call(call, address, bytes, code);
    code
}
