//! Graphs to look at, for the cases about recording and its absence.

use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

/// Elements of a tensor of 40 MiB: large enough for the system to show it, small enough to be held several times.
pub const LARGE: i64 = 10 << 20;

/// Bytes of a tensor of [`LARGE`] elements.
pub const LARGE_BYTES: i64 = LARGE * 4;

/// Python: `saved(run)` counts the tensors that autograd saves for backward while `run()` runs.
pub const SAVED: &str = r"
def saved(run):
    kept = []
    def pack(tensor):
        kept.append(None)
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        run()
    return len(kept)
";

/// Python: `double(x)` is `x * 2` through a node of its own; `alive()` counts the nodes that were recorded and are not
/// yet freed.
pub const NODES: &str = r"
class Mark:
    pass

marks = []

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark = Mark()
        marks.append(weakref.ref(ctx.mark))
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

double = Double.apply

def alive():
    return sum(mark() is not None for mark in marks)
";

/// A leaf of f32 whose operations are recorded; each element is 2.
pub fn tracked(p: &Probe, shape: impl Into<Vec<i64>>) -> Result<Handle, Stop> {
    let mut leaf = p.full(shape, 2.0, DType::F32)?;
    p.requires_grad_(&mut leaf, true)?;
    Ok(leaf)
}

/// What a tensor says of recording: whether it requires grad, has a `grad_fn`, is a leaf.
pub fn flags(p: &Probe, a: &Handle) -> Result<[bool; 3], Stop> {
    Ok([p.requires_grad(a)?, p.has_grad_fn(a)?, p.is_leaf(a)?])
}

/// Three products in a row. A graph keeps the two tensors between, which nothing else holds.
pub fn forward(p: &Probe, input: &Handle) -> Result<Handle, Stop> {
    let first = p.mul(input, input)?;
    let second = p.mul(&first, &first)?;
    let output = p.mul(&second, &second)?;
    p.release(first)?;
    p.release(second)?;
    Ok(output)
}
