//! What a program relies on of the caching allocator, beside the recorded traces.
#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use kernels::memory::{
    AllocError, BareAddresses, BlockStart, BlockState, CachingAllocator, DeviceMemory, Figure, PoolFilter, PoolId,
    SegmentStart, Settings, TorchVersion,
};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

type Allocator = CachingAllocator<BareAddresses>;

fn allocator_of(total: u64, settings: &str, version: &str) -> Allocator {
    let version: TorchVersion = version.parse().unwrap();
    CachingAllocator::new(BareAddresses::new(total), Settings::parse(settings, version).unwrap())
}

fn allocator(settings: &str) -> Allocator {
    allocator_of(80 * GIB, settings, "2.13")
}

/// Bytes that a request adds to what is live.
fn counted(allocator: &mut Allocator, bytes: u64) -> u64 {
    let before = allocator.statistics().live();
    let address = allocator.allocate(bytes, 0).unwrap();
    let counted = allocator.statistics().live() - before;
    allocator.free(address).unwrap();
    counted
}

#[test]
fn blocks_are_multiples_of_512_bytes() {
    let mut plain = allocator("");
    for (bytes, known) in [(1, 512), (512, 512), (513, 1024), (MIB, MIB), (84 * MIB, 84 * MIB)] {
        assert_eq!(counted(&mut plain, bytes), known, "{bytes}");
    }
    assert_eq!(plain.allocate(0, 0), Ok(0));
    assert_eq!(plain.free(0), Ok(()));
}

#[test]
fn requests_are_rounded_to_parts_of_powers_of_two() {
    let mut quarters = allocator("roundup_power2_divisions:4");
    for (bytes, known) in [(1200 * MIB, 1280 * MIB), (1200, 1536), (1 << 30, 1 << 30), (2048, 2048), (2049, 2560)] {
        assert_eq!(counted(&mut quarters, bytes), known, "{bytes}");
    }
    let mut listed = allocator("roundup_power2_divisions:[64:8,128:2,256:2,512:2,1024:1,>:1]");
    assert_eq!(counted(&mut listed, 84 * MIB), 88 * MIB, "8 divisions of 64 MiB");
    assert_eq!(counted(&mut listed, 400 * MIB), 512 * MIB, "2 divisions of 256 MiB leave 128: 384 or 512");
}

#[test]
fn a_rest_is_split_off_where_it_is_worth_it() {
    let mut plain = allocator("");
    assert_eq!(counted(&mut plain, 20 * MIB - MIB - 512), 19 * MIB - 512);
    let mut plain = allocator("");
    assert_eq!(counted(&mut plain, 9 * MIB), 9 * MIB);
    let mut plain = allocator("");
    // 25 MiB come in a segment of 26 MiB, and a rest of 1 MiB is not kept apart.
    assert_eq!(counted(&mut plain, 25 * MIB), 26 * MIB);
    assert_eq!(plain.statistics().held(), 26 * MIB);
    plain.empty_cache().unwrap();
    assert_eq!((plain.statistics().held(), plain.device().free_bytes()), (0, Ok(80 * GIB)));
}

/// Two free blocks of one size in one segment: which is taken depends on the version.
#[test]
fn ties_are_broken_as_each_version_does() {
    for (version, first) in [("2.9", true), ("2.10", true), ("2.12", false), ("2.13", true), ("2.15", true)] {
        let mut allocator = allocator_of(80 * GIB, "", version);
        let blocks = [4, 12, 4].map(|size| allocator.allocate(size * MIB, 0).unwrap());
        allocator.free(blocks[0]).unwrap();
        allocator.free(blocks[2]).unwrap();
        let taken = allocator.allocate(4 * MIB, 0).unwrap();
        assert_eq!(taken == blocks[0], first, "{version}");
    }
}

/// 48 MiB are held, 22 of them idle, and 36 MiB do not fit under a limit of 80: the report says all of it.
#[test]
fn a_failed_request_is_reported_with_what_was_there() {
    let mut allocator = allocator("");
    allocator.set_fraction(1.0 / 1024.0).unwrap();
    let a = allocator.allocate(24 * MIB, 0).unwrap();
    let _b = allocator.allocate(24 * MIB, 0).unwrap();
    allocator.free(a).unwrap();
    let _c = allocator.allocate(2 * MIB, 0).unwrap();
    let Err(AllocError::OutOfMemory(report)) = allocator.allocate(36 * MIB - 5, 0) else { panic!("it fits") };
    assert_eq!((report.requested, report.segment), (36 * MIB - 5, 36 * MIB));
    assert_eq!((report.live, report.held, report.limit), (26 * MIB, 48 * MIB, Some(80 * MIB)));
    assert_eq!(
        report.to_string(),
        "CUDA out of memory. Tried to allocate 36.00 MiB. GPU 0 has a total capacity of 80.00 GiB of which 79.95 GiB \
         is free. 80.00 MiB allowed; Of the allocated memory 26.00 MiB is allocated by PyTorch, and 22.00 MiB is \
         reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting \
         PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory \
         Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
    );
    assert_eq!((allocator.statistics().num_ooms, allocator.statistics().num_alloc_retries), (1, 1));
}

