//! The figures of PyTorch's profiler against exact counts.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use crate::record::Value;

const PROFILER: &str = "t001.monitor.profiler";

/// A program whose bytes are counted in three ways.
#[derive(Clone, Copy)]
struct Program {
    name: &'static str,
    /// Python that makes tensors of `a` and `b`, which have 1000 by 1000 float32 elements.
    source: &'static str,
    /// Bytes of blocks that it takes from the heap.
    taken: i64,
    /// Bytes of the storages that its operations give.
    given: i64,
    /// The rows of the profiler's table that show bytes of their own.
    rows: &'static [(&'static str, i64)],
}

const PROGRAMS: [Program; 4] = [
    Program { name: "add", source: "a.add(b)", taken: 4_000_000, given: 4_000_000, rows: &[("aten::add", 4_000_000)] },
    Program { name: "add_", source: "a.add_(b)", taken: 0, given: 0, rows: &[] },
    Program {
        name: "mul-and-cat",
        source: "torch.cat([a.mul(b), b.mul(a)])",
        taken: 16_000_000,
        given: 16_000_000,
        rows: &[("aten::cat", 8_000_000), ("aten::mul", 8_000_000)],
    },
    // The sort takes 8,000,000 bytes more while it works, which cancel out in its row when it gives them back.
    Program {
        name: "sort",
        source: "a.view(-1).sort()",
        taken: 20_000_000,
        given: 12_000_000,
        rows: &[("aten::resize_", 8_000_000), ("aten::sort", 4_000_000)],
    },
];

const TABLE: &str = "
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profiled:
    {source}
rows = sorted((row.key, row.self_cpu_memory_usage) for row in profiled.key_averages())
answer = [[name, bytes] for name, bytes in rows if bytes > 0 and name != '[memory]']
";

const NEW_STORAGES: &str = "
from torch.utils._python_dispatch import TorchDispatchMode
class NewStorages(TorchDispatchMode):
    def __init__(self, *known):
        super().__init__()
        self.storages = {tensor.data_ptr(): tensor.untyped_storage() for tensor in known}
        self.bytes = 0
    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        results = operation(*args, **(kwargs or {}))
        for tensor in results if isinstance(results, (tuple, list)) else [results]:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in self.storages:
                self.storages[storage.data_ptr()] = storage
                self.bytes += storage.nbytes()
        return results
with NewStorages(a, b) as counted:
    {source}
answer = counted.bytes
";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    PROGRAMS
        .into_iter()
        .map(|program| {
            let name = format!("monitor.profiler-of-{}", program.name);
            Case::pytorch(name, &[PROFILER], move |p| profiled(p, &program)).counts_heap()
        })
        .collect()
}

/// The rows of the table are exact in what operations give, and hide what an operation takes and gives back inside.
fn profiled(p: &Probe, program: &Program) -> Result<(), Stop> {
    let a = p.python_tensor("torch.ones(1000, 1000)", &[])?;
    let b = p.python_tensor("torch.ones(1000, 1000)", &[])?;
    let names = [("a", &a), ("b", &b)];
    let bare = format!("{}\nanswer = None", program.source);
    let (_, heap) = p.account(|p| p.python(&bare, &names))?;
    let taken = heap.bytes as i64;
    let given = p.python(&NEW_STORAGES.replace("{source}", program.source), &names)?;
    let rows = p.python(&TABLE.replace("{source}", program.source), &names)?;
    let shown = program.rows.iter().map(|(_, bytes)| bytes).sum::<i64>();
    p.fact("bytes taken from the heap", taken).known(program.taken);
    p.fact("bytes of new storages", given).known(program.given);
    p.fact("bytes that the table shows", total(&rows)).known(shown).claimed(PROFILER, taken);
    let known = program.rows.iter().map(|(name, bytes)| Value::List(vec![(*name).into(), (*bytes).into()]));
    p.fact("rows of the table that show bytes", rows).known(known.collect::<Vec<_>>());
    Ok(())
}

/// The sum of the second column.
fn total(rows: &Value) -> Value {
    let bytes = |row: &Value| match row {
        Value::List(row) => match row.as_slice() {
            [_, Value::Int(bytes)] => Some(*bytes),
            _ => None,
        },
        _ => None,
    };
    match rows {
        Value::List(rows) => rows.iter().map(bytes).sum::<Option<i64>>().into(),
        _ => Value::None,
    }
}
