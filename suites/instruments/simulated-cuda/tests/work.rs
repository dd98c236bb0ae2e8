//! Streams, events, kernels, and what programs ask about the device.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::*;
use std::ffi::{CStr, c_int, c_void};

/// Registers a kernel as a program does when it starts; `function` only has to be an address of its own.
fn register(function: usize, name: &'static CStr) {
    // SAFETY: the name is a static text; nothing else is looked at.
    unsafe { __cudaRegisterFunction(0, function, 0, name.as_ptr(), 0, 0, 0, 0, 0, 0) };
}

fn launch<F>(function: usize, count: usize, functor: F, tensors: &[usize], stream: usize) -> c_int {
    let count = count as c_int;
    let arguments = [(&raw const count).cast::<c_void>(), (&raw const functor).cast(), tensors.as_ptr().cast()];
    // SAFETY: the arguments of an elementwise kernel.
    unsafe { cudaLaunchKernel(function, Extent(1, 1, 1), Extent(1, 1, 1), arguments.as_ptr(), 0, stream) }
}

/// An empty function object in front of a factor.
#[repr(C)]
struct Scaled(u8, f64);

fn last_recorded() -> String {
    let mut text = [0_u8; 200];
    // SAFETY: as much room as is said.
    let length = unsafe { simulated_cuda_last_recorded(text.as_mut_ptr().cast(), text.len()) };
    String::from_utf8_lossy(&text[..length]).into_owned()
}

#[test]
fn fills_sums_and_products_are_computed() {
    let _device = device();
    register(1, c"_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_11FillFunctorIsEESt5arrayIPcLm1EEEEviT0_T1_");
    register(
        2,
        c"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
    );
    register(3, c"_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_13AUnaryFunctorIdddNS0_15binary_internal10MulFunctorIdEEEESt5arrayIPcLm2EEEEviT0_T1_");
    let before = simulated_cuda_recorded();
    let [a, b, c] = [(); 3].map(|()| malloc(8 * MIB));
    assert_eq!(launch(1, 100_000, -3_i16, &[a], 0), 0);
    assert_eq!(download::<i16>(a, 100_001), [vec![-3; 100_000], vec![0]].concat());
    assert_eq!(launch(1, 100_000, 0_i16, &[a], 0), 0);
    assert_eq!(download::<i16>(a, 100_000), vec![0; 100_000]);
    upload(a, &[1.0_f32, 2.0, 3.0]);
    upload(b, &[10.0_f32, 20.0, 30.0]);
    assert_eq!(launch(2, 3, 0.5_f32, &[c, a, b], 0), 0);
    assert_eq!(download::<f32>(c, 3), [6.0, 12.0, 18.0]);
    upload(a, &[1.5_f64, -2.0]);
    assert_eq!(launch(3, 2, Scaled(0, 4.0), &[a, a], 0), 0);
    assert_eq!(download::<f64>(a, 2), [6.0, -8.0]);
    assert_eq!(simulated_cuda_recorded(), before);
    assert_eq!([a, b, c].map(|block| cudaFree(block)), [0; 3]);
}

#[test]
fn other_kernels_are_recorded_and_touch_nothing() {
    let _device = device();
    let (fill, other) = (
        c"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
        c"_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_11FillFunctorIfEEEEviT1_",
    );
    register(4, fill);
    register(5, other);
    let block = malloc(2 * MIB);
    let before = simulated_cuda_recorded();
    assert_eq!(launch(5, 4, 1.0_f32, &[block], 0), 0);
    assert_eq!((simulated_cuda_recorded() - before, last_recorded()), (1, other.to_str().unwrap().to_owned()));
    assert_eq!(launch(4, MIB, 1.0_f32, &[block], 0), 0, "more elements than the block has");
    assert_eq!((simulated_cuda_recorded() - before, last_recorded()), (2, fill.to_str().unwrap().to_owned()));
    assert_eq!(download::<f32>(block, 4), [0.0; 4]);
    assert_eq!([launch(6, 1, 0.0_f32, &[block], 0), launch(4, 1, 0.0_f32, &[block], 99)], [98, 400]);
    let (mut stream, mut graph) = (0, 0);
    assert_eq!(cudaStreamCreateWithPriority(&mut stream, 1, 0), 0);
    assert_eq!(cudaStreamBeginCapture(stream, 0), 0);
    assert_eq!(launch(4, 4, 1.0_f32, &[block], stream), 0);
    assert_eq!(cudaStreamEndCapture(stream, &mut graph), 0);
    assert_eq!((simulated_cuda_recorded() - before, download::<f32>(block, 4)), (3, vec![0.0; 4]));
    assert_eq!(cudaFree(block), 0);
}

