//! Mistakes with `no_grad` and `detach`: what fails, what is silent, and what holds on to memory.

use super::figures::grown;
use super::no_grad::graph::{LARGE, LARGE_BYTES, NODES, SAVED, flags, forward, tracked};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use crate::record::Value;
use subject::Calls;

const INSIDE: &str = "t004.common-errors.backward-inside-fails";
const MOVE_OUT: &str = "t004.common-errors.move-call-out";
const FORBIDDEN: &str = "t004.common-errors.grad-forbidden-inside";
const NOT_COPY: &str = "t004.common-errors.detach-not-copy";
const SILENT: &str = "t004.common-errors.silent";
const CLONE: &str = "t004.common-errors.clone-fixes";
const EITHER: &str = "t004.common-errors.not-interchangeable";
const NO_ERROR: &str = "t004.common-errors.eval-loop-no-error";
const ACCUMULATES: &str = "t004.common-errors.eval-loop-accumulates";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("common-errors.backward-inside-of-a-loss-from-outside", &[INSIDE, FORBIDDEN], loss_from_outside),
        Case::new("common-errors.backward-of-a-loss-from-inside", &[INSIDE, MOVE_OUT], loss_from_inside),
        Case::pytorch("common-errors.enable_grad-round-the-loss", &[], enable_grad_round_the_loss),
        Case::pytorch("common-errors.gradients-inside", &[FORBIDDEN], gradients_inside),
        Case::new("common-errors.writes-appear-on-both-sides", &[NOT_COPY], writes_appear_on_both_sides),
        Case::pytorch("common-errors.write-warns-of-nothing", &[SILENT], write_warns_of_nothing),
        Case::new("common-errors.write-to-saved-values-is-refused", &[SILENT], write_to_saved_values),
        Case::pytorch("common-errors.write-that-backward-misses", &[], write_that_backward_misses),
        Case::new("common-errors.clone-stands-alone", &[CLONE], clone_stands_alone),
        Case::new("common-errors.same-result-other-scope", &[EITHER], same_result_other_scope),
        Case::pytorch("common-errors.detach-saves-first", &[EITHER], detach_saves_first),
        Case::pytorch("common-errors.graphs-of-an-evaluation-loop", &[NO_ERROR, ACCUMULATES], graphs_of_a_loop),
        Case::new("common-errors.process-memory-of-an-evaluation-loop", &[ACCUMULATES], memory_of_a_loop)
            .reads_process_memory(),
    ]
}

/// The graph of a loss from before the block is there: backward runs under `no_grad`.
fn loss_from_outside(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let loss = p.sum(p.mul_scalar(&w, 3.0)?)?;
    p.set_grad_enabled(false)?;
    p.fact("kind of error of backward() under no_grad", p.kind_of(p.backward(&loss))?)
        .known(())
        .claimed(INSIDE, "no-graph")
        .example()
        .claimed(FORBIDDEN, "no-graph");
    p.fact("gradient of the leaf", p.values(p.grad(&w)?)?).known([3.0; 3]);
    Ok(())
}

/// A loss from inside the block has no graph, wherever backward is called.
fn loss_from_inside(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    p.set_grad_enabled(false)?;
    let loss = p.sum(p.mul_scalar(&w, 3.0)?)?;
    p.fact("kind of error of backward() under no_grad", p.kind_of(p.backward(&loss))?)
        .known("no-graph")
        .claimed(INSIDE, "no-graph");
    p.set_grad_enabled(true)?;
    p.fact("kind of error of backward() after the block", p.kind_of(p.backward(&loss))?)
        .known("no-graph")
        .claimed(MOVE_OUT, ());
    Ok(())
}

/// A loss that is computed under `enable_grad` inside the block has a graph.
fn enable_grad_round_the_loss(p: &Probe) -> Result<(), Stop> {
    let source = r"
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    with torch.enable_grad():
        loss = (w * 3).sum()
    loss.backward()
answer = w.grad.tolist()
";
    p.fact("gradient of the leaf", p.python(source, &[])?).known([3.0; 3]);
    Ok(())
}

