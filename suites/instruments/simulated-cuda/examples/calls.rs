//! Makes a few calls of the simulated device, for the tests that look at how a process starts under its settings.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

#[path = "../tests/common/mod.rs"]
mod common;

use common::driver::*;
use common::*;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("copies") => copies(),
        Some("requests") => requests(),
        Some("driver") => driver(),
        other => panic!("copies, requests or driver, not {other:?}"),
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

/// Makes twelve calls of the driver, whatever they answer, and prints the answers, the number of calls counted, whether
/// one failed by request and which, and what is left.
fn driver() {
    let (mut context, mut block, mut stream, mut left) = (0, 0, 0, [0; 6]);
    let mut text = std::ptr::null();
    let answers = [
        cuDeviceGetCount(&mut 0),
        cuInit(0),
        cuDevicePrimaryCtxRetain(&mut context, 0),
        cuCtxSetCurrent(context),
        cuMemAlloc_v2(&mut block, 1),
        cuStreamCreate(&mut stream, 1),
        cuMemsetD8Async(block, 1, 1, stream),
        cuStreamSynchronize(stream),
        cuStreamDestroy_v2(stream),
        cuMemFree_v2(block),
        cuCtxSetCurrent(0),
        cuDevicePrimaryCtxRelease_v2(0),
    ];
    assert_eq!(cuGetErrorName(0, &mut text), 0);
    simulated_cuda_left(&mut left);
    let mut name = [0_u8; 64];
    // SAFETY: as much room as is said.
    let length = unsafe { simulated_cuda_failed_call(name.as_mut_ptr().cast(), name.len()) };
    let told = serde_json::json!({
        "answers": answers,
        "calls": simulated_cuda_driver_calls(),
        "failed": simulated_cuda_failed(),
        "name": String::from_utf8_lossy(&name[..length]),
        "left": left,
    });
    println!("{told}");
}
