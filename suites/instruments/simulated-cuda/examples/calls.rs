//! Makes a few calls of the simulated device, for the tests that look at how a process starts under its settings.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("copies") => copies(),
        Some("requests") => requests(),
        other => panic!("copies or requests, not {other:?}"),
    }
}

fn copies() {
    let block = malloc(4 * MIB);
    assert_eq!(block, BASE);
    upload(block, &[1_u8; 100]);
    let mut values = [5_u8; 100];
    // SAFETY: the device checks its own side; the other is the array.
    assert_eq!(unsafe { cudaMemcpy(values.as_mut_ptr().expose_provenance(), block, 100, 2) }, 0);
    assert_eq!(values, [5; 100], "copies do nothing");
    assert_eq!([cudaFree(block), cudaFree(block)], [0, 1]);
}

fn requests() {
    let block = malloc(3 << 30);
    assert_eq!(cudaMalloc(&mut 0, 2 << 30), 2);
    assert_eq!(cudaFree(block), 0);
}
