//! `cargo xtask simulate`: a program of one's own over the simulated CUDA device.

use crate::console::Failure;
use crate::places;
use bytesize::ByteSize;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use suites::run::{Backing, SIMULATED_BYTES, simulated};

/// Run a PyTorch program over the simulated CUDA device: its memory is real, most of its values are not
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask simulate --memory 24GiB python train.py\n\n\
    `python` is the Python with PyTorch that the other commands use. docs/simulated-cuda.md says what is computed.")]
pub struct Args {
    /// Memory of the device, such as 24GiB
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize(SIMULATED_BYTES))]
    memory: ByteSize,
    /// Python with PyTorch [default: the active environment, else the one that `setup` made, else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let places = places::find(args.python.as_deref())?;
    let simulation = simulated::prepare(&places.target, &places.python).map_err(Failure::Missing)?;
    let (program, arguments) = args.command.split_first().ok_or_else(|| Failure::Usage("no command".into()))?;
    let program = if program == "python" { places.python.clone().into() } else { program.clone() };
    let environment = simulation.environment(args.memory.as_u64(), Backing::Host);
    let error = Command::new(&program).args(arguments).envs(environment).exec();
    Err(Failure::Failed(format!("{} could not be started: {error}", program.to_string_lossy())))
}
