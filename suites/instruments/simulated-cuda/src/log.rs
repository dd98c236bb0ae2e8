//! The log of calls: one JSON object a line.

use crate::settings::settings;
use serde_json::{Value, json};
use std::ffi::c_int;
use std::io::Write;

/// Logs a call: the address and the size in bytes that it is about (0 where it is about none) and its result.
pub fn call(name: &str, address: u64, bytes: u64, result: c_int) {
    write(|| json!({ "call": name, "address": address, "size": bytes, "result": result }));
}

/// Logs the launch of a kernel.
pub fn launch(name: &str, computed: bool) {
    write(|| json!({ "call": "launch", "kernel": name, "computed": computed }));
}

/// Logs the call of a function that exists by name only.
pub fn stubbed(name: &str, result: c_int) {
    write(|| json!({ "call": name, "modelled": false, "result": result }));
}

fn write(line: impl FnOnce() -> Value) {
    if let Some(mut file) = settings().log.as_ref() {
        // A line is written at once, so that threads and processes do not mix theirs. A full disk must not stop the
        // program that is watched.
        let _ = file.write_all(format!("{}\n", line()).as_bytes());
    }
}
