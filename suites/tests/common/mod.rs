//! Launches of real subjects, for the tests that need them.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]
#![allow(dead_code, reason = "not every test needs every helper")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use suites::run::{Backing, Launch, Places, Subject, choose, subjects};

/// A launch of the subject with this id, on one thread.
pub fn launch(id: &str) -> Launch {
    let places = places();
    Launch::new(subject(id, &places), 1, &places)
}

/// A launch of the subject with this id on a simulated device of so many bytes.
pub fn simulated(id: &str, memory: u64, backing: Backing) -> Launch {
    let places = places();
    Launch::simulated(subject(id, &places), memory, backing, &places)
}

fn subject(id: &str, places: &Places) -> Subject {
    choose(subjects(places).unwrap(), &[id.into()]).unwrap().into_iter().next().unwrap()
}

fn places() -> Places {
    let python = std::env::var_os("TENSORMARK_PYTHON").expect(
        "TENSORMARK_PYTHON names no Python interpreter with torch and numpy: `cargo xtask setup` makes one, and \
         `cargo xtask test` names it to the tests",
    );
    Places {
        subjects: Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects"),
        target: TARGET.clone(),
        python: python.into(),
    }
}

/// The folder of what is built, with the Rust subjects and the instruments in it: a test that links nothing of them does not
/// have them built.
pub static TARGET: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "heap-ledger", "--package", "reference"]);
    build.args(["--package", "subject-ndarray", "--package", "simulated-cuda", "--target-dir"]);
    assert!(build.arg(target).status().unwrap().success(), "the subject and the instrument could not be built");
    target.join("debug")
});
