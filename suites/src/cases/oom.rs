//! What running out of memory looks like, what takes the bytes in training, and what saves them.

use super::figures::{grown, process_peak};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Value};

const STOPS: &str = "t000.oom.training-stops-on-bigger-batch";
const COPIES: &str = "t000.oom.grad-momentum-copies";
const GPU_ONLY: &str = "t001.oom.gpu-only";
const BATCH: &str = "t001.oom.reduce-batch";
const MIXED: &str = "t001.oom.mixed-precision";
const CHECKPOINTING: &str = "t001.oom.checkpointing";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("oom.refused-request-is-an-error", &[STOPS], refused_request).reads_process_memory(),
        Case::pytorch("oom.refusal-on-the-cpu", &[STOPS, GPU_ONLY], refusal_on_the_cpu),
        Case::pytorch("oom.parameters-gain-copies-in-memory", &[COPIES], copies_in_memory).reads_process_memory(),
        Case::pytorch("oom.batch-gains-no-copy", &[COPIES], batch_gains_no_copy),
        Case::pytorch("oom.saved-bytes-follow-the-batch", &[BATCH], saved_bytes_follow_the_batch),
        Case::pytorch("oom.autocast-saves-weights-too", &[MIXED], autocast_saves_weights_too),
        Case::pytorch("oom.checkpointing-peak", &[CHECKPOINTING], checkpointing_peak).reads_process_memory(),
        Case::pytorch("oom.checkpointing-keeps-gradients", &[], checkpointing_keeps_gradients),
    ];
    cases.extend(optimizers());
    cases
}

/// An absurd request is refused; a large one takes nothing before its pages are touched.
fn refused_request(p: &Probe) -> Result<(), Stop> {
    p.fact("2^50 bytes", p.kind_of(p.empty([1 << 50], DType::U8))?)
        .known("out-of-memory")
        .claimed(STOPS, "out-of-memory");
    let start = p.resident_bytes()?;
    let _large = p.empty([1 << 30], DType::U8)?;
    p.fact("resident for 1 GiB that was never touched, in tensors", grown(p, start, 1 << 30)?).within(0.01).known(0.0);
    Ok(())
}

/// On the CPU a refusal is a `RuntimeError` that a program can catch and outlive.
fn refusal_on_the_cpu(p: &Probe) -> Result<(), Stop> {
    let [kind, allocator, is_oom, is_memory_error, goes_on, overflow] = p.python_list(
        r#"
try:
    torch.empty(2**50, dtype=torch.uint8)
except Exception as caught:
    error = caught
goes_on = torch.ones(2).tolist()
try:
    torch.empty(2**62)
except RuntimeError as caught:
    overflow = "Storage size calculation overflowed" in str(caught)
answer = [type(error).__name__, "DefaultCPUAllocator: can't allocate memory" in str(error),
          isinstance(error, torch.OutOfMemoryError), isinstance(error, MemoryError), goes_on == [1.0, 1.0], overflow]
"#,
        &[],
    )?;
    p.fact("what 2^50 bytes raise", kind).known("RuntimeError").claimed(GPU_ONLY, ());
    p.fact("the CPU allocator says so", allocator).known(true);
    p.fact("it is torch.OutOfMemoryError", is_oom).known(false).claimed(GPU_ONLY, false);
    p.fact("it is MemoryError", is_memory_error).known(false);
    p.fact("the program goes on after it", goes_on).known(true).claimed(STOPS, false);
    p.fact("2^62 elements overflow", overflow).known(true);
    Ok(())
}

/// An optimizer's name in the table, its construction, and its buffers after the first step, in parameters.
type OptimizerRow = (&'static str, &'static str, f64);

