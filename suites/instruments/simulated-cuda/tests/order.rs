//! Pageable and pinned memory, and the order of streams.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::driver::*;
use common::*;
use std::ffi::c_int;

#[test]
fn an_upload_from_pageable_memory_is_staged_at_once() {
    let _device = device();
    start();
    let (block, stream, mut values) = (alloc(1), stream(), vec![1_u32, 2, 3]);
    upload_on(stream, block, values.as_ptr().expose_provenance(), 12);
    values.fill(9);
    let mut pinned = Pinned::new(&[4, 5, 6]);
    upload_on(stream, block + 12, pinned.0, 12);
    pinned.values().fill(8);
    assert_eq!(cuStreamSynchronize(stream), 0);
    assert_eq!(download::<u32>(block, 6), [1, 2, 3, 8, 8, 8], "pinned memory is read when the stream comes to it");
    assert_eq!([cuStreamDestroy_v2(stream), cuMemFree_v2(block)], [0, 0]);
}

#[test]
fn a_download_into_pinned_memory_arrives_when_it_is_waited_for() {
    let _device = device();
    start();
    let (block, stream, event) = (alloc(1), stream(), told(|event| cuEventCreate(event, 0)));
    let mut pinned = Pinned::new(&[0; 2]);
    let mut pageable = [0_u32; 2];
    let waits: [&dyn Fn() -> c_int; 6] = [
        &|| cuStreamSynchronize(stream),
        &|| cuEventSynchronize(event),
        &|| cuEventQuery(event),
        &|| cuStreamQuery(stream),
        &|| cuCtxSynchronize(),
        &|| cudaDeviceSynchronize(),
    ];
    for (round, wait) in waits.into_iter().enumerate() {
        let value = round as u32 + 1;
        assert_eq!(cuMemsetD32Async(block, value, 2, stream), 0);
        download_on(stream, pageable.as_mut_ptr().expose_provenance(), block, 8);
        assert_eq!(pageable, [value; 2], "into pageable memory it is done when the call returns");
        download_on(stream, pinned.0, block, 8);
        assert_eq!(cuEventRecord(event, stream), 0);
        assert_eq!(pinned.values(), [value - 1; 2], "stale before the wait");
        assert_eq!([cuStreamSynchronize(0), cuEventQuery(0)], [0, 400]);
        assert_eq!(pinned.values(), [value - 1; 2], "waiting for another stream does not help");
        assert_eq!((wait(), pinned.values()), (0, &mut [value; 2][..]));
    }
    assert_eq!([cuEventDestroy_v2(event), cuStreamDestroy_v2(stream), cuMemFree_v2(block)], [0; 3]);
}

#[test]
fn registered_memory_is_pinned_while_it_is_registered() {
    let _device = device();
    start();
    let (block, stream, mut values) = (alloc(1), stream(), vec![7_u32; 1024]);
    let host = values.as_mut_ptr().expose_provenance();
    assert_eq!(cuMemHostRegister_v2(host, 4000, 0), 0);
    upload_on(stream, block, host, 4);
    values[0] = 8;
    upload_on(stream, block + 4, host + 3996, 8);
    values[999] = 9;
    values[1000] = 9;
    assert_eq!(cuMemHostUnregister(host), 0, "carries out what is queued");
    values[0] = 10;
    assert_eq!(download::<u32>(block, 3), [8, 7, 7], "a range that is pinned in part is pageable");
    assert_eq!([cuStreamDestroy_v2(stream), cuMemFree_v2(block)], [0, 0]);
}

#[test]
fn work_on_a_stream_comes_after_what_is_queued_there() {
    let _device = device();
    start();
    let (block, stream) = (alloc(1), stream());
    let module = module(&["add_scalar_i32"]);
    let add = function(module, "add_scalar_i32").unwrap();
    let mut pinned = Pinned::new(&[5]);
    upload_on(stream, block, pinned.0, 4);
    let (count, ten) = (1_u64, 10_i64);
    let arguments =
        [(&raw const block).cast(), (&raw const block).cast(), (&raw const count).cast(), (&raw const ten).cast()];
    assert_eq!(launch_on(stream, add, &arguments), 0);
    pinned.values()[0] = 6;
    assert_eq!(cuMemcpyDtoDAsync_v2(block + 4, block, 4, stream), 0);
    download_on(stream, pinned.0, block, 4);
    assert_eq!(cuMemsetD32Async(block, 0, 1, stream), 0);
    assert_eq!(pinned.values(), [15], "the fill came after the download");
    assert_eq!(download::<u32>(block, 2), [0, 15]);
    assert_eq!([cuModuleUnload(module), cuStreamDestroy_v2(stream), cuMemFree_v2(block)], [0; 3]);
}

