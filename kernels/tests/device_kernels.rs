//! The compiled device kernels are those that the launcher calls, with the parameters that it passes.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::collections::BTreeMap;
use std::path::Path;

const DTYPES: [&str; 6] = ["f32", "f16", "bf16", "f64", "i32", "i64"];

/// A parameter as PTX declares it. Pointers and counts are one to it.
const WORD: &str = "u64";
/// The walk over strided elements, by value.
const WALK: &str = "align 8 b8[272]";

/// The number that a kernel takes: f64 for floats, i64 for integers.
fn number(dtype: &str) -> &'static str {
    if dtype.starts_with('i') { WORD } else { "f64" }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// Every kernel with its parameters, by the rules of `docs/device-kernels.md`.
fn documented() -> BTreeMap<String, Vec<String>> {
    let mut kernels = BTreeMap::new();
    // A strided kernel has a walk where the contiguous one has its count.
    let mut both = |name: String, pointers: usize, number: Option<&'static str>| {
        for (suffix, elements) in [("", WORD), ("_strided", WALK)] {
            let mut parameters = vec![WORD; pointers];
            parameters.push(elements);
            parameters.extend(number);
            kernels.insert(format!("{name}{suffix}"), owned(&parameters));
        }
    };
    for t in DTYPES {
        both(format!("fill_{t}"), 1, Some(number(t)));
        for operation in ["add", "mul"] {
            both(format!("{operation}_{t}"), 3, None);
            both(format!("{operation}_scalar_{t}"), 2, Some(number(t)));
        }
        for to in DTYPES {
            both(format!("convert_{t}_{to}"), 2, None);
        }
        both(format!("sum_{t}"), 2, None);
    }
    for t in DTYPES {
        kernels.insert(format!("finish_{t}"), owned(&[WORD; 3]));
    }
    kernels.insert("gate".into(), owned(&[WORD]));
    kernels
}

fn compiled() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda");
    ["elementwise", "convert", "reduce", "gate"]
        .map(|file| std::fs::read_to_string(folder.join(file).with_extension("ptx")).unwrap())
        .to_vec()
}

/// A declaration such as `.param .align 8 .b8 name_param_1[272]` without the name.
fn parameter(declaration: &str) -> String {
    let mut words: Vec<&str> = declaration.split_whitespace().map(|word| word.trim_start_matches('.')).collect();
    let name = words.pop().unwrap();
    let array = name.find('[').map_or("", |at| &name[at..]);
    words[1..].join(" ") + array
}

#[test]
fn every_kernel_is_there_with_its_parameters_and_no_other() {
    let mut found = BTreeMap::new();
    for ptx in compiled() {
        for entry in ptx.split(".visible .entry ").skip(1) {
            let (name, rest) = entry.split_once('(').unwrap();
            let (parameters, _) = rest.split_once(')').unwrap();
            found.insert(name.to_owned(), parameters.split(',').map(parameter).collect::<Vec<_>>());
        }
    }
    let documented = documented();
    for (name, parameters) in &documented {
        assert_eq!(found.get(name), Some(parameters), "{name}");
    }
    assert_eq!(found.len(), documented.len());
}

#[test]
fn every_module_loads_on_the_oldest_card_and_driver_and_takes_256_threads() {
    for ptx in compiled() {
        assert!(ptx.contains("\n.version 6.3\n.target sm_75\n"), "{}", ptx.lines().next().unwrap_or_default());
        assert_eq!(ptx.matches(".entry ").count(), ptx.matches("\n.maxntid 256, 1, 1\n").count());
        assert!(!ptx.contains(".local "), "elements lie in registers: local memory is as slow as the device's");
    }
}
