//! The figures that the allocator keeps, under PyTorch's names.

use super::PoolId;
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

/// One figure over time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Now.
    pub current: i64,
    /// The highest since the last reset of peaks.
    pub peak: i64,
    /// All that was added since the last reset of sums.
    pub allocated: i64,
    /// All that was taken away since the last reset of sums.
    pub freed: i64,
}

impl Stat {
    #[inline]
    pub(crate) fn add(&mut self, amount: u64) {
        let amount = amount as i64;
        self.current += amount;
        self.peak = self.peak.max(self.current);
        self.allocated += amount;
    }

    #[inline]
    pub(crate) fn take(&mut self, amount: u64) {
        let amount = amount as i64;
        self.current -= amount;
        self.freed += amount;
    }

    pub(crate) fn reset_peak(&mut self) {
        self.peak = self.current;
    }

    pub(crate) fn reset_accumulated(&mut self) {
        self.allocated = 0;
        self.freed = 0;
    }

    fn entries(self) -> [(&'static str, i64); 4] {
        [("current", self.current), ("peak", self.peak), ("allocated", self.allocated), ("freed", self.freed)]
    }
}

/// One figure over all pools, over the small ones and over the large ones.
///
/// Two are kept, and of all pools together the peak alone: the rest are sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByPool {
    small: Count,
    large: Count,
    peak: i64,
}

/// A figure of one kind of pool; what was freed follows from the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    current: i64,
    peak: i64,
    allocated: i64,
    /// What there was when the sums were reset.
    at_reset: i64,
}

impl Count {
    fn stat(self) -> Stat {
        let Count { current, peak, allocated, at_reset } = self;
        Stat { current, peak, allocated, freed: at_reset + allocated - current }
    }
}

impl ByPool {
    /// Over all pools.
    pub fn all(&self) -> Stat {
        let (small, large) = (self.small_pool(), self.large_pool());
        Stat {
            current: small.current + large.current,
            peak: self.peak,
            allocated: small.allocated + large.allocated,
            freed: small.freed + large.freed,
        }
    }

    /// Over the pools of requests up to 1 MiB.
    pub fn small_pool(&self) -> Stat {
        self.small.stat()
    }

    /// Over the others.
    pub fn large_pool(&self) -> Stat {
        self.large.stat()
    }

    #[inline]
    pub(super) fn add(&mut self, small: bool, amount: u64) {
        let amount = amount as i64;
        let count = self.of(small);
        count.current += amount;
        count.allocated += amount;
        count.peak = count.peak.max(count.current);
        self.peak = self.peak.max(self.small.current + self.large.current);
    }

    #[inline]
    pub(super) fn take(&mut self, small: bool, amount: u64) {
        self.of(small).current -= amount as i64;
    }

    /// One change, up or down.
    #[inline]
    pub(super) fn change(&mut self, small: bool, amount: i64) {
        match amount {
            1.. => self.add(small, amount.unsigned_abs()),
            0 => {}
            _ => self.take(small, amount.unsigned_abs()),
        }
    }

    #[inline]
    fn of(&mut self, small: bool) -> &mut Count {
        if small { &mut self.small } else { &mut self.large }
    }

    fn reset_peak(&mut self) {
        self.small.peak = self.small.current;
        self.large.peak = self.large.current;
        self.peak = self.small.current + self.large.current;
    }

    fn reset_accumulated(&mut self) {
        for count in [&mut self.small, &mut self.large] {
            count.allocated = 0;
            count.at_reset = count.current;
        }
    }

    fn entries(self) -> [(&'static str, Stat); 3] {
        [("all", self.all()), ("small_pool", self.small_pool()), ("large_pool", self.large_pool())]
    }
}

/// A figure that is kept by pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Blocks handed out.
    Allocation,
    /// Segments taken from the device with one call each; expandable ones do not count.
    Segment,
    /// Blocks handed out, or given back and waiting for a stream.
    Active,
    /// Free blocks that are parts of segments.
    InactiveSplit,
    /// Bytes of blocks handed out: what is live.
    AllocatedBytes,
    /// Bytes taken from the device and not returned: what is held.
    ReservedBytes,
    /// Bytes of active blocks.
    ActiveBytes,
    /// Bytes of free blocks that are parts of segments.
    InactiveSplitBytes,
    /// Bytes that the program asked for, before rounding.
    RequestedBytes,
}

impl Figure {
    /// All of them, in the order of [`Statistics`].
    pub const ALL: [Figure; 9] = [
        Figure::Allocation,
        Figure::Segment,
        Figure::Active,
        Figure::InactiveSplit,
        Figure::AllocatedBytes,
        Figure::ReservedBytes,
        Figure::ActiveBytes,
        Figure::InactiveSplitBytes,
        Figure::RequestedBytes,
    ];

