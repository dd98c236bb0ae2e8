//! A recording, replayed.

mod events;
mod failed;
mod lines;
mod settings;

pub use failed::{Failed, FailedRequest, Why};

use crate::check::{Checker, Difference};
use crate::snapshot::Snapshot;
use crate::source::{self, BadFile, Kind};
use kernels::memory::{Settings, Statistics, TorchVersion};
use serde::Serialize;
use std::cell::Cell;
use std::fmt;
use std::path::Path;

/// Bytes of the device where nothing tells how many it has: more than any has.
const UNKNOWN_DEVICE: u64 = 512 << 30;

/// Fewer bytes than this hold no segment.
const LEAST_DEVICE: u64 = 2 << 20;

/// More bytes than this are taken for an error: bare addresses have no room for the ranges of such a device.
const MOST_DEVICE: u64 = 2 << 40;

/// The versions of PyTorch whose rules are known.
const FIRST_TORCH: TorchVersion = TorchVersion { major: 2, minor: 0 };
const LAST_TORCH: TorchVersion = TorchVersion { major: 2, minor: 15 };

/// How a recording is replayed. What is not said is taken from the recording.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The settings, as `PYTORCH_CUDA_ALLOC_CONF` spells them.
    pub settings: Option<String>,
    /// Bytes of each device.
    pub device_memory: Option<u64>,
    /// The version of PyTorch whose rules are followed.
    pub torch: Option<TorchVersion>,
    /// Whether everything is held against the recording.
    pub check: bool,
}

/// The figures of a replay. Bytes and counts; over all devices of the recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Entries or lines replayed.
    pub events: u64,
    /// Comparisons with the recording that failed.
    pub differences: u64,
    /// The most bytes of blocks that were handed out at once.
    pub peak_live: u64,
    /// The most bytes that were held from the device at once.
    pub peak_held: u64,
    /// Calls that took memory from the device.
    pub device_mallocs: u64,
    /// Calls that gave memory back to it.
    pub device_frees: u64,
    /// Requests to the device that were repeated after the cache was emptied.
    pub retries: u64,
    /// Requests that failed for want of memory.
    pub ooms: u64,
}

impl Summary {
    fn of(events: u64, statistics: &Statistics) -> Summary {
        Summary {
            events,
            differences: 0,
            peak_live: statistics.peak_live(),
            peak_held: statistics.peak_held(),
            device_mallocs: statistics.num_device_alloc.unsigned_abs(),
            device_frees: statistics.num_device_free.unsigned_abs(),
            retries: statistics.num_alloc_retries.unsigned_abs(),
            ooms: statistics.num_ooms.unsigned_abs(),
        }
    }

    fn add(&mut self, other: &Summary) {
        let Summary { events, differences, peak_live, peak_held, device_mallocs, device_frees, retries, ooms } = other;
        self.events += events;
        self.differences += differences;
        self.peak_live += peak_live;
        self.peak_held += peak_held;
        self.device_mallocs += device_mallocs;
        self.device_frees += device_frees;
        self.retries += retries;
        self.ooms += ooms;
    }
}

/// One device's part of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its number.
    pub device: u64,
    /// Its bytes, where they are known.
    pub device_memory: Option<u64>,
    /// Bytes that were held before the first event.
    pub held_before: u64,
    /// Its figures.
    pub summary: Summary,
    /// Its requests that got no memory.
    pub failed: Failed,
}

/// What a replay found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What the file holds, in words.
    pub recording: String,
    /// The settings of the recording.
    pub recorded_settings: String,
    /// The settings that were followed.
    pub settings: String,
    /// The version that was followed.
    pub torch: TorchVersion,
    /// The devices.
    pub parts: Vec<Part>,
    /// The figures over all devices.
    pub summary: Summary,
    /// The first difference, where everything was compared.
    pub difference: Option<Difference>,
    /// What a reader should know about the replay, a sentence each.
    pub notes: Vec<String>,
}

/// Why nothing was replayed, or not to the end.
#[derive(Debug)]
pub enum Failure {
    /// What was asked makes no sense for this recording.
    Usage(String),
    /// The file, or what it tells, is bad.
    File(BadFile),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) => f.write_str(what),
            Failure::File(bad) => bad.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

/// What a replay follows, all told.
struct Plan {
    settings: Settings,
    /// Whether they are those of the recording.
    own: bool,
    check: bool,
}

