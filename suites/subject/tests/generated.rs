//! The files generated from the table of ops and the wire types are current.
//! `UPDATE_GENERATED=1 cargo test -p subject` writes them anew.

#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use subject::{DType, OPS, Reply, Request};

#[test]
fn ops_json_is_current() {
    let rows: Vec<String> = OPS.iter().map(|op| serde_json::to_string(op).unwrap()).collect();
    current("suites/subjects/python/ops.json", &format!("[\n{}\n]\n", rows.join(",\n")));
}

#[test]
fn schemas_are_current() {
    for (name, schema) in [("request", schemars::schema_for!(Request)), ("reply", schemars::schema_for!(Reply))] {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        current(&format!("docs/schema/{name}.schema.json"), &text);
    }
}

#[test]
fn the_table_in_the_protocol_is_current() {
    let mut table = String::new();
    let mut group = "";
    for op in OPS {
        if op.group != group {
            group = op.group;
            write!(table, "\n### {group}\n\n| op | answer | PyTorch | |\n|---|---|---|---|\n").unwrap();
        }
        let args: Vec<String> = op.args.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
        writeln!(table, "| `{}({})` | {} | `{}` | {} |", op.name, args.join(", "), op.gives, op.torch, op.doc).unwrap();
    }
    table.push_str("\n### dtypes\n\n| dtype | bytes | PyTorch |\n|---|---|---|\n");
    for dtype in DType::ALL {
        writeln!(table, "| `{dtype}` | {} | `{}` |", dtype.size(), dtype.torch()).unwrap();
    }
    let path = "docs/protocol.md";
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let (start, end) = ("<!-- ops: generated -->\n", "<!-- ops: end -->");
    let (before, rest) = text.split_once(start).expect("docs/protocol.md marks where the table starts");
    let (_, after) = rest.split_once(end).expect("docs/protocol.md marks where the table ends");
    current(path, &format!("{before}{start}{table}{end}{after}"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn current(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{path} is not current: UPDATE_GENERATED=1 cargo test -p subject writes it anew");
}
