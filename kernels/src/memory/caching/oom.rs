//! The report of a request that ran out of memory.

use super::super::TorchVersion;
use std::fmt;

const CONF: &str = "PYTORCH_CUDA_ALLOC_CONF";
const DOCS: &str =
    "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf";
const OLD_DOCS: &str = "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables";

/// What was asked and what was there when a request failed. Sizes are bytes.
///
/// [`fmt::Display`] gives the text of the version that is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfMemory {
    /// What the program asked for.
    pub requested: u64,
    /// What the device was asked for: a whole segment.
    pub segment: u64,
    /// What the device has.
    pub total: u64,
    /// What nobody holds of it.
    pub free: u64,
    /// What the driver shows of this process, where it tells.
    pub process: Option<u64>,
    /// The most that this allocator may hold, where there is a limit.
    pub limit: Option<u64>,
    /// What is live.
    pub live: u64,
    /// What is held.
    pub held: u64,
    /// What lies free in private pools.
    pub private_cached: u64,
    pub(super) version: TorchVersion,
    pub(super) expandable: bool,
    /// The addresses that the request would take in an expandable segment, and those that one reserves.
    pub(super) beyond_reserve: Option<(u64, u64)>,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (segment, total, free) = (Bytes(self.segment), Bytes(self.total), Bytes(self.free));
        write!(f, "CUDA out of memory. Tried to allocate {segment}. GPU 0 has a total capacity of {total} ")?;
        write!(f, "of which {free} is free. ")?;
        if let Some(process) = self.process {
            write!(f, "Including non-PyTorch memory, this process has {} memory in use. ", Bytes(process))?;
        }
        if let Some(limit) = self.limit {
            write!(f, "{} allowed; ", Bytes(limit))?;
        }
        write!(f, "Of the allocated memory {} is allocated by PyTorch, ", Bytes(self.live + self.private_cached))?;
        if self.private_cached > 0 {
            write!(f, "with {} allocated in private pools (e.g., CUDA Graphs), ", Bytes(self.private_cached))?;
        }
        let cached = self.held.saturating_sub(self.live).saturating_sub(self.private_cached);
        write!(f, "and {} is reserved by PyTorch but unallocated.", Bytes(cached))?;
        self.hint(f)
    }
}

impl OutOfMemory {
    /// The advice at the end of the message, which changed with versions and settings.
    fn hint(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.version.since(10) && !self.version.since(12) { "PYTORCH_ALLOC_CONF" } else { CONF };
        let docs = if self.version.since(12) { DOCS } else { OLD_DOCS };
        if !self.expandable || !self.version.since(14) {
            return write!(
                f,
                " If reserved but unallocated memory is large try setting {name}=expandable_segments:True to avoid \
                 fragmentation.  See documentation for Memory Management  ({docs})"
            );
        }
        match self.beyond_reserve {
            _ if !self.version.since(15) => Ok(()),
            // The words for this are PyTorch's in meaning alone: no run has shown them.
            Some((needed, reserve)) => write!(
                f,
                " The request needs {} of addresses in one expandable segment, which reserves {}: raise \
                 expandable_segments_reserve.",
                Bytes(needed),
                Bytes(reserve)
            ),
            None => write!(
                f,
                " expandable_segments is enabled. If instead the process is running out of virtual address space (VSZ), \
                 expandable segments may be over-reserving VA (each segment reserves ~9/8 of device memory, times the \
                 number of streams); reduce it via {CONF} expandable_segments_reserve / \
                 expandable_segments_reserve_by_class."
            ),
        }
    }
}

/// A size as PyTorch's message writes it.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |unit: u32| self.0 as f64 / f64::from(unit);
        match self.0.saturating_sub(1).checked_ilog2().unwrap_or(0) {
            ..10 => write!(f, "{} bytes", self.0),
            10..20 => write!(f, "{:.2} KiB", part(1 << 10)),
            20..30 => write!(f, "{:.2} MiB", part(1 << 20)),
            _ => write!(f, "{:.2} GiB", part(1 << 30)),
        }
    }
}
