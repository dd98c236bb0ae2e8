//! What a detached tensor shares with its origin, and what it lets go.

use super::figures::grown;
use super::no_grad::graph::{LARGE, LARGE_BYTES, NODES, flags, forward, tracked};
use super::no_grad::listing::listing;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::Calls;

const STORED: &str = "t000.detach.stored-results";
const WEIGHTS: &str = "t004.detach.detach-clone-weights";
const NOT_ALONE: &str = "t004.detach.not-alone-for-copies";
const NO_GRAPH: &str = "element 0 of tensors does not require grad and does not have a grad_fn";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        listing(
            "detach.printed",
            PRINTED,
            &[
                ("t004.detach.printed-L82", "y.requires_grad = True"),
                ("t004.detach.printed-L83", "d.requires_grad = False"),
                ("t004.detach.printed-L84", "d.is_leaf = True"),
                ("t004.detach.printed-L85", "d = 6.0"),
                (
                    "t004.detach.printed-L86",
                    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
                ),
            ],
        ),
        Case::new(
            "detach.flags-and-value",
            &["t004.detach.flags", "t004.detach.cuts-one", "t004.detach.value-unchanged"],
            flags_and_value,
        ),
        Case::new(
            "detach.origin-keeps-its-graph",
            &["t004.detach.cuts-one", "t004.detach.one-tensor-not-block"],
            origin_keeps_its_graph,
        ),
        Case::new("detach.shares-the-storage", &["t004.detach.new-tensor-shares"], shares_the_storage),
        Case::pytorch("detach.gives-a-new-object", &["t004.detach.new-tensor-shares"], gives_a_new_object),
        Case::new("detach.no-backward", &["t004.detach.backward-fails-text"], no_backward),
        Case::pytorch("detach.text-of-the-error", &["t004.detach.backward-fails-text"], text_of_the_error),
        Case::new("detach.cut-branch", &["t004.detach.cut-branch", "t004.no-grad.table-usage"], cut_branch),
        Case::new("detach.weight-copy", &[WEIGHTS, NOT_ALONE], weight_copy),
        Case::pytorch("detach.state_dict-shares", &[], state_dict_shares),
        Case::new("detach.allocates-nothing", &["t004.detach.sharing-saves-memory"], allocates_nothing).counts_heap(),
        Case::pytorch("detach.graph-freed-with-the-origin", &[STORED], graph_freed_with_the_origin),
        Case::new("detach.process-memory-of-a-stored-result", &[STORED], memory_of_a_stored_result)
            .reads_process_memory(),
        Case::new("detach.process-memory-of-a-log", &["t000.detach.log-per-epoch"], memory_of_a_log)
            .reads_process_memory(),
    ]
}

const PRINTED: &str = r#"
w = torch.full((), 2.0, requires_grad=True)
y = w * 3
d = y.detach()
text = io.StringIO()
with contextlib.redirect_stdout(text):
    print("y.requires_grad =", y.requires_grad)
    print("d.requires_grad =", d.requires_grad)
    print("d.is_leaf =", d.is_leaf)
    print("d =", d.item())
    try:
        d.sum().backward()
    except RuntimeError as error:
        print(f"RuntimeError: {error}")
answer = text.getvalue().splitlines()
"#;

/// A detached tensor is a leaf that does not require grad, with the value of its origin.
fn flags_and_value(p: &Probe) -> Result<(), Stop> {
    let y = p.mul_scalar(tracked(p, [3])?, 3.0)?;
    let d = p.detach(&y)?;
    let [requires_grad, has_grad_fn, is_leaf] = flags(p, &d)?;
    p.fact("requires_grad", requires_grad).known(false).claimed("t004.detach.flags", false).example();
    p.fact("is a leaf", is_leaf).known(true).claimed("t004.detach.flags", true).example();
    p.fact("has a grad_fn", has_grad_fn).known(false).claimed("t004.detach.cuts-one", false);
    p.fact("equal values", p.equal(&d, &y)?).known(true).claimed("t004.detach.value-unchanged", true);
    p.fact("values", p.values(&d)?).known([6.0; 3]).claimed("t004.detach.value-unchanged", [6.0; 3]);
    Ok(())
}

/// The origin stays recorded, what is computed from it later is recorded, and its backward works.
fn origin_keeps_its_graph(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let y = p.mul_scalar(&w, 3.0)?;
    let d = p.detach(&y)?;
    let (later, from_cut) = (p.mul_scalar(&y, 2.0)?, p.mul_scalar(&d, 2.0)?);
    p.fact("flags of the origin", flags(p, &y)?)
        .known([true, true, false])
        .claimed("t004.detach.cuts-one", [true, true, false]);
    p.fact("a later result of the origin has a grad_fn", p.has_grad_fn(&later)?)
        .known(true)
        .claimed("t004.detach.one-tensor-not-block", true);
    p.fact("a result of the detached tensor has a grad_fn", p.has_grad_fn(&from_cut)?).known(false);
    p.backward(p.sum(&y)?)?;
    p.fact("gradient of the leaf", p.values(p.grad(&w)?)?)
        .known([3.0; 3])
        .claimed("t004.detach.cuts-one", [3.0; 3])
        .claimed("t004.detach.one-tensor-not-block", [3.0; 3]);
    Ok(())
}

