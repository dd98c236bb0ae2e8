//! `cargo xtask replay`: a recording of PyTorch's allocator, under its own settings or others.

mod text;

use crate::console::{Console, Failure, put, put_json};
use bytesize::ByteSize;
use kernels::memory::TorchVersion;
use replay::{Options, Report, Stage};
use std::cell::Cell;
use std::path::PathBuf;
use suites::progress::Progress;

/// Replay a memory snapshot of PyTorch, or a trace of JSON lines, on the allocator of `kernels`
#[derive(clap::Args)]
#[command(after_help = "Example: cargo xtask replay snapshot.pickle --settings expandable_segments:True\n\n\
    docs/allocator-traces.md says how to record one.")]
pub struct Args {
    /// The recording: what torch.cuda.memory._dump_snapshot wrote, or a trace of JSON lines; either may be gzipped
    file: PathBuf,
    /// Hold every address, device call, entry and figure against the recording; only under its own settings
    #[arg(long)]
    check: bool,
    /// The settings, as PYTORCH_CUDA_ALLOC_CONF spells them [default: those of the recording]
    #[arg(long, value_name = "STRING")]
    settings: Option<String>,
    /// Memory of each device, such as 80GiB, 1400MB or a number of bytes [default: what the recording shows]
    #[arg(long, value_name = "SIZE")]
    device_memory: Option<ByteSize>,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
    /// The version of PyTorch whose rules are followed [default: that of the recording]
    #[arg(long, value_name = "VERSION")]
    torch: Option<TorchVersion>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let options = Options {
        settings: args.settings.clone(),
        device_memory: args.device_memory.map(|size| size.as_u64()),
        torch: args.torch,
        check: args.check,
    };
    let report = replay_shown(args, &options)?;
    if args.json {
        text::notes(&report).iter().for_each(|note| eprintln!("note: {note}"));
        put_json(&report.summary)?;
    } else {
        text::lines(&args.file, &report, args.check).iter().for_each(|line| put(line));
    }
    match report.difference {
        Some(difference) => Err(Failure::Failed(format!(
            "differences from the recording: {}\n{difference}",
            report.summary.differences
        ))),
        None => Ok(()),
    }
}

/// Less than this, in bytes or events, is done before a bar would be seen.
const LONG: [(Stage, u64); 2] = [(Stage::Reading, 1 << 26), (Stage::Replaying, 1_000_000)];
/// Steps of a bar.
const STEPS: u64 = 100;

fn replay_shown(args: &Args, options: &Options) -> Result<Report, Failure> {
    let console = Console::default();
    let shown = Cell::new(None);
    let progress = |stage: Stage, done: u64, all: u64| {
        if !LONG.iter().any(|(long, least)| *long == stage && all >= *least) {
            return;
        }
        let mut step = match shown.get() {
            Some((before, step)) if before == stage => step,
            _ => {
                console.phase(if stage == Stage::Reading { "reading" } else { "replaying" }, STEPS);
                0
            }
        };
        while step < done.saturating_mul(STEPS) / all {
            console.step();
            step += 1;
        }
        shown.set(Some((stage, step)));
    };
    let report = replay::replay(&args.file, options, &progress);
    console.end_phase();
    report.map_err(|failure| match failure {
        replay::Failure::Usage(what) => Failure::Usage(what),
        replay::Failure::File(bad) => Failure::Failed(bad.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn sizes_are_read_in_every_unit() {
        let memory = |size: &str| {
            let line = Line::try_parse_from(["replay", "a.pickle", "--device-memory", size]).ok()?;
            line.args.device_memory.map(|size| size.as_u64())
        };
        assert_eq!(memory("80GiB"), Some(80 << 30));
        assert_eq!(memory("1400MB"), Some(1_400_000_000));
        assert_eq!(memory("1335"), Some(1335));
        assert_eq!(memory("much"), None);
    }
}
