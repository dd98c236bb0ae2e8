//! `cargo xtask report`: renders a run log.

use crate::console::{Failure, put};
use crate::options::claims;
use std::path::{Path, PathBuf};

/// Render a run log as a static HTML site
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask report out/run.jsonl --out site\n\n\
    Run logs (*.jsonl) in the folder `imported` beside the run log came from other machines: each page of workloads\n\
    that need a device shows the newest that has times of them.")]
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

/// Run logs of other machines lie in this folder beside the one that is rendered.
const IMPORTED: &str = "imported";

/// Renders a run log into a folder and gives the folder.
pub fn render(path: &Path, out: &Path) -> Result<PathBuf, Failure> {
    let told = |error: reports::ReadError| Failure::Failed(error.to_string());
    let log = reports::read(path).map_err(told)?;
    let (imported, left_out) = reports::imported(&path.with_file_name(IMPORTED));
    left_out.iter().for_each(|why| eprintln!("{why}"));
    reports::render(&log, &imported, claims()?, out).map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(out.to_owned())
}