    /// PyTorch's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Allocation => "allocation",
            Figure::Segment => "segment",
            Figure::Active => "active",
            Figure::InactiveSplit => "inactive_split",
            Figure::AllocatedBytes => "allocated_bytes",
            Figure::ReservedBytes => "reserved_bytes",
            Figure::ActiveBytes => "active_bytes",
            Figure::InactiveSplitBytes => "inactive_split_bytes",
            Figure::RequestedBytes => "requested_bytes",
        }
    }
}

/// All figures of a device's allocator; those by pool are reached by index: `statistics[Figure::AllocatedBytes]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    by_pool: [ByPool; 9],
    /// Bytes held by each private pool.
    pub reserved_bytes_by_private_pools: BTreeMap<PoolId, ByPool>,
    /// Blocks of at least the split limit handed out.
    pub oversize_allocations: Stat,
    /// Segments of at least the split limit.
    pub oversize_segments: Stat,
    /// Requests to the device that were repeated after the cache was emptied.
    pub num_alloc_retries: i64,
    /// Requests that ended out of memory.
    pub num_ooms: i64,
    /// Times that all streams were waited for.
    pub num_sync_all_streams: i64,
    /// Calls that took memory from the device: one for a segment, one for a mapped range.
    pub num_device_alloc: i64,
    /// Calls that gave memory back to it.
    pub num_device_free: i64,
    /// Requests refused before the device was asked.
    pub num_oom_rejections: i64,
    /// The split limit in bytes when the allocator was made; -1 without one.
    pub max_split_size: i64,
}

impl Index<Figure> for Statistics {
    type Output = ByPool;

    #[inline]
    fn index(&self, figure: Figure) -> &ByPool {
        &self.by_pool[figure as usize]
    }
}

impl IndexMut<Figure> for Statistics {
    #[inline]
    fn index_mut(&mut self, figure: Figure) -> &mut ByPool {
        &mut self.by_pool[figure as usize]
    }
}

impl Statistics {
    /// Bytes live now.
    pub fn live(&self) -> u64 {
        self[Figure::AllocatedBytes].all().current.unsigned_abs()
    }

    /// Bytes held now.
    pub fn held(&self) -> u64 {
        self[Figure::ReservedBytes].all().current.unsigned_abs()
    }

    /// The most bytes that were live at once.
    pub fn peak_live(&self) -> u64 {
        self[Figure::AllocatedBytes].all().peak.unsigned_abs()
    }

    /// The most bytes that were held at once.
    pub fn peak_held(&self) -> u64 {
        self[Figure::ReservedBytes].all().peak.unsigned_abs()
    }

    /// Every figure under the name that `torch.cuda.memory_stats()` gives it, such as `allocated_bytes.all.current`.
    pub fn entries(&self) -> Vec<(String, i64)> {
        let mut entries = Vec::with_capacity(123);
        let mut push = |name: &str, stats: &ByPool| {
            for (pool, stat) in stats.entries() {
                entries.extend(stat.entries().map(|(part, value)| (format!("{name}.{pool}.{part}"), value)));
            }
        };
        for figure in Figure::ALL {
            push(figure.name(), &self[figure]);
        }
        for (PoolId(first, second), stats) in &self.reserved_bytes_by_private_pools {
            push(&format!("reserved_bytes_by_private_pools.{first}_{second}"), stats);
        }
        let oversize = [("allocations", self.oversize_allocations), ("segments", self.oversize_segments)];
        for (name, stat) in oversize {
            entries.extend(stat.entries().map(|(part, value)| (format!("oversize_{name}.{part}"), value)));
        }
        let counters = [
            ("num_alloc_retries", self.num_alloc_retries),
            ("num_ooms", self.num_ooms),
            ("num_sync_all_streams", self.num_sync_all_streams),
            ("num_device_alloc", self.num_device_alloc),
            ("num_device_free", self.num_device_free),
            ("num_oom_rejections", self.num_oom_rejections),
            ("max_split_size", self.max_split_size),
        ];
        entries.extend(counters.map(|(name, value)| (name.to_owned(), value)));
        entries
    }

    /// Every peak becomes what is there now.
    pub(super) fn reset_peak(&mut self) {
        self.each_by_pool(ByPool::reset_peak);
        self.oversize_allocations.reset_peak();
        self.oversize_segments.reset_peak();
    }

    /// Every sum and every counter of events becomes 0.
    pub(super) fn reset_accumulated(&mut self) {
        self.each_by_pool(ByPool::reset_accumulated);
        self.oversize_allocations.reset_accumulated();
        self.oversize_segments.reset_accumulated();
        self.num_alloc_retries = 0;
        self.num_ooms = 0;
        self.num_sync_all_streams = 0;
        self.num_device_alloc = 0;
        self.num_device_free = 0;
        self.num_oom_rejections = 0;
    }

    fn each_by_pool(&mut self, change: fn(&mut ByPool)) {
        let private = self.reserved_bytes_by_private_pools.values_mut();
        self.by_pool.iter_mut().chain(private).for_each(change);
    }
}