/// Gradients of an existing graph can be computed under `no_grad` and in inference mode, and `create_graph` even
/// records there.
fn gradients_inside(p: &Probe) -> Result<(), Stop> {
    let source = r"
def gradient(mode, create_graph):
    w = torch.full((), 2.0, requires_grad=True)
    loss = w * w * w
    try:
        with mode():
            found, = torch.autograd.grad(loss, w, create_graph=create_graph)
    except RuntimeError:
        return None
    return [found.item(), found.requires_grad]
answer = [gradient(torch.no_grad, False), gradient(torch.no_grad, True), gradient(torch.inference_mode, False)]
";
    let [plain, recorded, inferred] = p.python_list(source, &[])?;
    for (name, seen, requires_grad) in [
        ("under no_grad", plain, false),
        ("under no_grad with create_graph", recorded, true),
        ("in inference mode", inferred, false),
    ] {
        let known = Value::List(vec![12.0.into(), requires_grad.into()]);
        p.fact(format!("gradient computed {name}, and whether it requires grad"), seen)
            .known(known)
            .claimed(FORBIDDEN, ());
    }
    Ok(())
}

/// A write through the detached tensor appears in the origin, and the other way round.
fn writes_appear_on_both_sides(p: &Probe) -> Result<(), Stop> {
    let mut y = p.mul_scalar(tracked(p, [3])?, 3.0)?;
    let mut d = p.detach(&y)?;
    p.fill_(&mut d, 9.0)?;
    p.fact("values of the origin", p.values(&y)?).known([9.0; 3]).claimed(NOT_COPY, [9.0; 3]);
    p.add_scalar_(&mut y, 1.0)?;
    p.fact("values of the detached tensor", p.values(&d)?).known([10.0; 3]).claimed(NOT_COPY, [10.0; 3]);
    Ok(())
}

/// A write through a detached tensor gives no warning.
fn write_warns_of_nothing(p: &Probe) -> Result<(), Stop> {
    let source = r"
y = torch.ones(3, requires_grad=True) * 3
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    y.detach().fill_(9)
answer = len(caught)
";
    p.fact("warnings at the write", p.python(source, &[])?).known(0).claimed(SILENT, 0);
    Ok(())
}

/// A detached tensor has the version counter of its origin: backward refuses values that were saved and then written.
/// Values that were not saved can be written unnoticed.
fn write_to_saved_values(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let y = p.mul_scalar(&w, 3.0)?;
    let unsaving = p.sum(p.mul_scalar(&y, 2.0)?)?;
    let saving = p.sum(p.mul(&y, &y)?)?;
    let before = p.version(&y)?;
    p.add_scalar_(p.detach(&y)?, 1.0)?;
    p.fact("versions that the write adds to the origin", p.version(&y)? - before).known(1);
    p.fact("kind of error of backward() through saved values", p.kind_of(p.backward(&saving))?)
        .known("version")
        .claimed(SILENT, ());
    p.fact("kind of error of backward() that saved no values", p.kind_of(p.backward(&unsaving))?)
        .known(())
        .claimed(SILENT, ());
    Ok(())
}

/// Writes through `.data` and through NumPy move no version counter: backward computes with the new values and gives
/// a wrong gradient without a word.
fn write_that_backward_misses(p: &Probe) -> Result<(), Stop> {
    let source = r"
def gradient(write):
    w = torch.full((3,), 2.0, requires_grad=True)
    y = w * 3
    loss = (y * y).sum()
    write(y)
    loss.backward()
    return w.grad.tolist()
answer = [gradient(lambda y: None), gradient(lambda y: y.data.zero_()), gradient(lambda y: y.detach().numpy().fill(0))]
";
    let [right, data, numpy] = p.python_list(source, &[])?;
    p.fact("gradient without a write", right).known([36.0; 3]);
    p.fact("gradient after a write through .data", data).known([0.0; 3]);
    p.fact("gradient after a write through NumPy", numpy).known([0.0; 3]);
    Ok(())
}

/// A write to a detached clone changes neither the origin nor its gradient.
fn clone_stands_alone(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let y = p.mul_scalar(&w, 3.0)?;
    let loss = p.sum(p.mul(&y, &y)?)?;
    let mut copy = Calls::clone(p, p.detach(&y)?)?;
    p.zero_(&mut copy)?;
    p.fact("values of the origin", p.values(&y)?).known([6.0; 3]).claimed(CLONE, [6.0; 3]);
    p.backward(&loss)?;
    p.fact("gradient of the leaf", p.values(p.grad(&w)?)?).known([36.0; 3]).claimed(CLONE, [36.0; 3]);
    Ok(())
}

