//! Traces of JSON lines: what a program asked of PyTorch's allocator, and what the allocator did each time.
//! `docs/allocator-traces.md` describes the format.

use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::BufRead;

/// Why a line was not read.
#[derive(Debug)]
pub struct BadLine {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for BadLine {}

/// The first line.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The numbers of the streams, in the order of their handles.
    pub stream_order: Vec<u64>,
    /// The settings in force from the start.
    pub settings: String,
    /// Where it was recorded.
    pub meta: Meta,
}

/// Where a trace was recorded.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Meta {
    /// The trace's name.
    pub name: String,
    /// Bytes of the device.
    pub device_total: u64,
    /// The version of PyTorch.
    pub torch: String,
}

/// What the program, or the device, did.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Asked for so many bytes.
    Malloc {
        /// The program's name of the block.
        id: u64,
        /// Bytes asked for.
        bytes: u64,
        /// The number of the stream.
        stream: u64,
        /// The address, or the text of the failure.
        answer: Result<u64, String>,
    },
    /// Gave a block back.
    Free {
        /// Its name.
        id: u64,
    },
    /// Said that a block is also used on a stream.
    RecordStream {
        /// Its name.
        id: u64,
        /// The number of the stream.
        stream: u64,
    },
    /// Named a block that it never got: nothing was asked of the allocator.
    Skipped,
    /// From now on events stay pending until [`Op::CompleteAll`].
    Async,
    /// The device has caught up with all streams.
    CompleteAll,
    /// Set the share of the device's memory that may be held.
    SetFraction(f64),
    /// Emptied the cache.
    EmptyCache,
    /// Took a snapshot.
    Snapshot(Vec<Segment>),
    /// Read all statistics.
    Stats(BTreeMap<String, Figures>),
}

impl Op {
    /// The word that the file has for it.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Malloc { .. } => "malloc",
            Op::Free { .. } => "free",
            Op::RecordStream { .. } => "record_stream",
            Op::Skipped => "skipped",
            Op::Async => "async",
            Op::CompleteAll => "complete_all",
            Op::SetFraction(_) => "set_fraction",
            Op::EmptyCache => "empty_cache",
            Op::Snapshot(_) => "snapshot",
            Op::Stats(_) => "stats",
        }
    }
}

/// A statistic: one number, or its current, peak, allocated and freed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Figures {
    /// One number.
    One(i64),
    /// Current, peak, allocated, freed.
    Four([i64; 4]),
}

/// A segment as a snapshot line shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Where it begins.
    pub addr: u64,
    /// Its bytes.
    pub size: u64,
    /// The number of its stream.
    pub stream: u64,
    /// 1 in a large pool.
    pub large: u8,
    /// 1 in an expandable segment.
    pub exp: u8,
    /// Its registration number; -1 in versions that have none.
    pub reg: i64,
    /// Bytes handed out.
    pub allocated: u64,
    /// Bytes handed out, or waiting for a stream.
    pub active: u64,
    /// Bytes asked for.
    pub requested: u64,
    /// Size, requested size, 1 if allocated, 1 if active, of each block.
    pub blocks: Vec<(u64, u64, u8, u8)>,
}

/// A call of the device: name, address or handle, bytes, 0 or the error.
pub type Call = (String, u64, u64, i32);
/// An entry of the allocator's own history: action, address, bytes, stream.
pub type Entry = (String, u64, u64, u64);

/// What the allocator had counted after an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Bytes live.
    pub allocated: u64,
    /// Bytes held.
    pub reserved: u64,
    /// Bytes live, or waiting for a stream.
    pub active: u64,
    /// Bytes asked for.
    pub requested: u64,
    /// Free bytes in segments that are in use.
    pub inactive_split: u64,
    /// Segments.
    pub nseg: u64,
    /// Requests repeated after the cache was emptied.
    pub retries: u64,
    /// Requests that failed.
    pub ooms: u64,
}

/// A line after the header.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line, counted from 1.
    pub number: u64,
    /// What was asked.
    pub op: Op,
    /// The calls of the device meanwhile.
    pub calls: Vec<Call>,
    /// The allocator's history meanwhile.
    pub entries: Vec<Entry>,
    /// What it had counted afterwards.
    pub counted: Counted,
}

