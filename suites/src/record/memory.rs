//! What a case saw of memory: timelines, segments, requests that failed. All sizes are bytes.

use super::{Outcome, Record};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The processor and its memory.
pub const CPU: &str = "cpu";

/// The device that a simulation stands in for: its name says so wherever a result is shown.
pub const SIMULATED: &str = "cuda (simulated)";

/// One step of a memory timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryStep {
    /// The subject's id.
    pub subject: String,
    /// The device.
    pub device: String,
    /// The case whose timeline it is.
    pub case: String,
    /// The step's place, from 0.
    pub step: u32,
    /// The line of code.
    pub code: String,
    /// Bytes of tensors in use.
    pub live: Option<u64>,
    /// Bytes that the allocator has from the device or system.
    pub held: Option<u64>,
    /// What the driver shows.
    pub process: Option<u64>,
    /// What the operating system shows of main memory.
    pub host: Option<u64>,
}

/// The segments of an allocator at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentMap {
    /// The subject's id.
    pub subject: String,
    /// The device.
    pub device: String,
    /// The case that looked.
    pub case: String,
    /// What the moment is, in words.
    pub title: String,
    /// The segments, in the order of their addresses.
    pub segments: Vec<SegmentRecord>,
}

/// Memory that the allocator has in one piece.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// Whether it serves requests up to 1 MiB.
    pub small: bool,
    /// Whether it is part of an expandable segment.
    pub expandable: bool,
    /// Its blocks from its first byte to its last.
    pub blocks: Vec<BlockRecord>,
}

/// A piece of a segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// Its bytes.
    pub bytes: u64,
    /// Whether it is in use.
    pub state: BlockState,
    /// What the program calls the tensor in it, where the case says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Whether a block is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockState {
    /// A tensor has it.
    Live,
    /// It was given back and waits for a stream.
    Pending,
    /// It is cached.
    Free,
}

/// A request that ran out of memory, and what was there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfMemory {
    /// The subject's id.
    pub subject: String,
    /// The device.
    pub device: String,
    /// The case that asked.
    pub case: String,
    /// What was asked for.
    pub request: u64,
    /// What the allocator could still have taken from the device.
    pub free: u64,
    /// What it had.
    pub held: u64,
    /// What was in use of it.
    pub live: u64,
    /// The library's own words.
    pub message: String,
}

/// Whether the bytes that are held and not live would have been enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Free and cached bytes together would do: they lie in pieces, and less fragmentation could have helped.
    Fragmentation,
    /// Even with every cached byte there is too little.
    TooLittle,
    /// There is enough free: something else refused.
    Other,
}

impl Cause {
    /// The cause, from a request and the bytes that were free, held and live.
    pub fn of(request: u64, free: u64, held: u64, live: u64) -> Cause {
        if request <= free {
            Cause::Other
        } else if request <= free.saturating_add(held.saturating_sub(live)) {
            Cause::Fragmentation
        } else {
            Cause::TooLittle
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Fragmentation => "less fragmentation can help",
            Cause::TooLittle => "less fragmentation cannot help",
            Cause::Other => "another cause",
        })
    }
}

impl Record {
    /// A record of memory with the names of where it was seen.
    pub(crate) fn seen_by(mut self, outcome: &Outcome) -> Record {
        let (subject, device, case) = match &mut self {
            Record::Memory(step) => (&mut step.subject, &mut step.device, &mut step.case),
            Record::Segments(map) => (&mut map.subject, &mut map.device, &mut map.case),
            Record::OutOfMemory(report) => (&mut report.subject, &mut report.device, &mut report.case),
            _ => return self,
        };
        *subject = outcome.subject.clone();
        *device = outcome.device.clone();
        *case = outcome.case.clone();
        self
    }
}

impl OutOfMemory {
    /// Whether less fragmentation could have helped.
    pub fn cause(&self) -> Cause {
        Cause::of(self.request, self.free, self.held, self.live)
    }
}