/// A parameter gains one gradient, and at the first step the optimizer's buffers.
fn optimizers() -> impl Iterator<Item = Case> {
    const ROWS: [OptimizerRow; 4] = [
        ("sgd", "torch.optim.SGD([w], lr=0.1)", 0.0),
        ("sgd-with-momentum", "torch.optim.SGD([w], lr=0.1, momentum=0.9)", 1.0),
        ("adam", "torch.optim.Adam([w])", 2.0),
        ("adam-with-amsgrad", "torch.optim.Adam([w], amsgrad=True)", 3.0),
    ];
    ROWS.into_iter().map(|(name, optimizer, units)| {
        Case::pytorch(format!("oom.{name}-state"), &[COPIES], move |p| {
            let source = format!(
                r#"
w = torch.ones(1000, requires_grad=True)
optimizer = {optimizer}
def state():
    entries = [entry for entries in optimizer.state.values() for entry in entries.values()]
    return sum(entry.nbytes for entry in entries if torch.is_tensor(entry) and entry.numel() > 1) / w.nbytes
w.sum().backward()
gradient, before = w.grad.nbytes / w.nbytes, state()
optimizer.step()
after = state()
optimizer.zero_grad()
answer = [gradient, before, after, w.grad is None]
"#
            );
            let [gradient, before, after, gone] = p.python_list(&source, &[])?;
            p.fact("gradient, in parameters", gradient).known(1.0).claimed(COPIES, 1.0);
            p.fact("buffers before the first step, in parameters", before).known(0.0);
            let fact = p.fact("buffers after the first step, in parameters", after).known(units);
            if name == "sgd-with-momentum" {
                fact.claimed(COPIES, 1.0);
            }
            p.fact("zero_grad() lets the gradient go", gone).known(true);
            Ok(())
        })
    })
}

