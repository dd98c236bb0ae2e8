//! Modules of the driver, and the kernels that are computed.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::driver::*;
use common::*;
use half::{bf16, f16};
use std::ffi::{c_int, c_void};
use std::fmt::Debug;

/// What a strided kernel is given.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Walk {
    rank: u32,
    padding: u32,
    count: u64,
    size: [u64; 8],
    stride: [[i64; 8]; 3],
}

/// Over a transposed matrix of 3 by 2 into a contiguous one; the second input is one element, repeated.
fn walk() -> Walk {
    let mut walk = Walk { rank: 2, count: 6, ..Walk::default() };
    walk.size[..2].copy_from_slice(&[3, 2]);
    walk.stride[0][..2].copy_from_slice(&[2, 1]);
    walk.stride[1][..2].copy_from_slice(&[1, 3]);
    walk
}

fn of<T>(argument: &T) -> *const c_void {
    (&raw const *argument).cast()
}

fn launch(name: &str, arguments: &[*const c_void]) -> c_int {
    let module = module(&[name]);
    let code = launch_on(0, function(module, name).unwrap(), arguments);
    assert_eq!(cuModuleUnload(module), 0);
    code
}

/// Runs every kernel of a type on small whole numbers.
fn computes<T: Copy + Default + PartialEq + Debug, V>(kind: &str, make: fn(i8) -> T, value: fn(i8) -> V) {
    let blocks = [(); 3].map(|()| alloc(1));
    let [out, a, b] = blocks;
    let numbers = |values: &[i8]| values.iter().map(|value| make(*value)).collect::<Vec<T>>();
    let expect = |name: &str, arguments: &[*const c_void], values: &[i8]| {
        upload(out, &numbers(&[77; 8]));
        let (name, count) = (name.replace('T', kind), values.len());
        assert_eq!(launch(&name, arguments), 0, "{name}");
        assert_eq!(download::<T>(out, count + 1), numbers(&[values, &[77]].concat()), "{name}");
    };
    upload(a, &numbers(&[1, 2, 3, 4, 5, 6]));
    upload(b, &numbers(&[10, 20, 30, -1, 0, 2]));
    let (out, a, b, n, w, v) = (of(&out), of(&a), of(&b), 6_u64, walk(), value(-3));
    let (n, w, v) = (of(&n), of(&w), of(&v));
    expect("fill_T", &[out, n, v], &[-3; 6]);
    expect("add_T", &[out, a, b, n], &[11, 22, 33, 3, 5, 8]);
    expect("mul_T", &[out, a, b, n], &[10, 40, 90, -4, 0, 12]);
    expect("add_scalar_T", &[out, a, n, v], &[-2, -1, 0, 1, 2, 3]);
    expect("mul_scalar_T", &[out, a, n, v], &[-3, -6, -9, -12, -15, -18]);
    expect("convert_T_T", &[out, a, n], &[1, 2, 3, 4, 5, 6]);
    expect("fill_T_strided", &[out, w, v], &[-3; 6]);
    expect("add_T_strided", &[out, a, b, w], &[11, 14, 12, 15, 13, 16]);
    expect("mul_T_strided", &[out, a, b, w], &[10, 40, 20, 50, 30, 60]);
    expect("add_scalar_T_strided", &[out, a, w, v], &[-2, 1, -1, 2, 0, 3]);
    expect("mul_scalar_T_strided", &[out, a, w, v], &[-3, -12, -6, -15, -9, -18]);
    expect("convert_T_T_strided", &[out, a, w], &[1, 4, 2, 5, 3, 6]);
    expect("add_T", &[out, a, b, of(&0_u64)], &[]);
    assert_eq!(blocks.map(|block| cuMemFree_v2(block)), [0; 3]);
}

#[test]
fn the_kernels_of_every_type_are_computed() {
    let _device = device();
    start();
    let before = simulated_cuda_recorded();
    computes("f32", f32::from, f64::from);
    computes("f64", f64::from, f64::from);
    computes("f16", f16::from, f64::from);
    computes("bf16", bf16::from, f64::from);
    computes("i32", i32::from, i64::from);
    computes("i64", i64::from, i64::from);
    assert_eq!(simulated_cuda_recorded(), before);
}