#[test]
fn a_split_limit_keeps_large_blocks_whole() {
    let mut allocator = allocator("max_split_size_mb:21");
    allocator.set_fraction(1.0 / 1024.0).unwrap();
    let a = allocator.allocate(24 * MIB, 0).unwrap();
    let _b = allocator.allocate(24 * MIB, 0).unwrap();
    allocator.free(a).unwrap();
    let _c = allocator.allocate(2 * MIB, 0).unwrap();
    allocator.allocate(36 * MIB, 0).unwrap();
    let statistics = allocator.statistics();
    assert_eq!((statistics.live(), statistics.held(), statistics.num_device_free), (62 * MIB, 80 * MIB, 1));
}

#[test]
fn sizes_beyond_all_measure_are_refused_and_counted_as_pytorch_counts_them() {
    let mut allocator = allocator("");
    let absurd = allocator.allocate(1 << 60, 0).unwrap_err();
    assert_eq!(absurd.to_string(), "CUDA out of memory. Tried to allocate more than 1EB memory.");
    assert_eq!(allocator.statistics().num_ooms, 0);
    let large = allocator.allocate(800_000_000 << 30, 0).unwrap_err();
    assert!(large.to_string().contains("Tried to allocate 800000000.00 GiB. GPU 0 has a total"), "{large}");
    assert_eq!(allocator.statistics().num_ooms, 1);
    assert!(allocator.allocate(u64::MAX, 0).is_err());
    let mut rounded = allocator_of(GIB, "roundup_power2_divisions:16", "2.13");
    assert!(rounded.allocate((1 << 60) - 1, 0).is_err());
}

#[test]
fn what_is_not_live_cannot_be_freed() {
    let mut allocator = allocator("");
    let block = allocator.allocate(1, 0).unwrap();
    let inside = AllocError::UnknownPointer(block + 512);
    assert_eq!(allocator.free(block + 512), Err(inside.clone()));
    assert_eq!(inside.to_string(), format!("invalid device pointer: {:#x}", block + 512));
    assert_eq!(allocator.free(block), Ok(()));
    assert_eq!(allocator.free(block), Err(AllocError::UnknownPointer(block)), "a second time");
    assert_eq!(allocator.record_stream(block, 1), Err(AllocError::UnknownPointer(block)));
}

#[test]
fn a_block_that_a_stream_uses_waits_for_it() {
    let mut allocator = allocator("");
    let block = allocator.allocate(4 * MIB, 0).unwrap();
    allocator.record_stream(block, 0).unwrap();
    allocator.record_stream(block, 7).unwrap();
    allocator.record_stream(block, 7).unwrap();
    allocator.device_mut().hold_events(true);
    allocator.free(block).unwrap();
    assert_eq!((allocator.statistics().live(), allocator.statistics()[Figure::Active].all().current), (0, 1));
    assert_eq!(allocator.snapshot()[0].blocks[0].state, BlockState::PendingFree);
    let other = allocator.allocate(4 * MIB, 0).unwrap();
    assert_ne!(other, block);
    allocator.device_mut().complete_events();
    assert_eq!(allocator.allocate(4 * MIB, 0), Ok(block), "the stream has passed");
}

#[test]
fn streams_do_not_share_free_blocks() {
    let mut allocator = allocator("");
    let block = allocator.allocate(4 * MIB, 0).unwrap();
    allocator.free(block).unwrap();
    assert_ne!(allocator.allocate(4 * MIB, 1), Ok(block));
    assert_eq!(allocator.allocate(4 * MIB, 0), Ok(block));
}

#[test]
fn old_blocks_go_back_where_the_threshold_says() {
    let mut allocator = allocator_of(GIB, "garbage_collection_threshold:0.5", "2.13");
    allocator.set_fraction(120.0 / 1024.0).unwrap();
    let blocks = [40, 40].map(|size| allocator.allocate(size * MIB, 0).unwrap());
    for block in blocks {
        allocator.free(block).unwrap();
    }
    // 80 MiB are more than half of the limit: both are as old as the average.
    allocator.allocate(60 * MIB, 0).unwrap();
    let statistics = allocator.statistics();
    assert_eq!((statistics.held(), statistics.num_alloc_retries, statistics.num_device_free), (60 * MIB, 0, 2));
}