#[test]
fn held_events_are_not_ready_until_they_are_waited_for() {
    let _device = device();
    let (mut stream, mut event) = (0, 0);
    assert_eq!(cudaStreamCreateWithPriority(&mut stream, 1, -5), 0);
    assert_eq!(cudaEventCreateWithFlags(&mut event, 2), 0);
    let waits: [&dyn Fn() -> c_int; 3] = [&|| cudaStreamSynchronize(stream), &|| cudaDeviceSynchronize(), &|| {
        simulated_cuda_complete_events();
        0
    }];
    for wait in waits {
        simulated_cuda_hold_events(1);
        assert_eq!([cudaEventRecord(event, stream), cudaEventQuery(event)], [0, 600]);
        simulated_cuda_hold_events(0);
        assert_eq!([cudaStreamSynchronize(0), cudaEventQuery(event)], [0, 600]);
        assert_eq!([wait(), cudaEventQuery(event)], [0, 0]);
    }
    let mut milliseconds = 1.0;
    assert_eq!(cudaEventElapsedTime(&mut milliseconds, event, event), 801, "no time is ever told");
    assert_eq!((milliseconds, cudaGetLastError()), (1.0, 801));
}

#[test]
fn the_kernel_of_a_sleep_is_a_gate() {
    let _device = device();
    register(7, c"_ZN2at4cuda40_GLOBAL__N__b51f33dc_8_Sleep_cu_088d913f11spin_kernelEl");
    let (mut stream, mut event, recorded) = (0, 0, simulated_cuda_recorded());
    assert_eq!(cudaStreamCreateWithPriority(&mut stream, 1, 0), 0);
    assert_eq!(cudaEventCreateWithFlags(&mut event, 0), 0);
    let waits: [&dyn Fn() -> c_int; 2] = [&|| cudaEventSynchronize(event), &|| cudaStreamSynchronize(stream)];
    for wait in waits {
        assert_eq!(launch(7, 1000, 0, &[], stream), 0);
        assert_eq!([cudaEventRecord(event, stream), cudaEventQuery(event)], [0, 600]);
        assert_eq!([cudaStreamSynchronize(0), cudaEventQuery(event)], [0, 600]);
        assert_eq!([wait(), cudaEventQuery(event)], [0, 0]);
    }
    assert_eq!(simulated_cuda_recorded(), recorded);
}

#[test]
fn driver_functions_are_found_by_name() {
    let _device = device();
    let find = |name: &CStr| {
        let (mut function, mut status) = (1, 9);
        // SAFETY: a C string.
        let code = unsafe { cudaGetDriverEntryPointByVersion(name.as_ptr(), &mut function, 12000, 0, &mut status) };
        (code, function != 0, status)
    };
    for name in [c"cuMemCreate", c"cuGetErrorString", c"cuStreamWriteValue32", c"cuMemExportToShareableHandle"] {
        assert_eq!(find(name), (0, true, 0), "{name:?}");
    }
    assert_eq!(find(c"cuMulticastCreate"), (0, false, 1));
}

#[test]
fn the_device_says_what_it_is_and_who_uses_it() {
    let _device = device();
    let (mut text, mut count, mut found) = ([0_u8; 64], 1, [0; 2]);
    // SAFETY: as much room as is said.
    assert_eq!(unsafe { nvmlDeviceGetName(1, text.as_mut_ptr().cast(), 64) }, 0);
    assert_eq!(CStr::from_bytes_until_nul(&text).unwrap(), c"Simulated CUDA device");
    let block = malloc(5 * MIB);
    assert_eq!(nvmlDeviceGetComputeRunningProcesses(1, &mut count, &mut found), 0);
    assert_eq!((count, found[0] as u32, found[1]), (1, std::process::id(), 6 << 20));
    assert_eq!(cudaFree(block), 0);
}
