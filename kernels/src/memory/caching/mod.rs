//! The caching allocator: keeps what a program gives back, in the pieces that PyTorch would keep it in.
//!
//! A request is rounded and goes to the small or the large pool. The pool's smallest free block that is large enough
//! serves it, and is split where the rest is worth keeping. Without one the device is asked for a segment; when it has
//! none, cached segments go back and it is asked again. A block that is given back merges with free neighbours.
//!
//! Reading order: `size` (rounding), `block` and `pool` (what is kept), `search` (finding and splitting), `grow` (asking
//! the device), `release` (giving back to it), `free` (coalescing, streams), `expandable`, `private`. The rules were
//! found by running PyTorch's allocator, version by version; where they differ, [`TorchVersion`] decides.

mod block;
mod error;
mod expandable;
mod free;
mod grow;
mod history;
mod oom;
mod pool;
mod private;
mod release;
mod search;
mod settings;
mod size;
mod snapshot;
mod sorted;
mod start;
mod stats;

pub use error::AllocError;
pub use history::{Action, TraceEntry};
pub use oom::OutOfMemory;
pub use private::{PoolFilter, PoolId};
pub use settings::{PinnedSettings, Reserve, Settings, SettingsError, SettingsErrorKind};
pub use snapshot::{BlockState, Segment, SegmentBlock};
pub use start::{BlockStart, SegmentStart};
pub use stats::{ByPool, Figure, Stat, Statistics};

use super::{DeviceMemory, Stream, TorchVersion};
use block::{BlockId, PoolIndex, Slab};
use expandable::Range;
use pool::Pool;
use private::Private;
use size::{ABSURD, Request};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// The pools of requests up to 1 MiB, and of all others; private pools follow in pairs.
const SMALL_POOL: PoolIndex = 0;
const LARGE_POOL: PoolIndex = 1;

/// PyTorch's caching allocator over any source of device memory.
///
/// One device, one thread. Sizes are bytes; a stream is the value of its handle.
#[derive(Debug)]
pub struct CachingAllocator<D> {
    device: D,
    settings: Settings,
    version: TorchVersion,
    blocks: Slab,
    pools: Vec<Pool>,
    private: BTreeMap<PoolId, Private>,
    /// Private pools that requests go to, the newest last.
    allocating_to: Vec<(PoolId, PoolFilter)>,
    /// Blocks that a program has.
    by_address: HashMap<u64, BlockId, BuildHasherDefault<AddressHasher>>,
    /// Expandable segments; a place is free again when its addresses were returned.
    ranges: Vec<Option<Range>>,
    /// Events that blocks wait for, by stream, the oldest first.
    events: BTreeMap<Stream, VecDeque<(u64, BlockId)>>,
    /// The most bytes that may be held.
    limit: Option<u64>,
    /// Bytes held, over all pools.
    held: u64,
    /// The next number of a segment, or of a block where those are numbered.
    next_order: u64,
    statistics: Statistics,
    history: Option<Vec<TraceEntry>>,
}

impl<D: DeviceMemory> CachingAllocator<D> {
    /// An allocator that holds nothing yet.
    pub fn new(device: D, settings: Settings) -> CachingAllocator<D> {
        let version = settings.version();
        let mut allocator = CachingAllocator {
            device,
            version,
            blocks: Slab::default(),
            pools: vec![Pool::new(true, None), Pool::new(false, None)],
            private: BTreeMap::new(),
            allocating_to: Vec::new(),
            by_address: HashMap::default(),
            ranges: Vec::new(),
            events: BTreeMap::new(),
            limit: None,
            held: 0,
            next_order: 0,
            statistics: Statistics::default(),
            history: None,
            settings,
        };
        // Stored once as a signed number, as in PyTorch: no limit shows as -1.
        allocator.statistics.max_split_size = i64::try_from(allocator.settings.max_split_size).unwrap_or(-1);
        allocator.limit = allocator.limit_of(allocator.settings.per_process_memory_fraction);
        allocator
    }

