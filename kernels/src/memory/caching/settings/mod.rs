//! The settings of the caching allocator and of the pinned one, as `PYTORCH_CUDA_ALLOC_CONF` spells them.

mod parse;

use super::super::TorchVersion;
use super::size::MIN_BLOCK;
use std::fmt;

const MIB: u64 = 1 << 20;

/// Settings in force. Sizes are bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    version: TorchVersion,
    /// The string that was parsed last.
    text: String,
    /// `max_split_size_mb`: blocks of this size and more are never split; `u64::MAX` without a limit.
    pub max_split_size: u64,
    /// `max_non_split_rounding_mb`: by how much a block beyond the limit may exceed its request.
    pub max_non_split_rounding: u64,
    /// `large_segment_size_mb`: the segment that requests between 1 and 10 MiB share.
    pub large_segment: u64,
    /// `garbage_collection_threshold`: the part of the memory limit above which old blocks go back; 0 is off.
    pub garbage_collection_threshold: f64,
    /// `roundup_power2_divisions`, for requests below 2 MiB, 4 MiB, ... 32 GiB, and above; 0 is off.
    pub roundup_power2_divisions: [u64; 16],
    /// `expandable_segments`.
    pub expandable_segments: bool,
    /// `per_process_memory_fraction`: the memory limit that the allocator is made with.
    pub per_process_memory_fraction: f64,
    /// `throw_on_cudamalloc_oom`: refuse before the device is asked.
    pub throw_on_cudamalloc_oom: bool,
    /// `release_lock_on_cudamalloc`: no effect on a single thread.
    pub release_lock_on_cudamalloc: bool,
    /// `graph_capture_record_stream_reuse`: no effect without captures.
    pub graph_capture_record_stream_reuse: bool,
    /// `expandable_segments_reserve`: addresses that an expandable segment reserves.
    pub expandable_segments_reserve: Option<Reserve>,
    /// `expandable_segments_reserve_by_class`: the same for the small and the large pool.
    pub expandable_segments_reserve_by_class: [Option<Reserve>; 2],
    /// What concerns page-locked host memory.
    pub pinned: PinnedSettings,
    /// What was odd about the string and had no effect, in words.
    pub warnings: Vec<String>,
}

/// How many addresses an expandable segment reserves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reserve {
    /// A part of the device's memory.
    Fraction(f64),
    /// So many bytes.
    Bytes(u64),
}

/// The settings of page-locked host memory. Sizes are bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct PinnedSettings {
    /// `pinned_use_cuda_host_register`: lock pages of ordinary memory.
    pub use_cuda_host_register: bool,
    /// `pinned_num_register_threads`: threads that touch the pages first.
    pub num_register_threads: u64,
    /// `pinned_use_background_threads`: process events on a thread of their own.
    pub use_background_threads: bool,
    /// `pinned_reserve_segment_size_mb`: a segment that requests are cut from; 0 is off.
    pub reserve_segment: u64,
    /// `pinned_max_round_threshold_mb`: larger requests are not rounded.
    pub max_round_threshold: u64,
    /// `pinned_max_cached_size_mb`: larger blocks are neither rounded nor kept.
    pub max_cached_size: u64,
    /// `pinned_free_catch_all`.
    pub free_catch_all: bool,
}

impl Default for PinnedSettings {
    fn default() -> Self {
        PinnedSettings {
            use_cuda_host_register: false,
            num_register_threads: 1,
            use_background_threads: false,
            reserve_segment: 0,
            max_round_threshold: u64::MAX,
            max_cached_size: u64::MAX,
            free_catch_all: false,
        }
    }
}

/// The kind of exception that PyTorch raises for a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsErrorKind {
    /// A value that is not allowed, or an unknown key: `ValueError` in PyTorch.
    Value,
    /// The string ends early, or what it asks cannot be changed any more: an internal error in PyTorch.
    Internal,
}

/// Why a string of settings was refused. What stood before the fault stays in force, as in PyTorch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// Which kind of exception PyTorch raises.
    pub kind: SettingsErrorKind,
    /// PyTorch's words.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// The settings of an empty string.
    pub fn new(version: TorchVersion) -> Settings {
        Settings {
            version,
            text: String::new(),
            max_split_size: u64::MAX,
            max_non_split_rounding: 20 * MIB,
            large_segment: 20 * MIB,
            garbage_collection_threshold: 0.0,
            roundup_power2_divisions: [0; 16],
            expandable_segments: false,
            per_process_memory_fraction: 1.0,
            throw_on_cudamalloc_oom: false,
            release_lock_on_cudamalloc: false,
            graph_capture_record_stream_reuse: false,
            expandable_segments_reserve: None,
            expandable_segments_reserve_by_class: [None; 2],
            pinned: PinnedSettings::default(),
            warnings: Vec::new(),
        }
    }

    /// The settings of this string, under the grammar of this version.
    pub fn parse(text: &str, version: TorchVersion) -> Result<Settings, SettingsError> {
        let mut settings = Settings::new(version);
        settings.apply(text)?;
        Ok(settings)
    }

    /// The string that was parsed last.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The version whose grammar and limits hold.
    pub fn version(&self) -> TorchVersion {
        self.version
    }

    /// Divisions between powers of two for a request of so many bytes; 0 is off.
    #[inline]
    fn divisions(&self, bytes: u64) -> u64 {
        let interval = bytes.max(1).ilog2().saturating_sub(20).min(15);
        self.roundup_power2_divisions[interval as usize]
    }

    /// The bytes of a block for a request: a multiple of 512 bytes, or a step between powers of two.
    #[inline]
    pub fn rounded(&self, asked: u64) -> u64 {
        if asked < MIN_BLOCK {
            return MIN_BLOCK;
        }
        let divisions = self.divisions(asked);
        if divisions <= 1 || asked <= MIN_BLOCK * divisions {
            return asked.next_multiple_of(MIN_BLOCK);
        }
        if asked.is_power_of_two() {
            return asked;
        }
        // Equal steps between the powers of two on both sides; above 512 bytes a division, so never empty.
        let step = (1 << asked.ilog2()) / divisions;
        asked.next_multiple_of(step)
    }

    /// Addresses that an expandable segment reserves on a device of so many bytes, before whole pages.
    pub(super) fn reserve(&self, total: u64, small: bool) -> u64 {
        let all = total + total / 8;
        let [of_small, of_large] = self.expandable_segments_reserve_by_class;
        let chosen = if small { of_small } else { of_large };
        let bytes = match chosen.or(self.expandable_segments_reserve) {
            None => all,
            Some(Reserve::Bytes(bytes)) => bytes,
            Some(Reserve::Fraction(fraction)) => (fraction * total as f64) as u64,
        };
        bytes.min(all)
    }
}
