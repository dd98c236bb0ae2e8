//! Memory of a device: what hands it out, what keeps it, and what a program is told about it.
//!
//! [`CachingAllocator`] follows PyTorch's caching allocator decision for decision, over any [`DeviceMemory`];
//! [`PinnedAllocator`] does the same for page-locked host memory, over any [`HostMemory`]. [`BareAddresses`] and
//! [`BareHost`] hand out addresses with nothing behind them: enough to replay what a program asked for, and to ask what
//! it would have cost under other settings.

mod bare;
mod caching;
mod device;
mod pinned;
mod version;

pub use bare::{BareAddresses, DeviceCall};
pub use caching::{
    Action, AllocError, BlockStart, BlockState, ByPool, CachingAllocator, Figure, OutOfMemory, PinnedSettings,
    PoolFilter, PoolId, Reserve, Segment, SegmentBlock, SegmentStart, Settings, SettingsError, SettingsErrorKind, Stat,
    Statistics, TraceEntry,
};
pub use device::{DeviceError, DeviceMemory, HostMemory, Stream};
pub use pinned::{BareHost, PinnedAllocator, PinnedStatistics};
pub use version::TorchVersion;
