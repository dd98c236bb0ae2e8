//! What NVIDIA's management library shows of this process, where it is installed.

use libloading::Library;
use std::ffi::{c_int, c_uint, c_void};

/// A process as the library describes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Process {
    pid: c_uint,
    bytes: u64,
}

/// More processes on one device than these are not looked at.
const ROOM: usize = 128;

type Init = unsafe extern "C" fn() -> c_int;
type ByIndex = unsafe extern "C" fn(c_uint, *mut *mut c_void) -> c_int;
type Running = unsafe extern "C" fn(*mut c_void, *mut c_uint, *mut Process) -> c_int;

/// Bytes of the first device that this process holds, contexts and code included; nothing where nobody tells.
pub(super) fn process_bytes() -> Option<u64> {
    // SAFETY: loading the library runs its own initialisers, as any program that uses it does.
    let library = unsafe { Library::new("libnvidia-ml.so.1") }.ok()?;
    let (mut device, mut count, mut processes) = (std::ptr::null_mut(), ROOM as c_uint, [Process::default(); ROOM]);
    // SAFETY: the functions have these types in every version of the library; pointers lead to what they write, and the
    // count says how many processes there is room for.
    unsafe {
        let init = library.get::<Init>(b"nvmlInit_v2").ok()?;
        let by_index = library.get::<ByIndex>(b"nvmlDeviceGetHandleByIndex_v2").ok()?;
        let running = library.get::<Running>(b"nvmlDeviceGetComputeRunningProcesses").ok()?;
        if init() != 0 || by_index(0, &mut device) != 0 {
            return None;
        }
        if running(device, &mut count, processes.as_mut_ptr()) != 0 {
            return None;
        }
    }
    let own = std::process::id();
    processes[..ROOM.min(count as usize)].iter().find(|process| process.pid == own).map(|process| process.bytes)
}
