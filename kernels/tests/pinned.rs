//! What a program relies on of the allocator of page-locked host memory.
#![allow(clippy::unwrap_used, reason = "a test fails where it is wrong")]

use kernels::memory::{AllocError, BareHost, PinnedAllocator, PinnedSettings};

const MIB: u64 = 1 << 20;

fn allocator(settings: PinnedSettings) -> PinnedAllocator<BareHost> {
    PinnedAllocator::new(BareHost::default(), settings)
}

fn owned(allocator: &PinnedAllocator<BareHost>) -> i64 {
    allocator.statistics().allocated_bytes.current
}

#[test]
fn requests_become_powers_of_two() {
    for (bytes, known) in [(1, 1), (3, 4), (4_194_304, 4_194_304), (4_194_305, 8_388_608), (3 << 30, 1 << 32)] {
        let mut pinned = allocator(PinnedSettings::default());
        pinned.allocate(bytes).unwrap();
        assert_eq!(owned(&pinned), known, "{bytes}");
    }
    assert_eq!(allocator(PinnedSettings::default()).allocate(0), Ok(0));
    assert!(allocator(PinnedSettings::default()).allocate(u64::MAX).is_err());
}

#[test]
fn large_requests_are_left_as_they_are_where_settings_say_so() {
    let mut pinned = allocator(PinnedSettings { max_round_threshold: 2 * MIB, ..PinnedSettings::default() });
    pinned.allocate(5_000_000).unwrap();
    assert_eq!(owned(&pinned), 5_000_000);
    let mut pinned = allocator(PinnedSettings { max_cached_size: 2 * MIB, ..PinnedSettings::default() });
    let block = pinned.allocate(5_000_000).unwrap();
    pinned.free(block).unwrap();
    assert_eq!(owned(&pinned), 0, "it is returned at once");
}

#[test]
fn the_newest_free_block_is_taken_first() {
    let mut pinned = allocator(PinnedSettings::default());
    let blocks = [(); 2].map(|()| pinned.allocate(1000).unwrap());
    for block in blocks {
        pinned.free(block).unwrap();
    }
    assert_eq!(pinned.allocate(1024), Ok(blocks[1]));
    assert_eq!(pinned.allocate(600), Ok(blocks[0]));
    assert_eq!(pinned.statistics().allocations.allocated, 2);
    assert_eq!(pinned.statistics().active_requests.allocated, 4);
    assert_eq!(pinned.free(7), Err(AllocError::UnknownPointer(7)));
    pinned.free(blocks[0]).unwrap();
    assert_eq!(pinned.free(blocks[0]), Err(AllocError::UnknownPointer(blocks[0])), "a second time");
}

#[test]
fn a_block_that_a_copy_uses_waits_for_it() {
    let mut pinned = allocator(PinnedSettings::default());
    let block = pinned.allocate(1000).unwrap();
    pinned.record_stream(block, 3).unwrap();
    pinned.host_mut().hold_events(true);
    pinned.free(block).unwrap();
    let other = pinned.allocate(1000).unwrap();
    assert_ne!(other, block);
    assert_eq!(pinned.statistics().active_bytes.current, 2048);
    pinned.host_mut().complete_events();
    assert_eq!(pinned.allocate(1000), Ok(block));
}

#[test]
fn a_reserved_segment_is_cut_and_never_filled_again() {
    let settings = PinnedSettings { reserve_segment: MIB, ..PinnedSettings::default() };
    let mut pinned = allocator(settings);
    let first = pinned.allocate(512 << 10).unwrap();
    let second = pinned.allocate(512 << 10).unwrap();
    assert_eq!(second, first + (512 << 10));
    let beyond = pinned.allocate(8192).unwrap();
    assert!(beyond >= first + MIB, "the segment is full");
    pinned.free(first).unwrap();
    pinned.empty_cache().unwrap();
    assert_eq!(owned(&pinned), (512 << 10) + 8192);
    let later = pinned.allocate(512 << 10).unwrap();
    assert!(later >= first + MIB, "its space is lost");
}

#[test]
fn registered_blocks_are_returned_as_such() {
    let mut pinned = allocator(PinnedSettings { use_cuda_host_register: true, ..PinnedSettings::default() });
    let block = pinned.allocate(1000).unwrap();
    pinned.apply_settings(PinnedSettings::default());
    pinned.free(block).unwrap();
    pinned.empty_cache().unwrap();
    assert_eq!(owned(&pinned), 0);
    pinned.reset_peak();
    pinned.reset_accumulated();
    assert_eq!(pinned.statistics(), Default::default());
}
