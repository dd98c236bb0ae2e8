//! What keeps a tensor alive that nobody can reach.

use super::figures::grown;
use crate::case::Case;
use crate::probe::{Probe, Stop};

const CYCLES: &str = "t001.leak.cycles-prevent-free";
const DETECTOR: &str = "t001.leak.detector";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::pytorch("leak.cycles-pile-up-in-memory", &[CYCLES], cycles_pile_up).reads_process_memory(),
        Case::pytorch("leak.no-cycle-no-collector", &[], no_cycle),
        Case::pytorch("leak.detector-sees-the-gpu-alone", &[DETECTOR], detector_sees_the_gpu_alone),
        Case::pytorch("leak.kept-exception-keeps-its-frame", &[], kept_exception),
        Case::pytorch("leak.running-loss-keeps-the-graph", &[], running_loss),
        Case::pytorch("leak.second-backward", &[], second_backward),
    ];
    cases.extend(cycles());
    cases
}

/// Ways to hold a tensor in a cycle: each keeps it until the collector runs.
fn cycles() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, &str); 5] = [
        ("attribute-of-an-object", "holder = type('Holder', (), {})()\nholder.me, holder.t = holder, t\ndel holder"),
        (
            "two-objects",
            "Holder = type('Holder', (), {})\na, b = Holder(), Holder()\na.other, b.other, a.t = b, a, t\ndel a, b",
        ),
        ("attribute-of-the-tensor", "t.me = t"),
        ("list", "held = [t]\nheld.append(held)\ndel held"),
        ("closure", "def outer(kept):\n    def inner():\n        return inner, kept\nouter(t)"),
    ];
    ROWS.into_iter().map(|(name, cycle)| {
        Case::pytorch(format!("leak.cycle-through-{name}"), &[CYCLES], move |p| {
            let source = format!(
                r#"
gc.disable()
try:
    t = torch.ones(4)
    alive = weakref.ref(t)
    exec({cycle:?}, {{"t": t}})
    del t
    before = alive() is not None
    gc.collect()
    answer = [before, alive() is not None]
finally:
    gc.enable()
"#
            );
            let [before, after] = p.python_list(&source, &[])?;
            p.fact("alive after its last name is gone", before).known(true).claimed(CYCLES, true);
            p.fact("alive after gc.collect()", after).known(false);
            Ok(())
        })
    })
}

/// Without a cycle a tensor goes at once, by reference counting alone.
fn no_cycle(p: &Probe) -> Result<(), Stop> {
    let alive = p.python(
        r#"
gc.disable()
try:
    t = torch.ones(4)
    alive = weakref.ref(t)
    del t
    answer = alive() is not None
finally:
    gc.enable()
"#,
        &[],
    )?;
    p.fact("alive after its last name is gone", alive).known(false);
    Ok(())
}

/// Tensors of 64 MiB in cycles pile up in the process although the collector is on: it counts objects, not bytes.
fn cycles_pile_up(p: &Probe) -> Result<(), Stop> {
    let bytes = 64 << 20;
    let start = p.resident_bytes()?;
    p.python("for _ in range(3):\n    t = torch.ones(4096, 4096)\n    del t\nanswer = None", &[])?;
    p.fact("resident after 3 tensors without a cycle, in tensors", grown(p, start, bytes)?).within(0.1).known(0.0);
    p.python("for _ in range(3):\n    t = torch.ones(4096, 4096)\n    t.me = t\n    del t\nanswer = None", &[])?;
    p.fact("resident after 3 tensors in cycles, in tensors", grown(p, start, bytes)?)
        .within(0.1)
        .known(3.0)
        .claimed(CYCLES, 3.0);
    p.python("gc.collect()\nanswer = None", &[])?;
    p.fact("resident after gc.collect(), in tensors", grown(p, start, bytes)?).within(0.1).known(0.0);
    Ok(())
}

/// A detector that compares CUDA's allocated bytes finds nothing where CPU tensors leak.
fn detector_sees_the_gpu_alone(p: &Probe) -> Result<(), Stop> {
    let detector = r#"
def detector(work):
    before = torch.cuda.memory_allocated()
    for _ in range(10):
        work()
    torch.cuda.empty_cache()
    gc.collect()
    return torch.cuda.memory_allocated() > before
"#;
    let idle = p.python(&format!("{detector}\nanswer = detector(lambda: None)"), &[])?;
    p.fact("it reports a leak of a loop that does nothing", idle).known(false).claimed(DETECTOR, false);
    let [reported, leaked] = p.python_list(
        &format!(
            r#"{detector}
kept = []
reported = detector(lambda: kept.append(torch.ones(100_000)))
answer = [reported, sum(t.nbytes for t in kept)]
"#
        ),
        &[],
    )?;
    p.fact("bytes of CPU tensors that leaked", leaked).known(4_000_000);
    p.fact("it reports that leak", reported).known(false).claimed(DETECTOR, true);
    Ok(())
}

/// An exception that is kept holds the frame it passed, and the frame its tensors.
fn kept_exception(p: &Probe) -> Result<(), Stop> {
    let [held, gone] = p.python_list(
        r#"
def failing():
    global alive
    t = torch.ones(4)
    alive = weakref.ref(t)
    raise ValueError
gc.disable()
try:
    try:
        failing()
    except ValueError as error:
        kept = error
    held = alive() is not None
    del kept
    answer = [held, alive() is None]
finally:
    gc.enable()
"#,
        &[],
    )?;
    p.fact("the tensor lives while the exception is kept", held).known(true);
    p.fact("it goes with the exception", gone).known(true);
    Ok(())
}

/// `total = total + loss` keeps every iteration's graph; `loss.item()` keeps a number.
fn running_loss(p: &Probe) -> Result<(), Stop> {
    let [tensor, number] = p.python_list(
        r#"
def saved(total_of):
    w = torch.ones(3, requires_grad=True)
    total, alive = 0.0, []
    for _ in range(5):
        hidden = w * 2.0
        loss = (hidden * hidden).sum()
        alive.append(weakref.ref(hidden))
        total = total + total_of(loss)
        del hidden, loss
    return sum(reference() is not None for reference in alive)

answer = [saved(lambda loss: loss), saved(lambda loss: loss.item())]
"#,
        &[],
    )?;
    p.fact("saved tensors alive after 5 iterations that add the loss", tensor).known(5);
    p.fact("saved tensors alive after 5 iterations that add its number", number).known(0);
    Ok(())
}

/// A graph lets its saved tensors go at the first backward, unless it is told to keep them.
fn second_backward(p: &Probe) -> Result<(), Stop> {
    let twice = |first: &str| {
        let source = format!(
            r#"
w = torch.ones(3, requires_grad=True)
square = (w * w).sum()
{first}
square.backward()
answer = w.grad.tolist()
"#
        );
        p.python(&source, &[])
    };
    let again = twice("square.backward()");
    p.fact("a second backward", p.kind_of(again)?).known("RuntimeError");
    let kept = twice("square.backward(retain_graph=True)")?;
    p.fact("gradient after two, with retain_graph", kept).known([4.0; 3]);
    Ok(())
}