/// A single result is the same under `no_grad` and after `detach`; what is computed beside it is not.
fn same_result_other_scope(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let y = p.mul_scalar(&w, 3.0)?;
    let detached = p.detach(&y)?;
    let beside_detached = p.add(&w, &y)?;
    p.set_grad_enabled(false)?;
    let unrecorded = p.mul_scalar(&w, 3.0)?;
    let beside_unrecorded = p.add(&w, &y)?;
    let same = flags(p, &detached)? == flags(p, &unrecorded)? && p.equal(&detached, &unrecorded)?;
    p.fact("the results can be told apart", !same).known(false).claimed(EITHER, true);
    let other = flags(p, &beside_detached)? != flags(p, &beside_unrecorded)?;
    p.fact("sums computed beside them can be told apart", other).known(true).claimed(EITHER, true);
    Ok(())
}

/// `detach` comes after the recording, `no_grad` in its place.
fn detach_saves_first(p: &Probe) -> Result<(), Stop> {
    let source = format!(
        "{SAVED}{}",
        r"
w = torch.ones(3, requires_grad=True)
cut = saved(lambda: (w * w).detach())
with torch.no_grad():
    answer = [cut, saved(lambda: w * w)]
"
    );
    let [detached, unrecorded] = p.python_list(&source, &[])?;
    p.fact("both save the same tensors", detached == unrecorded).known(false).claimed(EITHER, false);
    p.fact("tensors saved for a detached product", detached).known(2);
    p.fact("tensors saved for a product under no_grad", unrecorded).known(0);
    Ok(())
}

/// An evaluation loop without `no_grad` runs without an error. The graph of an output goes away with it; graphs pile up
/// where outputs are kept, or a loss that is tracked is summed up.
fn graphs_of_a_loop(p: &Probe) -> Result<(), Stop> {
    let after_20 = |body: &str| {
        p.python(
            &format!(
                "{NODES}
w = torch.ones(3, requires_grad=True)
log, total = [], 0
for _ in range(20):
    y = double(w)
    {body}
answer = alive()"
            ),
            &[],
        )
    };
    p.fact("kind of error of the loop", p.kind_of(after_20("pass"))?).known(()).claimed(NO_ERROR, ());
    p.fact("graphs live after 20 passes, the last output kept", after_20("pass")?)
        .known(1)
        .claimed(ACCUMULATES, 20)
        .example();
    for (name, body, known) in [
        ("every output kept", "log.append(y)", 20),
        ("a tracked loss summed up", "total = total + y.sum()", 20),
        ("every output kept detached", "log.append(y.detach())", 1),
        ("every loss kept as a number", "log.append(y.sum().item())", 1),
    ] {
        p.fact(format!("graphs live after 20 passes, {name}"), after_20(body)?).known(known);
    }
    Ok(())
}

/// The process of an evaluation loop without `no_grad` stays level at what the graph of the last output holds.
fn memory_of_a_loop(p: &Probe) -> Result<(), Stop> {
    const PASSES: usize = 4;
    let w = tracked(p, [LARGE])?;
    let held = |record: bool| {
        p.set_grad_enabled(record)?;
        let before = p.resident_bytes()?;
        let mut output = forward(p, &w)?;
        let first = grown(p, before, LARGE_BYTES)?;
        for _ in 1..PASSES {
            p.release(std::mem::replace(&mut output, forward(p, &w)?))?;
        }
        let last = grown(p, before, LARGE_BYTES)?;
        p.release(output)?;
        Ok::<_, Stop>((first, last))
    };
    let (first, last) = held(true)?;
    p.fact("tensors held after the first pass", first).known(3.0).within(0.1);
    p.fact("tensors held after the last pass", last)
        .known(3.0)
        .claimed(ACCUMULATES, 3.0 * PASSES as f64)
        .example()
        .within(0.1);
    let (_, last) = held(false)?;
    p.fact("tensors held after the last pass under no_grad", last).known(1.0).within(0.1);
    Ok(())
}
