//! Following the bytes of a training loop by a counter that is read before and after an epoch.

use super::without_gpu;
use crate::case::Case;
use crate::probe::{Probe, Stop};

const RUNS: &str = "t001.monitor.function-runs";
const DELTA: &str = "t001.monitor.epoch-delta";
const UNIT: &str = "t001.monitor.unit";
const WITHOUT_GPU: &str = "t001.monitor.zero-without-gpu";
const FORCE_GC: &str = "t001.monitor.force-gc-comment";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::pytorch("monitor.tracking-function-without-gpu", &[RUNS], tracking_without_gpu),
        Case::pytorch("monitor.tracking-function-moves-batches-only", &[RUNS], moves_batches_only),
        Case::pytorch("monitor.unit-of-1024-squared", &[UNIT], unit),
        Case::pytorch("monitor.counter-without-gpu", &[WITHOUT_GPU], counter_without_gpu),
        Case::pytorch("monitor.empty-cache-collects-nothing", &[FORCE_GC], empty_cache_collects_nothing),
    ];
    for (name, optimizer, first_kept) in [
        ("sgd", "torch.optim.SGD(model.parameters(), lr=0.01)", 1),
        ("momentum", "torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)", 2),
        ("adam", "torch.optim.Adam(model.parameters())", 3),
    ] {
        let run = move |p: &Probe| growth_is_not_use(p, optimizer, first_kept);
        cases.push(Case::pytorch(format!("monitor.growth-over-an-epoch-{name}"), &[DELTA], run).counts_heap());
    }
    cases
}

/// A loop with the calls of the tutorial's function; `sync`, `counter` and `move` are what it asks of a GPU.
const TRACKED: &str = "
import time
def tracked(model, batches, optimizer, criterion, sync, counter, move):
    sync()
    live, clock = counter(), time.time()
    for inputs, targets in batches:
        loss = criterion(model(move(inputs)), move(targets))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    sync()
    print('Epoch 1')
    print(f'Time: {time.time() - clock:.2f} seconds')
    print(f'Memory: {(counter() - live) / 1024**2:.2f} MB')
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.ones(8, 4), torch.ones(8, 2))]
";

/// Without a GPU the tracking function raises at its first call; without its GPU calls it prints its three lines.
fn tracking_without_gpu(p: &Probe) -> Result<(), Stop> {
    without_gpu(p)?;
    let source = "
tracked(model, batches, optimizer, F.mse_loss, torch.cuda.synchronize, torch.cuda.memory_allocated, lambda t: t.cuda())
answer = None
";
    p.fact("error without a GPU", p.kind_of(p.python(&format!("{TRACKED}{source}"), &[]))?)
        .known("RuntimeError")
        .claimed(RUNS, ());
    let source = "
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    tracked(model, batches, optimizer, F.mse_loss, lambda: None, torch.cuda.memory_allocated, lambda t: t)
lines = printed.getvalue().splitlines()
answer = [[line.split()[0] for line in lines], lines[-1]]
";
    let [labels, bytes] = p.python_list(&format!("{TRACKED}{source}"), &[])?;
    let expected = ["Epoch", "Time:", "Memory:"];
    p.fact("what it prints without its GPU calls", labels).known(expected).claimed(RUNS, expected);
    p.fact("the bytes that it then prints", bytes).known("Memory: 0.00 MB");
    Ok(())
}

/// A model that stays behind when its batches are moved refuses them; the meta device stands in for the GPU.
fn moves_batches_only(p: &Probe) -> Result<(), Stop> {
    let run = |model: &str| {
        let source = format!(
            "{TRACKED}
with contextlib.redirect_stdout(io.StringIO()):
    tracked({model}, batches, optimizer, F.mse_loss, lambda: None, lambda: 0, lambda t: t.to('meta'))
answer = None
"
        );
        p.kind_of(p.python(&source, &[]))
    };
    p.fact("error when the caller moved the model", run("model.to('meta')")?).known(()).claimed(RUNS, ());
    p.fact("error when the model was left behind", run("model")?).known("RuntimeError").claimed(RUNS, ());
    Ok(())
}

