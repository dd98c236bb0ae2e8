//! Reads the heap ledger of a subject's process from outside. `docs/heap-ledger.md` describes the file.

use crate::record::Accounting;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const FORMAT: [u8; 8] = *b"TMLEDGR\x01";
const WORDS: usize = 13;
const PID: usize = 1;
const BIG_CALLS: usize = 4;
const BIG_BYTES: usize = 6;
const BIG_LIVE: usize = 7;
const BIG_PEAK: usize = 8;
const LOST: usize = 12;

/// A subject's heap ledger.
pub struct Ledger {
    file: File,
    folder: tempfile::TempDir,
}

/// What the ledger held when a window was opened.
pub struct Window {
    words: [u64; WORDS],
}

impl Ledger {
    /// A new, empty ledger file, for a subject that is about to start.
    pub fn new() -> Result<Ledger, String> {
        let told = |error: std::io::Error| format!("no place for a heap ledger: {error}");
        let folder = tempfile::Builder::new().prefix("heap-ledger-").tempdir().map_err(told)?;
        let path = folder.path().join("ledger");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(told)?;
        Ok(Ledger { file, folder })
    }

    /// The variables that load the ledger into a process.
    pub fn environment(&self, library: &Path) -> Vec<(String, std::ffi::OsString)> {
        vec![
            ("LD_PRELOAD".into(), library.into()),
            ("HEAP_LEDGER".into(), self.folder.path().join("ledger").into()),
            // Python's own arenas are mapped a megabyte at a time and would count as tensor-sized.
            ("PYTHONMALLOC".into(), "malloc".into()),
        ]
    }

    /// Whether the process with this number counts here; the error says why it does not.
    pub fn check(&self, pid: u32) -> Result<(), String> {
        let words = self.words()?;
        if words[0].to_le_bytes() != FORMAT {
            return Err("the heap ledger was not loaded into the subject's process".into());
        }
        if words[PID] != u64::from(pid) {
            return Err(format!("the heap ledger counts process {}, the subject is {pid}", words[PID]));
        }
        Ok(())
    }

    /// Opens a window while the subject waits for input: the peak starts at what is live now.
    pub fn open(&self) -> Result<Window, String> {
        let words = self.words()?;
        let told = |error| format!("the heap ledger cannot be written: {error}");
        self.file.write_all_at(&words[BIG_LIVE].to_le_bytes(), 8 * BIG_PEAK as u64).map_err(told)?;
        Ok(Window { words })
    }

    /// What happened since the window was opened.
    pub fn close(&self, window: &Window) -> Result<Accounting, String> {
        let (before, after) = (&window.words, self.words()?);
        if after[LOST] != 0 {
            return Err(format!("the heap ledger lost sight of {} blocks, so its bytes are too low", after[LOST]));
        }
        Ok(Accounting {
            allocations: after[BIG_CALLS].wrapping_sub(before[BIG_CALLS]),
            bytes: after[BIG_BYTES].wrapping_sub(before[BIG_BYTES]),
            peak_bytes: after[BIG_PEAK].wrapping_sub(before[BIG_LIVE]),
            kept_bytes: after[BIG_LIVE].wrapping_sub(before[BIG_LIVE]) as i64,
        })
    }

    fn words(&self) -> Result<[u64; WORDS], String> {
        let mut bytes = [0; 8 * WORDS];
        self.file
            .read_exact_at(&mut bytes, 0)
            .map_err(|_| "the heap ledger was not loaded into the subject's process")?;
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        }
        Ok(words)
    }
}

/// Where the ledger's library is, or why there is none.
pub fn library(target: &Path) -> Result<PathBuf, String> {
    if cfg!(not(all(target_os = "linux", target_env = "gnu"))) {
        return Err("the heap ledger needs Linux with glibc".into());
    }
    let library = target.join("libheap_ledger.so");
    if library.is_file() {
        Ok(library)
    } else {
        Err("the heap ledger was not built: cargo build --release -p heap-ledger".into())
    }
}
