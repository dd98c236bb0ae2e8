//! `cargo xtask device-check`: the engine and PyTorch on a real GPU, beside the simulated device.

mod rates;

use crate::bench;
use crate::console::{Console, Failure, put};
use crate::options::claims;
use crate::places;
use crate::report;
use kernels::memory::TorchVersion;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use suites::bench::{Bench, walk};
use suites::case::Case;
use suites::claims::Need;
use suites::judge;
use suites::progress::Progress;
use suites::record::{CPU, CUDA, MemoryStep, Outcome, OutcomeKind, Record, SIMULATED};
use suites::run::{Conformance, Launch, Places, choose, subjects};
use suites::workloads::WORKLOADS;

/// Check the reference engine and PyTorch on a real GPU: cases beside the simulated device, transfers, a fresh snapshot
#[derive(clap::Args)]
#[command(after_help = "On the engine and on PyTorch it runs\n  \
    the cases about device memory, on the GPU and on the simulated device: outcomes, facts, live and held bytes must \
    be the same;\n  \
    the workloads of a device, on the GPU: what transfers and sums reach of the link and of the memory is printed;\n  \
    a fresh snapshot that PyTorch records, replayed: every address and segment must come out again.\n\
    Takes under 6 minutes once everything is built. Writes OUT/run.jsonl, OUT/site/index.html and OUT/snapshot.pickle.\n\n\
    Exit status: 0 when all agree; 1 when not; 3 without a GPU.")]
pub struct Args {
    /// Walk the whole plan over the simulated device, without times: the workloads run once, for their data
    #[arg(long)]
    dry_run: bool,
    /// Folder for the run log and the site
    #[arg(long, value_name = "DIR", default_value = "out/device-check")]
    out: PathBuf,
    /// Python with PyTorch [default: the active environment, else the one that `setup` made, else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
}

static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::Failed(error.to_string()))?;
    let places = places::find(args.python.as_deref())?;
    let device = if args.dry_run { SIMULATED } else { CUDA };
    let cases: Vec<Case> =
        suites::cases::all().into_iter().filter(|case| case.needs.contains(&Need::GpuMemory)).collect();
    let devices = if args.dry_run { vec![CPU, SIMULATED] } else { vec![CPU, CUDA, SIMULATED] };
    let launches = launches(&places, &devices)?;
    require(&launches, device, &places)?;
    let workloads: Vec<&'static str> =
        WORKLOADS.iter().filter(|workload| workload.device.is_some()).map(|workload| workload.name).collect();
    let console = Console::default();
    console.say(&format!("{} cases and {} workloads on {device}", cases.len(), workloads.len()));
    let bench = Bench {
        launches: &launches,
        cases: &cases,
        catalogue: claims()?,
        only: Some("device-check".into()),
        // A simulated device has no times.
        workloads: if args.dry_run { &[] } else { &workloads },
        quick: true,
        rounds: 3,
        allowed: Duration::from_secs(120),
        target: &places.target,
        limits: crate::limits::time,
        measurer: &[program.into(), crate::measure::COMMAND.into()],
        commit: bench::commit(),
        toolchain: bench::toolchain(),
        progress: &console,
        stop: &STOP,
    };
    let finished = bench.run(&args.out)?;
    let site = report::render(&finished.path, &args.out.join("site"))?;
    let mut faults = unexpected(&finished.records, device);
    if args.dry_run {
        let simulated: Vec<&Launch> = launches.iter().filter(|launch| launch.is_simulated()).collect();
        let host = launches.iter().find(|launch| launch.subject.id == judge::REFERENCE && launch.device == CPU);
        let host = host.ok_or_else(|| Failure::Failed("the reference is not among the launches".into()))?;
        let walk = walk(&simulated, host, &console)?;
        put(&format!("workload sizes on {device}: {} have the host's result", walk.ran));
        for ((subject, why), sizes) in &walk.unsupported {
            put(&format!("  {sizes} on {subject}: {why}"));
        }
        faults.extend(walk.faults);
    } else {
        faults.extend(differences(&finished.records));
    }
    console.say("a fresh snapshot of PyTorch");
    let snapshot = snapshot(&launches, device, &args.out, &places)?;
    if snapshot.is_empty() {
        put(&format!("snapshot of PyTorch on {device}: replayed, every address and segment as recorded"));
    }
    faults.extend(snapshot);
    rates::rates(&finished.records).iter().for_each(|line| put(line));
    put(&format!("cases on {device}: {}", counts(&finished.records, device)));
    put(&format!("run log: {}", finished.path.display()));
    put(&format!("report: {}", site.join("index.html").display()));
    if faults.is_empty() {
        put(&format!("{device}: everything agrees"));
        return Ok(());
    }
    Err(Failure::Failed(format!("{} things do not agree:\n  {}", faults.len(), faults.join("\n  "))))
}

/// The reference engine and PyTorch on each of these devices.
fn launches(places: &Places, devices: &[&str]) -> Result<Vec<Launch>, Failure> {
    let ids = ["reference", "pytorch"].map(str::to_owned);
    let chosen = choose(subjects(places)?, &ids).map_err(Failure::Failed)?;
    let devices: Vec<String> = devices.iter().map(|device| (*device).to_owned()).collect();
    Ok(chosen.iter().flat_map(|subject| Launch::on_devices(subject, &devices, places)).collect())
}

/// Without the device there is nothing to check.
fn require(launches: &[Launch], device: &str, places: &Places) -> Result<(), Failure> {
    for launch in launches.iter().filter(|launch| launch.device == device) {
        if let Some(missing) = &Conformance::start(launch, &places.target).record().missing {
            let dry_run = if device == CUDA { "; --dry-run walks the plan without a GPU" } else { "" };
            return Err(Failure::Missing(format!("{} on {device}: {missing}{dry_run}", launch.subject.id)));
        }
    }
    Ok(())
}

