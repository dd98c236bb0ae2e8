//! `cargo xtask errata`: what a tutorial's author would change.

use crate::console::{Failure, put};
use crate::options::claims;
use std::path::PathBuf;

/// Print what is not right in a tutorial, most harmful first
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask errata t001 --markdown > errata.md")]
pub struct Args {
    /// The tutorial: t000, t001, t002 or t004
    tutorial: String,
    /// Print Markdown, to send to the author
    #[arg(long)]
    markdown: bool,
    /// The run log that decides
    #[arg(long, value_name = "RUN_LOG", default_value = "out/run.jsonl")]
    log: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let catalogue = claims()?;
    let known: Vec<&str> = catalogue.tutorials.iter().map(|tutorial| tutorial.id.as_str()).collect();
    if !known.contains(&args.tutorial.as_str()) {
        return Err(Failure::Usage(suites::near::unknown("tutorial", &args.tutorial, &known)));
    }
    let log = reports::read(&args.log).map_err(|error| Failure::Failed(error.to_string()))?;
    let write = if args.markdown { reports::errata_markdown } else { reports::errata_text };
    put(write(&log, catalogue, &args.tutorial).map_err(|error| Failure::Failed(error.to_string()))?.trim_end());
    Ok(())
}
