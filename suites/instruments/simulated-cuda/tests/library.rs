//! The library, opened by the driver's name as a program without CUDA at its build does.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt;

#[test]
fn the_driver_and_the_counts_are_found_in_the_opened_library() {
    let test = std::env::current_exe().unwrap();
    let library = test.with_file_name("libsimulated_cuda.so");
    let folder = std::env::temp_dir().join(format!("simulated-cuda-driver-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let link = folder.join("libcuda.so.1");
    std::os::unix::fs::symlink(library, &link).unwrap();
    let name = CString::new(link.as_os_str().as_bytes()).unwrap();
    // SAFETY: a C string; the library does nothing when it is loaded.
    let opened = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!opened.is_null());
    std::fs::remove_dir_all(&folder).unwrap();
    // SAFETY: an open library and C strings.
    let find = |name: &std::ffi::CStr| unsafe { libc::dlsym(opened, name.as_ptr()) };
    for name in [c"simulated_cuda_failed", c"simulated_cuda_failed_call", c"simulated_cuda_left", c"cuLaunchKernel"] {
        assert!(!find(name).is_null(), "{name:?}");
    }
    // SAFETY: functions of these types.
    let (start, synchronize, calls) = unsafe {
        (
            std::mem::transmute::<*mut libc::c_void, extern "C" fn(u32) -> c_int>(find(c"cuInit")),
            std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> c_int>(find(c"cuCtxSynchronize")),
            std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> u64>(find(c"simulated_cuda_driver_calls")),
        )
    };
    assert_eq!((synchronize(), start(0), synchronize(), calls()), (3, 0, 201, 3));
}
