//! Opens the ledger that the environment names.

use core::ptr::null_mut;

use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, MAP_SHARED, PROT_READ, PROT_WRITE, c_int};

use crate::books::{Books, open};
use crate::ledger::{FILE_BYTES, FORMAT, Ledger};

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// Runs when the library is loaded. Whatever goes wrong leaves the process uncounted: a reader finds no ledger of that
/// process in the file.
extern "C" fn start() {
    let Some(ledger) = shared_ledger() else { return };
    let Some(books) = wiped_on_fork() else { return };
    // SAFETY: reads the process's own number.
    let pid = unsafe { libc::getpid() };
    if ledger.claim(u64::from(pid.unsigned_abs())) {
        open(books, ledger);
    }
}

fn shared_ledger() -> Option<&'static Ledger> {
    // SAFETY: a valid C string; the environment is set up before constructors run and no thread changes it yet.
    let path = unsafe { libc::getenv(c"HEAP_LEDGER".as_ptr()) };
    if path.is_null() {
        return None;
    }
    // SAFETY: `path` is a C string of the environment.
    let file = unsafe { libc::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC, 0o600) };
    if file < 0 {
        return None;
    }
    let ledger = map_ledger(file);
    // SAFETY: `file` was opened above and is used no more; the mapping outlives it.
    unsafe { libc::close(file) };
    ledger
}

fn map_ledger(file: c_int) -> Option<&'static Ledger> {
    // SAFETY: a struct of integers, for which zeros are values.
    let mut found: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: an open file and a place for the answer.
    if unsafe { libc::fstat(file, &raw mut found) } != 0 {
        return None;
    }
    let length = FILE_BYTES as i64;
    // SAFETY: an open file. Only an empty one is made longer: a name given by mistake must not cost a file.
    let sized = found.st_size == length || found.st_size == 0 && unsafe { libc::ftruncate(file, length) } == 0;
    if !sized {
        return None;
    }
    let writable = PROT_READ | PROT_WRITE;
    // SAFETY: a new mapping of an open file, of the length it has.
    let page = unsafe { libc::mmap(null_mut(), FILE_BYTES, writable, MAP_SHARED, file, 0) };
    if page == MAP_FAILED {
        return None;
    }
    // SAFETY: page-aligned, longer than the words, never unmapped, and atomics may hold any bits.
    let ledger: &Ledger = unsafe { &*page.cast() };
    let format = ledger.format.load(core::sync::atomic::Ordering::Relaxed);
    (format == 0 || format == FORMAT).then_some(ledger)
}

fn wiped_on_fork() -> Option<&'static Books> {
    let bytes = size_of::<Books>();
    let kind = MAP_PRIVATE | MAP_ANONYMOUS;
    // SAFETY: a new mapping of zeros.
    let page = unsafe { libc::mmap(null_mut(), bytes, PROT_READ | PROT_WRITE, kind, -1, 0) };
    if page == MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping made above.
    if unsafe { libc::madvise(page, bytes, libc::MADV_WIPEONFORK) } != 0 {
        return None;
    }
    // SAFETY: page-aligned, never unmapped, and zeros are the closed books, here and in a forked child.
    Some(unsafe { &*page.cast() })
}