/// A batch of inputs gets neither a gradient nor a momentum buffer.
fn batch_gains_no_copy(p: &Probe) -> Result<(), Stop> {
    let [gradient, buffers] = p.python_list(
        r#"
torch.manual_seed(0)
model, batch = nn.Linear(8, 2), torch.randn(4, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model(batch).sum().backward()
optimizer.step()
answer = [batch.grad is not None, any(key is batch for key in optimizer.state)]
"#,
        &[],
    )?;
    // The sentence counts the batch as the first copy and gradient and momentum as the further ones.
    p.fact("the batch has a gradient", gradient).known(false).claimed(COPIES, true);
    p.fact("the batch has a momentum buffer", buffers).known(false).claimed(COPIES, true);
    Ok(())
}

/// What process memory shows of a parameter of 64 MiB, its gradient and its momentum.
fn copies_in_memory(p: &Probe) -> Result<(), Stop> {
    let parameter = p.python_tensor("torch.ones(4096, 4096, requires_grad=True)", &[])?;
    // The first optimizer of a process imports much code, and the first backward starts a thread.
    p.python(
        r#"
w = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
w.sum().backward()
optimizer.step()
answer = None
"#,
        &[],
    )?;
    let bytes = 64 << 20;
    let start = p.resident_bytes()?;
    p.python("w.backward(torch.ones(1).expand(4096, 4096))\nanswer = None", &[("w", &parameter)])?;
    p.fact("growth by the gradient, in parameters", grown(p, start, bytes)?)
        .within(0.1)
        .known(1.0)
        .claimed(COPIES, 1.0);
    let start = p.resident_bytes()?;
    let _momentum = p.python_tensor(
        r#"
optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
optimizer.step()
answer = optimizer.state[w]["momentum_buffer"]
"#,
        &[("w", &parameter)],
    )?;
    p.fact("growth by the momentum, in parameters", grown(p, start, bytes)?)
        .within(0.1)
        .known(1.0)
        .claimed(COPIES, 1.0);
    Ok(())
}

/// The bytes that a network saves for backward, its parameters left out.
const SAVED_BYTES: &str = r#"
def saved_bytes(model, batch):
    parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    saved = {}
    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            saved[storage.data_ptr()] = (storage.nbytes(), tensor)
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = model(batch)
    return sum(size for size, _ in saved.values())
"#;

/// Activations scale with the batch exactly.
fn saved_bytes_follow_the_batch(p: &Probe) -> Result<(), Stop> {
    let source = format!(
        r#"{SAVED_BYTES}
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
answer = [saved_bytes(model, torch.randn(rows, 256)) for rows in (16, 32, 64, 128)]
"#
    );
    let saved = p.python_list::<4>(&source, &[])?;
    for (rows, (bytes, known)) in
        [16, 32, 64, 128].into_iter().zip(saved.clone().into_iter().zip([65536, 131072, 262144, 524288]))
    {
        p.fact(format!("bytes saved for {rows} rows"), bytes).known(known);
    }
    let halved = saved.windows(2).all(|pair| match pair {
        [Value::Int(less), Value::Int(more)] => less * 2 == *more,
        _ => false,
    });
    p.fact("half the rows save half the bytes", halved).known(true).claimed(BATCH, true);
    Ok(())
}

/// Autocast saves 16-bit activations, and 16-bit copies of the weights with them: it pays for large batches alone.
fn autocast_saves_weights_too(p: &Probe) -> Result<(), Stop> {
    let source = format!(
        r#"{SAVED_BYTES}
torch.manual_seed(0)
layers = [layer for _ in range(4) for layer in (nn.Linear(128, 128), nn.Tanh())]
model = nn.Sequential(*layers)
ratios = []
for rows in (16, 64, 4096):
    batch = torch.randn(rows, 128)
    full = saved_bytes(model, batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = saved_bytes(model, batch)
    ratios.append(round(mixed / full, 2))
with torch.autocast("cpu", dtype=torch.bfloat16):
    model(batch).sum().backward()
weight = model[0].weight
answer = [ratios, weight.dtype, weight.grad.dtype]
"#
    );
    let [ratios, weight, gradient] = p.python_list(&source, &[])?;
    let Value::List(ratios) = ratios else {
        return Err(Stop::Harness(format!("expected a list of ratios, got {ratios}")));
    };
    for (ratio, (rows, known, less)) in ratios.into_iter().zip([(16, 2.9, false), (64, 1.1, false), (4096, 0.51, true)])
    {
        let fewer = matches!(ratio, Value::Float(ratio) if ratio < 1.0);
        p.fact(format!("saved with autocast / without, {rows} rows"), ratio).known(known);
        p.fact(format!("autocast saves fewer bytes for {rows} rows"), fewer).known(less).claimed(MIXED, true);
    }
    p.fact("dtype of the weights", weight).known(DType::F32);
    p.fact("dtype of their gradients", gradient).known(DType::F32);
    Ok(())
}

/// Six layers that each save their output, run forward and backward in so many segments (0: without checkpoints).
fn segmented(rows: i64, segments: i64) -> String {
    format!(
        r#"
from torch.utils.checkpoint import checkpoint_sequential
layers = nn.Sequential(*[nn.Tanh() for _ in range(6)])
x = torch.zeros({rows}, 3000, requires_grad=True)
segments = {segments}
result = checkpoint_sequential(layers, segments, x, use_reentrant=False) if segments else layers(x)
result.backward(torch.ones(1).expand_as(result))
answer = None
"#
    )
}

/// The peak with checkpoints falls for two segments of three layers, and not for one segment a layer.
fn checkpointing_peak(p: &Probe) -> Result<(), Stop> {
    let rows = 3000;
    let unit = rows * 3000 * 4;
    p.python(&segmented(1, 2), &[])?;
    let peak = |segments| -> Result<f64, Stop> {
        let ((), peak) = process_peak(p, unit, || p.python(&segmented(rows, segments), &[]).map(drop))?;
        Ok(peak)
    };
    let (plain, few, every) = (peak(0)?, peak(2)?, peak(6)?);
    p.fact("peak without checkpoints, in activations", plain).within(0.3).known(9.0);
    p.fact("peak with 2 segments, in activations", few).within(0.3).known(7.0);
    p.fact("peak with 6 segments, in activations", every).within(0.3).known(9.0);
    p.fact("2 segments lower the peak", few < plain - 1.0).known(true).claimed(CHECKPOINTING, true);
    p.fact("6 segments lower the peak", every < plain - 1.0).known(false).claimed(CHECKPOINTING, true);
    Ok(())
}

/// Checkpointing computes the forward pass again and gives the very gradients.
fn checkpointing_keeps_gradients(p: &Probe) -> Result<(), Stop> {
    let equal = p.python(
        r#"
from torch.utils.checkpoint import checkpoint_sequential
torch.manual_seed(0)
layers = nn.Sequential(*[nn.Linear(8, 8) for _ in range(4)])
x = torch.randn(3, 8)
layers(x).sum().backward()
plain = [parameter.grad.clone() for parameter in layers.parameters()]
layers.zero_grad()
checkpoint_sequential(layers, 2, x, use_reentrant=False).sum().backward()
answer = all(torch.equal(old, parameter.grad) for old, parameter in zip(plain, layers.parameters()))
"#,
        &[],
    )?;
    p.fact("gradients are equal bit for bit", equal).known(true);
    Ok(())
}
