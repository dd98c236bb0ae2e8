//! Scope, forms and uses of `no_grad`, beside those of `detach`.

use super::graph::{SAVED, flags, tracked};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const SCOPE: &str = "t004.no-grad.table-scope";
const FORM: &str = "t004.no-grad.table-form";
const USAGE: &str = "t004.no-grad.table-usage";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("no-grad.scope-block-and-tensor", &[SCOPE], scope_block_and_tensor),
        Case::pytorch("no-grad.scope-one-thread", &[SCOPE, "t004.no-grad.disables-block"], scope_one_thread),
        Case::pytorch("no-grad.forms", &[FORM], forms),
        Case::pytorch("no-grad.forms-of-detach", &[FORM], forms_of_detach),
        Case::pytorch("no-grad.nested-and-left", &[], nested_and_left),
        Case::new("no-grad.detach-has-no-grad_fn", &["t004.no-grad.table-result"], detach_has_no_grad_fn),
        Case::pytorch("no-grad.detach-comes-after-recording", &[], detach_comes_after_recording),
        Case::new("no-grad.update-a-parameter", &[USAGE], update_a_parameter),
        Case::new("no-grad.copy-a-weight", &[USAGE], copy_a_weight),
    ]
}

/// `no_grad` covers each operation that follows, `detach` one tensor and no other.
fn scope_block_and_tensor(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let y = p.mul_scalar(&w, 3.0)?;
    let cut = p.detach(&y)?;
    let beside = p.mul_scalar(&y, 2.0)?;
    p.fact("the detached tensor requires grad", p.requires_grad(&cut)?).known(false).claimed(SCOPE, false);
    p.fact("another result of the same tensor requires grad", p.requires_grad(&beside)?)
        .known(true)
        .claimed(SCOPE, true);
    p.set_grad_enabled(false)?;
    for (name, result) in [("product", p.mul_scalar(&w, 3.0)?), ("sum", p.add(&w, &y)?)] {
        p.fact(format!("a {name} under no_grad requires grad"), p.requires_grad(&result)?)
            .known(false)
            .claimed(SCOPE, false);
    }
    Ok(())
}

/// Recording is switched off for one thread: a thread that is started inside records.
fn scope_one_thread(p: &Probe) -> Result<(), Stop> {
    let source = r"
w = torch.ones(3, requires_grad=True)
results = []
def work():
    results.append(w * 2)
with torch.no_grad():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
answer = [result.requires_grad for result in results]
";
    let [other, own] = p.python_list(source, &[])?;
    for (thread, seen, known) in [("a thread started inside", other, true), ("its own thread", own, false)] {
        p.fact(format!("a result of {thread} requires grad"), seen)
            .known(known)
            .claimed(SCOPE, false)
            .claimed("t004.no-grad.disables-block", false);
    }
    Ok(())
}

/// `no_grad` is a context manager and a decorator, of functions and of generators; alone it does nothing.
fn forms(p: &Probe) -> Result<(), Stop> {
    let source = r"
w = torch.ones(3, requires_grad=True)

with torch.no_grad():
    block = not (w * 2).requires_grad

@torch.no_grad()
def product():
    return w * 2

@torch.no_grad()
def products():
    yield w * 2
    yield w * 2

try:
    without_parentheses = not torch.no_grad(lambda: w * 2)().requires_grad
except TypeError:
    without_parentheses = False

generated = []
for result in products():
    generated.append(result.requires_grad)
    generated.append((w * 2).requires_grad)

torch.no_grad()
answer = [
    block, not product().requires_grad, without_parentheses, generated == [False, True] * 2, not (w * 2).requires_grad
]
";
    let [block, decorator, without_parentheses, generator, bare] = p.python_list(source, &[])?;
    p.fact("works as a context manager", block).known(true).claimed(FORM, true).example();
    p.fact("works as a decorator", decorator).known(true).claimed(FORM, false);
    p.fact("works as a decorator without parentheses", without_parentheses)
        .known(true)
        .known_on("pytorch 1.", false)
        .claimed(FORM, false);
    p.fact("works inside a generator and not between its values", generator).known(true);
    p.fact("a bare call works", bare).known(false);
    Ok(())
}

