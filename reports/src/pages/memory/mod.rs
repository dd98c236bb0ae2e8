//! Device memory: a page of all cases that looked at it, and a page for each.

mod case;
mod failure;
mod index;
mod segments;
mod timeline;

pub use case::page as case_page;
pub use index::page as index_page;

use crate::digest::Digest;

/// Whether any case looked at device memory.
pub fn exists(digest: &Digest) -> bool {
    !digest.memory.is_empty()
}