/// Origin and detached tensor have one storage: a write through either is seen by both.
fn shares_the_storage(p: &Probe) -> Result<(), Stop> {
    let claim = "t004.detach.new-tensor-shares";
    let y = p.mul_scalar(tracked(p, [3])?, 3.0)?;
    let mut d = p.detach(&y)?;
    p.fact("same storage", p.storage_ptr(&d)? == p.storage_ptr(&y)?).known(true).claimed(claim, true);
    p.fact("same address", p.data_ptr(&d)? == p.data_ptr(&y)?).known(true).claimed(claim, true);
    p.fill_(&mut d, 9.0)?;
    p.fact("values of the origin after a write", p.values(&y)?).known([9.0; 3]).claimed(claim, [9.0; 3]);
    Ok(())
}

/// `detach` gives another tensor object.
fn gives_a_new_object(p: &Probe) -> Result<(), Stop> {
    let y = p.mul_scalar(tracked(p, [3])?, 3.0)?;
    p.fact("the same object", p.python("y.detach() is y", &[("y", &y)])?)
        .known(false)
        .claimed("t004.detach.new-tensor-shares", false);
    Ok(())
}

/// Backward from a detached tensor is refused.
fn no_backward(p: &Probe) -> Result<(), Stop> {
    let d = p.detach(p.mul_scalar(tracked(p, [3])?, 3.0)?)?;
    let loss = p.sum(&d)?;
    p.fact("kind of error of backward()", p.kind_of(p.backward(&loss))?)
        .known("no-graph")
        .claimed("t004.detach.backward-fails-text", "no-graph");
    Ok(())
}

/// `backward` and `autograd.grad` refuse a detached tensor with the same words.
fn text_of_the_error(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [3])?;
    let d = p.detach(p.mul_scalar(&w, 3.0)?)?;
    let refused = ("RuntimeError".to_owned(), NO_GRAPH.to_owned());
    for source in ["d.sum().backward()", "torch.autograd.grad(d.sum(), w)"] {
        let refusal = p.refusal(p.python(source, &[("d", &d), ("w", &w)]))?;
        let is_as_told = refusal.as_ref() == Some(&refused);
        p.fact(format!("{source} is refused with these words"), is_as_told)
            .known(true)
            .claimed("t004.detach.backward-fails-text", true);
    }
    Ok(())
}

/// A detached branch adds its value and no gradient.
fn cut_branch(p: &Probe) -> Result<(), Stop> {
    let gradient = |cut: bool| {
        let w = tracked(p, [])?;
        let square = p.mul(&w, &w)?;
        let branch = if cut { p.detach(&square)? } else { square };
        let loss = p.add(p.mul_scalar(&w, 3.0)?, &branch)?;
        p.backward(&loss)?;
        Ok((p.values(&loss)?, p.values(p.grad(&w)?)?))
    };
    let (with_both, cut) = (gradient(false)?, gradient(true)?);
    p.fact("values with both branches and with one cut are equal", with_both.0 == cut.0).known(true);
    p.fact("gradient with both branches", with_both.1).known([7.0]).claimed("t004.detach.cut-branch", [7.0]);
    p.fact("gradient with one cut", cut.1)
        .known([3.0])
        .claimed("t004.detach.cut-branch", [3.0])
        .claimed("t004.no-grad.table-usage", [3.0]);
    Ok(())
}

/// `detach` and `clone` in either order give an untracked copy that later updates leave alone; `detach` alone follows
/// them.
fn weight_copy(p: &Probe) -> Result<(), Stop> {
    let mut w = tracked(p, [3])?;
    let alone = p.detach(&w)?;
    let copy = Calls::clone(p, p.detach(&w)?)?;
    let other_order = p.detach(Calls::clone(p, &w)?)?;
    p.set_grad_enabled(false)?;
    p.fill_(&mut w, 5.0)?;
    for (name, copy) in [("detach().clone()", &copy), ("clone().detach()", &other_order)] {
        p.fact(format!("flags of {name}"), flags(p, copy)?)
            .known([false, false, true])
            .claimed(WEIGHTS, [false, false, true]);
        p.fact(format!("{name} has the storage of the weight"), p.storage_ptr(copy)? == p.storage_ptr(&w)?)
            .known(false)
            .claimed(WEIGHTS, false);
        p.fact(format!("values of {name} after an update of the weight"), p.values(copy)?)
            .known([2.0; 3])
            .claimed(WEIGHTS, [2.0; 3])
            .claimed(NOT_ALONE, [2.0; 3]);
    }
    p.fact("values of detach() after an update of the weight", p.values(&alone)?)
        .known([5.0; 3])
        .claimed(NOT_ALONE, [5.0; 3]);
    Ok(())
}