fn outcomes(records: &[Record]) -> impl Iterator<Item = &Outcome> {
    records.iter().filter_map(|record| if let Record::Outcome(outcome) = record { Some(outcome) } else { None })
}

/// How many cases came to each outcome on the device.
fn counts(records: &[Record], device: &str) -> String {
    let mut counts = BTreeMap::new();
    for outcome in outcomes(records).filter(|outcome| outcome.device == device) {
        *counts.entry(outcome.outcome.to_string()).or_insert(0) += 1;
    }
    counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect::<Vec<_>>().join(", ")
}

/// Cases that did not do on PyTorch, or on the engine, what is known of PyTorch.
fn unexpected(records: &[Record], device: &str) -> Vec<String> {
    let fine = |outcome: &Outcome| {
        matches!(outcome.outcome, OutcomeKind::Agrees | OutcomeKind::NotRun | OutcomeKind::Unsupported)
    };
    let told = |outcome: &Outcome| {
        let facts = outcome.facts.iter().filter(|fact| !fact.agrees());
        let facts: Vec<String> = facts.map(|fact| format!("{} = {}", fact.what, fact.seen)).collect();
        let reason = outcome.reason.clone().unwrap_or_else(|| facts.join(", "));
        format!("{} on {device}: {} {}: {reason}", outcome.subject, outcome.case, outcome.outcome)
    };
    outcomes(records).filter(|outcome| outcome.device == device && !fine(outcome)).map(told).collect()
}

/// Where the real device and the simulated one do not come to the same: outcomes, facts, live and held bytes.
fn differences(records: &[Record]) -> Vec<String> {
    let mut differences = Vec::new();
    let of = |device: &'static str| -> BTreeMap<(&str, &str), &Outcome> {
        let there = outcomes(records).filter(move |outcome| outcome.device == device);
        there.map(|outcome| ((outcome.subject.as_str(), outcome.case.as_str()), outcome)).collect()
    };
    let (real, simulated) = (of(CUDA), of(SIMULATED));
    for (key, outcome) in &real {
        let Some(other) = simulated.get(key) else { continue };
        let what = format!("{} in {}", key.0, key.1);
        if outcome.outcome != other.outcome {
            differences.push(format!("{what}: {} on {CUDA}, {} on {SIMULATED}", outcome.outcome, other.outcome));
        }
        for (seen, there) in
            outcome.facts.iter().zip(&other.facts).filter(|(a, b)| a.known.is_some() && a.seen != b.seen)
        {
            // Facts with a tolerance are compared with what is known, not with each other.
            if seen.tolerance.is_none() {
                differences
                    .push(format!("{what}: {} is {} on {CUDA}, {} on {SIMULATED}", seen.what, seen.seen, there.seen));
            }
        }
    }
    let steps = |device: &'static str| -> BTreeMap<(&str, &str, u32), &MemoryStep> {
        let steps =
            records.iter().filter_map(|record| if let Record::Memory(step) = record { Some(step) } else { None });
        let there = steps.filter(move |step| step.device == device);
        there.map(|step| ((step.subject.as_str(), step.case.as_str(), step.step), step)).collect()
    };
    let simulated = steps(SIMULATED);
    for (key, step) in steps(CUDA) {
        let other = simulated.get(&key).filter(|other| (other.live, other.held) != (step.live, step.held));
        if let Some(other) = other {
            differences.push(format!(
                "{} in {}, {}: live and held are {:?} on {CUDA}, {:?} on {SIMULATED}",
                key.0,
                key.1,
                step.code,
                (step.live, step.held),
                (other.live, other.held)
            ));
        }
    }
    differences
}

/// Has PyTorch record a snapshot on the device, and replays it.
fn snapshot(launches: &[Launch], device: &str, out: &Path, places: &Places) -> Result<Vec<String>, Failure> {
    let path = std::path::absolute(out.join("snapshot.pickle")).map_err(|error| Failure::Failed(error.to_string()))?;
    let source = format!(
        r#"
torch.cuda.memory._record_memory_history(context=None, stacks="python")
kept = []
for step in range(50):
    block = torch.empty((step % 7 + 1) << 20, dtype=torch.uint8, device="cuda")
    if step % 3:
        kept.append(block)
    if step % 10 == 9:
        kept = kept[::2]
torch.cuda.memory._dump_snapshot({:?})
torch.cuda.memory._record_memory_history(enabled=None)
answer = None
"#,
        path.display().to_string()
    );
    let record = Case::pytorch("device.fresh-snapshot", &[], move |p| p.python(&source, &[]).map(drop)).alone();
    let pytorch = launches.iter().find(|launch| launch.device == device && launch.subject.id == "pytorch");
    let pytorch = pytorch.ok_or_else(|| Failure::Failed("PyTorch is not among the launches".into()))?;
    let mut conformance = Conformance::start(pytorch, &places.target);
    let version = conformance.record().version.clone().unwrap_or_default();
    let outcome = conformance.run(&record);
    if outcome.outcome != OutcomeKind::Agrees {
        return Ok(vec![format!("no snapshot: {}", outcome.reason.unwrap_or_default())]);
    }
    let torch: Option<TorchVersion> = version.parse().ok();
    let options = replay::Options { check: true, torch, ..replay::Options::default() };
    match replay::replay(&path, &options, &|_, _, _| {}) {
        Ok(report) => {
            Ok(report.difference.map(|difference| format!("the snapshot: {difference}")).into_iter().collect())
        }
        Err(failure) => Ok(vec![format!("the snapshot: {failure}")]),
    }
}
