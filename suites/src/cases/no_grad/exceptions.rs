//! What stays tracked under `no_grad`: views, tensors handed through, in-place results, and what is asked for.

use super::graph::{flags, tracked};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

const BLOCK: &str = "t004.no-grad.disables-block";
const NO_GRAD_FN: &str = "t004.no-grad.results-no-grad-fn";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = OPERATIONS
        .iter()
        .map(|operation| {
            Case::new(format!("no-grad.flags-of-{}", operation.name), &[BLOCK], |p| flags_under_no_grad(p, operation))
        })
        .collect();
    cases.extend([
        Case::new("no-grad.results-with-a-grad_fn", &[NO_GRAD_FN], results_with_a_grad_fn),
        Case::new("no-grad.in-place-keeps-the-grad_fn", &[BLOCK, NO_GRAD_FN], in_place_keeps_the_grad_fn),
        Case::new("no-grad.backward-through-a-view-is-lost", &[BLOCK], backward_through_a_view_is_lost),
        Case::new("no-grad.requires_grad_-works", &[BLOCK], requires_grad_works),
        Case::pytorch("no-grad.new-leaves-may-require-grad", &[BLOCK], new_leaves_may_require_grad),
        Case::pytorch("no-grad.enable_grad-records-again", &[BLOCK], enable_grad_records_again),
        Case::pytorch("no-grad.layer-that-returns-its-input", &[BLOCK], layer_that_returns_its_input),
        Case::pytorch("no-grad.forward-mode-goes-on", &[], forward_mode_goes_on),
    ]);
    cases
}

/// What an operation under `no_grad` gives.
#[derive(Clone, Copy)]
enum Gives {
    /// A tensor that recording knows nothing of.
    Untracked,
    /// A view, which requires grad as its base does, but has no `grad_fn`.
    View,
    /// The operand itself.
    Operand,
}

impl Gives {
    /// Flags of the result, from those of the operand.
    fn flags(self, operand: [bool; 3]) -> [bool; 3] {
        match self {
            Gives::Untracked => [false, false, true],
            Gives::View => [true, false, true],
            Gives::Operand => operand,
        }
    }
}

/// An operation on a tensor of shape (1, 4).
struct Operation {
    name: &'static str,
    gives: Gives,
    run: fn(&Probe, &Handle) -> Result<Handle, Stop>,
}

const fn operation(name: &'static str, gives: Gives, run: fn(&Probe, &Handle) -> Result<Handle, Stop>) -> Operation {
    Operation { name, gives, run }
}

static OPERATIONS: [Operation; 19] = [
    operation("add_scalar", Gives::Untracked, |p, a| p.add_scalar(a, 0.0)),
    operation("mul_scalar", Gives::Untracked, |p, a| p.mul_scalar(a, 1.0)),
    operation("add", Gives::Untracked, |p, a| p.add(a, a)),
    operation("sub", Gives::Untracked, |p, a| p.sub(a, a)),
    operation("mul", Gives::Untracked, |p, a| p.mul(a, a)),
    operation("sum", Gives::Untracked, |p, a| p.sum(a)),
    operation("cat", Gives::Untracked, |p, a| p.cat(vec![a.clone(), a.clone()], 0)),
    operation("clone", Gives::Untracked, |p, a| Calls::clone(p, a)),
    operation("detach", Gives::Untracked, |p, a| p.detach(a)),
    operation("to-f64", Gives::Untracked, |p, a| p.to(a, DType::F64)),
    operation("view", Gives::View, |p, a| p.view(a, [2, 2])),
    operation("reshape", Gives::View, |p, a| p.reshape(a, [2, 2])),
    operation("narrow", Gives::View, |p, a| p.narrow(a, 1, 0, 2)),
    operation("select", Gives::View, |p, a| p.select(a, 1, 0)),
    operation("transpose", Gives::View, |p, a| p.transpose(a, 0, 1)),
    operation("expand", Gives::View, |p, a| p.expand(a, [3, 4])),
    operation("chunk", Gives::View, |p, a| {
        let none = || Stop::Harness("chunk gave no chunk".into());
        p.chunk(a, 2, 1)?.into_iter().next().ok_or_else(none)
    }),
    operation("contiguous", Gives::Operand, |p, a| p.contiguous(a)),
    operation("to-same-dtype", Gives::Operand, |p, a| p.to(a, DType::F32)),
];

/// A computed result is untracked; a view of what requires grad requires grad, and an operand that is handed through
/// stays as it was.
fn flags_under_no_grad(p: &Probe, operation: &Operation) -> Result<(), Stop> {
    let leaf = tracked(p, [1, 4])?;
    let recorded = p.mul_scalar(&leaf, 3.0)?;
    p.set_grad_enabled(false)?;
    for (operand, a, own) in
        [("a leaf", &leaf, [true, false, true]), ("a recorded result", &recorded, [true, true, false])]
    {
        let seen = flags(p, &(operation.run)(p, a)?)?;
        let known = operation.gives.flags(own);
        p.fact(format!("flags of {} of {operand}", operation.name), seen).known(known);
        p.fact(format!("{} of {operand} requires grad", operation.name), seen[0]).known(known[0]).claimed(BLOCK, false);
    }
    Ok(())
}

