//! `cargo xtask setup`: makes the Python environment with the pinned libraries.

use crate::console::Failure;
use crate::places::{environment, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Make the Python environment with the pinned PyTorch and NumPy
#[derive(clap::Args)]
#[command(after_help = "The environment lies in $TENSORMARK_HOME, else $XDG_CACHE_HOME/tensormark, else \
    ~/.cache/tensormark. `cargo clean` leaves it alone; delete the folder to be rid of it.")]
pub struct Args {
    /// The Python to make it with [default: python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
}

/// What the pinned packages take with all that they depend on, as pip downloaded and unpacked them on Linux.
const ESTIMATE: &str = "about 2.7 GB to download, 5 GB on disk";
/// The environment's copy of the requirements: it says that they are all installed.
const STAMP: &str = "installed.txt";

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    make(args.python.as_deref()).map(drop)
}

/// Makes the environment, or says that it is there, and gives its Python.
pub fn make(python: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = environment()
        .ok_or_else(|| Failure::Failed("no place for the environment: set TENSORMARK_HOME to a folder".into()))?;
    let requirements = root().join("suites/subjects/python/requirements.txt");
    let told = |path: &Path, error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
    let wanted = fs::read_to_string(&requirements).map_err(|error| told(&requirements, error))?;
    let made = folder.join("bin/python");
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        eprintln!("the Python environment in {} is there", folder.display());
        return Ok(made);
    }
    eprintln!("making a Python environment in {}: {ESTIMATE}", folder.display());
    let base = python.unwrap_or(Path::new("python3"));
    let venv = Command::new(base).args(["-m", "venv"]).arg(&folder).stdin(Stdio::null()).status();
    if !venv.as_ref().is_ok_and(|status| status.success()) {
        return Err(Failure::Failed(format!(
            "{} -m venv failed: it needs Python 3.10 or newer with its venv module (python3-venv on Debian)",
            base.display()
        )));
    }
    let mut pip = Command::new(&made);
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--requirement"]).arg(&requirements);
    match pip.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => {
            fs::write(&stamp, wanted).map_err(|error| told(&stamp, error))?;
            Ok(made)
        }
        _ => Err(Failure::Failed("pip could not install the packages; what it said stands above".into())),
    }
}