#[test]
fn expandable_segments_hold_whole_pages() {
    let mut allocator = allocator_of(16 * GIB, "expandable_segments:True", "2.13");
    allocator.device_mut().note_calls();
    let small = allocator.allocate(1000, 0).unwrap();
    let reserved: Vec<_> =
        allocator.device_mut().take_calls().into_iter().map(|call| (call.name, call.bytes)).collect();
    assert_eq!(reserved, [("cuMemAddressReserve", 19_327_352_832), ("cuMemCreate", 2 * MIB), ("cuMemMap", 2 * MIB)]);
    let large = allocator.allocate(GIB, 0).unwrap();
    assert_eq!(allocator.statistics().held(), 1_090_519_040 + 2 * MIB);
    assert_eq!(allocator.statistics()[Figure::Segment].all().current, 0, "a segment that grows is not counted");
    for block in [small, large] {
        allocator.free(block).unwrap();
    }
    allocator.empty_cache().unwrap();
    assert_eq!((allocator.statistics().held(), allocator.device().free_bytes()), (0, Ok(16 * GIB)));
    assert!(allocator.snapshot().is_empty());
}

/// PyTorch would return a segment to the device of which a tensor still has a part.
#[test]
fn a_segment_in_use_is_never_returned() {
    let mut allocator = allocator_of(256 * MIB, "max_split_size_mb:40", "2.15");
    let first = allocator.allocate(100 * MIB, 0).unwrap();
    allocator.free(first).unwrap();
    allocator.apply_settings("max_split_size_mb:40,expandable_segments:True").unwrap();
    let front = allocator.allocate(90 * MIB, 0).unwrap();
    let rest = allocator.allocate(10 * MIB, 0).unwrap();
    assert_eq!((front, rest), (first, first + 90 * MIB));
    allocator.apply_settings("max_split_size_mb:40,expandable_segments:False").unwrap();
    allocator.free(front).unwrap();
    let refused = allocator.allocate(180 * MIB, 0).unwrap_err();
    assert_eq!(refused, AllocError::WouldCorrupt { address: front, bytes: 90 * MIB });
    assert!(refused.to_string().contains("is part of a segment that is in use"), "{refused}");
    assert_eq!(allocator.free(rest), Ok(()), "the tensor is still there");
}

#[test]
fn private_pools_keep_to_themselves() {
    let (pool, mut allocator) = (PoolId(0, 1), allocator(""));
    allocator.begin_pool(pool, PoolFilter::All).unwrap();
    assert!(allocator.begin_pool(pool, PoolFilter::All).unwrap_err().to_string().contains("already recording"));
    let blocks = [(); 3].map(|()| allocator.allocate(MIB, 0).unwrap());
    assert_eq!(allocator.statistics().held(), 4 * MIB, "two share a segment of 2 MiB");
    allocator.end_pool(pool).unwrap();
    assert!(allocator.end_pool(pool).unwrap_err().to_string().contains("not currently recording"));
    for block in blocks {
        allocator.free(block).unwrap();
    }
    let outside = allocator.allocate(MIB, 0).unwrap();
    assert!(!blocks.contains(&outside));
    allocator.free(outside).unwrap();
    allocator.empty_cache().unwrap();
    assert_eq!(allocator.statistics().held(), 4 * MIB, "the pool may still be allocated to");
    assert!(allocator.snapshot().iter().all(|segment| segment.pool == pool));
    let held = |allocator: &Allocator| allocator.statistics().reserved_bytes_by_private_pools[&pool].all().current;
    assert_eq!(held(&allocator), 4 << 20);
    allocator.release_pool(pool).unwrap();
    allocator.empty_cache().unwrap();
    assert_eq!((allocator.statistics().held(), held(&allocator)), (0, 0));
    assert!(allocator.release_pool(pool).is_err(), "it is gone");
}

#[test]
fn a_pool_for_a_stream_gets_that_streams_requests_alone() {
    let mut allocator = allocator("");
    allocator.begin_pool(PoolId(0, 2), PoolFilter::Stream(3)).unwrap();
    allocator.allocate(1, 3).unwrap();
    allocator.allocate(1, 4).unwrap();
    let pools: Vec<_> = allocator.snapshot().iter().map(|segment| (segment.stream, segment.pool)).collect();
    assert_eq!(pools, [(3, PoolId(0, 2)), (4, PoolId::default())]);
}

#[test]
fn statistics_have_pytorchs_names() {
    let mut allocator = allocator("max_split_size_mb:64");
    allocator.allocate(4 * MIB, 0).unwrap();
    let entries = allocator.statistics().entries();
    assert_eq!(entries.len(), 123);
    let of = |name: &str| entries.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!(of("allocated_bytes.large_pool.current"), 4 << 20);
    assert_eq!(of("inactive_split_bytes.all.peak"), 16 << 20);
    assert_eq!(of("max_split_size"), 64 << 20);
    assert_eq!(of("num_device_alloc"), 1);
}