/// The entries of `state_dict()` are detached and share the storage of the weights, so they follow updates.
fn state_dict_shares(p: &Probe) -> Result<(), Stop> {
    let source = r"
model = nn.Linear(2, 1)
entry = model.state_dict()['weight']
with torch.no_grad():
    model.weight.fill_(5)
answer = [entry.requires_grad, entry.data_ptr() == model.weight.data_ptr(), entry.tolist() == [[5.0, 5.0]]]
";
    let [requires_grad, shares, follows] = p.python_list(source, &[])?;
    p.fact("the entry requires grad", requires_grad).known(false);
    p.fact("the entry has the address of the weight", shares).known(true);
    p.fact("the entry follows an update", follows).known(true);
    Ok(())
}

/// `detach` takes no bytes; a copy takes as many as the tensor has.
fn allocates_nothing(p: &Probe) -> Result<(), Stop> {
    const ELEMENTS: i64 = 1 << 16;
    let w = tracked(p, [ELEMENTS])?;
    let (d, detached) = p.account(|p| p.detach(&w))?;
    let (_copy, copied) = p.account(|p| Calls::clone(p, &d))?;
    let claim = "t004.detach.sharing-saves-memory";
    p.fact("bytes taken by detach()", detached.bytes as i64).known(0).claimed(claim, 0);
    p.fact("bytes taken by clone() after it", copied.bytes as i64).known(4 * ELEMENTS).claimed(claim, 4 * ELEMENTS);
    Ok(())
}

/// Reference counting frees the graph in the moment in which nobody holds the origin any more, with the garbage
/// collector off; holding the detached tensor beside the origin frees nothing.
fn graph_freed_with_the_origin(p: &Probe) -> Result<(), Stop> {
    let source = format!(
        "{NODES}{}",
        r"
w = torch.ones(3, requires_grad=True)
gc.disable()
try:
    y = double(w)
    d = y.detach()
    beside = alive()
    del y
    alone = alive()
    results = [double(w) for _ in range(4)]
    listed = alive()
    results = [result.detach() for result in results]
    answer = [beside, alone, listed, alive(), d.tolist() == [2.0] * 3]
finally:
    gc.enable()
"
    );
    let [beside, alone, listed, list_detached, usable] = p.python_list(&source, &[])?;
    p.fact("graphs live while the origin is held too", beside).known(1).claimed(STORED, 0);
    p.fact("graphs live when only the detached tensor is held", alone).known(0).claimed(STORED, 0);
    p.fact("graphs live with 4 results in a list", listed).known(4);
    p.fact("graphs live with these results detached", list_detached).known(0).claimed(STORED, 0);
    p.fact("the detached tensor has its values", usable).known(true);
    Ok(())
}

/// A result holds the tensors that its graph saved; a detached one holds its own storage alone, once its origin is
/// gone.
fn memory_of_a_stored_result(p: &Probe) -> Result<(), Stop> {
    let w = tracked(p, [LARGE])?;
    let before = p.resident_bytes()?;
    let y = forward(p, &w)?;
    let origin = grown(p, before, LARGE_BYTES)?;
    let d = p.detach(&y)?;
    let both = grown(p, before, LARGE_BYTES)?;
    p.release(y)?;
    let detached = grown(p, before, LARGE_BYTES)?;
    p.release(d)?;
    let none = grown(p, before, LARGE_BYTES)?;
    p.fact("tensors held with the origin", origin).known(3.0).within(0.1);
    p.fact("tensors held with both", both).known(3.0).claimed(STORED, 1.0).within(0.1);
    p.fact("tensors held with the detached one alone", detached).known(1.0).claimed(STORED, 1.0).within(0.1);
    p.fact("tensors held with neither", none).known(0.0).within(0.1);
    Ok(())
}

/// A log of detached results grows by one output an epoch; a log of the results themselves by their graphs as well.
fn memory_of_a_log(p: &Probe) -> Result<(), Stop> {
    const EPOCHS: i64 = 3;
    let w = tracked(p, [LARGE])?;
    for (name, detach, known) in [("detached results", true, 1.0), ("results with their graphs", false, 3.0)] {
        let before = p.resident_bytes()?;
        let mut log = Vec::new();
        for _ in 0..EPOCHS {
            let y = forward(p, &w)?;
            if detach {
                log.push(p.detach(&y)?);
                p.release(y)?;
            } else {
                log.push(y);
            }
        }
        let added = grown(p, before, LARGE_BYTES * EPOCHS)?;
        let fact = p.fact(format!("outputs added by each epoch of {name}"), added).known(known).within(0.1);
        if detach {
            fact.claimed("t000.detach.log-per-epoch", 1.0);
        }
        for tensor in log {
            p.release(tensor)?;
        }
    }
    Ok(())
}