#[test]
fn a_stream_waits_for_an_event_of_another() {
    let _device = device();
    start();
    let (block, one, two, event) = (alloc(1), stream(), stream(), told(|event| cuEventCreate(event, 2)));
    let mut pinned = Pinned::new(&[1, 2]);
    upload_on(one, block, pinned.0, 4);
    assert_eq!(cuEventRecord(event, one), 0);
    upload_on(one, block + 4, pinned.0 + 4, 4);
    assert_eq!([cuMemcpyDtoDAsync_v2(block + 8, block, 4, two), cuStreamWaitEvent(two, event, 0)], [0, 0]);
    pinned.values()[0] = 3;
    assert_eq!(cuMemcpyDtoDAsync_v2(block + 12, block, 8, two), 0);
    pinned.values().fill(4);
    assert_eq!(cuCtxSynchronize(), 0);
    assert_eq!(download::<u32>(block, 5), [3, 4, 0, 3, 0], "before the wait nothing, after it what the event covers");
    let ended = [cuEventDestroy_v2(event), cuStreamDestroy_v2(one), cuStreamDestroy_v2(two), cuMemFree_v2(block)];
    assert_eq!(ended, [0; 4]);
}

#[test]
fn a_synchronous_copy_comes_after_blocking_streams_only() {
    let _device = device();
    start();
    let (block, free) = (alloc(1), stream());
    let blocking: usize = told(|stream| cuStreamCreate(stream, 0));
    let pinned = Pinned::new(&[1]);
    upload_on(free, block, pinned.0, 4);
    upload_on(blocking, block + 4, pinned.0, 4);
    assert_eq!(download::<u32>(block, 2), [0, 1]);
    assert_eq!(cuStreamDestroy_v2(free), 0);
    assert_eq!(download::<u32>(block, 2), [1, 1]);
    assert_eq!([cuStreamDestroy_v2(blocking), cuMemFree_v2(block)], [0, 0]);
}

#[test]
fn what_lies_behind_a_gate_is_pending_until_it_is_waited_for() {
    let _device = device();
    start();
    let (stream, module) = (stream(), module(&["gate"]));
    let [mut begun, mut ended] = [(); 2].map(|()| told(|event| cuEventCreate(event, 0)));
    let (gate, recorded) = (function(module, "gate").unwrap(), simulated_cuda_recorded());
    let (nanoseconds, mut milliseconds) = (100_000_u64, 0.0);
    let waits: [&dyn Fn(usize) -> c_int; 3] =
        [&|event| cuEventSynchronize(event), &|_| cuStreamSynchronize(stream), &|_| cuCtxSynchronize()];
    for wait in waits {
        assert_eq!(launch_on(stream, gate, &[(&raw const nanoseconds).cast()]), 0);
        assert_eq!([cuEventRecord(begun, stream), cuEventRecord(ended, stream)], [0, 0]);
        assert_eq!([cuEventQuery(begun), cuEventQuery(ended), cuStreamQuery(stream)], [600; 3]);
        assert_eq!([wait(ended), cuEventQuery(begun), cuEventQuery(ended), cuStreamQuery(stream)], [0; 4]);
        assert_eq!(cuEventElapsedTime(&mut milliseconds, begun, ended), 801, "no time is ever told");
        (begun, ended) = (ended, begun);
    }
    assert_eq!(simulated_cuda_recorded(), recorded, "a gate has no values to miss");
    let freed =
        [cuEventDestroy_v2(begun), cuEventDestroy_v2(ended), cuStreamDestroy_v2(stream), cuModuleUnload(module)];
    assert_eq!(freed, [0; 4]);
}

#[test]
fn memory_that_goes_is_used_by_what_is_queued_first() {
    let _device = device();
    start();
    let (block, stream) = (alloc(1), stream());
    let pinned = Pinned::new(&[11]);
    upload_on(stream, block, pinned.0, 4);
    drop(pinned);
    let mut pinned = Pinned::new(&[0]);
    download_on(stream, pinned.0, block, 4);
    assert_eq!((cuMemFree_v2(block), pinned.values()), (0, &mut [11][..]));
    assert_eq!(cuStreamDestroy_v2(stream), 0);
}

#[test]
fn the_runtime_queues_the_same_copies() {
    let _device = device();
    start();
    let (block, stream) = (malloc(1), stream());
    let mut pinned = Pinned::new(&[1, 0]);
    // SAFETY: the device checks its own side; pinned memory of this size.
    let copied =
        unsafe { [cudaMemcpyAsync(block, pinned.0, 4, 1, stream), cudaMemcpyAsync(pinned.0 + 4, block, 4, 2, stream)] };
    pinned.values()[0] = 2;
    assert_eq!((copied, pinned.values()), ([0, 0], &mut [2, 0][..]));
    assert_eq!((cudaStreamSynchronize(stream), pinned.values()), (0, &mut [2, 2][..]));
    assert_eq!([cuStreamDestroy_v2(stream), cudaFree(block)], [0, 0]);
}
