//! The allocator of page-locked host memory: blocks are never split, and whole powers of two wherever it is let.

use super::caching::PinnedSettings;
use super::{AllocError, DeviceError, HostMemory, Stat, Stream};
use std::collections::{HashMap, VecDeque};

/// What a segment of `pinned_reserve_segment_size_mb` is cut in.
const PAGE: u64 = 4096;
/// Free lists, one for each power of two.
const LISTS: usize = 64;

/// The figures of page-locked memory. Sizes are bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinnedStatistics {
    /// Blocks owned: in use or cached.
    pub allocations: Stat,
    /// Their bytes, rounded.
    pub allocated_bytes: Stat,
    /// Blocks handed out, or given back and waiting for a stream, over all lists.
    pub active_requests: Stat,
    /// Their bytes; the peak is the sum of the peaks of the lists, as PyTorch has it.
    pub active_bytes: Stat,
}

#[derive(Debug, Clone, Copy)]
enum Origin {
    /// One call for this block.
    Allocated,
    /// Ordinary memory whose pages were locked.
    Registered,
    /// Cut from the reserved segment: it is never returned alone.
    Reserved,
}

#[derive(Debug)]
struct Block {
    address: u64,
    size: u64,
    origin: Origin,
    /// Streams that use it, each once.
    uses: Vec<Stream>,
    /// Events that must be done before it is free.
    events: u32,
    handed_out: bool,
}

/// PyTorch's allocator of page-locked memory over any source of it.
#[derive(Debug)]
pub struct PinnedAllocator<H> {
    host: H,
    settings: PinnedSettings,
    blocks: Vec<Block>,
    by_address: HashMap<u64, usize>,
    /// Free blocks by power of two, the newest last.
    free: Vec<Vec<usize>>,
    /// Events and the blocks that wait for them, the newest first.
    events: VecDeque<(u64, usize)>,
    /// The reserved segment: the next byte and the end.
    reserved: Option<(u64, u64)>,
    allocations: Stat,
    allocated_bytes: Stat,
    /// Requests and bytes handed out, by list.
    active: Vec<(Stat, Stat)>,
}

impl<H: HostMemory> PinnedAllocator<H> {
    /// An allocator that owns nothing yet.
    pub fn new(host: H, settings: PinnedSettings) -> PinnedAllocator<H> {
        PinnedAllocator {
            host,
            settings,
            blocks: Vec::new(),
            by_address: HashMap::new(),
            free: vec![Vec::new(); LISTS],
            events: VecDeque::new(),
            reserved: None,
            allocations: Stat::default(),
            allocated_bytes: Stat::default(),
            active: vec![Default::default(); LISTS],
        }
    }

