//! The address ranges of the device, and the memory behind them.

use crate::settings;
use libc::{MAP_ANONYMOUS, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_NORESERVE, MAP_PRIVATE, MAP_SHARED, PROT_NONE};
use std::ffi::{c_int, c_void};
use std::io::Error as SystemError;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Nothing, or one file of memory. Its pages are shared ones, so that they count as such and the process's private
/// memory stays that of the host.
pub enum Backing {
    Addresses,
    Host(OwnedFd),
}

/// The largest page in use on the machines served.
const PAGE: u64 = 64 << 10;

impl Backing {
    /// Backing of the kind that was asked for, with room for `bytes`.
    pub fn new(kind: settings::Backing, bytes: u64) -> Result<Backing, String> {
        if kind == settings::Backing::Addresses {
            return Ok(Backing::Addresses);
        }
        // SAFETY: a valid C string.
        let file = unsafe { libc::memfd_create(c"simulated-cuda".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(format!("no memory for the device: memfd_create: {}", SystemError::last_os_error()));
        }
        // SAFETY: opened above and owned by nobody else.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        // SAFETY: an open file.
        if unsafe { libc::ftruncate(file.as_raw_fd(), bytes as i64) } != 0 {
            return Err(format!("no {bytes} bytes for the device: ftruncate: {}", SystemError::last_os_error()));
        }
        Ok(Backing::Host(file))
    }

    /// Puts `bytes` of the file from `offset` at `address`, which lies in a reserved range.
    pub fn map(&self, address: u64, bytes: u64, offset: u64, protection: c_int) -> bool {
        let Backing::Host(file) = self else { return true };
        let kind = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
        place(address, bytes, protection, kind, file.as_raw_fd(), offset)
    }

    /// Leaves nothing at `address`; the range stays reserved.
    pub fn unmap(&self, address: u64, bytes: u64) {
        if matches!(self, Backing::Host(_)) {
            // Only fails where the kernel lacks a mapping more; then the old one stays, which nobody uses.
            let _ = place(address, bytes, PROT_NONE, nothing() | MAP_FIXED, -1, 0);
        }
    }

    /// Sets what may be done with the pages of a mapped range.
    pub fn protect(&self, address: u64, bytes: u64, protection: c_int) -> bool {
        let Backing::Host(_) = self else { return true };
        // SAFETY: a mapped range of the device; no Rust value lies in it.
        unsafe { libc::mprotect(pointer(address), bytes as usize, protection) == 0 }
    }

    /// Gives the pages of a part of the file back to the system.
    pub fn discard(&self, offset: u64, bytes: u64) {
        let Backing::Host(file) = self else { return };
        let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: an open file. A failure leaves pages that nobody reads: the next owner's values are undefined anyway.
        unsafe { libc::fallocate(file.as_raw_fd(), how, offset as i64, bytes as i64) };
    }

    /// How far from `offset` the file is all hole (`false`) or all data (`true`), at most `bytes`.
    pub fn extent(&self, offset: u64, bytes: u64) -> (u64, bool) {
        let Backing::Host(file) = self else { return (bytes, true) };
        let seek = |whence| {
            // SAFETY: an open file, whose position nothing uses.
            let found = unsafe { libc::lseek(file.as_raw_fd(), offset as i64, whence) };
            u64::try_from(found).map_or(bytes, |found| found.saturating_sub(offset).min(bytes))
        };
        match seek(libc::SEEK_DATA) {
            0 => (seek(libc::SEEK_HOLE).max(1), true),
            hole => (hole, false),
        }
    }
}

/// Reserves a range of addresses at exactly `address`.
pub fn reserve(address: u64, bytes: u64) -> Result<(), String> {
    if place(address, bytes, PROT_NONE, nothing() | MAP_FIXED_NOREPLACE, -1, 0) {
        return Ok(());
    }
    let error = SystemError::last_os_error();
    Err(format!(
        "cannot reserve {bytes} bytes of addresses at {address:#x}, where the device's memory must lie: {error}"
    ))
}

/// Makes mapped device memory zero. Whole pages are given back instead of written.
pub fn zero(address: u64, bytes: u64) {
    let (first, last) = (address.next_multiple_of(PAGE), (address + bytes) / PAGE * PAGE);
    let whole = last.saturating_sub(first);
    // SAFETY: whole pages of a mapped range of the device; no Rust value lies in it.
    if whole == 0 || unsafe { libc::madvise(pointer(first), whole as usize, libc::MADV_REMOVE) } != 0 {
        return write_zeros(address, bytes);
    }
    write_zeros(address, first - address);
    write_zeros(last, address + bytes - last);
}

fn write_zeros(address: u64, bytes: u64) {
    // SAFETY: the caller gave a range that may be written.
    unsafe { pointer(address).cast::<u8>().write_bytes(0, bytes as usize) };
}

fn nothing() -> c_int {
    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
}

fn place(address: u64, bytes: u64, protection: c_int, kind: c_int, file: c_int, offset: u64) -> bool {
    // SAFETY: either the range must be free (MAP_FIXED_NOREPLACE), or it was reserved for the device and no Rust value
    // lies in it.
    let got = unsafe { libc::mmap(pointer(address), bytes as usize, protection, kind, file, offset as i64) };
    if got == libc::MAP_FAILED {
        return false;
    }
    if got != pointer(address) {
        // SAFETY: mapped just now, by a kernel that does not know MAP_FIXED_NOREPLACE.
        unsafe { libc::munmap(got, bytes as usize) };
        return false;
    }
    true
}

fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
