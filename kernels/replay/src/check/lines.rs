//! A line of a trace against its replay.

use super::{Checker, Difference, SHOWN};
use crate::trace::{Call, Counted, Entry, Figures, Line, Op, Segment};
use kernels::memory::{self, Action, BlockState, DeviceCall, Figure, Statistics, TraceEntry};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

/// What the replay did at a line.
pub(crate) struct Outcome<'a> {
    /// The address, or the text of the failure, of a malloc.
    pub answer: Option<Result<u64, String>>,
    /// The calls of the device.
    pub calls: Vec<DeviceCall>,
    /// The history.
    pub entries: Vec<TraceEntry>,
    /// The figures afterwards.
    pub statistics: &'a Statistics,
    /// The segments, where a snapshot was taken.
    pub segments: Vec<memory::Segment>,
}

/// Compares line after line.
pub(crate) struct Lines {
    /// The number of each stream, by its handle.
    streams: Vec<u64>,
    /// The lines before, in words.
    recent: VecDeque<String>,
}

impl Lines {
    pub fn new(streams: Vec<u64>) -> Lines {
        Lines { streams, recent: VecDeque::new() }
    }

    /// Holds all that a line shows against what the replay did.
    pub fn compare(&mut self, checker: &mut Checker, line: &Line, outcome: Outcome<'_>) {
        if let (Op::Malloc { answer, .. }, Some(got)) = (&line.op, &outcome.answer) {
            self.hold(checker, line, "the answer", answer, got);
        }
        self.hold(checker, line, "the calls of the device", &line.calls, &calls(&outcome.calls));
        self.hold(
            checker,
            line,
            "the history",
            &settled(line.entries.clone()),
            &settled(self.entries(&outcome.entries)),
        );
        self.hold(checker, line, "what is counted", &line.counted, &counted(outcome.statistics));
        match &line.op {
            Op::Snapshot(segments) => {
                let got = self.segments(&outcome.segments);
                self.hold_all(checker, line, &self.shown(segments.clone()), &self.shown(got));
            }
            Op::Stats(stats) => {
                let got = statistics(stats, outcome.statistics);
                self.hold_all(checker, line, &self.settled_sums(stats), &self.settled_sums(&got));
            }
            _ => {}
        }
        if self.recent.len() == SHOWN {
            self.recent.pop_front();
        }
        self.recent.push_back(words(line));
    }

    fn hold<T: PartialEq + Debug>(&self, checker: &mut Checker, line: &Line, what: &str, expected: &T, got: &T) {
        if expected != got {
            checker.differs(|| Difference {
                device: None,
                event: line.number,
                op: format!("{}: {what}", words(line)),
                expected: format!("{expected:?}"),
                got: format!("{got:?}"),
                before: self.recent.iter().cloned().collect(),
            });
        }
    }

    /// Holds two lists against each other, and shows the first part that differs.
    fn hold_all<T: PartialEq + Debug>(&self, checker: &mut Checker, line: &Line, expected: &[T], got: &[T]) {
        let first = expected.iter().zip(got).take_while(|(expected, got)| expected == got).count();
        self.hold(checker, line, &format!("part {first}"), &expected.get(first), &got.get(first));
    }

    fn number(&self, stream: u64) -> u64 {
        self.streams.get(stream as usize).copied().unwrap_or(u64::MAX)
    }

    fn entries(&self, entries: &[TraceEntry]) -> Vec<Entry> {
        let entry =
            |entry: &TraceEntry| (entry.action.name().to_owned(), entry.address, entry.size, self.number(entry.stream));
        entries.iter().map(entry).collect()
    }

    fn segments(&self, segments: &[memory::Segment]) -> Vec<Segment> {
        let block = |block: &memory::SegmentBlock| {
            let allocated = block.state == BlockState::Allocated;
            let active = block.state != BlockState::Inactive;
            (block.size, block.requested, allocated.into(), active.into())
        };
        let segment = |segment: &memory::Segment| Segment {
            addr: segment.address,
            size: segment.size,
            stream: self.number(segment.stream),
            large: (!segment.small).into(),
            exp: segment.expandable.into(),
            // PyTorch counts from 0, and has -1 where segments have no number.
            reg: segment.order as i64 - 1,
            allocated: segment.allocated,
            active: segment.active,
            requested: segment.requested,
            blocks: segment.blocks.iter().map(block).collect(),
        };
        segments.iter().map(segment).collect()
    }