    /// Hands out a block of at least so many bytes for use on a stream, and gives its address; 0 for 0 bytes.
    pub fn allocate(&mut self, bytes: u64, stream: Stream) -> Result<u64, AllocError> {
        if bytes == 0 {
            return Ok(0);
        }
        if bytes >= ABSURD {
            return Err(AllocError::Absurd(bytes));
        }
        self.process_events()?;
        let request = Request::new(bytes, &self.settings);
        let pool = self.pool_for(stream, request.small());
        let block = match self.take_free(pool, stream, request.rounded) {
            Some(block) => block,
            None => self.grow(pool, stream, &request)?,
        };
        Ok(self.hand_out(block, &request))
    }

    /// Takes a block back. The null address is no block and no error.
    pub fn free(&mut self, address: u64) -> Result<(), AllocError> {
        if address == 0 {
            return Ok(());
        }
        let block = self.by_address.remove(&address).ok_or(AllocError::UnknownPointer(address))?;
        self.take_back(block)
    }

    /// Says that another stream uses the block, too: it stays out of reach until that stream has come past its end.
    pub fn record_stream(&mut self, address: u64, stream: Stream) -> Result<(), AllocError> {
        if address == 0 {
            return Ok(());
        }
        let id = *self.by_address.get(&address).ok_or(AllocError::UnknownPointer(address))?;
        let block = &mut self.blocks[id];
        if block.stream != stream && !block.uses.contains(&stream) {
            block.uses.push(stream);
        }
        Ok(())
    }

    /// Returns every segment to the device of which no part is in use.
    pub fn empty_cache(&mut self) -> Result<(), AllocError> {
        self.release_cached()
    }

    /// Sets the part of the device's memory, 0 to 1, that this allocator may hold.
    pub fn set_fraction(&mut self, fraction: f64) -> Result<(), AllocError> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(AllocError::Fraction(fraction));
        }
        self.limit = self.limit_of(fraction);
        // Until 2.9 a fraction of 1 was a limit, too.
        if fraction == 1.0 && !self.version.since(10) {
            self.limit = Some(self.device.total());
        }
        Ok(())
    }

    fn limit_of(&self, fraction: f64) -> Option<u64> {
        (fraction < 1.0).then(|| (fraction * self.device.total() as f64) as u64)
    }

    /// Puts a string of settings into force, for what happens from now on.
    pub fn apply_settings(&mut self, text: &str) -> Result<(), SettingsError> {
        self.settings.apply(text)
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The figures.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Every peak becomes what is there now.
    pub fn reset_peak(&mut self) {
        self.statistics.reset_peak();
    }

    /// Every sum and every counter of events becomes 0.
    pub fn reset_accumulated(&mut self) {
        self.statistics.reset_accumulated();
    }

    /// Whether what happens is noted for [`CachingAllocator::take_history`].
    pub fn record_history(&mut self, on: bool) {
        self.history = on.then(Vec::new);
    }

    /// What happened since the last time, in order.
    pub fn take_history(&mut self) -> Vec<TraceEntry> {
        self.history.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The source of its memory.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The source of its memory, to be told what the device does by itself.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    fn note(&mut self, action: Action, address: u64, size: u64, stream: Stream) {
        if let Some(history) = &mut self.history {
            history.push(TraceEntry { action, address, size, stream });
        }
    }

    fn is_small(&self, pool: PoolIndex) -> bool {
        self.pools[pool as usize].small
    }

    fn insert_free(&mut self, id: BlockId) {
        let block = &mut self.blocks[id];
        self.pools[block.pool as usize].insert(id, block);
    }

    fn remove_free(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        self.pools[block.pool as usize].remove(id, block);
    }

    /// What breaks ties for the block of a new segment: nothing until 2.10, so that the address does; the segment's
    /// number from 2.13 on; and a number for every new block between.
    fn order_of_segment(&mut self) -> u64 {
        if !self.version.since(11) {
            return 0;
        }
        self.next_order += 1;
        self.next_order
    }

    /// What breaks ties for a new block beside this one in its segment.
    fn order_of_part(&mut self, segment: u64) -> u64 {
        if self.version.since(11) && !self.version.since(13) { self.order_of_segment() } else { segment }
    }
}

/// Addresses are multiples of 512 and far apart: one multiplication spreads them.
#[derive(Debug, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, address: u64) {
        let spread = address.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }
}
