//! Where things are: the workspace, what is built, the Python that runs the Python subjects.

use crate::console::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use suites::run::Places;

/// The root of the workspace.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Finds everything, building the programs that the workspace itself brings.
pub fn find(python: Option<&Path>) -> Result<Places, Failure> {
    let target = build()?;
    Ok(Places { subjects: root().join("suites/subjects"), target, python: find_python(python)? })
}

/// Builds the Rust subjects and the instruments beside this program, and gives their folder.
fn build() -> Result<PathBuf, Failure> {
    // xtask is among the packages so that features, and with them all that is built, stay the same as in `cargo xtask`.
    let mut cargo = cargo();
    cargo.args(["build", "-p", "xtask", "-p", "reference", "-p", "subject-ndarray", "-p", "heap-ledger"]);
    cargo.args(["-p", "simulated-cuda"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let status = cargo.status().map_err(|error| Failure::Failed(format!("cargo could not be started: {error}")))?;
    if !status.success() {
        return Err(Failure::Failed("the Rust subjects and the instruments could not be built".into()));
    }
    let program = std::env::current_exe().map_err(|error| Failure::Failed(error.to_string()))?;
    program.parent().map(Path::to_owned).ok_or_else(|| Failure::Failed("this program has no folder".into()))
}

/// Cargo, in the root of the workspace.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The interpreter that was asked for, else the active environment's, else the one that set-up made, else `python3`.
pub fn find_python(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(asked) = asked {
        let runs = Command::new(asked).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        return match runs {
            Ok(status) if status.success() => Ok(std::path::absolute(asked).unwrap_or_else(|_| asked.into())),
            _ => Err(Failure::Usage(format!("--python {}: this is no Python interpreter that runs", asked.display()))),
        };
    }
    let active = std::env::var_os("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("bin/python"));
    let made = environment().map(|folder| folder.join("bin/python"));
    let found = [active, made].into_iter().flatten().find(|python| python.is_file());
    Ok(found.unwrap_or_else(|| "python3".into()))
}

/// The folder of the Python environment that set-up makes: outside `target`, so that `cargo clean` leaves it alone.
pub fn environment() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("TENSORMARK_HOME")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("tensormark")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/tensormark")))?;
    Some(home.join("python"))
}
