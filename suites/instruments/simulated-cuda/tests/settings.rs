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
fn a_wrong_setting_ends_the_process() {
    let output = run("requests", &[("TENSORMARK_SIMULATED_CUDA_MEMORY", "4G")]);
    assert_eq!(output.status.code(), Some(4));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("TENSORMARK_SIMULATED_CUDA_MEMORY is \"4G\"; allowed are bytes"), "{told}");
}
