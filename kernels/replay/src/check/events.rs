//! A snapshot against its replay.

use super::{Checker, Difference, SHOWN};
use crate::snapshot::{Event, Segment};
use kernels::memory::{self, Action, BlockState, TraceEntry};

/// An entry in words.
fn words(at: usize, event: &Event) -> String {
    let Event { action, address, bytes, stream, .. } = event;
    format!("{at}: {} {address:#x}, {bytes} bytes, stream {stream:#x}", action.name())
}

/// The difference at an entry.
pub(crate) fn difference(
    device: Option<u64>,
    events: &[Event],
    at: usize,
    expected: String,
    got: String,
) -> Difference {
    let before = (at.saturating_sub(SHOWN)..at).filter_map(|at| Some(words(at, events.get(at)?))).collect();
    let op = events.get(at).map_or_else(|| "the end".to_owned(), |event| words(at, event));
    Difference { device, event: at as u64, op, expected, got, before }
}

/// Whether an entry is about segments, or a failure.
fn of_device(action: Action) -> bool {
    !matches!(action, Action::Alloc | Action::FreeRequested | Action::FreeCompleted)
}

/// Holds what was done with segments against the entries from `from` to `to`. Where `any_order` says so, segments that
/// went back together may do so in any order.
pub(crate) fn segment_events(
    checker: &mut Checker,
    device: Option<u64>,
    events: &[Event],
    (from, to): (usize, usize),
    history: &[TraceEntry],
    any_order: bool,
) {
    let recorded = events[from..to].iter().filter(|event| of_device(event.action));
    let mut recorded: Vec<_> = recorded.map(|event| (event.action, event.address, event.bytes, event.stream)).collect();
    let replayed = history.iter().filter(|entry| of_device(entry.action));
    let mut replayed: Vec<_> = replayed.map(|entry| (entry.action, entry.address, entry.size, entry.stream)).collect();
    if any_order {
        for list in [&mut recorded, &mut replayed] {
            list.sort_by_key(|(action, address, ..)| (action.name(), *address));
        }
    }
    if recorded == replayed {
        return;
    }
    checker.differs(|| {
        let first = recorded.iter().zip(&replayed).take_while(|(recorded, replayed)| recorded == replayed).count();
        let show = |list: &[(Action, u64, u64, u64)]| {
            list.get(first).map_or_else(
                || "nothing more of segments".to_owned(),
                |(action, address, bytes, _)| format!("{} {address:#x}, {bytes} bytes", action.name()),
            )
        };
        difference(device, events, to.saturating_sub(1), show(&recorded), show(&replayed))
    });
}

/// A segment, or one of its blocks, in words.
type Parts = Vec<(u64, String)>;

fn recorded_parts(segments: &[&Segment]) -> Parts {
    let mut segments: Vec<_> = segments.to_vec();
    segments.sort_by_key(|segment| segment.address);
    let mut parts = Vec::new();
    for segment in segments {
        let Segment { address, bytes, stream, small, expandable, .. } = *segment;
        parts.push((address, segment_words(bytes, stream, small, expandable)));
        let blocks = segment.blocks.iter();
        parts.extend(blocks.map(|block| (block.address, block_words(block.bytes, block.requested, block.state))));
    }
    parts
}

fn replayed_parts(segments: &[memory::Segment]) -> Parts {
    let mut parts = Vec::new();
    for segment in segments {
        let memory::Segment { address, size, stream, small, expandable, .. } = *segment;
        parts.push((address, segment_words(size, stream, small, expandable)));
        let blocks = segment.blocks.iter();
        parts.extend(blocks.map(|block| (block.address, block_words(block.size, block.requested, block.state))));
    }
    parts
}

fn segment_words(bytes: u64, stream: u64, small: bool, expandable: bool) -> String {
    let pool = if small { "small" } else { "large" };
    let kind = if expandable { ", expandable" } else { "" };
    format!("segment of {bytes} bytes, stream {stream:#x}, {pool} pool{kind}")
}

fn block_words(bytes: u64, requested: u64, state: BlockState) -> String {
    // What was asked for in a free block is stale.
    let requested =
        if state == BlockState::Inactive { String::new() } else { format!(" for a request of {requested}") };
    format!("{} block of {bytes} bytes{requested}", state.name())
}

/// Holds all segments and blocks at the end against those of the file.
pub(crate) fn final_segments(
    checker: &mut Checker,
    device: Option<u64>,
    events: &[Event],
    recorded: &[&Segment],
    replayed: &[memory::Segment],
) {
    let (recorded, replayed) = (recorded_parts(recorded), replayed_parts(replayed));
    if recorded == replayed {
        return;
    }
    checker.differs(|| {
        let first = recorded.iter().zip(&replayed).take_while(|(recorded, replayed)| recorded == replayed).count();
        let show = |parts: &Parts| match parts.get(first) {
            Some((address, words)) => format!("{words} at {address:#x}"),
            None => "nothing more".to_owned(),
        };
        difference(device, events, events.len(), show(&recorded), show(&replayed))
    });
}
