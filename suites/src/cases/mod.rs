//! The conformance cases, one file per topic. Each case establishes facts; none of them knows a verdict.

mod caching_allocator;
mod chunk;
mod clone;
mod common_errors;
mod cpu_release;
mod cpu_vs_gpu;
mod detach;
mod device;
mod dtype;
mod figures;
mod fragmentation;
mod getsizeof;
mod inplace;
mod leak;
mod monitor;
mod no_grad;
mod oom;
mod pinned;
mod reuse;
mod storage;
mod view;

use crate::case::Case;

/// Every case, topic by topic.
pub fn all() -> Vec<Case> {
    let topics = [
        dtype::cases,
        storage::cases,
        getsizeof::cases,
        view::cases,
        clone::cases,
        inplace::cases,
        chunk::cases,
        reuse::cases,
        no_grad::cases,
        detach::cases,
        common_errors::cases,
        oom::cases,
        leak::cases,
        cpu_release::cases,
        cpu_vs_gpu::cases,
        caching_allocator::cases,
        fragmentation::cases,
        pinned::cases,
        monitor::cases,
        device::cases,
    ];
    topics.iter().flat_map(|cases| cases()).collect()
}
