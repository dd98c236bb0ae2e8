//! Loaded into a process with `LD_PRELOAD`, counts its heap in a file that another process can read.
//!
//! Nothing in it allocates, locks or keeps thread-local state: it runs inside `malloc`. What it counts, and the layout
//! of the file, stand in `docs/heap-ledger.md`. Only 64-bit little-endian Linux with glibc is served; elsewhere the
//! library is empty.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", target_endian = "little"))]

mod blocks;
mod books;
mod heap;
mod ledger;
mod maps;
mod ranges;
mod start;

/// Bytes asked for from which a block counts as tensor-sized.
const TENSOR_SIZED: usize = 64 * 1024;
