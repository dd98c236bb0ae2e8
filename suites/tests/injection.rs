//! The device cases on the reference engine, with one call of the simulated driver failing after the other: each failure
//! is told, and nothing is left on the device.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::simulated;
use serde::Deserialize;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use subject::{Reply, Request, Value};
use suites::case::Case;
use suites::claims::Need;
use suites::probe::{Probe, Stop};
use suites::run::{Backing, Instruments, Launch, SIMULATED_BYTES, Session};

/// What the simulated device says when a process ends.
#[derive(Deserialize)]
struct Ended {
    calls: u64,
    failed: Option<String>,
    left: [u64; 6],
}

/// Runs a case and ends its process as a run does; gives all that was told meanwhile.
fn everything_told(case: &Case, launch: &Launch) -> Vec<String> {
    let mut session = match Session::start(launch, Instruments::None) {
        Ok(session) => session,
        Err(why) => return vec![why],
    };
    let probe = Probe::new(&mut session, case.limit);
    let stop = (case.run)(&probe).err();
    assert!(!matches!(stop, Some(Stop::Broken(_) | Stop::Harness(_))), "{}: {stop:?}", case.name);
    let mut told = probe.finish().transcript;
    match session.ask(&Request::Reset {}, Duration::from_secs(60)).unwrap() {
        Reply::Value(Value::None) => {}
        other => told.push(format!("reset: {other:?}")),
    }
    told.extend(session.end().err());
    told
}

/// Lets the calls that a case makes of the driver fail, one in each process, until none is left: how many there were.
fn walk(case: &Case, launch: &Launch, folder: &Path) -> u64 {
    let ended = folder.join(&case.name);
    let mut number = 0;
    loop {
        number += 1;
        let mut launch = launch.clone();
        let name = |name: &str| format!("TENSORMARK_SIMULATED_CUDA_{name}");
        launch.command.environment.push((name("FAIL"), number.to_string().into()));
        launch.command.environment.push((name("ENDED"), ended.clone().into()));
        let told = everything_told(case, &launch).join("\n");
        let what = format!("{} with call {number} failing", case.name);
        let said = std::fs::read_to_string(&ended).unwrap_or_else(|error| panic!("{what}: {error}; {told}"));
        std::fs::remove_file(&ended).unwrap();
        let Ended { calls, failed, left } = serde_json::from_str(&said).unwrap();
        assert_eq!(left, [0; 6], "{what}, {failed:?}: {told}");
        let Some(failed) = failed else { return calls };
        assert!(told.contains(&failed), "{what}, {failed}, it is not told: {told}");
    }
}

#[test]
fn whatever_call_fails_is_told_and_leaves_nothing() {
    // Without values, which take most of the time and on which no failure depends.
    let launch = simulated("reference", SIMULATED_BYTES, Backing::Addresses);
    let folder = tempfile::tempdir().unwrap();
    let mut cases = suites::cases::all();
    cases.retain(|case| {
        let device = case.needs.contains(&Need::GpuMemory) && !case.needs.contains(&Need::Python);
        // Its calls are more than all others together: `simulated-cuda`'s tests walk them without the protocol.
        device && !case.pytorch_only && case.name != "device.recorded-training-loop"
    });
    assert!(cases.len() > 20, "only {} cases", cases.len());
    let left = Mutex::new(cases.iter());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let walk_some = || -> u64 {
        let next = || left.lock().unwrap().next();
        std::iter::from_fn(next).map(|case| walk(case, &launch, folder.path())).sum()
    };
    let calls: u64 = std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(walk_some)).collect();
        started.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert!(calls > 500, "only {calls} calls");
}
