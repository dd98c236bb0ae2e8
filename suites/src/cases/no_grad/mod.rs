//! What `no_grad` keeps from being recorded, and what it does not.

mod exceptions;
mod forms;
pub(super) mod graph;
pub(super) mod listing;
mod modules;
mod results;

use crate::case::Case;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    [results::cases(), exceptions::cases(), modules::cases(), forms::cases()].into_iter().flatten().collect()
}
