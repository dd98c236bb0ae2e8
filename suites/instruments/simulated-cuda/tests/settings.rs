//! The environment, seen by a process that starts under it.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::*;
use std::process::{Command, Output};

/// Runs the program that makes calls in a process of its own.
fn run(calls: &str, variables: &[(&str, &str)]) -> Output {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().with_file_name("examples").join("calls");
    Command::new(program)
        .arg(calls)
        .envs(variables.iter().copied())
        .output()
        .expect("the program is built with this test")
}

fn succeeds(calls: &str, variables: &[(&str, &str)]) {
    let output = run(calls, variables);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn addresses_may_have_nothing_behind_them() {
    succeeds("copies", &[("TENSORMARK_SIMULATED_CUDA_BACKING", "addresses")]);
}

#[test]
fn the_size_of_the_device_can_be_set_and_calls_be_logged() {
    let folder = std::env::temp_dir().join(format!("simulated-cuda-{}", std::process::id()));
    let _ = std::fs::remove_file(&folder);
    let log = folder.to_str().unwrap();
    succeeds("requests", &[("TENSORMARK_SIMULATED_CUDA_MEMORY", "4294967296"), ("TENSORMARK_SIMULATED_CUDA_LOG", log)]);
    let lines = std::fs::read_to_string(&folder).unwrap();
    std::fs::remove_file(&folder).unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected =
        [("cudaMalloc", BASE, 3 << 30, 0), ("cudaMalloc", 0, 2 << 30, 2), ("cudaFree", BASE, 3_u64 << 30, 0)];
    let expected = expected.map(|(call, address, size, result)| {
        serde_json::json!({ "call": call, "address": address, "size": size, "result": result })
    });
    assert_eq!(lines, expected);
}

#[test]
fn what_is_left_is_told_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let ended = folder.path().join("ended");
    succeeds("driver", &[("TENSORMARK_SIMULATED_CUDA_ENDED", ended.to_str().unwrap())]);
    let line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(ended).unwrap()).unwrap();
    assert_eq!((&line["failed"], &line["left"]), (&serde_json::Value::Null, &serde_json::json!([0, 0, 0, 0, 0, 0])));
    assert!(line["calls"].as_u64().unwrap() > 0, "{line}");
}

#[test]
fn a_wrong_setting_ends_the_process() {
    let output = run("requests", &[("TENSORMARK_SIMULATED_CUDA_MEMORY", "4G")]);
    assert_eq!(output.status.code(), Some(4));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("TENSORMARK_SIMULATED_CUDA_MEMORY is \"4G\"; allowed are bytes"), "{told}");
}

/// What the calls of the driver tell with one of them failing; 0 is none.
fn with_failing(number: u64) -> serde_json::Value {
    let number = number.to_string();
    let variables = if number == "0" { vec![] } else { vec![("TENSORMARK_SIMULATED_CUDA_FAIL", number.as_str())] };
    let output = run("driver", &variables);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn nothing_fails_where_nothing_is_asked_for() {
    let expected = serde_json::json!({
        "answers": [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "calls": 12, "failed": 0, "name": "", "left": [0, 0, 0, 0, 0, 0],
    });
    assert_eq!([with_failing(0), with_failing(13)], [expected.clone(), expected]);
}

#[test]
fn the_chosen_call_fails_and_does_nothing_else() {
    let expected = [
        (2, "cuInit", "[3, 999, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]"),
        (4, "cuCtxSetCurrent", "[3, 0, 0, 999, 201, 201, 201, 201, 201, 201, 0, 0]"),
        (5, "cuMemAlloc_v2", "[3, 0, 0, 0, 999, 0, 1, 0, 0, 1, 0, 0]"),
        (6, "cuStreamCreate", "[3, 0, 0, 0, 0, 999, 0, 0, 400, 0, 0, 0]"),
        (7, "cuMemsetD8Async", "[3, 0, 0, 0, 0, 0, 999, 0, 0, 0, 0, 0]"),
        (8, "cuStreamSynchronize", "[3, 0, 0, 0, 0, 0, 0, 999, 0, 0, 0, 0]"),
    ];
    for (number, name, answers) in expected {
        let told = with_failing(number);
        let left = &told["left"];
        assert_eq!((told["answers"].to_string().replace(',', ", "), &told["name"]), (answers.to_owned(), &name.into()));
        assert_eq!((&told["failed"], &told["calls"]), (&1.into(), &12.into()));
        assert_eq!(left, &serde_json::json!([0, 0, 0, 0, 0, 0]), "{name}");
    }
}

#[test]
fn a_chosen_release_is_done_and_reports_the_error() {
    for (number, name) in [(9, "cuStreamDestroy_v2"), (10, "cuMemFree_v2"), (12, "cuDevicePrimaryCtxRelease_v2")] {
        let told = with_failing(number);
        assert_eq!((&told["answers"][number as usize - 1], &told["name"]), (&999.into(), &name.into()));
        assert_eq!(told["left"], serde_json::json!([0, 0, 0, 0, 0, 0]), "{name}");
    }
}
