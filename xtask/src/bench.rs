//! `cargo xtask bench`: the main job.

use crate::console::{Console, Failure, put, put_json};
use crate::options::{Only, Which, claims};
use crate::places::root;
use crate::{report, setup};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use suites::bench::{Bench, Finished};
use suites::judge;
use suites::record::{CPU, Record, VerdictKind};
use suites::run::{Conformance, Launch, Places, choose, subjects};

/// Check every claim, measure what it costs, and render the report
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    cargo xtask bench --setup                      everything, real PyTorch included\n  \
    cargo xtask bench --quick --only inplace       a first look at one topic\n  \
    cargo xtask bench --require pytorch --out OUT  for a nightly job\n\n\
    Writes OUT/run.jsonl and OUT/site/index.html. Earlier run logs are kept in OUT/history.\n\
    Ctrl-C ends the run, and what was done until then is written and rendered.")]
pub struct Args {
    /// First make the Python environment with PyTorch and NumPy, if it is not there, and use it
    #[arg(long, conflicts_with = "python")]
    setup: bool,
    /// Allow a minute and a half for measuring instead of ten minutes: fewer samples, fewer sizes for loops
    #[arg(long)]
    quick: bool,
    /// Timed rounds, each with fresh processes
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// End with status 3 before anything runs unless all these subjects start, separated by commas: on the CPU and on
    /// the GPU, as far as --device names them
    #[arg(long, value_delimiter = ',', value_name = "SUBJECTS")]
    require: Vec<String>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    only: Only,
    /// Folder for the run log and the site
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Print one object when done: run_log, site, interrupted, verdicts by word
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    run_log: PathBuf,
    site: PathBuf,
    interrupted: bool,
    verdicts: BTreeMap<String, u32>,
}

static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    // Asked before anything is built: a new build takes this program's place, and its name with it.
    let program = std::env::current_exe().map_err(|error| Failure::Failed(error.to_string()))?;
    let made = if args.setup { Some(setup::make(None)?) } else { None };
    let (cases, mut workloads) = args.only.cases_and_workloads()?;
    workloads.retain(|workload| args.which.times(workload));
    let (places, mut launches) = args.which.launches(made, &cases, &workloads)?;
    let all = subjects(&places)?;
    choose(all.clone(), &args.require).map_err(Failure::Usage)?;
    // Results are checked against the reference's, so it runs whoever else is chosen.
    let canary = |launch: &Launch| launch.subject.id == judge::REFERENCE && launch.device == CPU;
    if !launches.iter().any(canary) {
        let reference = choose(all.clone(), &[judge::REFERENCE.to_owned()]).map_err(Failure::Failed)?;
        launches.splice(0..0, reference.into_iter().map(|subject| Launch::new(subject, 1, &places)));
    }
    if let Some(left) = args.require.iter().find(|id| !launches.iter().any(|launch| launch.subject.id == **id)) {
        let by = if args.which.subject.is_empty() || args.which.subject.contains(left) { "device" } else { "subject" };
        return Err(Failure::Usage(format!("--require {left}, and --{by} leaves it out")));
    }
    require(&launches, &args.require, &places)?;
    let site = args.out.join("site");
    reports::check_place(&site).map_err(|error| Failure::Failed(error.to_string()))?;
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("stopping after what runs now; Ctrl-C again ends at once and keeps nothing");
    })
    .map_err(|error| Failure::Failed(error.to_string()))?;
    let console = Console::default();
    let bench = Bench {
        launches: &launches,
        cases: &cases,
        catalogue: claims()?,
        only: args.only.only.clone(),
        workloads: &workloads,
        quick: args.quick,
        rounds: args.rounds,
        allowed: Duration::from_secs(if args.quick { 80 } else { 600 }),
        target: &places.target,
        limits: crate::limits::time,
        measurer: &[program.into(), crate::measure::COMMAND.into()],
        commit: commit(),
        toolchain: toolchain(),
        progress: &console,
        stop: &STOP,
    };
    let finished = bench.run(&args.out)?;
    let site = report::render(&finished.path, &site)?;
    tell(args, finished, site)
}

/// Starts every required subject once, so that a long run does not end in a missing package.
fn require(launches: &[Launch], required: &[String], places: &Places) -> Result<(), Failure> {
    let missing = |launch: &Launch| {
        let running = Conformance::start(launch, &places.target);
        let required = format!("{} on {} is required", launch.subject.id, launch.device);
        running.record().missing.as_ref().map(|missing| format!("{required}: {missing}"))
    };
    let wanted = launches.iter().filter(|one| !one.is_simulated() && required.contains(&one.subject.id));
    let missing: Vec<String> = wanted.filter_map(missing).collect();
    if missing.is_empty() { Ok(()) } else { Err(Failure::Missing(missing.join("; "))) }
}

fn tell(args: &Args, finished: Finished, site: PathBuf) -> Result<(), Failure> {
    let mut verdicts = BTreeMap::new();
    for record in &finished.records {
        if let Record::Verdict(verdict) = record {
            *verdicts.entry(verdict.verdict.to_string()).or_insert(0) += 1;
        }
    }
    let simulated = finished.records.iter().filter(|record| {
        matches!(record, Record::Verdict(verdict) if verdict.verdict != VerdictKind::Open
            && judge::rests_on_simulation(&verdict.claim, &finished.records))
    });
    let simulated = simulated.count();
    let index = site.join("index.html");
    if args.json {
        let summary = Summary { run_log: finished.path, site: index, interrupted: finished.interrupted, verdicts };
        put_json(&summary)?;
    } else {
        let counts: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        put(&format!("claims: {}", counts.join(", ")));
        if simulated > 0 {
            put(&format!("{simulated} of them rest on a simulated CUDA device"));
        }
        put(&format!("run log: {}", finished.path.display()));
        put(&format!("report: {}", index.display()));
    }
    if finished.interrupted {
        return Err(Failure::Interrupted("the run was interrupted; what was done until then is in the run log".into()));
    }
    Ok(())
}

/// The commit of the working tree; `+` marks uncommitted changes.
pub fn commit() -> Option<String> {
    let git = |words: &[&str]| first_line(Command::new("git").args(words).current_dir(root()));
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain"]).is_some();
    Some(if changed { commit + "+" } else { commit })
}

/// The compiler that builds the Rust subjects.
pub fn toolchain() -> String {
    first_line(Command::new("rustc").arg("--version")).unwrap_or_default()
}

/// The first line that a command prints; nothing when it fails or prints nothing.
fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned)
}
