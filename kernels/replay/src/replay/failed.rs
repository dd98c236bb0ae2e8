//! Requests that got no memory in a replay.

use kernels::memory::{AllocError, Statistics};

/// How many are kept, oldest first.
const KEPT: usize = 3;

/// The requests of one device that got no memory. The replay went on without them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failed {
    /// How many.
    pub count: u64,
    /// How many of them failed in the recording, too.
    pub recorded: u64,
    /// The first three.
    pub first: Vec<FailedRequest>,
}

/// A request that got no memory, and what was there at that moment. Sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// The event, counted as in [`Difference`](crate::Difference).
    pub event: u64,
    /// Whether it failed in the recording, too.
    pub recorded: bool,
    /// What was asked for.
    pub asked: u64,
    /// What was held.
    pub held: u64,
    /// What was live.
    pub live: u64,
    /// Why it failed.
    pub why: Why,
}

/// Why a request got no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Neither the cache nor the device had enough. Sizes are bytes.
    OutOfMemory {
        /// What the device was asked for: a whole segment.
        segment: u64,
        /// What the device had free.
        free: u64,
        /// The most that the allocator might hold, where there was a limit.
        limit: Option<u64>,
    },
    /// It asked for more than 1 EB, which is refused without a look at anything.
    Absurd,
    /// `throw_on_cudamalloc_oom` refused it before the device was asked.
    Rejected,
}

impl Failed {
    /// Counts a request that the allocator refused for want of memory; any other error comes back.
    pub(super) fn note(
        &mut self,
        event: u64,
        recorded: bool,
        error: &AllocError,
        now: &Statistics,
    ) -> Result<(), AllocError> {
        let (asked, why) = match error {
            AllocError::OutOfMemory(report) => {
                let why = Why::OutOfMemory { segment: report.segment, free: report.free, limit: report.limit };
                (report.requested, why)
            }
            AllocError::Absurd(asked) => (*asked, Why::Absurd),
            AllocError::Rejected(asked) => (*asked, Why::Rejected),
            other => return Err(other.clone()),
        };
        self.count += 1;
        self.recorded += u64::from(recorded);
        if self.first.len() < KEPT {
            self.first.push(FailedRequest { event, recorded, asked, held: now.held(), live: now.live(), why });
        }
        Ok(())
    }
}
