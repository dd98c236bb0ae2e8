//! Rules that no compiler knows, checked over the tracked files.

use crate::console::Failure;
use std::path::Path;
use std::process::Command;

/// A longer source file is asking to be two.
const LONGEST: usize = 500;

/// Every place that breaks a rule, as `file:line: rule`.
pub fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut broken = Vec::new();
    for file in tracked(root)? {
        let Ok(text) = std::fs::read_to_string(root.join(&file)) else { continue };
        broken.extend(rules(&file, &text));
        if file.ends_with(".md") {
            broken.extend(dead_links(root, &file, &text));
        }
    }
    Ok(broken)
}

fn tracked(root: &Path) -> Result<Vec<String>, Failure> {
    let output =
        Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root).output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
        }
        _ => Err(Failure::Failed(
            "the rules of the house are checked in a git checkout, and git gave no list of files".into(),
        )),
    }
}

fn rules(file: &str, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    let source = [".rs", ".py"].iter().any(|ending| file.ends_with(ending));
    let length = text.lines().count();
    if source && length > LONGEST {
        broken.push(format!("{file}:{length}: a source file has at most {LONGEST} lines; make two of it"));
    }
    for (number, line) in text.lines().enumerate() {
        let mut say = |rule: &str| broken.push(format!("{file}:{}: {rule}", number + 1));
        if !file.ends_with(".lock") && (line.ends_with(' ') || line.ends_with('\t')) {
            say("no blanks at the end of a line");
        }
        if file.ends_with(".toml") && file != "Cargo.toml" && line.contains("version = \"") && line.contains('{') {
            say("versions of dependencies stand in the root Cargo.toml");
        }
        if source && line.contains(concat!("allow(", "dead_code)")) {
            say("no dead code");
        }
    }
    broken
}

/// Relative links of a Markdown file that lead nowhere.
fn dead_links(root: &Path, file: &str, text: &str) -> Vec<String> {
    let folder = root.join(file).parent().map(Path::to_owned).unwrap_or_default();
    let mut broken = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
            let elsewhere = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !elsewhere && !folder.join(target).exists() {
                broken.push(format!("{file}:{}: the link to {target} leads nowhere", number + 1));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_names_the_line() {
        assert_eq!(rules("a.rs", "fn a() {} \n"), ["a.rs:1: no blanks at the end of a line"]);
        assert_eq!(rules("a/Cargo.toml", "x = { version = \"1\" }\n").len(), 1);
        assert!(rules("a.rs", &"x\n".repeat(501))[0].contains("make two of it"));
        assert!(rules("a.rs", &"x\n".repeat(500)).is_empty());
    }

    #[test]
    fn links_are_followed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "[a](src/main.rs) [b](https://example.org) [c](#here) [d](no-such-file.md)";
        assert_eq!(dead_links(root, "README.md", text), ["README.md:1: the link to no-such-file.md leads nowhere"]);
    }
}
