//! `cargo xtask differential`: our caching allocator and PyTorch's own, event by event.

use crate::console::{Console, Failure, put};
use crate::places;
use std::path::PathBuf;
use suites::near;
use suites::oracle::Remote;
use suites::oracle::allocator::{EVENTS, MODES, Mode, Tally, compare};
use suites::progress::Progress;
use suites::run::{Backing, Launch, Places, choose, subjects};

/// Compare the caching allocator with PyTorch's own on random requests, event by event, over a simulated device
#[derive(clap::Args)]
#[command(after_help = "After each event both must agree on the block's address, on all statistics and on every \
    refusal, word for word; from time to time on all segments and blocks.\n\nExamples:\n  \
    cargo xtask differential --events 1000000\n  \
    cargo xtask differential --mode expandable --seed 7 --events 500   the program of seed 7 again")]
pub struct Args {
    /// Events in all, shared by the modes
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    events: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only this mode
    #[arg(long)]
    mode: Option<String>,
    /// Python with PyTorch [default: the active environment, else the one that `setup` made, else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let modes = chosen(args.mode.as_deref())?;
    let places = places::find(args.python.as_deref())?;
    let programs = args.events.div_ceil(modes.len() as u64 * EVENTS as u64);
    let console = Console::default();
    let mut total = Tally::default();
    for mode in modes {
        console.phase(mode.name, programs);
        let (mut pytorch, mut reference) = (side("pytorch", mode, &places)?, side("reference", mode, &places)?);
        let mut tally = Tally::default();
        for seed in args.seed..args.seed.saturating_add(programs) {
            match compare(&mut pytorch, &mut reference, mode, seed).map_err(Failure::Failed)? {
                Ok(done) => tally += done,
                Err(unequal) => {
                    console.end_phase();
                    return Err(Failure::Failed(unequal.to_string()));
                }
            }
            console.step();
        }
        console.end_phase();
        put(&format!("{:22} {tally}", mode.name));
        total += tally;
    }
    put(&format!("{:22} {total}; no difference", "all"));
    Ok(())
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Mode>, Failure> {
    let Some(name) = name else { return Ok(MODES.iter().collect()) };
    let names: Vec<&str> = MODES.iter().map(|mode| mode.name).collect();
    let found = MODES.iter().find(|mode| mode.name == name);
    found.map(|mode| vec![mode]).ok_or_else(|| Failure::Usage(near::unknown("mode", name, &names)))
}

fn side(id: &str, mode: &Mode, places: &Places) -> Result<Remote, Failure> {
    let found = choose(subjects(places).map_err(Failure::Failed)?, &[id.to_owned()]).map_err(Failure::Failed)?;
    let subject = found.into_iter().next().ok_or_else(|| Failure::Failed(format!("there is no subject {id}")))?;
    let launch = Launch::simulated(subject, mode.memory, Backing::Addresses, places);
    match &launch.unavailable {
        Some(why) => Err(Failure::Missing(why.clone())),
        None => Ok(Remote::new(launch)),
    }
}
