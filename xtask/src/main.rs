//! The command line: parse, call, print.

mod bench;
mod claims;
mod conformance;
mod console;
mod device_check;
mod differential;
mod errata;
mod limits;
mod lint;
mod measure;
mod nvrtc;
mod options;
mod places;
mod ptx;
mod replay;
mod report;
mod setup;
mod simulate;
mod subjects;
mod test;
mod tidy;

use clap::{Parser, Subcommand};
use console::Failure;
use std::process::ExitCode;

/// Checks what tutorials say about tensor memory on real tensor libraries, and measures what it costs.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100)]
#[command(after_help = "Start with: cargo xtask bench --setup\n\n\
    Exit status: 0 done; 1 something failed; 2 the command line is wrong; 3 a required subject or library is missing; \
    130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    Conformance(conformance::Args),
    Report(report::Args),
    Errata(errata::Args),
    Claims(claims::Args),
    Replay(replay::Args),
    Differential(differential::Args),
    DeviceCheck(device_check::Args),
    Ptx(ptx::Args),
    Simulate(simulate::Args),
    Subjects(subjects::Args),
    Setup(setup::Args),
    Test(test::Args),
    Lint(lint::Args),
    #[command(hide = true, name = measure::COMMAND)]
    Measure(measure::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Bench(args) => bench::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Errata(args) => errata::run(&args),
        Command::Setup(args) => setup::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Measure(args) => measure::run(&args),
        Command::Conformance(args) => conformance::run(&args),
        Command::Claims(args) => claims::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Differential(args) => differential::run(&args),
        Command::DeviceCheck(args) => device_check::run(&args),
        Command::Ptx(args) => ptx::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Subjects(args) => subjects::run(&args),
    };
    done.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}
