//! Bugs planted into the reference engine's answers: each must be found.

use crate::{campaign, side};
use subject::{Fail, Handle, Op, Value};
use suites::oracle::{Side, chain};

/// A wrong way to carry out an op; `None` for the ops that it leaves alone.
type Bug = fn(&mut dyn Side, &Op) -> Option<Op>;

/// A side with a bug.
struct Mutant<S> {
    side: S,
    bug: Bug,
}

impl<S: Side> Side for Mutant<S> {
    fn name(&self) -> &str {
        "mutant"
    }

    fn reset(&mut self) -> Result<(), String> {
        self.side.reset()
    }

    fn release(&mut self, handle: &Handle) -> Result<(), String> {
        self.side.release(handle)
    }

    fn call(&mut self, op: &Op) -> Result<Value, Fail> {
        let wrong = (self.bug)(&mut self.side, op);
        self.side.call(wrong.as_ref().unwrap_or(op))
    }
}

const BUGS: [(&str, Bug); 12] = [
    ("transpose keeps the strides", |side, op| {
        let Op::Transpose { a, dim0, dim1 } = op else { return None };
        let (mut shape, strides, offset) = layout(side, a);
        let (dim0, dim1) = (at(*dim0, &shape)?, at(*dim1, &shape)?);
        shape.swap(dim0, dim1);
        Some(Op::AsStrided { a: a.clone(), shape, strides, offset })
    }),
    ("narrow forgets the start", |_, op| {
        let Op::Narrow { a, dim, length, .. } = op else { return None };
        Some(Op::Narrow { a: a.clone(), dim: *dim, start: 0, length: *length })
    }),
    ("select goes on by the stride of another dimension", |side, op| {
        let Op::Select { a, dim, index } = op else { return None };
        let (mut shape, mut strides, offset) = layout(side, a);
        let dim = at(*dim, &shape)?;
        let index = if *index < 0 { index + shape[dim] } else { *index };
        let offset = offset + index * strides[(dim + 1) % strides.len()];
        shape.remove(dim);
        strides.remove(dim);
        Some(Op::AsStrided { a: a.clone(), shape, strides, offset })
    }),
    ("unfold takes every window", |_, op| {
        let Op::Unfold { a, dim, size, .. } = op else { return None };
        Some(Op::Unfold { a: a.clone(), dim: *dim, size: *size, step: 1 })
    }),
    ("diagonal goes to the other side", |_, op| {
        let Op::Diagonal { a, offset, dim0, dim1 } = op else { return None };
        Some(Op::Diagonal { a: a.clone(), offset: -offset, dim0: *dim0, dim1: *dim1 })
    }),
    ("expand keeps the stride of what it repeats", |side, op| {
        let Op::Expand { a, shape } = op else { return None };
        let (_, strides, offset) = layout(side, a);
        let strides = [vec![0; shape.len().checked_sub(strides.len())?], strides].concat();
        Some(Op::AsStrided { a: a.clone(), shape: shape.clone(), strides, offset })
    }),
    ("slice takes every row", |_, op| {
        let Op::Slice { a, dim, start, end, .. } = op else { return None };
        Some(Op::Slice { a: a.clone(), dim: *dim, start: *start, end: *end, step: 1 })
    }),
    ("movedim stops one dimension early", |side, op| {
        let Op::Movedim { a, source, destination } = op else { return None };
        let shape = layout(side, a).0;
        let destination = at(*destination, &shape)?.saturating_sub(1) as i64;
        Some(Op::Movedim { a: a.clone(), source: *source, destination })
    }),
    ("chunk rounds down", |side, op| {
        let Op::Chunk { a, chunks, dim } = op else { return None };
        let shape = layout(side, a).0;
        let size = shape[at(*dim, &shape)?];
        (size > 0).then(|| Op::Split { a: a.clone(), size: (size / chunks).max(1), dim: *dim })
    }),
    ("as_strided forgets the offset", |_, op| {
        let Op::AsStrided { a, shape, strides, .. } = op else { return None };
        Some(Op::AsStrided { a: a.clone(), shape: shape.clone(), strides: strides.clone(), offset: 0 })
    }),
    ("permute applies the inverse order", |_, op| {
        let Op::Permute { a, dims } = op else { return None };
        let inverse = |dim| dims.iter().position(|to| *to == dim).map(|place| place as i64);
        Some(Op::Permute { a: a.clone(), dims: (0..dims.len() as i64).filter_map(inverse).collect() })
    }),
    ("a write goes to a copy where elements do not follow each other", |side, op| {
        let Op::Fill_ { a, value } = op else { return None };
        let Value::Tensor(copy) = side.call(&Op::Contiguous { a: a.clone() }).unwrap() else { return None };
        Some(Op::Fill_ { a: copy, value: *value })
    }),
];

#[test]
fn every_planted_bug_is_found() {
    let mut numpy = side("numpy");
    for (what, bug) in BUGS {
        let mut mutant = Mutant { side: side("reference"), bug };
        let (_, finding) = campaign(&mut mutant, &mut numpy, chain);
        let finding = finding.unwrap_or_else(|| panic!("not found: {what}"));
        println!("{what}: {finding}");
        assert!(finding.steps.len() < 12, "{what} is not shrunk: {finding}");
    }
}

fn layout(side: &mut dyn Side, a: &Handle) -> (Vec<i64>, Vec<i64>, i64) {
    let ints = |value| match value {
        Ok(Value::List(list)) => list.iter().map(int).collect(),
        other => panic!("expected whole numbers, got {other:?}"),
    };
    let shape = ints(side.call(&Op::Shape { a: a.clone() }));
    let strides = ints(side.call(&Op::Stride { a: a.clone() }));
    (shape, strides, int(&side.call(&Op::StorageOffset { a: a.clone() }).unwrap()))
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(int) => *int,
        other => panic!("expected a whole number, got {other}"),
    }
}

/// The place that a dimension means, from either end; `None` where it means none.
fn at(dim: i64, shape: &[i64]) -> Option<usize> {
    let place = if dim < 0 { dim + shape.len() as i64 } else { dim };
    usize::try_from(place).ok().filter(|place| *place < shape.len())
}
