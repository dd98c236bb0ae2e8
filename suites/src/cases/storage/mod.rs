//! What a tensor keeps: its storage, its metadata, its history.

mod blocks;
mod bytes;
mod parts;

use crate::case::Case;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    [bytes::cases(), parts::cases(), blocks::cases()].into_iter().flatten().collect()
}
