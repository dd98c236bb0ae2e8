//! `cargo xtask report`: renders a run log.

use crate::console::{Failure, put};
use crate::options::claims;
use std::path::{Path, PathBuf};

/// Render a run log as a static HTML site
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask report out/run.jsonl --out site")]
pub struct Args {
    /// The run log
    #[arg(value_name = "RUN_LOG", default_value = "out/run.jsonl")]
    log: PathBuf,
    /// Folder for the site, which is replaced as a whole
    #[arg(long, value_name = "DIR", default_value = "out/site")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let site = render(&args.log, &args.out)?;
    put(&format!("report: {}", site.join("index.html").display()));
    Ok(())
}

/// Renders a run log into a folder and gives the folder.
pub fn render(log: &Path, out: &Path) -> Result<PathBuf, Failure> {
    let log = reports::read(log).map_err(|error| Failure::Failed(error.to_string()))?;
    reports::render(&log, claims()?, out).map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(out.to_owned())
}