/// Dividing by 1024**2 gives units of 2^20 bytes, which are 4.9 % larger than a MB.
fn unit(p: &Probe) -> Result<(), Stop> {
    let [mib, mb] = p.python_list("[1024**2 / 2**20, 1024**2 / 10**6]", &[])?;
    p.fact("1024**2 bytes in MiB (2^20 bytes)", mib).known(1.0).claimed(UNIT, 1.0).within(0.005);
    p.fact("1024**2 bytes in MB (10^6 bytes)", mb).known(1.0486).claimed(UNIT, 1.0).within(0.005);
    Ok(())
}

/// The counter of CUDA bytes stays at zero without a GPU, and no error says why.
fn counter_without_gpu(p: &Probe) -> Result<(), Stop> {
    without_gpu(p)?;
    let source = "
on_cuda = torch.cuda.memory_allocated()
a = torch.ones(1000, 1000)
answer = [on_cuda, torch.cuda.memory_allocated() - on_cuda]
";
    let [on_cuda, on_cpu] = p.python_list(source, &[])?;
    p.fact("bytes counted for no CUDA tensor", on_cuda).known(0).claimed(WITHOUT_GPU, 0);
    p.fact("bytes counted for a CPU tensor of 4,000,000 bytes", on_cpu).known(0).claimed(WITHOUT_GPU, 4_000_000);
    Ok(())
}

/// A tensor in a reference cycle outlives `empty_cache()` and ends at `gc.collect()`.
fn empty_cache_collects_nothing(p: &Probe) -> Result<(), Stop> {
    let source = "
gc.disable()
try:
    a = torch.ones(1000)
    a.itself = a
    alive = weakref.ref(a)
    del a
    torch.cuda.empty_cache()
    after_cache = alive() is None
    gc.collect()
    answer = [after_cache, alive() is None]
finally:
    gc.enable()
";
    let [after_cache, after_collect] = p.python_list(source, &[])?;
    p.fact("a cycle is gone after empty_cache()", after_cache).known(false).claimed(FORCE_GC, true);
    p.fact("a cycle is gone after gc.collect()", after_collect).known(true).claimed(FORCE_GC, true);
    Ok(())
}

const EPOCH: &str = "
def epoch(model, optimizer, inputs, targets):
    for _ in range(3):
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
";

/// The growth over an epoch is what stays live: gradients and optimizer state in the first epoch, nothing later, although
/// each epoch uses the same bytes.
fn growth_is_not_use(p: &Probe, optimizer: &str, first_kept: i64) -> Result<(), Stop> {
    const WEIGHTS: i64 = 4 * 1000 * 100;
    // The first step of a process imports modules, which would count as bytes of the first epoch.
    let source = format!(
        "{EPOCH}
def parts(features):
    model = nn.Linear(features, 100, bias=False)
    return model, {optimizer}, torch.randn(512, features), torch.randn(512, 100)
torch.manual_seed(0)
epoch(*parts(1))
gc.collect()
answer = torch.zeros(1)
answer.parts = parts(1000)
"
    );
    let holder = p.python_tensor(&source, &[])?;
    let run = format!("{EPOCH}\nepoch(*holder.parts)\nanswer = None");
    for epoch in 1..=3 {
        let (_, heap) = p.account(|p| p.python(&run, &[("holder", &holder)]))?;
        let kept = if epoch == 1 { first_kept } else { 0 };
        let used = heap.peak_bytes as i64;
        p.fact(format!("growth over epoch {epoch}"), heap.kept_bytes).known(kept * WEIGHTS).claimed(DELTA, used);
        p.fact(format!("epoch {epoch} uses more than it keeps"), used > heap.kept_bytes).known(true);
    }
    Ok(())
}
