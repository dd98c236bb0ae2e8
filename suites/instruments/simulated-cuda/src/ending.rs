//! What is told when the process ends: the call that failed, and what was not given back.

use crate::injection::{calls, failed};
use crate::settings::settings;
use crate::state::state;
use serde_json::json;
use std::io::Write;

/// Has it told at the process's end.
pub fn tell_at_end() {
    // SAFETY: the function may be called at any time, and this library stays until it was: it is loaded for good, or
    // calls it when it goes.
    unsafe { libc::atexit(tell) };
}

extern "C" fn tell() {
    if let Some(mut file) = settings().ended.as_ref() {
        let line = json!({ "calls": calls(), "failed": failed(), "left": state().left() });
        // A full disk must not stop the program that is watched.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
