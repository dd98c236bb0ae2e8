//! The reference engine over the simulated driver: it does what it should, and whatever call fails, the error names it and
//! nothing is left on the device.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// A folder in which programs find the simulated device as their CUDA driver.
fn driver() -> TempDir {
    let folder = TempDir::new().unwrap();
    let library = built().join("libsimulated_cuda.so");
    symlink(library, folder.path().join("libcuda.so.1")).unwrap();
    folder
}

/// The folder of what is built, with the library and the program in it: a test does not have them built by itself.
fn built() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "simulated-cuda", "--lib", "--examples", "--target-dir"]);
        assert!(build.arg(target).status().unwrap().success(), "the simulated device could not be built");
        target.join("debug")
    });
    &BUILT
}

/// What the program says of some work: how it ended, the call that failed, what is left.
fn run(driver: &Path, work: &str, fail: Option<u32>) -> [String; 3] {
    let mut command = Command::new(built().join("examples/engine"));
    command.arg(work);
    command.env("LD_LIBRARY_PATH", driver).env("TENSORMARK_SIMULATED_CUDA_MEMORY", (8_u64 << 30).to_string());
    command.envs(fail.map(|number| ("TENSORMARK_SIMULATED_CUDA_FAIL", number.to_string())));
    let output = command.output().expect("the program is built with this test");
    let text = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{work} with call {fail:?} failing: {text}{told}");
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.try_into().unwrap()
}

const NOTHING: &str = "left: [0, 0, 0, 0, 0, 0]";

#[test]
fn the_engine_works_on_the_simulated_device() {
    let driver = driver();
    for work in ["steps", "training"] {
        assert_eq!(run(driver.path(), work, None), ["ok", "failed: ", NOTHING]);
    }
}

/// Lets one call after the other fail until there are no more: each is named, and nothing is left. Gives how many there
/// were.
fn walk(work: &str) -> u32 {
    let (driver, next) = (driver(), AtomicU32::new(1));
    let walk_some = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let [ended, failed, left] = run(driver.path(), work, Some(number));
            let call = failed.strip_prefix("failed: ").unwrap();
            assert_eq!(left, NOTHING, "after call {number}, {call}, failed: {ended}");
            if call.is_empty() {
                assert_eq!(ended, "ok");
                return number - 1;
            }
            assert!(ended.starts_with("error: ") && ended.contains(call), "call {number}, {call}, failed: {ended}");
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(walk_some)).collect();
        started.into_iter().map(|worker| worker.join().unwrap()).min().unwrap()
    })
}

#[test]
fn whatever_call_fails_is_named_and_leaves_nothing() {
    let calls = walk("steps");
    assert!(calls > 50, "only {calls} calls");
}

#[test]
fn whatever_call_fails_in_a_training_loop_is_named_and_leaves_nothing() {
    let calls = walk("training");
    assert!(calls > 1000, "only {calls} calls");
}
