//! Memory snapshots as PyTorch writes them, and what of them a replay needs.

mod build;

use crate::pickle::{self, BadPickle};
use kernels::memory::{Action, BlockState};
use std::io::{self, BufRead};

/// What the allocators of a process had done and held when the snapshot was taken.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The segments of all devices.
    pub segments: Vec<Segment>,
    /// What happened on each device, oldest first, as far as it was recorded.
    pub traces: Vec<Vec<Event>>,
    /// The settings in force at the end, where the file tells them.
    pub settings: Option<String>,
    /// Whether entries name their pool, as those of the newest versions do.
    pub names_pools: bool,
}

/// A segment of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The number of its device.
    pub device: u64,
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The handle of its stream.
    pub stream: u64,
    /// Whether it belongs to a small pool.
    pub small: bool,
    /// Whether it is a mapped range of an expandable segment.
    pub expandable: bool,
    /// Whether it belongs to a private pool.
    pub private: bool,
    /// Its blocks, in address order.
    pub blocks: Vec<Block>,
}

/// A block of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The bytes that were asked for; of no meaning where the block is free.
    pub requested: u64,
    /// What it is used for.
    pub state: BlockState,
}

/// One entry of a trace. Those that move no memory are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// Where; of [`Action::Oom`] the bytes that the device had free.
    pub address: u64,
    /// Bytes: requested ones of blocks, all of segments and ranges.
    pub bytes: u64,
    /// The handle of the stream.
    pub stream: u64,
    /// Whether it happened in a private pool, where the file tells.
    pub private: bool,
}

impl Snapshot {
    /// Reads what `torch.cuda.memory._dump_snapshot` wrote, or the pickled list that `memory_snapshot()` returns.
    /// `open` is called twice. Of the stacks nothing is kept, and an entry of a trace takes 32 bytes.
    pub fn read<R: BufRead>(open: impl FnMut() -> io::Result<R>) -> Result<Snapshot, BadPickle> {
        let mut build = build::Builder::default();
        let value = pickle::read(open, &mut build)?;
        build.finish(value).map_err(|what| BadPickle { offset: 0, what })
    }
}
