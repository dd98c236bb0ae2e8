//! Counting the calls of the driver, and the one that fails because the environment asks for it.

use crate::settings::settings;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

static CALLS: AtomicU64 = AtomicU64::new(0);
static FAILED: OnceLock<&str> = OnceLock::new();

/// Counts a call of the driver: whether it is the one that fails.
pub fn chosen(call: &'static str) -> bool {
    let number = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    let chosen = settings().fail == Some(number);
    if chosen {
        // Each number is counted once, so that nothing is set already.
        let _ = FAILED.set(call);
    }
    chosen
}

/// How many calls of the driver there were.
pub fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// The name of the call that failed, where it was reached.
pub fn failed() -> Option<&'static str> {
    FAILED.get().copied()
}