/// What a replay is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the file, in bytes; twice in the case of a snapshot, and with the replay in the case of a trace.
    Reading,
    /// Replaying a snapshot, in events.
    Replaying,
}

/// Is told how much of how much is done.
pub type Progress<'a> = dyn Fn(Stage, u64, u64) + 'a;

/// Replays the recording in a file.
pub fn replay(path: &Path, options: &Options, progress: &Progress<'_>) -> Result<Report, Failure> {
    let bad = |what: String| Failure::File(BadFile { path: path.to_owned(), what });
    let kind = source::kind(path).map_err(Failure::File)?;
    let passes = if kind == Kind::Snapshot { 2 } else { 1 };
    let all = path.metadata().map_or(0, |file| file.len()).saturating_mul(passes);
    let read = Cell::new(0);
    let tell = |bytes| {
        read.set(read.get() + bytes);
        progress(Stage::Reading, read.get(), all);
    };
    match kind {
        Kind::Trace => {
            let file = source::open(path, &tell).map_err(|error| bad(error.to_string()))?;
            lines::replay(file, options).map_err(|stop| stop.at(path))
        }
        Kind::Snapshot => {
            let snapshot = Snapshot::read(|| source::open(path, &tell)).map_err(|error| bad(error.to_string()))?;
            events::replay(&snapshot, options, progress).map_err(|stop| stop.at(path))
        }
    }
}

/// Why a replay stopped, without the file's name.
enum Stop {
    Usage(String),
    Words(String),
}

impl Stop {
    fn at(self, path: &Path) -> Failure {
        match self {
            Stop::Usage(what) => Failure::Usage(what),
            Stop::Words(what) => Failure::File(BadFile { path: path.to_owned(), what }),
        }
    }
}

impl Plan {
    fn new(options: &Options, recorded: &str, torch: TorchVersion) -> Result<Plan, Stop> {
        if let Some(bytes) = options.device_memory.filter(|bytes| !(LEAST_DEVICE..=MOST_DEVICE).contains(bytes)) {
            return Err(Stop::Usage(format!(
                "{bytes} bytes of device memory: the least are {LEAST_DEVICE}, the smallest segment, and the most \
                 {MOST_DEVICE}; units are allowed, as in 80GiB"
            )));
        }
        if torch < FIRST_TORCH {
            let what = format!(
                "the rules of PyTorch {torch} are not known: {FIRST_TORCH} to {LAST_TORCH} are followed, and newer \
                 versions by the rules of {LAST_TORCH}"
            );
            return Err(if options.torch.is_some() { Stop::Usage(what) } else { Stop::Words(what) });
        }
        let own = options.settings.as_deref().is_none_or(|asked| asked == recorded);
        if options.check && !own {
            return Err(Stop::Usage(format!(
                "other settings make other decisions: a check is only possible under those of the recording, {}",
                if recorded.is_empty() { "default settings".to_owned() } else { format!("{recorded:?}") }
            )));
        }
        let settings = match options.settings.as_deref() {
            Some(asked) if !own => settings::read(asked, torch).map_err(Stop::Usage)?,
            _ => recorded_settings(recorded, torch)?,
        };
        Ok(Plan { settings, own, check: options.check })
    }

    fn report(
        &self,
        recording: String,
        recorded: &str,
        parts: Vec<Part>,
        checker: Checker,
        mut notes: Vec<String>,
    ) -> Report {
        let torch = self.settings.version();
        if torch > LAST_TORCH {
            notes.push(format!("the rules of PyTorch {torch} are not known: those of {LAST_TORCH} are taken"));
        }
        let mut summary = Summary::default();
        parts.iter().for_each(|part| summary.add(&part.summary));
        summary.differences = checker.differences;
        Report {
            recording,
            recorded_settings: recorded.to_owned(),
            settings: self.settings.text().to_owned(),
            torch,
            parts,
            summary,
            difference: checker.first,
            notes,
        }
    }
}

/// The settings that a recording names.
fn recorded_settings(text: &str, torch: TorchVersion) -> Result<Settings, Stop> {
    settings::read(text, torch)
        .map_err(|error| Stop::Words(format!("its settings {text:?} are no settings of PyTorch {torch}: {error}")))
}

/// A number with its word: `1 segment`, `2 segments`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
