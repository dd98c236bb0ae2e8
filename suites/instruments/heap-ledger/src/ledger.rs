//! The shared file: one word per count.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// First word of a ledger: seven letters and the version of the layout.
pub const FORMAT: u64 = u64::from_le_bytes(*b"TMLEDGR\x01");

/// Length of the file, in bytes.
pub const FILE_BYTES: usize = 4096;

/// The words of the file in their order; the table in `docs/heap-ledger.md` says the same.
#[repr(C)]
pub struct Ledger {
    /// [`FORMAT`] once a process counts here.
    pub format: AtomicU64,
    /// The process that counts here.
    pub pid: AtomicU64,
    calls: AtomicU64,
    frees: AtomicU64,
    big_calls: AtomicU64,
    big_frees: AtomicU64,
    big_bytes: AtomicU64,
    big_live: AtomicU64,
    big_peak: AtomicU64,
    maps: AtomicU64,
    mapped: AtomicU64,
    unmapped: AtomicU64,
    lost: AtomicU64,
}

impl Ledger {
    /// Makes `pid` the process that counts here; `false` if another process does. A process that started another
    /// program by `exec` is still the owner, but the blocks it had are gone, so it counts from zero.
    pub fn claim(&self, pid: u64) -> bool {
        match self.pid.compare_exchange(0, pid, Relaxed, Relaxed) {
            Ok(_) => {}
            Err(owner) if owner == pid => self.clear(),
            Err(_) => return false,
        }
        self.format.store(FORMAT, Relaxed);
        true
    }

    fn clear(&self) {
        for word in [
            &self.calls,
            &self.frees,
            &self.big_calls,
            &self.big_frees,
            &self.big_bytes,
            &self.big_live,
            &self.big_peak,
            &self.maps,
            &self.mapped,
            &self.unmapped,
            &self.lost,
        ] {
            word.store(0, Relaxed);
        }
    }

    /// A heap block of any size was handed out.
    pub fn called(&self) {
        self.calls.fetch_add(1, Relaxed);
    }

    /// A heap block of any size was given back.
    pub fn freed(&self) {
        self.frees.fetch_add(1, Relaxed);
    }

    /// A tensor-sized block of `bytes` came to life.
    pub fn big_called(&self, bytes: u64) {
        self.big_calls.fetch_add(1, Relaxed);
        self.big_bytes.fetch_add(bytes, Relaxed);
        let live = self.big_live.fetch_add(bytes, Relaxed) + bytes;
        self.big_peak.fetch_max(live, Relaxed);
    }

    /// `blocks` tensor-sized blocks ended, and `bytes` with them; a mapping cut short gives bytes and ends no block.
    pub fn big_freed(&self, blocks: u64, bytes: u64) {
        self.big_frees.fetch_add(blocks, Relaxed);
        self.big_live.fetch_sub(bytes, Relaxed);
    }

    /// A tensor-sized mapping of `bytes` came to life.
    pub fn mapped(&self, bytes: u64) {
        self.maps.fetch_add(1, Relaxed);
        self.mapped.fetch_add(bytes, Relaxed);
        self.big_called(bytes);
    }

    /// `bytes` of tensor-sized mappings went, and `mappings` of them altogether.
    pub fn unmapped(&self, mappings: u64, bytes: u64) {
        self.unmapped.fetch_add(bytes, Relaxed);
        self.big_freed(mappings, bytes);
    }

    /// `blocks` tensor-sized blocks found no place in the books: from here on live and peak are too low.
    pub fn lost(&self, blocks: u64) {
        self.lost.fetch_add(blocks, Relaxed);
    }
}
