//! The mapping calls of the C library, each forwarded to the system.
//!
//! The contract of each is the C library's. glibc's own mappings (large heap blocks, thread stacks, libraries) do not
//! come through here.

use libc::{MAP_ANONYMOUS, MAP_FAILED, MREMAP_DONTUNMAP, PROT_WRITE, c_int, c_long, c_void, off_t};

use crate::TENSOR_SIZED;
use crate::books::counts;
use crate::ranges::{PAGE, pages};

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    let [wide_protection, wide_flags, file] = [protection, flags, file].map(c_long::from);
    // SAFETY: the arguments of the caller's own call, each as wide as a register.
    let map = unsafe { libc::syscall(libc::SYS_mmap, address, bytes, wide_protection, wide_flags, file, offset) }
        as *mut c_void;
    if map != MAP_FAILED
        && let Some(counts) = counts()
    {
        // A mapping at a fixed address replaces what was there: so allocators give back a part of what they hold.
        counts.unmapped(&counts.cut(map, bytes));
        // What cannot be written holds no data: it only reserves addresses.
        let holds_data = flags & MAP_ANONYMOUS != 0 && protection & PROT_WRITE != 0;
        if holds_data && bytes >= TENSOR_SIZED {
            counts.mapped(map, bytes);
        }
    }
    map
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the arguments of the caller's own call; offsets have 64 bits in both.
    unsafe { mmap(address, bytes, protection, flags, file, offset) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, bytes: usize) -> c_int {
    // The system refuses an address within a page.
    if address.addr().is_multiple_of(PAGE)
        && let Some(counts) = counts()
    {
        counts.unmapped(&counts.cut(address, bytes));
    }
    // SAFETY: the arguments of the caller's own call.
    unsafe { libc::syscall(libc::SYS_munmap, address, bytes) as c_int }
}

/// In C the target is given only with the flag that asks for it; without the flag nothing reads it.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(
    old: *mut c_void,
    old_bytes: usize,
    bytes: usize,
    flags: c_int,
    target: *mut c_void,
) -> *mut c_void {
    let kept = flags & MREMAP_DONTUNMAP != 0;
    let cut = counts().filter(|_| !kept).map(|counts| counts.cut(old, old_bytes));
    let cut = cut.unwrap_or_default();
    // SAFETY: the arguments of the caller's own call, each as wide as a register.
    let map =
        unsafe { libc::syscall(libc::SYS_mremap, old, old_bytes, bytes, c_long::from(flags), target) } as *mut c_void;
    if let Some(counts) = counts() {
        let whole = cut.pages > 0 && cut.pages == pages(old_bytes);
        if map == MAP_FAILED && whole {
            counts.enter_mapping(old, old_bytes);
            return map;
        }
        counts.unmapped(&cut);
        if map != MAP_FAILED {
            counts.unmapped(&counts.cut(map, bytes));
        }
        if map != MAP_FAILED && whole {
            counts.mapped(map, bytes);
        }
    }
    map
}