#[test]
fn an_allocator_can_start_with_what_a_snapshot_shows() {
    let block = |size, live| BlockStart { size, live };
    let segment = SegmentStart {
        address: 0x7000_0000_0000,
        stream: 0,
        small: false,
        blocks: vec![block(4 * MIB, Some(4_000_000)), block(16 * MIB, None)],
    };
    let mut device = BareAddresses::new(GIB);
    assert_eq!(device.allocate(20 * MIB), Ok(segment.address));
    let settings = Settings::new(TorchVersion::DEFAULT);
    let mut allocator =
        CachingAllocator::with_segments(device, settings.clone(), std::slice::from_ref(&segment)).unwrap();
    assert_eq!((allocator.statistics().live(), allocator.statistics().held()), (4 * MIB, 20 * MIB));
    assert_eq!(allocator.allocate(8 * MIB, 0), Ok(segment.address + 4 * MIB));
    allocator.free(segment.address).unwrap();
    for wrong in [Vec::new(), vec![block(0, None)], vec![block(u64::MAX, None), block(2, None)]] {
        let start = SegmentStart { blocks: wrong, ..segment.clone() };
        assert!(CachingAllocator::with_segments(BareAddresses::new(GIB), settings.clone(), &[start]).is_err());
    }
}

/// What always holds: segments are whole, blocks lie side by side, and figures are the sums of what is there.
fn check(allocator: &Allocator, live: &[u64]) {
    let segments = allocator.snapshot();
    let sum = |of: fn(&kernels::memory::Segment) -> u64| segments.iter().map(of).sum::<u64>();
    let statistics = allocator.statistics();
    assert_eq!(sum(|segment| segment.size), statistics.held());
    assert_eq!(sum(|segment| segment.allocated), statistics.live());
    assert_eq!(sum(|segment| segment.active) as i64, statistics[Figure::ActiveBytes].all().current);
    assert_eq!(sum(|segment| segment.requested) as i64, statistics[Figure::RequestedBytes].all().current);
    let mut end = 0;
    let mut seen = Vec::new();
    for segment in &segments {
        assert!(segment.address >= end, "segments overlap");
        let mut at = segment.address;
        for pair in segment.blocks.windows(2) {
            let free = |block: &kernels::memory::SegmentBlock| block.state == BlockState::Inactive;
            assert!(!(free(&pair[0]) && free(&pair[1])) || segment.expandable, "free neighbours were not merged");
        }
        for block in &segment.blocks {
            assert_eq!(block.address, at);
            at += block.size;
            if block.state == BlockState::Allocated {
                seen.push(block.address);
            }
        }
        end = segment.address + segment.size;
        assert_eq!(at, end);
    }
    let mut live = live.to_vec();
    live.sort_unstable();
    assert_eq!(seen, live);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is asked in whatever order under whatever settings, books and addresses are in order, and all comes
    /// back in the end.
    #[test]
    fn books_are_always_in_order(
        steps in prop::collection::vec((0u8..12, any::<u64>()), 1..160),
        settings in prop::sample::select(vec![
            "", "max_split_size_mb:64", "roundup_power2_divisions:8", "expandable_segments:True",
            "garbage_collection_threshold:0.4", "large_segment_size_mb:40",
        ]),
        version in prop::sample::select(vec!["2.12", "2.13", "2.15"]),
    ) {
        let mut allocator = allocator_of(GIB, settings, version);
        let mut live: Vec<u64> = Vec::new();
        for (step, number) in steps {
            let place = number as usize % live.len().max(1);
            match step {
                0..=5 => {
                    let bytes = (number % (200 << 20)) >> (number % 14);
                    match allocator.allocate(bytes, number % 3) {
                        Ok(0) => prop_assert_eq!(bytes, 0),
                        Ok(address) => live.push(address),
                        Err(AllocError::OutOfMemory(_)) => {}
                        Err(other) => prop_assert!(false, "{}", other),
                    }
                }
                6..=8 if !live.is_empty() => allocator.free(live.swap_remove(place)).unwrap(),
                9 if !live.is_empty() => allocator.record_stream(live[place], 5).unwrap(),
                10 => allocator.empty_cache().unwrap(),
                11 => {
                    allocator.device_mut().hold_events(number % 2 == 0);
                    allocator.device_mut().complete_events();
                }
                _ => allocator.set_fraction([0.4, 0.8, 1.0][number as usize % 3]).unwrap(),
            }
            check(&allocator, &live);
        }
        for address in live {
            allocator.free(address).unwrap();
        }
        allocator.empty_cache().unwrap();
        prop_assert_eq!(allocator.statistics().held(), 0);
        prop_assert_eq!(allocator.device().free_bytes(), Ok(GIB));
    }
}