    /// Hands out at least so many bytes and gives their address; 0 for 0 bytes.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, AllocError> {
        if bytes == 0 {
            return Ok(0);
        }
        self.process_events()?;
        let size = self.rounded(bytes)?;
        let list = list_of(size);
        // The newest first; an unrounded list holds sizes of its own.
        let found = self.free[list].iter().rposition(|block| self.blocks[*block].size >= size);
        let block = match found {
            Some(place) => self.free[list].remove(place),
            None => self.take(size)?,
        };
        let size = self.blocks[block].size;
        self.blocks[block].handed_out = true;
        self.active[list].0.add(1);
        self.active[list].1.add(size);
        Ok(self.blocks[block].address)
    }

    /// Takes a block back: free at once, or when the streams that use it have come past their last use of it.
    pub fn free(&mut self, address: u64) -> Result<(), AllocError> {
        if address == 0 {
            return Ok(());
        }
        let place = self.handed_out(address)?;
        self.blocks[place].handed_out = false;
        let uses = std::mem::take(&mut self.blocks[place].uses);
        if uses.is_empty() {
            return self.make_free(place);
        }
        for stream in uses {
            let event = self.host.record_event(stream)?;
            self.blocks[place].events += 1;
            self.events.push_front((event, place));
        }
        Ok(())
    }

    /// Says that a stream uses the block, as a copy that does not block does.
    pub fn record_stream(&mut self, address: u64, stream: Stream) -> Result<(), AllocError> {
        let place = self.handed_out(address)?;
        let uses = &mut self.blocks[place].uses;
        if !uses.contains(&stream) {
            uses.push(stream);
        }
        Ok(())
    }

    /// Returns every free block to the host.
    pub fn empty_cache(&mut self) -> Result<(), AllocError> {
        self.process_events()?;
        for list in 0..LISTS {
            for block in std::mem::take(&mut self.free[list]) {
                self.give_up(block)?;
            }
        }
        Ok(())
    }

    /// Returns everything to the host, whatever is in use, and goes on where it refuses. The allocator is of no use
    /// afterwards. Gives the refusals.
    pub(crate) fn give_all_back(&mut self) -> Vec<AllocError> {
        let mut refused = Vec::new();
        for (event, _) in std::mem::take(&mut self.events) {
            refused.extend(self.host.event_done(event).err());
        }
        for (_, place) in std::mem::take(&mut self.by_address) {
            let Block { address, origin, .. } = self.blocks[place];
            refused.extend(self.return_to_host(address, origin).err());
        }
        if let Some((_, end)) = self.reserved.take() {
            refused.extend(self.host.free(end - self.settings.reserve_segment).err());
        }
        self.free.iter_mut().for_each(Vec::clear);
        refused.into_iter().map(AllocError::from).collect()
    }

    fn return_to_host(&mut self, address: u64, origin: Origin) -> Result<(), DeviceError> {
        match origin {
            Origin::Allocated => self.host.free(address),
            Origin::Registered => self.host.unregister(address),
            Origin::Reserved => Ok(()),
        }
    }

    /// The figures.
    pub fn statistics(&self) -> PinnedStatistics {
        let sum = |of: fn(&(Stat, Stat)) -> Stat| {
            self.active.iter().map(of).fold(Stat::default(), |sum, stat| Stat {
                current: sum.current + stat.current,
                peak: sum.peak + stat.peak,
                allocated: sum.allocated + stat.allocated,
                freed: sum.freed + stat.freed,
            })
        };
        PinnedStatistics {
            allocations: self.allocations,
            allocated_bytes: self.allocated_bytes,
            active_requests: sum(|list| list.0),
            active_bytes: sum(|list| list.1),
        }
    }

    /// Every peak becomes what is there now.
    pub fn reset_peak(&mut self) {
        self.each(Stat::reset_peak);
    }

    /// Every sum becomes 0.
    pub fn reset_accumulated(&mut self) {
        self.each(Stat::reset_accumulated);
    }

    /// Puts other settings into force, for what happens from now on.
    pub fn apply_settings(&mut self, settings: PinnedSettings) {
        self.settings = settings;
    }

    /// The source of its memory, to be told what streams do.
    pub fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }

    fn each(&mut self, change: fn(&mut Stat)) {
        change(&mut self.allocations);
        change(&mut self.allocated_bytes);
        for (requests, bytes) in &mut self.active {
            change(requests);
            change(bytes);
        }
    }

    /// The bytes of a block for a request: the next power of two, unless it is too large to be rounded or kept.
    fn rounded(&self, bytes: u64) -> Result<u64, AllocError> {
        if bytes > self.settings.max_round_threshold || bytes > self.settings.max_cached_size {
            return Ok(bytes);
        }
        bytes.checked_next_power_of_two().ok_or(AllocError::Absurd(bytes))
    }

    fn handed_out(&self, address: u64) -> Result<usize, AllocError> {
        let place = self.by_address.get(&address).copied().filter(|place| self.blocks[*place].handed_out);
        place.ok_or(AllocError::UnknownPointer(address))
    }

    /// A new block from the host.
    fn take(&mut self, size: u64) -> Result<usize, AllocError> {
        let (address, origin) = match self.cut_reserved(size)? {
            Some(address) => (address, Origin::Reserved),
            None if self.settings.use_cuda_host_register => (self.host.register(size)?, Origin::Registered),
            None => (self.host.allocate(size)?, Origin::Allocated),
        };
        self.allocations.add(1);
        self.allocated_bytes.add(size);
        let place = self.blocks.len();
        self.blocks.push(Block { address, size, origin, uses: Vec::new(), events: 0, handed_out: false });
        self.by_address.insert(address, place);
        Ok(place)
    }

    /// The next bytes of the reserved segment, which is taken at the first miss and never filled again.
    fn cut_reserved(&mut self, size: u64) -> Result<Option<u64>, AllocError> {
        let reserve = self.settings.reserve_segment;
        if reserve == 0 {
            return Ok(None);
        }
        let (next, end) = match self.reserved {
            Some(reserved) => reserved,
            None => {
                let start = self.host.allocate(reserve)?;
                (start, start + reserve)
            }
        };
        let whole = size.checked_next_multiple_of(PAGE).ok_or(AllocError::Absurd(size))?;
        let fits = whole <= end - next;
        self.reserved = Some((if fits { next + whole } else { next }, end));
        Ok(fits.then_some(next))
    }

    /// Frees blocks whose events are done, the oldest first, up to the first that is not.
    fn process_events(&mut self) -> Result<(), AllocError> {
        while let Some((event, place)) = self.events.back().copied() {
            if !self.host.event_done(event)? {
                break;
            }
            self.events.pop_back();
            self.blocks[place].events -= 1;
            if self.blocks[place].events == 0 {
                self.make_free(place)?;
            }
        }
        Ok(())
    }

    fn make_free(&mut self, place: usize) -> Result<(), AllocError> {
        let size = self.blocks[place].size;
        let list = list_of(size);
        self.active[list].0.take(1);
        self.active[list].1.take(size);
        if size > self.settings.max_cached_size {
            return self.give_up(place);
        }
        self.free[list].push(place);
        Ok(())
    }

    fn give_up(&mut self, place: usize) -> Result<(), AllocError> {
        let Block { address, size, origin, .. } = self.blocks[place];
        self.return_to_host(address, origin)?;
        self.by_address.remove(&address);
        self.allocations.take(1);
        self.allocated_bytes.take(size);
        Ok(())
    }
}

