//! The heap calls of the C library, each forwarded to glibc's own entry point and counted by the bytes asked for.
//!
//! The contract of each is the C library's.

use libc::{c_int, c_void};

use crate::books::counts;

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    fn __libc_valloc(bytes: usize) -> *mut c_void;
    fn __libc_pvalloc(bytes: usize) -> *mut c_void;
}

fn took(block: *mut c_void, bytes: usize) -> *mut c_void {
    if !block.is_null()
        && let Some(counts) = counts()
    {
        counts.took(block, bytes);
    }
    block
}

#[unsafe(no_mangle)]
extern "C" fn malloc(bytes: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    took(unsafe { __libc_malloc(bytes) }, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: any size may be asked for. A product that overflows yields no block, and its size is not looked at.
    took(unsafe { __libc_calloc(count, bytes) }, count.wrapping_mul(bytes))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: *mut c_void) {
    if !block.is_null()
        && let Some(counts) = counts()
    {
        counts.gave(counts.forget(block));
    }
    // SAFETY: the caller gives a live block, or null.
    unsafe { __libc_free(block) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    let Some(counts) = counts().filter(|_| !block.is_null()) else {
        // SAFETY: the caller gives a live block, or null.
        return took(unsafe { __libc_realloc(block, bytes) }, bytes);
    };
    let forgotten = counts.forget(block);
    // SAFETY: the caller gives a live block.
    let new = unsafe { __libc_realloc(block, bytes) };
    // Zero bytes free the block and yield null; any other null is a failure that left the block as it was.
    if new.is_null() && bytes > 0 {
        if let Some(bytes) = forgotten {
            counts.enter(block, bytes);
        }
        return new;
    }
    counts.gave(forgotten);
    took(new, bytes)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, bytes: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(bytes) else {
        // SAFETY: the calling thread's own `errno`.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return core::ptr::null_mut();
    };
    // SAFETY: the caller gives a live block, or null.
    unsafe { realloc(block, bytes) }
}

#[unsafe(no_mangle)]
extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    // SAFETY: glibc takes any alignment: it rounds up to a power of two, or refuses.
    took(unsafe { __libc_memalign(alignment, bytes) }, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    memalign(alignment, bytes)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    if !alignment.is_power_of_two() || alignment < size_of::<*mut c_void>() {
        return libc::EINVAL;
    }
    let block = memalign(alignment, bytes);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller gives a place for the answer.
    unsafe { *place = block };
    0
}

#[unsafe(no_mangle)]
extern "C" fn valloc(bytes: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    took(unsafe { __libc_valloc(bytes) }, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn pvalloc(bytes: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    took(unsafe { __libc_pvalloc(bytes) }, bytes)
}
