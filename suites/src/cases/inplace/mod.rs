//! What writes in place: which blocks it takes, which operands it accepts, and what autograd says of it.

mod autograd;
mod blocks;
mod operands;

use crate::case::Case;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    [blocks::cases(), operands::cases(), autograd::cases()].into_iter().flatten().collect()
}