/// Among the results for a recorded tensor, those that are the tensor itself keep its `grad_fn`.
fn results_with_a_grad_fn(p: &Probe) -> Result<(), Stop> {
    let leaf = tracked(p, [1, 4])?;
    let recorded = p.mul_scalar(&leaf, 3.0)?;
    p.set_grad_enabled(false)?;
    let mut with_grad_fn = Vec::new();
    for operation in &OPERATIONS {
        if p.has_grad_fn(&(operation.run)(p, &recorded)?)? {
            with_grad_fn.push(operation.name);
        }
    }
    p.fact("operations whose result has a grad_fn", with_grad_fn)
        .known(["contiguous", "to-same-dtype"])
        .claimed(NO_GRAD_FN, Vec::<&str>::new());
    Ok(())
}

/// An in-place product under `no_grad` leaves the `grad_fn` of the values before: backward gives 2 where the
/// derivative is 10.
fn in_place_keeps_the_grad_fn(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let mut y = p.mul_scalar(&w, 2.0)?;
    p.set_grad_enabled(false)?;
    p.mul_scalar_(&mut y, 5.0)?;
    p.set_grad_enabled(true)?;
    let flags = flags(p, &y)?;
    p.fact("values after the write", p.values(&y)?).known([20.0; 3]);
    p.fact("the written tensor requires grad", flags[0]).known(true).claimed(BLOCK, false);
    p.fact("the written tensor has a grad_fn", flags[1]).known(true).claimed(NO_GRAD_FN, false);
    p.backward(p.sum(&y)?)?;
    p.fact("gradient of the leaf", p.values(p.grad(&w)?)?).known([2.0; 3]);
    Ok(())
}

/// A view made under `no_grad` requires grad; backward through it raises nothing and fills no gradient.
fn backward_through_a_view_is_lost(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [4])?;
    p.set_grad_enabled(false)?;
    let view = p.view(&w, [2, 2])?;
    p.set_grad_enabled(true)?;
    p.fact("the view requires grad", p.requires_grad(&view)?).known(true).claimed(BLOCK, false);
    let loss = p.sum(p.mul_scalar(&view, 3.0)?)?;
    p.fact("kind of error of backward()", p.kind_of(p.backward(&loss))?).known(());
    p.fact("the leaf has a gradient", p.has_grad(&w)?).known(false);
    p.fact("the view has a gradient", p.has_grad(&view)?).known(false);
    Ok(())
}

/// `requires_grad_` does under `no_grad` what it does elsewhere.
fn requires_grad_works(p: &Probe) -> Result<(), Stop> {
    p.set_grad_enabled(false)?;
    let leaf = tracked(p, [3])?;
    p.fact("the leaf requires grad", p.requires_grad(&leaf)?).known(true).claimed(BLOCK, false);
    Ok(())
}

/// What asks for gradients when it is made has them under `no_grad` too.
fn new_leaves_may_require_grad(p: &Probe) -> Result<(), Stop> {
    for leaf in ["torch.ones(2, requires_grad=True)", "nn.Parameter(torch.ones(2))", "nn.Linear(2, 2).weight"] {
        let source = format!("with torch.no_grad():\n    leaf = {leaf}\nanswer = leaf.requires_grad");
        p.fact(format!("{leaf} requires grad"), p.python(&source, &[])?).known(true).claimed(BLOCK, false);
    }
    Ok(())
}

/// `enable_grad` inside `no_grad` records again.
fn enable_grad_records_again(p: &Probe) -> Result<(), Stop> {
    let source = r"
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    with torch.enable_grad():
        y = w * 2
    z = w * 2
answer = [y.requires_grad, z.requires_grad]
";
    let [nested, after] = p.python_list(source, &[])?;
    p.fact("a result under the nested enable_grad requires grad", nested).known(true).claimed(BLOCK, false);
    p.fact("a result after it requires grad", after).known(false).claimed(BLOCK, false);
    Ok(())
}

/// A layer that has nothing to do returns its tracked input.
fn layer_that_returns_its_input(p: &Probe) -> Result<(), Stop> {
    let source = r"
w = torch.ones(3, requires_grad=True)
y = w * 2
with torch.no_grad():
    results = [nn.Identity()(y), nn.Dropout(0.5).eval()(y)]
answer = [result.requires_grad for result in results]
";
    let [identity, dropout] = p.python_list(source, &[])?;
    p.fact("the result of nn.Identity requires grad", identity).known(true).claimed(BLOCK, false);
    p.fact("the result of nn.Dropout in eval mode requires grad", dropout).known(true).claimed(BLOCK, false);
    Ok(())
}

/// Forward-mode derivatives are no recording: they are computed under `no_grad` as well.
fn forward_mode_goes_on(p: &Probe) -> Result<(), Stop> {
    let source = r"
from torch.autograd import forward_ad
with forward_ad.dual_level():
    x = forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0))
    with torch.no_grad():
        y = x * x
    answer = forward_ad.unpack_dual(y).tangent.item()
";
    p.fact("tangent of the square of 2", p.python(source, &[])?).known(4.0);
    Ok(())
}
