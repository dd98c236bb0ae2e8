//! The driver: contexts, memory, handles that are not there.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::driver::*;
use common::*;
use std::ffi::{CStr, c_int};

#[test]
fn the_device_is_there_and_says_what_it_is() {
    let _device = device();
    start();
    let mut text = [0_u8; 64];
    // SAFETY: as much room as is said.
    assert_eq!(unsafe { cuDeviceGetName(text.as_mut_ptr().cast(), 64, 0) }, 0);
    assert_eq!(CStr::from_bytes_until_nul(&text).unwrap(), c"Simulated CUDA device");
    assert_eq!((told(|count| cuDeviceGetCount(count)), told(|version| cuDriverGetVersion(version))), (1, 13000));
    let major: c_int = told(|value| cuDeviceGetAttribute(value, 75, 0));
    let pools: c_int = told(|value| cuDeviceGetAttribute(value, 115, 0));
    assert_eq!((major, pools, told(|device| cuDeviceGet(device, 0))), (9, 0, 0));
    let mut none = 7;
    assert_eq!([cuDeviceGet(&mut none, 1), cuDeviceGetAttribute(&mut none, 75, 1), none, cuInit(1)], [101, 101, 7, 1]);
}

#[test]
fn errors_have_names_and_texts() {
    let mut text = std::ptr::null();
    for (code, name) in [(2, c"CUDA_ERROR_OUT_OF_MEMORY"), (201, c"CUDA_ERROR_INVALID_CONTEXT")] {
        assert_eq!(cuGetErrorName(code, &mut text), 0);
        // SAFETY: the static text of a known code.
        assert_eq!(unsafe { CStr::from_ptr(text) }, name);
        assert_eq!((cuGetErrorString(code, &mut text), text.is_null()), (0, false));
    }
    assert_eq!((cuGetErrorName(12345, &mut text), text.is_null()), (1, true));
}

#[test]
fn work_needs_a_current_context() {
    let _device = device();
    assert_eq!(cuInit(0), 0);
    let without = || {
        let (mut free, mut total) = (0, 0);
        [
            cuMemAlloc_v2(&mut free, 1),
            cuMemFree_v2(BASE),
            cuMemGetInfo_v2(&mut free, &mut total),
            cuMemHostAlloc(&mut free, 1, 0),
            cuStreamCreate(&mut free, 0),
            cuStreamSynchronize(0),
            cuEventCreate(&mut free, 0),
            cuModuleUnload(1),
            cuMemsetD8Async(BASE, 0, 1, 0),
            cuCtxSynchronize(),
        ]
    };
    assert_eq!(without(), [201; 10]);
    let first: usize = told(|context| cuCtxCreate_v4(context, 0, 0, 0));
    let second: usize = told(|context| cuCtxCreate_v4(context, 0, 0, 0));
    assert_eq!((current(), cuCtxSynchronize()), (second, 0));
    assert_eq!([cuCtxDestroy_v2(second), cuCtxDestroy_v2(second), cuCtxSetCurrent(second)], [0, 201, 201]);
    assert_eq!(current(), first, "what was current before comes back");
    std::thread::spawn(move || {
        assert_eq!((cuCtxSynchronize(), current()), (201, 0), "each thread has its own");
        assert_eq!([cuCtxSetCurrent(first), cuCtxSynchronize(), cuCtxDestroy_v2(first)], [0; 3]);
    })
    .join()
    .unwrap();
    assert_eq!(without(), [709; 10], "destroyed by another thread");
    assert_eq!(cuCtxSetCurrent(0), 0);
    assert_eq!(without(), [201; 10]);
}

#[test]
fn a_call_of_the_runtime_makes_the_primary_context_current() {
    let _device = device();
    assert_eq!(cuInit(0), 0);
    assert_eq!(current(), 0);
    assert_eq!([cudaFree(0), cuCtxSynchronize()], [0, 0]);
    let (mut flags, mut active) = (0, 0);
    assert_eq!((cuDevicePrimaryCtxGetState(0, &mut flags, &mut active), active), (0, 1));
    let primary: usize = told(|context| cuDevicePrimaryCtxRetain(context, 0));
    assert_eq!(current(), primary);
    assert_eq!([cuDevicePrimaryCtxRelease_v2(0), cuDevicePrimaryCtxRelease_v2(1)], [0, 101]);
}

