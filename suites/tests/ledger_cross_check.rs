//! The heap ledger's figures, held against instruments that see tensors and not the heap: a dispatch mode that follows
//! PyTorch's storages, and the allocations that NumPy reports to `tracemalloc`.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

mod common;

use common::{TARGET, launch};
use std::collections::BTreeMap;
use std::time::Duration;
use subject::{Reply, Request, Value};
use suites::record::OutcomeKind;
use suites::run::{Conformance, Instruments, Launch, Session};

const CASE: &str = "chunk.live-bytes-of-the-program";
const AT_ONCE: &str = "peak at once, in batches";
const IN_CHUNKS: &str = "peak in chunks, in batches";

/// The peaks of the two, in batches: a batch and its result, and beside them a list of all pieces' results.
const PEAKS: [f64; 2] = [2.0, 3.0];

/// Follows every storage that an operation's result stands on until it is gone.
const PYTORCH: &str = r#"
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

class LiveStorages(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.live, self.peak = {}, 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        results = operation(*args, **(kwargs or {}))
        for tensor in tree_leaves(results):
            if isinstance(tensor, torch.Tensor):
                self.follow(tensor.untyped_storage())
        self.peak = max(self.peak, sum(self.live.values()))
        return results

    def follow(self, storage):
        key = storage._cdata
        if key not in self.live:
            self.live[key] = storage.nbytes()
            weakref.finalize(storage, self.live.pop, key)

def at_once():
    batch = torch.ones(1024, 1024)
    return batch * 2.0

def in_chunks():
    batch = torch.ones(1024, 1024)
    results = [piece * 2.0 for piece in batch.chunk(4, dim=0)]
    return torch.cat(results, dim=0)

def peak(program):
    with LiveStorages() as storages:
        program()
    return round(storages.peak / (1024 * 1024 * 4), 2)

answer = [peak(at_once), peak(in_chunks)]
"#;

/// NumPy tells `tracemalloc` of the data of every array.
const NUMPY: &str = r#"
import tracemalloc

def at_once():
    batch = np.ones((1024, 1024), dtype=np.float32)
    return batch * 2.0

def in_chunks():
    batch = np.ones((1024, 1024), dtype=np.float32)
    results = [piece * 2.0 for piece in np.array_split(batch, 4)]
    return np.concatenate(results)

def peak(program):
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        program()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return round((most - before) / (1024 * 1024 * 4), 2)

answer = [peak(at_once), peak(in_chunks)]
"#;

#[test]
fn pytorchs_storages_add_up_to_what_the_ledger_counts() {
    let launch = launch("pytorch");
    assert_eq!(observed(&launch, PYTORCH), PEAKS);
    assert_eq!(counted(&launch), PEAKS);
}

#[test]
fn numpys_arrays_add_up_to_what_the_ledger_counts() {
    let launch = launch("numpy");
    assert_eq!(observed(&launch, NUMPY), PEAKS);
    assert_eq!(counted(&launch), PEAKS);
}

/// The two peaks that a piece of Python finds with its own instrument.
fn observed(launch: &Launch, source: &str) -> [f64; 2] {
    let mut session = Session::start(launch, Instruments::None).unwrap_or_else(|missing| panic!("{missing}"));
    let request = Request::Python { source: source.into(), names: BTreeMap::new() };
    match session.ask(&request, Duration::from_secs(60)) {
        Ok(Reply::Value(Value::List(peaks))) => [float(&peaks[0]), float(&peaks[1])],
        other => panic!("expected two peaks, got {other:?}"),
    }
}

/// The two peaks that the case finds through the heap ledger.
fn counted(launch: &Launch) -> [f64; 2] {
    let case = suites::cases::all().into_iter().find(|case| case.name == CASE).unwrap();
    let outcome = Conformance::start(launch, &TARGET).run(&case);
    assert_eq!(outcome.outcome, OutcomeKind::Agrees, "{:?} {:?}", outcome.reason, outcome.facts);
    [AT_ONCE, IN_CHUNKS].map(|what| float(&outcome.facts.iter().find(|fact| fact.what == what).unwrap().seen))
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Float(float) => *float,
        other => panic!("expected a float, got {other}"),
    }
}
