//! `cargo xtask lint`: formatting, clippy, documentation, and the rules of the house.

use crate::console::Failure;
use crate::places::{cargo, root};
use crate::tidy;

/// Check formatting, clippy and rustdoc with warnings as errors, and the rules of the house
#[derive(clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(_: &Args) -> Result<(), Failure> {
    let steps: [(&str, &[&str]); 3] = [
        ("formatting (cargo fmt --all mends it)", &["fmt", "--all", "--check"]),
        ("clippy", &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        ("rustdoc", &["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"]),
    ];
    let mut failed = Vec::new();
    for (name, words) in steps {
        eprintln!("lint: {name}");
        let status = cargo().args(words).env("RUSTDOCFLAGS", "-D warnings").status();
        if !status.is_ok_and(|status| status.success()) {
            failed.push(name);
        }
    }
    eprintln!("lint: rules of the house");
    let broken = tidy::check(&root())?;
    for line in &broken {
        eprintln!("{line}");
    }
    if !broken.is_empty() {
        failed.push("rules of the house");
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("lint: {}", failed.join(", ")))) }
}
