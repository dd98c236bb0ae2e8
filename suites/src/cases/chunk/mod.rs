//! What chunking does to a batch, to its peak and to its result.

mod peak;
mod pieces;
mod results;

use crate::case::Case;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    [pieces::cases(), peak::cases(), results::cases()].into_iter().flatten().collect()
}
