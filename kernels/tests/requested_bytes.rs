//! How many bytes an operation asks of the system, seen by the allocator itself.

use kernels::{ALIGNMENT, DType, Tensor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Blocks and bytes of blocks with the alignment of storages, asked for by this thread.
    static ASKED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() == ALIGNMENT {
            let (blocks, bytes) = ASKED.get();
            ASKED.set((blocks + 1, bytes + layout.size()));
        }
        // SAFETY: promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn asked(operation: impl FnOnce()) -> (usize, usize) {
    ASKED.set((0, 0));
    operation();
    ASKED.get()
}

#[test]
fn a_storage_asks_for_its_elements_and_no_byte_more() {
    for dtype in DType::ALL {
        let blocks = asked(|| drop(Tensor::ones(&[7, 3], dtype).unwrap()));
        assert_eq!(blocks, (1, 21 * dtype.element_size()), "{dtype}");
    }
    assert_eq!(asked(|| drop(Tensor::empty(&[0], DType::F64).unwrap())), (0, 0));
}

#[test]
fn views_and_writes_in_place_ask_for_nothing() {
    let base = Tensor::zeros(&[4, 6], DType::F32).unwrap();
    let other = Tensor::ones(&[6], DType::F32).unwrap();
    let blocks = asked(|| {
        let view = base.transpose(0, 1).unwrap().chunk(2, 0).unwrap();
        view[0].add_(1.0).unwrap();
        base.add_(&other).unwrap();
        base.mul_(&base.detach()).unwrap();
        base.copy_(&other).unwrap();
        base.zero_().unwrap();
        base.values().unwrap();
        base.sum_over(&[0]).map(drop).unwrap();
    });
    assert_eq!(blocks, (1, 6 * 4), "the sums alone");
}

#[test]
fn a_result_asks_for_itself_alone() {
    let a = Tensor::ones(&[10], DType::F32).unwrap();
    assert_eq!(asked(|| drop(a.add(&a).unwrap())), (1, 40));
    assert_eq!(asked(|| drop(Tensor::cat(&[&a, &a], 0).unwrap())), (1, 80));
    assert_eq!(asked(|| drop(a.clone_data().unwrap())), (1, 40));
}
