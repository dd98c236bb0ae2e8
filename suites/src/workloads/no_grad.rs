//! What recording costs, and what turning it off costs.

use super::{COMPUTING, F32, Purpose, SINGLE, Workload, input};
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

const PLAIN: Workload =
    Workload { name: "", about: "", bound: None, device: None, sizes: COMPUTING, dtypes: F32, write: forward_recorded };

pub(super) const FORWARD_RECORDED: Workload = Workload {
    name: "forward.recorded",
    about: "a forward pass of 8 square layers, recorded; elements are those of one layer's weight",
    write: forward_recorded,
    ..PLAIN
};

pub(super) const FORWARD_NO_GRAD: Workload = Workload {
    name: "forward.no-grad",
    about: "the same forward pass in a no_grad block",
    write: forward_no_grad,
    ..PLAIN
};

pub(super) const EVALUATION_RECORDED: Workload = Workload {
    name: "evaluation.recorded",
    about: "ten forward passes of 4 square layers, recorded, no output kept",
    write: evaluation_recorded,
    ..PLAIN
};

pub(super) const EVALUATION_NO_GRAD: Workload = Workload {
    name: "evaluation.no-grad",
    about: "the same ten forward passes in one no_grad block",
    write: evaluation_no_grad,
    ..PLAIN
};

pub(super) const BLOCK_EACH_OP: Workload = Workload {
    name: "block.each-op",
    about: "ten multiplications, each in a no_grad block of its own",
    sizes: SINGLE,
    write: block_each_op,
    ..PLAIN
};

pub(super) const BLOCK_ROUND_LOOP: Workload = Workload {
    name: "block.round-loop",
    about: "ten multiplications in one no_grad block",
    sizes: SINGLE,
    write: block_round_loop,
    ..PLAIN
};

/// Rows of the input of a forward pass.
const ROWS: i64 = 32;
const PASSES: usize = 10;
const OPS: usize = 10;

/// An input and square weights that require a gradient, each of about `elements` elements, scaled so that the outputs
/// stay near one.
fn model(b: &ProgramBuilder, layers: usize, elements: i64, dtype: DType) -> Result<(Handle, Vec<Handle>), Fail> {
    let width = elements.isqrt();
    let rows = input(b, ROWS * width, dtype)?;
    let rows = b.view(&rows, [ROWS, width])?;
    let weight = |_| {
        let flat = input(b, width * width, dtype)?;
        let scaled = b.mul_scalar(&flat, 1.0 / width as f64)?;
        // A tensor of its own, so that it is a leaf and can require a gradient.
        let square = b.view(&scaled, [width, width])?;
        let mut weight = b.clone(&square)?;
        b.requires_grad_(&mut weight, true)?;
        Ok(weight)
    };
    Ok((rows, (0..layers).map(weight).collect::<Result<_, Fail>>()?))
}

fn forward(b: &ProgramBuilder, rows: &Handle, weights: &[Handle]) -> Result<Handle, Fail> {
    let mut output = rows.clone();
    for (at, weight) in weights.iter().enumerate() {
        let next = b.matmul(&output, weight)?;
        if at > 0 {
            b.drop_tensor(output);
        }
        output = next;
    }
    Ok(output)
}

fn passes(b: &ProgramBuilder, rows: &Handle, weights: &[Handle]) -> Result<Handle, Fail> {
    let mut last = forward(b, rows, weights)?;
    for _ in 1..PASSES {
        let output = forward(b, rows, weights)?;
        b.drop_tensor(last);
        last = output;
    }
    Ok(last)
}

fn forward_recorded(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let (rows, weights) = model(b, 8, elements, dtype)?;
    b.begin_body();
    forward(b, &rows, &weights)
}

fn forward_no_grad(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let (rows, weights) = model(b, 8, elements, dtype)?;
    b.begin_body();
    b.enter_no_grad()?;
    let output = forward(b, &rows, &weights)?;
    b.leave_no_grad()?;
    Ok(output)
}

fn evaluation_recorded(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let (rows, weights) = model(b, 4, elements, dtype)?;
    b.begin_body();
    passes(b, &rows, &weights)
}

fn evaluation_no_grad(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let (rows, weights) = model(b, 4, elements, dtype)?;
    b.begin_body();
    b.enter_no_grad()?;
    let output = passes(b, &rows, &weights)?;
    b.leave_no_grad()?;
    Ok(output)
}

fn leaf(b: &ProgramBuilder, elements: i64, dtype: DType) -> Result<Handle, Fail> {
    let mut leaf = input(b, elements, dtype)?;
    b.requires_grad_(&mut leaf, true)?;
    Ok(leaf)
}

fn block_each_op(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let leaf = leaf(b, elements, dtype)?;
    b.begin_body();
    repeat(b, || {
        b.enter_no_grad()?;
        let product = b.mul_scalar(&leaf, 3.0)?;
        b.leave_no_grad()?;
        Ok(product)
    })
}

fn block_round_loop(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let leaf = leaf(b, elements, dtype)?;
    b.begin_body();
    b.enter_no_grad()?;
    let product = repeat(b, || b.mul_scalar(&leaf, 3.0))?;
    b.leave_no_grad()?;
    Ok(product)
}

/// An op ten times over; each result goes before the next is made.
fn repeat(b: &ProgramBuilder, op: impl Fn() -> Result<Handle, Fail>) -> Result<Handle, Fail> {
    let mut last = op()?;
    for _ in 1..OPS {
        b.drop_tensor(last);
        last = op()?;
    }
    Ok(last)
}
