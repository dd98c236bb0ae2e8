//! What this process remembers of its own blocks, and how an event reaches the shared counts.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::TENSOR_SIZED;
use crate::blocks::Blocks;
use crate::ledger::Ledger;
use crate::ranges::{Cut, PAGE, Ranges, pages};

/// The private side of a ledger. It lies in pages that a fork wipes: in a child the ledger is null and nothing is
/// counted, because the child's frees of inherited blocks are not its parent's. All zeros is the closed state.
pub struct Books {
    ledger: AtomicPtr<Ledger>,
    blocks: Blocks,
    ranges: Ranges,
}

/// Null until the constructor has opened the ledger; what happens before is not counted.
static BOOKS: AtomicPtr<Books> = AtomicPtr::new(null_mut());

/// The counts of this process, if it keeps a ledger.
#[derive(Clone, Copy)]
pub struct Counts {
    ledger: &'static Ledger,
    books: &'static Books,
}

/// Starts counting into `ledger`.
pub fn open(books: &'static Books, ledger: &'static Ledger) {
    books.ledger.store((&raw const *ledger).cast_mut(), Relaxed);
    BOOKS.store((&raw const *books).cast_mut(), Release);
}

/// The counts, or `None` where nothing is to be counted.
pub fn counts() -> Option<Counts> {
    // SAFETY: null or the reference given to `open`, which lives as long as the process.
    let books = unsafe { BOOKS.load(Acquire).as_ref() }?;
    // SAFETY: null (in a forked child) or the reference given to `open`.
    let ledger = unsafe { books.ledger.load(Relaxed).as_ref() }?;
    Some(Counts { ledger, books })
}

impl Counts {
    /// A heap block of `bytes` was handed out.
    pub fn took(self, block: *mut c_void, bytes: usize) {
        self.ledger.called();
        if bytes >= TENSOR_SIZED {
            self.ledger.big_called(bytes as u64);
            self.enter(block, bytes);
        }
    }

    /// The bytes asked for of a tensor-sized block, which is no longer in the books. To be called before the block is
    /// given back: afterwards another thread may be handed the same address.
    pub fn forget(self, block: *mut c_void) -> Option<usize> {
        // SAFETY: the caller is about to give a live block back to glibc's heap. A block has at least what was asked
        // for, so smaller ones need no search.
        let may_be_known = unsafe { libc::malloc_usable_size(block) } >= TENSOR_SIZED;
        may_be_known.then(|| self.books.blocks.remove(block.addr())).flatten()
    }

    /// Enters a new block, or one that was forgotten and is there after all.
    pub fn enter(self, block: *mut c_void, bytes: usize) {
        if !self.books.blocks.insert(block.addr(), bytes) {
            // Its end cannot be told from that of an unknown block, so it must not stay live for ever.
            self.ledger.big_freed(0, bytes as u64);
            self.ledger.lost(1);
        }
    }

    /// A block was given back; `forgotten` is what the books had of it.
    pub fn gave(self, forgotten: Option<usize>) {
        self.ledger.freed();
        if let Some(bytes) = forgotten {
            self.ledger.big_freed(1, bytes as u64);
        }
    }

    /// A tensor-sized mapping came to life.
    pub fn mapped(self, address: *mut c_void, bytes: usize) {
        self.ledger.mapped(pages(bytes) * PAGE as u64);
        self.enter_mapping(address, bytes);
    }

    /// Takes a range out of the books before the system may give it to another thread, or after it became this one's.
    pub fn cut(self, address: *mut c_void, bytes: usize) -> Cut {
        let cut = self.books.ranges.cut(address.addr(), bytes);
        self.ledger.lost(cut.lost);
        cut
    }

    /// Enters a new mapping, or one that was cut out and is there after all.
    pub fn enter_mapping(self, address: *mut c_void, bytes: usize) {
        if !self.books.ranges.insert(address.addr(), bytes) {
            self.ledger.unmapped(0, pages(bytes) * PAGE as u64);
            self.ledger.lost(1);
        }
    }

    /// What was cut out has gone.
    pub fn unmapped(self, cut: &Cut) {
        self.ledger.unmapped(cut.ended, cut.pages * PAGE as u64);
    }
}
