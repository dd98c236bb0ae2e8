//! Launches of real subjects, for the tests that need them.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use suites::run::{Launch, Places, choose, subjects};

/// A launch of the subject with this id, on one thread.
pub fn launch(id: &str) -> Launch {
    let python = std::env::var_os("TENSORMARK_PYTHON").expect(
        "TENSORMARK_PYTHON names no Python interpreter with torch and numpy: `cargo xtask setup` makes one, and \
         `cargo xtask test` names it to the tests",
    );
    let places = Places {
        subjects: Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects"),
        target: TARGET.clone(),
        python: python.into(),
    };
    let chosen = choose(subjects(&places).unwrap(), &[id.into()]).unwrap();
    Launch::new(chosen.into_iter().next().unwrap(), 1, &places)
}

/// The folder of what is built, with the reference subject and the heap ledger in it: a test that links nothing of them
/// does not have them built.
pub static TARGET: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "heap-ledger", "--package", "reference", "--target-dir"]);
    assert!(build.arg(target).status().unwrap().success(), "the subject and the instrument could not be built");
    target.join("debug")
});
