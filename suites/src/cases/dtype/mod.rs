//! What a dtype costs: bytes of an element, of a tensor, of a change of dtype.

mod narrower;
mod printed;
mod sizes;

use crate::case::Case;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    [sizes::cases(), printed::cases(), narrower::cases()].into_iter().flatten().collect()
}
