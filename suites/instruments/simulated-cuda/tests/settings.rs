//! The environment, seen by a process that starts under it: this test itself, started again.
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod common;

use common::*;
use std::process::{Command, Output};

/// Runs one of the ignored tests below in a process of its own.
fn again(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", test, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    command.output().expect("this test started again")
}

fn passes(test: &str, variables: &[(&str, &str)]) {
    let output = again(test, variables);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[test]
fn addresses_may_have_nothing_behind_them() {
    passes("only_addresses", &[("TENSORMARK_SIMULATED_CUDA_BACKING", "addresses")]);
}

#[test]
#[ignore = "run by `addresses_may_have_nothing_behind_them`"]
fn only_addresses() {
    let block = malloc(4 * MIB);
    assert_eq!(block, BASE);
    upload(block, &[1_u8; 100]);
    let mut values = [5_u8; 100];
    // SAFETY: the device checks its own side; the other is the array.
    assert_eq!(unsafe { cudaMemcpy(values.as_mut_ptr().expose_provenance(), block, 100, 2) }, 0);
    assert_eq!(values, [5; 100], "copies do nothing");
    assert_eq!([cudaFree(block), cudaFree(block)], [0, 1]);
}

#[test]
fn the_size_of_the_device_can_be_set_and_calls_be_logged() {
    let folder = std::env::temp_dir().join(format!("simulated-cuda-{}", std::process::id()));
    let _ = std::fs::remove_file(&folder);
    let log = folder.to_str().unwrap();
    passes("four_gib", &[("TENSORMARK_SIMULATED_CUDA_MEMORY", "4294967296"), ("TENSORMARK_SIMULATED_CUDA_LOG", log)]);
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
#[ignore = "run by `the_size_of_the_device_can_be_set_and_calls_be_logged`"]
fn four_gib() {
    let block = malloc(3 << 30);
    assert_eq!(cudaMalloc(&mut 0, 2 << 30), 2);
    assert_eq!(cudaFree(block), 0);
}

#[test]
fn a_wrong_setting_ends_the_process() {
    let output = again("four_gib", &[("TENSORMARK_SIMULATED_CUDA_MEMORY", "4G")]);
    assert_eq!(output.status.code(), Some(4));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("TENSORMARK_SIMULATED_CUDA_MEMORY is \"4G\"; allowed are bytes"), "{told}");
}