#[test]
fn short_floats_are_rounded_once_and_integers_wrap() {
    let _device = device();
    start();
    let (block, n) = (alloc(1), 1_u64);
    let a = of(&block);
    upload(block, &[f16::from_f32(3.0)]);
    assert_eq!(launch("mul_scalar_f16", &[a, a, of(&n), of(&(1.0_f64 / 3.0))]), 0);
    assert_eq!(download::<f16>(block, 1), [f16::ONE]);
    upload(block, &[i32::MAX]);
    assert_eq!(launch("add_scalar_i32", &[a, a, of(&n), of(&2_i64)]), 0);
    assert_eq!(download::<i32>(block, 1), [i32::MIN + 1]);
    upload(block, &[0x7fc0_1234_u32]);
    assert_eq!(launch("convert_f32_f32", &[a, a, of(&n)]), 0);
    assert_eq!(download::<u32>(block, 1), [0x7fc0_1234], "a copy keeps the bits");
    assert_eq!(cuMemFree_v2(block), 0);
}

#[test]
fn a_kernel_that_leaves_its_memory_is_refused_and_writes_nothing() {
    let _device = device();
    start();
    let (block, v) = (alloc(1), 1.0_f64);
    let end = block + 2 * MIB - 4;
    let fill = |address: usize, n: u64| launch("fill_f32", &[of(&address), of(&n), of(&v)]);
    assert_eq!(
        [fill(end, 2), fill(0, 1), fill(end + 2, 1), fill(block, u64::MAX), fill(end, 1)],
        [700, 700, 716, 700, 0]
    );
    assert_eq!((download::<f32>(block, 1), download::<f32>(end, 1)), (vec![0.0], vec![1.0]));
    let mut walk = Walk { rank: 1, count: 2, ..Walk::default() };
    (walk.size[0], walk.stride[0][0]) = (2, -1);
    let strided = |address: usize, walk: Walk| launch("fill_f32_strided", &[of(&address), of(&walk), of(&v)]);
    assert_eq!([strided(block, walk), strided(block + 4, walk)], [700, 0]);
    walk.count = 3;
    assert_eq!(strided(block + 4, walk), 1, "sizes and count do not fit");
    assert_eq!(download::<f32>(block, 3), [1.0, 1.0, 0.0]);
    assert_eq!(cuMemFree_v2(block), 0);
}

#[test]
fn other_kernels_are_recorded() {
    let _device = device();
    start();
    for name in ["sum_f32", "finish_f32", "convert_f32_f16", "axpy"] {
        let before = simulated_cuda_recorded();
        assert_eq!(launch(name, &[]), 0);
        let mut text = [0_u8; 32];
        // SAFETY: as much room as is said.
        let length = unsafe { simulated_cuda_last_recorded(text.as_mut_ptr().cast(), text.len()) };
        assert_eq!((simulated_cuda_recorded() - before, &text[..length]), (1, name.as_bytes()));
    }
}

#[test]
fn a_module_has_the_kernels_of_its_text() {
    let _device = device();
    start();
    let load = |text: &std::ffi::CStr| {
        // SAFETY: a C string.
        unsafe { cuModuleLoadData(&mut 0, text.as_ptr()) }
    };
    assert_eq!([load(c"\x7fELF\x02"), load(c""), load(c".version 9.0")], [200, 200, 218]);
    let module = module(&["fill_f32", "mine"]);
    let fill = function(module, "fill_f32").unwrap();
    assert_eq!((function(module, "fill_f32"), function(module, "fill_f64")), (Ok(fill), Err(500)));
    let shaped = |grid: u32, block: u32, shared: u32, stream: usize| {
        let (none, packed) = (std::ptr::null(), std::ptr::null());
        let mine = function(module, "mine").unwrap();
        // SAFETY: a kernel without arguments.
        unsafe { cuLaunchKernel(mine, grid, 1, 1, block, 2, 1, shared, stream, none, packed) }
    };
    assert_eq!([shaped(1, 512, 0, 0), shaped(0, 1, 0, 0), shaped(1, 513, 0, 0), shaped(1, 0, 0, 0)], [0, 1, 1, 1]);
    assert_eq!([shaped(1, 1, 232_449, 0), shaped(1, 1, 0, 0x9999)], [1, 400]);
    assert_eq!([cuModuleUnload(module), launch_on(0, fill, &[])], [0, 400]);
}
