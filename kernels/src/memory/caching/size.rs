//! Sizes: how a request is rounded, which pool it goes to, and what is asked of the device for it.

use super::settings::Settings;

/// Every block is a multiple of this.
pub(super) const MIN_BLOCK: u64 = 512;
/// The largest rounded request of the small pool.
pub(super) const SMALL: u64 = 1 << 20;
/// A segment of the small pool.
pub(super) const SMALL_SEGMENT: u64 = 2 << 20;
/// Rounded requests below this share a large segment.
const MIN_LARGE: u64 = 10 << 20;
/// Larger ones get a segment of their own, rounded to this.
const LARGE_STEP: u64 = 2 << 20;
/// Requests of this size and more are refused without a look at anything.
pub(super) const ABSURD: u64 = 1 << 60;

/// A request as the allocator treats it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// What the program asked for, in bytes.
    pub asked: u64,
    /// What a block must hold.
    pub rounded: u64,
    /// What the device is asked for where no block is found.
    pub segment: u64,
}

impl Request {
    /// `asked` is above 0 and below [`ABSURD`].
    #[inline]
    pub fn new(asked: u64, settings: &Settings) -> Request {
        let rounded = settings.rounded(asked);
        Request { asked, rounded, segment: segment(rounded, settings.large_segment) }
    }

    /// Whether it belongs to a small pool.
    #[inline]
    pub fn small(&self) -> bool {
        self.rounded <= SMALL
    }
}

#[inline]
fn segment(rounded: u64, large_segment: u64) -> u64 {
    if rounded <= SMALL {
        SMALL_SEGMENT
    } else if rounded < MIN_LARGE {
        large_segment
    } else {
        rounded.next_multiple_of(LARGE_STEP)
    }
}