/// A line as it stands in the file: the keys of all ops.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(rename = "i")]
    _i: u64,
    op: String,
    stream_order: Option<Vec<u64>>,
    config: Option<String>,
    meta: Option<Meta>,
    id: Option<u64>,
    size: Option<u64>,
    stream: Option<u64>,
    addr: Option<u64>,
    oom: Option<bool>,
    msg: Option<String>,
    skipped: Option<bool>,
    #[serde(rename = "async")]
    _on: Option<u8>,
    fraction: Option<f64>,
    segments: Option<Vec<Segment>>,
    stats: Option<BTreeMap<String, Figures>>,
    cuda: Vec<Call>,
    trace: Vec<Entry>,
    allocated: u64,
    reserved: u64,
    active: u64,
    requested: u64,
    inactive_split: u64,
    nseg: u64,
    retries: u64,
    ooms: u64,
}

/// Reads a trace line by line.
pub struct Reader<R> {
    from: R,
    text: String,
    line: u64,
    /// Blocks that have a name.
    live: HashSet<u64>,
}

impl<R: BufRead> Reader<R> {
    /// Begins to read: takes the header.
    pub fn new(from: R) -> Result<(Header, Reader<R>), BadLine> {
        let mut reader = Reader { from, text: String::new(), line: 0, live: HashSet::new() };
        let raw = reader.raw()?.ok_or_else(|| reader.bad("the file is empty"))?;
        if raw.op != "header" {
            return Err(reader.bad(format!("the first op is {:?}, not \"header\"", raw.op)));
        }
        let header = Header {
            stream_order: reader.key("stream_order", raw.stream_order)?,
            settings: reader.key("config", raw.config)?,
            meta: reader.key("meta", raw.meta)?,
        };
        Ok((header, reader))
    }

    fn bad(&self, what: impl Into<String>) -> BadLine {
        BadLine { line: self.line, what: what.into() }
    }

    fn key<T>(&self, name: &str, value: Option<T>) -> Result<T, BadLine> {
        value.ok_or_else(|| self.bad(format!("the key {name:?} is missing")))
    }

    fn raw(&mut self) -> Result<Option<Raw>, BadLine> {
        self.text.clear();
        self.line += 1;
        let read = self.from.read_line(&mut self.text).map_err(|error| self.bad(error.to_string()))?;
        if read == 0 {
            return Ok(None);
        }
        let parsed = serde_json::from_str(&self.text);
        parsed.map(Some).map_err(|error| match error.is_eof() {
            true => self.bad("the line is cut short"),
            false => self.bad(error.to_string()),
        })
    }

    fn read(&mut self) -> Result<Option<Line>, BadLine> {
        let Some(raw) = self.raw()? else { return Ok(None) };
        let skipped = raw.skipped == Some(true);
        let op = match raw.op.as_str() {
            "free" | "record_stream" if skipped => {
                let id = self.key("id", raw.id)?;
                if self.live.contains(&id) {
                    return Err(self.bad(format!("block {id} is skipped and yet was allocated")));
                }
                Op::Skipped
            }
            "malloc" => {
                let id = self.key("id", raw.id)?;
                let failed = raw.oom == Some(true);
                let answer = if failed { Err(self.key("msg", raw.msg)?) } else { Ok(self.key("addr", raw.addr)?) };
                if !failed && !self.live.insert(id) {
                    return Err(self.bad(format!("block {id} is allocated and was not freed before")));
                }
                Op::Malloc { id, bytes: self.key("size", raw.size)?, stream: self.key("stream", raw.stream)?, answer }
            }
            "free" => {
                let id = self.key("id", raw.id)?;
                if !self.live.remove(&id) {
                    return Err(self.bad(format!("block {id} is freed and is not allocated, or no longer")));
                }
                Op::Free { id }
            }
            "record_stream" => {
                let id = self.key("id", raw.id)?;
                if !self.live.contains(&id) {
                    return Err(self.bad(format!("block {id} is used on a stream and is not allocated, or no longer")));
                }
                Op::RecordStream { id, stream: self.key("stream", raw.stream)? }
            }
            "async" => Op::Async,
            "complete_all" => Op::CompleteAll,
            "set_fraction" => Op::SetFraction(self.key("fraction", raw.fraction)?),
            "empty_cache" => Op::EmptyCache,
            "snapshot" => Op::Snapshot(self.key("segments", raw.segments)?),
            "stats" => Op::Stats(self.key("stats", raw.stats)?),
            other => return Err(self.bad(format!("unknown op {other:?}"))),
        };
        let counted = Counted {
            allocated: raw.allocated,
            reserved: raw.reserved,
            active: raw.active,
            requested: raw.requested,
            inactive_split: raw.inactive_split,
            nseg: raw.nseg,
            retries: raw.retries,
            ooms: raw.ooms,
        };
        Ok(Some(Line { number: self.line, op, calls: raw.cuda, entries: raw.trace, counted }))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Line, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
