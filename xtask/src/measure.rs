//! The hidden command that measures one job in a process of its own, because criterion prints what it likes.

use crate::console::Failure;
use std::path::PathBuf;
use suites::bench::criterion::{Job, measure};

/// Its name on the command line.
pub const COMMAND: &str = "measure-job";

/// Measures one job file.
#[derive(clap::Args)]
pub struct Args {
    job: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let told = |error: &dyn std::fmt::Display| Failure::Failed(format!("{}: {error}", args.job.display()));
    let text = std::fs::read(&args.job).map_err(|error| told(&error))?;
    let job: Job = serde_json::from_slice(&text).map_err(|error| told(&error))?;
    Ok(measure(&job)?)
}