/// `detach` is a method, a function, and has a form that changes the tensor itself.
fn forms_of_detach(p: &Probe) -> Result<(), Stop> {
    let source = r"
y = torch.ones(3, requires_grad=True) * 2
results = [y.detach(), torch.detach(y)]
results.append(y.detach_())
answer = [not result.requires_grad for result in results] + [results[2] is y]
";
    let [method, function, in_place, itself] = p.python_list(source, &[])?;
    p.fact("works as a method", method).known(true).claimed(FORM, true).example();
    p.fact("works as a function", function).known(true).claimed(FORM, false);
    p.fact("works in place", in_place).known(true).claimed(FORM, false);
    p.fact("the in-place form gives the tensor itself", itself).known(true);
    Ok(())
}

/// Leaving a block restores what was before it, also out of a nested block and after an error.
fn nested_and_left(p: &Probe) -> Result<(), Stop> {
    let source = r"
with torch.no_grad():
    with torch.no_grad():
        pass
    nested = torch.is_grad_enabled()
left = torch.is_grad_enabled()
try:
    with torch.no_grad():
        raise ValueError
except ValueError:
    answer = [nested, left, torch.is_grad_enabled()]
";
    let [nested, left, raised] = p.python_list(source, &[])?;
    p.fact("recording is on after the inner of two blocks", nested).known(false);
    p.fact("recording is on after both", left).known(true);
    p.fact("recording is on after an error inside", raised).known(true);
    Ok(())
}

/// A detached tensor has no history.
fn detach_has_no_grad_fn(p: &Probe) -> Result<(), Stop> {
    let y = p.mul_scalar(tracked(p, [3])?, 3.0)?;
    p.fact("a detached tensor has a grad_fn", p.has_grad_fn(p.detach(&y)?)?)
        .known(false)
        .claimed("t004.no-grad.table-result", false);
    Ok(())
}

/// `detach` after a computation does not undo that it was recorded; detaching its operands does.
fn detach_comes_after_recording(p: &Probe) -> Result<(), Stop> {
    let source = format!(
        "{SAVED}{}",
        r"
w = torch.ones(3, requires_grad=True)
answer = [saved(lambda: (w * w).detach()), saved(lambda: w.detach() * w.detach())]
"
    );
    let [after, before] = p.python_list(&source, &[])?;
    p.fact("tensors saved when the product is detached", after).known(2);
    p.fact("tensors saved when the factors are detached", before).known(0);
    Ok(())
}

/// A leaf that requires grad cannot be written in place unless recording is off; it stays a leaf that requires grad.
/// The same update out of place gives a tensor that does not.
fn update_a_parameter(p: &Probe) -> Result<(), Stop> {
    let mut w = tracked(p, [3])?;
    let step = p.full([3], -0.5, DType::F32)?;
    p.fact("kind of error of the update with recording on", p.kind_of(p.add_(&mut w, &step))?).known("leaf");
    p.set_grad_enabled(false)?;
    p.fact("kind of error of the update under no_grad", p.kind_of(p.add_(&mut w, &step))?).known(()).claimed(USAGE, ());
    p.fact("values after the update", p.values(&w)?).known([1.5; 3]).claimed(USAGE, [1.5; 3]);
    p.fact("flags after the update", flags(p, &w)?).known([true, false, true]).claimed(USAGE, [true, false, true]);
    p.fact("an update out of place requires grad", p.requires_grad(p.add(&w, &step)?)?).known(false);
    Ok(())
}

/// Values are copied into a parameter under `no_grad`, and out of it through `detach`.
fn copy_a_weight(p: &Probe) -> Result<(), Stop> {
    let source = tracked(p, [3])?;
    let copy = Calls::clone(p, p.detach(&source)?)?;
    let mut target = tracked(p, [3])?;
    p.set_grad_enabled(false)?;
    p.fill_(&mut target, 7.0)?;
    p.copy_(&mut target, &copy)?;
    p.fact("values of the parameter", p.values(&target)?).known([2.0; 3]).claimed(USAGE, [2.0; 3]);
    p.fact("flags of the parameter", flags(p, &target)?).known([true, false, true]).claimed(USAGE, [true, false, true]);
    p.fact("flags of the copy", flags(p, &copy)?).known([false, false, true]).claimed(USAGE, [false, false, true]);
    Ok(())
}
