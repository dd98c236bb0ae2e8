//! Private pools: what is allocated to one is reused within it alone, and stays until nobody may allocate to it.

use super::block::PoolIndex;
use super::pool::Pool;
use super::stats::ByPool;
use super::{AllocError, CachingAllocator, LARGE_POOL, SMALL_POOL};
use crate::memory::{DeviceMemory, Stream};
use std::fmt;

/// The name of a pool: (0, n) for those that a program makes, (n, 0) for those of captured graphs, (0, 0) for the
/// default ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(pub u64, pub u64);

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.0, self.1)
    }
}

/// Which requests go to a private pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolFilter {
    /// Every one.
    All,
    /// Those on this stream.
    Stream(Stream),
}

impl PoolFilter {
    fn admits(self, stream: Stream) -> bool {
        match self {
            PoolFilter::All => true,
            PoolFilter::Stream(one) => one == stream,
        }
    }
}

/// A private pool that is in use, or whose segments are not all returned.
#[derive(Debug)]
pub(super) struct Private {
    small: PoolIndex,
    large: PoolIndex,
    /// Those who may still allocate to it; its segments are only returned at 0.
    uses: u32,
}

impl<D: DeviceMemory> CachingAllocator<D> {
    /// From now on requests that the filter admits go to this pool, which is made where it is not there.
    pub fn begin_pool(&mut self, id: PoolId, filter: PoolFilter) -> Result<(), AllocError> {
        if self.allocating_to.iter().any(|(active, _)| *active == id) {
            return Err(AllocError::Pool(format!("beginAllocateToPool: already recording to mempool_id {id}")));
        }
        let pools = &mut self.pools;
        let mut add = |small| {
            pools.push(Pool::new(small, Some(id)));
            (pools.len() - 1) as PoolIndex
        };
        let private =
            self.private.entry(id).or_insert_with(|| Private { small: add(true), large: add(false), uses: 0 });
        private.uses += 1;
        self.allocating_to.push((id, filter));
        if self.version.since(13) {
            self.statistics.reserved_bytes_by_private_pools.entry(id).or_default();
        }
        Ok(())
    }

    /// Requests go to this pool no more; what is in it stays.
    pub fn end_pool(&mut self, id: PoolId) -> Result<(), AllocError> {
        let place = self.allocating_to.iter().position(|(active, _)| *active == id);
        let place = place
            .ok_or_else(|| AllocError::Pool(format!("endAllocatePool: not currently recording to mempool_id {id}")))?;
        self.allocating_to.remove(place);
        Ok(())
    }

    /// One user of the pool is gone. Without any, its segments may be returned.
    pub fn release_pool(&mut self, id: PoolId) -> Result<(), AllocError> {
        match self.private.get_mut(&id).filter(|private| private.uses > 0) {
            Some(private) => {
                private.uses -= 1;
                Ok(())
            }
            None => Err(AllocError::Pool(format!("releasePool: nobody uses mempool_id {id}"))),
        }
    }

    /// Returns what is free in the private pools that nobody uses, and forgets those that hold nothing more.
    pub(super) fn release_private(&mut self) -> Result<(), AllocError> {
        let unused: Vec<(PoolId, [PoolIndex; 2])> = self
            .private
            .iter()
            .filter(|(_, private)| private.uses == 0)
            .map(|(id, private)| (*id, [private.small, private.large]))
            .collect();
        for (id, pools) in unused {
            for pool in pools {
                self.release_pool_blocks(pool)?;
            }
            if !self.blocks.any(|block| pools.contains(&block.pool)) {
                self.private.remove(&id);
            }
        }
        Ok(())
    }

    /// The pool that a request goes to.
    pub(super) fn pool_for(&self, stream: Stream, small: bool) -> PoolIndex {
        let newest = self.allocating_to.iter().rev().find(|(_, filter)| filter.admits(stream));
        match newest.and_then(|(id, _)| self.private.get(id)) {
            Some(private) if small => private.small,
            Some(private) => private.large,
            None if small => SMALL_POOL,
            None => LARGE_POOL,
        }
    }

    /// The bytes that lie free in private pools.
    pub(super) fn private_cached(&self) -> u64 {
        let private = self.private.values().flat_map(|private| [private.small, private.large]);
        private.flat_map(|pool| self.pools[pool as usize].all()).map(|id| self.blocks[id].size).sum()
    }
}

impl<D> CachingAllocator<D> {
    pub(super) fn private_figures(&mut self, pool: PoolIndex) -> Option<&mut ByPool> {
        let id = self.pools[pool as usize].private?;
        self.statistics.reserved_bytes_by_private_pools.get_mut(&id)
    }
}
