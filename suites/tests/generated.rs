//! The list of workloads in the docs is current. `UPDATE_GENERATED=1 cargo test -p suites --test generated` writes it anew.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use subject::{Clock, Program, Step};
use suites::workloads::{Purpose, WORKLOADS, Workload};

const HEAD: &str = "\
# Workloads

What `cargo xtask bench` measures, generated from `suites/src/workloads/`. How it measures stands in
[methodology.md](methodology.md), how a program travels in [protocol.md](protocol.md#programs).

*Ops* are those that a subject must have for the workload; the counted and the timed program need the same. *Bound* is
what it cannot be faster than: a plain loop over as many bytes, or another workload of the same subject. A size is a
number of elements; on a device each is four times the one before, but for products of matrices.
";

#[test]
fn the_list_of_workloads_is_current() {
    let (on_device, on_host): (Vec<_>, Vec<_>) = WORKLOADS.iter().partition(|workload| workload.device.is_some());
    let mut text = HEAD.to_owned();
    text.push_str("\n## On the host\n\nTimed by the host's clock.\n\n");
    table(&mut text, &on_host);
    text.push_str("\n## On a device\n\nThey need a subject that names `cuda` among its devices, which the built-in ones do where a driver shows a GPU; \
         [methodology.md](methodology.md#on-a-device) says which launch measures them.\n\n");
    table(&mut text, &on_device);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/workloads.md");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == text,
        "docs/workloads.md is not current: UPDATE_GENERATED=1 cargo test -p suites --test generated writes it anew"
    );
}

fn table(text: &mut String, workloads: &[&Workload]) {
    text.push_str("| workload | body | clock | bound | sizes | dtypes | ops |\n|---|---|---|---|---|---|---|\n");
    for workload in workloads {
        let info = workload.info();
        let clock = if info.clock == Clock::Device { "device" } else { "host" };
        let bound = match (info.bound, info.bound_by) {
            (Some(bound), _) => bound.to_string(),
            (None, Some(other)) => format!("`{other}`"),
            (None, None) => String::new(),
        };
        let [first, .., last] = workload.sizes else { panic!("{} has one size", workload.name) };
        let sizes = format!("{} sizes, {} to {}", workload.sizes.len(), grouped(*first), grouped(*last));
        let dtypes = workload.dtypes.iter().map(|dtype| format!("`{dtype}`")).collect::<Vec<_>>().join(", ");
        let (name, about, ops) = (workload.name, workload.about, ops(workload));
        writeln!(text, "| `{name}` | {about} | {clock} | {bound} | {sizes} | {dtypes} | {ops} |").unwrap();
    }
}

/// Every op of the counted and of the timed program, by name.
fn ops(workload: &Workload) -> String {
    let program = |purpose| workload.program(workload.sizes[0], workload.dtypes[0], purpose).unwrap();
    let of = |Program { setup, body, .. }: Program| setup.into_iter().chain(body);
    let steps = [Purpose::Account, Purpose::Measure].into_iter().flat_map(|purpose| of(program(purpose)));
    let names = steps.filter_map(|step| if let Step::Call { op, .. } = step { Some(op.name()) } else { None });
    let names: BTreeSet<String> = names.map(|name| format!("`{name}`")).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// `1000000` as `1,000,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
