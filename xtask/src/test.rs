//! `cargo xtask test`: every test of the project, and how many there were.

use crate::console::Failure;
use crate::places::{cargo, find_python, root};
use crate::setup;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Run every test, against real PyTorch and NumPy, and print how many passed, failed and were skipped
#[derive(clap::Args)]
#[command(after_help = "Makes the Python environment first where no PyTorch and NumPy are found (see `setup`).")]
pub struct Args {
    /// Python with PyTorch and NumPy [default: the active environment, else the one that `setup` made, else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
}

/// The variable that names the Python with PyTorch and NumPy to the tests.
const PYTHON: &str = "TENSORMARK_PYTHON";

#[derive(Debug, Default, PartialEq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let python = python(args.python.as_deref())?;
    let mut counts = Counts::default();
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]).env(PYTHON, &python);
    let rust = follow(tests.stdout(Stdio::piped()), Output::Stdout, |line| counts.add_cargo(line))?;
    let mut tests = Command::new(&python);
    tests.args(["-m", "unittest", "discover", "-s", "suites/subjects/python/tests"]).current_dir(root());
    let mut ran = Unittest::default();
    let unit = follow(tests.stderr(Stdio::piped()), Output::Stderr, |line| ran.read(line))?;
    counts.add_unittest(&ran);
    println!("{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    if rust && unit && counts.failed == 0 && ran.total > 0 {
        Ok(())
    } else {
        Err(Failure::Failed("not every test passed; what failed stands above".into()))
    }
}

/// A Python that has both libraries, made where there is none.
fn python(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    let has_both = |python: &Path| {
        let probe = Command::new(python).args(["-c", "import torch, numpy"]).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    };
    let found = find_python(asked)?;
    if has_both(&found) {
        return Ok(found);
    }
    if asked.is_some() {
        return Err(Failure::Missing(format!(
            "{} has no PyTorch or no NumPy: install both, or leave out --python",
            found.display()
        )));
    }
    let made = setup::make(None)?;
    if has_both(&made) {
        Ok(made)
    } else {
        Err(Failure::Missing(format!("{} has PyTorch and NumPy, and they cannot be imported", made.display())))
    }
}

enum Output {
    Stdout,
    Stderr,
}

/// Runs a command, shows the output that it follows, and says whether the command succeeded.
fn follow(command: &mut Command, which: Output, mut read: impl FnMut(&str)) -> Result<bool, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let told = |error: std::io::Error| Failure::Failed(format!("{name}: {error}"));
    let mut child = command.stdin(Stdio::null()).spawn().map_err(told)?;
    let pipe: Option<Box<dyn std::io::Read>> = match which {
        Output::Stdout => child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn std::io::Read>),
        Output::Stderr => child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn std::io::Read>),
    };
    for line in pipe.into_iter().flat_map(|pipe| BufReader::new(pipe).lines().map_while(Result::ok)) {
        println!("{line}");
        read(&line);
    }
    let status = child.wait().map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(status.success())
}

impl Counts {
    /// Reads a closing line of cargo's test runner.
    fn add_cargo(&mut self, line: &str) {
        let Some(line) = line.strip_prefix("test result: ") else { return };
        for part in line.split([';', '.']) {
            let mut words = part.split_whitespace();
            let count = words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
            match words.next() {
                Some("passed") => self.passed += count,
                Some("failed") => self.failed += count,
                Some("ignored") => self.skipped += count,
                _ => {}
            }
        }
    }

    fn add_unittest(&mut self, ran: &Unittest) {
        self.failed += ran.failed;
        self.skipped += ran.skipped;
        self.passed += ran.total.saturating_sub(ran.failed + ran.skipped);
    }
}

/// What Python's runner says at its end: `Ran 70 tests in 9s`, then `OK (skipped=3)` or `FAILED (failures=1, errors=2)`.
#[derive(Debug, Default, PartialEq)]
struct Unittest {
    total: u64,
    failed: u64,
    skipped: u64,
}

impl Unittest {
    fn read(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("Ran ") {
            self.total = rest.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
        }
        if line.starts_with("OK") || line.starts_with("FAILED") {
            let inside = line.split(['(', ')']).nth(1).unwrap_or_default();
            for part in inside.split(", ") {
                let (name, count) = part.split_once('=').unwrap_or_default();
                let count = count.parse::<u64>().unwrap_or(0);
                match name {
                    "failures" | "errors" | "unexpected successes" => self.failed += count,
                    "skipped" => self.skipped += count,
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_and_unittest_are_added_up() {
        let mut counts = Counts::default();
        counts
            .add_cargo("test result: ok. 7 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        counts.add_cargo(
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 4.45s",
        );
        counts.add_cargo("test some::name ... ok");
        let mut ran = Unittest::default();
        for line in ["Ran 70 tests in 9.1s", "", "FAILED (failures=1, errors=2, skipped=3)"] {
            ran.read(line);
        }
        counts.add_unittest(&ran);
        assert_eq!(counts, Counts { passed: 74, failed: 5, skipped: 4 });
    }
}
