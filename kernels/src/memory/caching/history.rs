//! What the allocator did, in order: PyTorch's memory history without the stacks.

use super::super::Stream;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A block was handed out.
    Alloc,
    /// A program gave a block back.
    FreeRequested,
    /// The block is free: no stream uses it any more.
    FreeCompleted,
    /// A segment was taken from the device.
    SegmentAlloc,
    /// A segment was returned to it.
    SegmentFree,
    /// Memory was mapped into an expandable segment.
    SegmentMap,
    /// Memory was taken out of one.
    SegmentUnmap,
    /// A request failed.
    Oom,
}

impl Action {
    /// All of them.
    pub const ALL: [Action; 8] = [
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::SegmentAlloc,
        Action::SegmentFree,
        Action::SegmentMap,
        Action::SegmentUnmap,
        Action::Oom,
    ];

    /// PyTorch's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Alloc => "alloc",
            Action::FreeRequested => "free_requested",
            Action::FreeCompleted => "free_completed",
            Action::SegmentAlloc => "segment_alloc",
            Action::SegmentFree => "segment_free",
            Action::SegmentMap => "segment_map",
            Action::SegmentUnmap => "segment_unmap",
            Action::Oom => "oom",
        }
    }
}

/// One entry of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEntry {
    /// What happened.
    pub action: Action,
    /// The address; for `oom` the bytes that were free on the device.
    pub address: u64,
    /// Bytes: as asked for where a block is meant, of the range where a segment is; for `oom` the rounded request.
    pub size: u64,
    /// The stream of the block or segment.
    pub stream: Stream,
}
