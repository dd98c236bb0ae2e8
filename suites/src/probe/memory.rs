//! What a probe sees of device memory, for timelines, segment maps and explanations.

use super::{Probe, Stop};
use crate::record::{BlockRecord, BlockState, MemoryStep, OutOfMemory, Record, SegmentMap, SegmentRecord};
use std::collections::HashMap;
use subject::{Calls, Handle};

/// The four quantities of memory at one moment, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Bytes of tensors in use on the device.
    pub live: i64,
    /// Bytes that the caching allocator has of it.
    pub held: i64,
    /// Bytes of it that are taken, as the driver shows them.
    pub process: i64,
    /// Anonymous main memory of the subject's process, where host tensors have memory behind them.
    pub host: Option<i64>,
}

/// A segment as the op `memory_segments` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentsSeen {
    /// Its address.
    pub address: i64,
    /// Its bytes.
    pub bytes: i64,
    /// Whether it serves requests above 1 MiB.
    pub large: bool,
    /// Whether it is part of an expandable segment.
    pub expandable: bool,
    /// Bytes, bytes asked for, and state of each block: 0 free, 1 pending, 2 in use.
    pub blocks: Vec<[i64; 3]>,
}

impl SegmentsSeen {
    fn read(numbers: &mut impl Iterator<Item = i64>) -> Option<SegmentsSeen> {
        let (address, bytes, large, expandable) = (numbers.next()?, numbers.next()?, numbers.next()?, numbers.next()?);
        let blocks = (0..numbers.next()?).map(|_| Some([numbers.next()?, numbers.next()?, numbers.next()?]));
        let blocks = blocks.collect::<Option<Vec<_>>>()?;
        Some(SegmentsSeen { address, bytes, large: large != 0, expandable: expandable != 0, blocks })
    }

    /// Bytes of blocks that are free.
    pub fn free(&self) -> i64 {
        self.blocks.iter().filter(|[_, _, state]| *state == 0).map(|[bytes, _, _]| bytes).sum()
    }
}

impl Probe<'_> {
    /// The four quantities now.
    pub fn memory(&self) -> Result<Reading, Stop> {
        // Where device memory is addresses alone, so are host tensors.
        let has_host = self.hello().language.starts_with("python");
        Ok(Reading {
            live: self.memory_allocated()?,
            held: self.memory_reserved()?,
            process: self.memory_used()?,
            host: if has_host { Some(self.resident_bytes()? as i64) } else { None },
        })
    }

    /// Adds a step to the case's memory timeline: what is there after this line of code.
    pub fn memory_step(&self, code: &str) -> Result<Reading, Stop> {
        let reading = self.memory()?;
        let mut records = self.memory.borrow_mut();
        let step = records.iter().filter(|record| matches!(record, Record::Memory(_))).count() as u32;
        records.push(Record::Memory(MemoryStep {
            subject: String::new(),
            device: String::new(),
            case: String::new(),
            step,
            code: code.into(),
            live: Some(reading.live.unsigned_abs()),
            held: Some(reading.held.unsigned_abs()),
            process: Some(reading.process.unsigned_abs()),
            host: reading.host.map(i64::unsigned_abs),
        }));
        Ok(reading)
    }

    /// The segments of the caching allocator, in the order of their addresses.
    pub fn segments(&self) -> Result<Vec<SegmentsSeen>, Stop> {
        let mut numbers = self.memory_segments()?.into_iter().peekable();
        let mut segments = Vec::new();
        while numbers.peek().is_some() {
            let segment = SegmentsSeen::read(&mut numbers);
            segments.push(segment.ok_or_else(|| Stop::Harness("the answer of memory_segments ends too soon".into()))?);
        }
        Ok(segments)
    }

    /// Keeps a map of the segments for the report, with the names of the tensors in them.
    pub fn segment_map(&self, title: &str, tensors: &[(&str, &Handle)]) -> Result<Vec<SegmentsSeen>, Stop> {
        let mut names = HashMap::new();
        for (name, tensor) in tensors {
            names.insert(self.data_ptr(*tensor)?, (*name).to_owned());
        }
        let seen = self.segments()?;
        let segments = seen.iter().map(|segment| {
            let mut at = segment.address;
            let blocks = segment.blocks.iter().map(|[bytes, _, state]| {
                let name = names.get(&at).cloned();
                at += bytes;
                let state = match state {
                    0 => BlockState::Free,
                    1 => BlockState::Pending,
                    _ => BlockState::Live,
                };
                BlockRecord { bytes: bytes.unsigned_abs(), state, name }
            });
            SegmentRecord { small: !segment.large, expandable: segment.expandable, blocks: blocks.collect() }
        });
        let map = SegmentMap {
            subject: String::new(),
            device: String::new(),
            case: String::new(),
            title: title.into(),
            segments: segments.collect(),
        };
        self.memory.borrow_mut().push(Record::Segments(map));
        Ok(seen)
    }

    /// Explains a request that ran out of memory, where it did, from what is there now; `limit` is the most that the
    /// allocator may hold, in bytes.
    pub fn explain<T>(&self, outcome: Result<T, Stop>, request: i64, limit: i64) -> Result<Option<OutOfMemory>, Stop> {
        let Some((_, message)) = self.refusal(outcome)? else { return Ok(None) };
        let reading = self.memory()?;
        let report = OutOfMemory {
            subject: String::new(),
            device: String::new(),
            case: String::new(),
            request: request.unsigned_abs(),
            free: (limit - reading.held).max(0).unsigned_abs(),
            held: reading.held.unsigned_abs(),
            live: reading.live.unsigned_abs(),
            message,
        };
        self.memory.borrow_mut().push(Record::OutOfMemory(report.clone()));
        Ok(Some(report))
    }
}