#[test]
fn memory_is_allocated_once_and_freed_once() {
    let _device = device();
    start();
    let mut none = 5;
    assert_eq!([cuMemAlloc_v2(&mut none, 0), cuMemAlloc_v2(&mut none, 81 << 30), cuMemFree_v2(0)], [1, 2, 1]);
    assert_eq!(none, 5);
    let block = alloc(3 * MIB);
    let (mut free, mut total) = (0, 0);
    assert_eq!(cuMemGetInfo_v2(&mut free, &mut total), 0);
    assert_eq!((block, total - free), (BASE, 4 * MIB));
    assert_eq!([cuMemsetD8Async(block, 5, 3, 0), cuMemsetD32Async(block + 4, 0x0102_0304, 2, 0)], [0, 0]);
    assert_eq!(download::<u8>(block, 13), [5, 5, 5, 0, 4, 3, 2, 1, 4, 3, 2, 1, 0]);
    let refused = [
        cuMemsetD32Async(block + 2, 0, 1, 0),
        cuMemsetD32Async(block, 0, usize::MAX, 0),
        cuMemsetD8Async(block + 4 * MIB - 1, 0, 2, 0),
        cuMemsetD8Async(block, 0, 1, 0x9999),
        cuMemcpyDtoDAsync_v2(block, block + 2 * MIB, 3 * MIB, 0),
    ];
    assert_eq!(refused, [1, 1, 1, 400, 1]);
    assert_eq!([cuMemFree_v2(block + 4), cuMemFree_v2(block), cuMemFree_v2(block)], [1, 0, 1]);
    let mut byte = 3_u8;
    let host = (&raw mut byte).expose_provenance();
    // SAFETY: refused before anything is touched.
    let freed = unsafe { [cuMemcpyHtoD_v2(block, host, 1), cuMemcpyDtoH_v2(host, block, 1)] };
    assert_eq!((freed, cuMemsetD8Async(block, 0, 1, 0), byte), ([1, 1], 1, 3));
}

#[test]
fn memory_of_the_host_is_pinned_once_and_known() {
    let _device = device();
    start();
    let kind = |address| {
        let mut kind = 0;
        (cuPointerGetAttribute(&mut kind, 2, address), kind)
    };
    let (block, mut none) = (alloc(1), 0);
    let pinned: usize = told(|address| cuMemHostAlloc(address, 4096, 0));
    let vector = vec![0_u8; 4096];
    let host = vector.as_ptr().expose_provenance();
    assert_eq!([kind(block), kind(pinned + 4095), kind(host)], [(0, 2), (0, 1), (1, 0)]);
    assert_eq!(cuPointerGetAttribute(&mut 0, 1, block), 801);
    assert_eq!([cuMemHostRegister_v2(host, 4096, 0), cuMemHostRegister_v2(host, 4096, 0)], [0, 712]);
    assert_eq!((kind(host), cuMemFreeHost(host)), ((0, 1), 1));
    let mut left = [0; 6];
    simulated_cuda_left(&mut left);
    assert_eq!(left[..3], [2 << 20, 4096, 1]);
    assert_eq!([cuMemHostUnregister(host), cuMemHostUnregister(host), cuMemHostUnregister(pinned)], [0, 713, 713]);
    assert_eq!([cuMemFreeHost(pinned), cuMemFreeHost(pinned), cuMemHostAlloc(&mut none, 0, 0)], [0, 1, 1]);
    assert_eq!(cuMemFree_v2(block), 0);
    simulated_cuda_left(&mut left);
    assert_eq!(left[..3], [0; 3]);
}

#[test]
fn streams_events_and_modules_are_counted_and_end_once() {
    let _device = device();
    start();
    let count = || {
        let mut left = [0; 6];
        simulated_cuda_left(&mut left);
        [left[3], left[4], left[5]]
    };
    let before = count();
    let stream: usize = told(|stream| cuStreamCreateWithPriority(stream, 1, -1));
    let event: usize = told(|event| cuEventCreate(event, 2));
    let module = module(&["fill_f32"]);
    assert_eq!(count(), before.map(|count| count + 1));
    assert_eq!([cuStreamCreate(&mut 0, 2), cuEventRecord(event, stream), cuEventQuery(event)], [1, 0, 0]);
    let mut milliseconds = 1.0;
    let timed = [cuEventElapsedTime, cuEventElapsedTime_v2].map(|ask| ask(&mut milliseconds, event, event));
    assert_eq!((timed, milliseconds), ([801; 2], 1.0), "no time is ever told");
    assert_eq!([cuStreamDestroy_v2(stream), cuStreamDestroy_v2(stream), cuStreamDestroy_v2(0)], [0, 400, 400]);
    assert_eq!([cuStreamQuery(stream), cuStreamSynchronize(stream), cuStreamWaitEvent(stream, event, 0)], [400; 3]);
    assert_eq!([cuEventRecord(event, stream), cuEventDestroy_v2(event), cuEventDestroy_v2(event)], [400, 0, 400]);
    assert_eq!([cuEventQuery(event), cuEventSynchronize(event), cuEventRecord(event, 0)], [400; 3]);
    assert_eq!([cuModuleUnload(module), cuModuleUnload(module)], [0, 400]);
    assert_eq!((function(module, "fill_f32"), count()), (Err(400), before));
}
