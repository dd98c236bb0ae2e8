//! The reference engine against NumPy and PyTorch, on random programs.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

#[path = "../common/mod.rs"]
mod common;
mod mutants;
mod overlap;
mod programs;
mod views;

use rand::rngs::StdRng;
use suites::oracle::{Campaign, Finding, Pair, Remote, Side, Stop};

/// A subject as a side.
fn side(id: &str) -> Remote {
    Remote::new(common::launch(id))
}

/// What the programs of the first seeds do, and where the sides differ.
fn campaign(
    left: &mut dyn Side,
    right: &mut dyn Side,
    program: impl Fn(&Pair, &mut StdRng) -> Result<(), Stop>,
) -> (Campaign, Option<Finding>) {
    Campaign::run(left, right, 0..10_000, program).unwrap_or_else(|missing| panic!("{missing}"))
}

/// What the programs do, on sides that never differ.
fn agreement(left: &str, right: &str, program: impl Fn(&Pair, &mut StdRng) -> Result<(), Stop>) -> Campaign {
    let (campaign, finding) = campaign(&mut side(left), &mut side(right), program);
    if let Some(finding) = finding {
        panic!("{finding}");
    }
    campaign
}