/// The list of blocks of this size: by the next power of two.
fn list_of(size: u64) -> usize {
    (size.saturating_sub(1).checked_ilog2().map_or(0, |log| log as usize + 1)).min(LISTS - 1)
}

/// Host addresses with nothing behind them: each request gets the next ones.
#[derive(Debug)]
pub struct BareHost {
    next: u64,
    given: HashMap<u64, u64>,
    pending: Vec<u64>,
    events: u64,
    held: bool,
}

impl Default for BareHost {
    fn default() -> BareHost {
        BareHost { next: 0x5000_0000_0000, given: HashMap::new(), pending: Vec::new(), events: 0, held: false }
    }
}

impl BareHost {
    /// Whether events that are recorded from now on stay pending.
    pub fn hold_events(&mut self, held: bool) {
        self.held = held;
    }

    /// All streams catch up: every event is done.
    pub fn complete_events(&mut self) {
        self.pending.clear();
    }
}

impl HostMemory for BareHost {
    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let end = bytes.checked_next_multiple_of(PAGE).and_then(|whole| self.next.checked_add(whole));
        let address = self.next;
        self.next = end.ok_or(DeviceError::OutOfMemory)?;
        self.given.insert(address, bytes);
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Result<(), DeviceError> {
        let given = self.given.remove(&address);
        given.map(drop).ok_or_else(|| DeviceError::Other(format!("{address:#x} was never given out")))
    }

    fn register(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.allocate(bytes)
    }

    fn unregister(&mut self, address: u64) -> Result<(), DeviceError> {
        self.free(address)
    }

    fn record_event(&mut self, _stream: Stream) -> Result<u64, DeviceError> {
        self.events += 1;
        if self.held {
            self.pending.push(self.events);
        }
        Ok(self.events)
    }

    fn event_done(&mut self, event: u64) -> Result<bool, DeviceError> {
        Ok(!self.pending.contains(&event))
    }
}