    /// Segments without what depends on the order in which several streams are looked at, which PyTorch leaves to a
    /// hash map: the stale requests of free blocks.
    fn shown(&self, mut segments: Vec<Segment>) -> Vec<Segment> {
        if self.streams.len() > 1 {
            let free = segments.iter_mut().flat_map(|segment| &mut segment.blocks).filter(|block| block.3 == 0);
            free.for_each(|block| block.1 = 0);
        }
        segments
    }

    /// Statistics without what depends on that order, too: how often pieces of segments came and went while blocks
    /// that were freed together merged.
    fn settled_sums(&self, stats: &BTreeMap<String, Figures>) -> Vec<(String, Figures)> {
        let settle = |(name, figures): (&String, &Figures)| match figures {
            Figures::Four([current, peak, ..]) if self.streams.len() > 1 && name.starts_with("inactive_split") => {
                (name.clone(), Figures::Four([*current, *peak, 0, 0]))
            }
            figures => (name.clone(), *figures),
        };
        stats.iter().map(settle).collect()
    }
}

fn words(line: &Line) -> String {
    let op = match &line.op {
        Op::Malloc { id, bytes, stream, .. } => format!("malloc {bytes} bytes for block {id} on stream {stream}"),
        Op::Free { id } => format!("free block {id}"),
        Op::RecordStream { id, stream } => format!("record stream {stream} for block {id}"),
        Op::SetFraction(fraction) => format!("set fraction {fraction}"),
        other => other.name().to_owned(),
    };
    format!("line {}: {op}", line.number)
}

/// The calls as a trace shows them; a release has no size there.
fn calls(calls: &[DeviceCall]) -> Vec<Call> {
    let call = |call: &DeviceCall| {
        let failed = if call.done { 0 } else { 2 };
        (call.name.to_owned(), call.address, call.bytes, failed)
    };
    calls.iter().map(call).collect()
}

/// Every run of completed frees in the order of addresses: that of streams is left to a hash map.
fn settled(mut entries: Vec<Entry>) -> Vec<Entry> {
    let completed = Action::FreeCompleted.name();
    for run in entries.chunk_by_mut(|one, next| one.0 == completed && next.0 == completed) {
        run.sort();
    }
    entries
}

fn counted(statistics: &Statistics) -> Counted {
    let now = |figure: Figure| statistics[figure].all().current.unsigned_abs();
    Counted {
        allocated: now(Figure::AllocatedBytes),
        reserved: now(Figure::ReservedBytes),
        active: now(Figure::ActiveBytes),
        requested: now(Figure::RequestedBytes),
        inactive_split: now(Figure::InactiveSplitBytes),
        nseg: now(Figure::Segment),
        retries: statistics.num_alloc_retries.unsigned_abs(),
        ooms: statistics.num_ooms.unsigned_abs(),
    }
}

/// The figures that a trace shows, under its names: four numbers by pool, or the present one alone.
fn statistics(wanted: &BTreeMap<String, Figures>, statistics: &Statistics) -> BTreeMap<String, Figures> {
    let known: BTreeMap<String, i64> = statistics.entries().into_iter().collect();
    let part = |name: &str, part: &str| known.get(&format!("{name}.{part}")).copied();
    let figures = |name: &str, wanted: &Figures| match wanted {
        Figures::One(_) => known.get(name).copied().or_else(|| part(name, "current")).map(Figures::One),
        Figures::Four(_) => {
            let parts = ["current", "peak", "allocated", "freed"].map(|of| part(name, of));
            let [Some(current), Some(peak), Some(allocated), Some(freed)] = parts else { return None };
            Some(Figures::Four([current, peak, allocated, freed]))
        }
    };
    wanted.iter().filter_map(|(name, wanted)| Some((name.clone(), figures(name, wanted)?))).collect()
}
