//! The loops that bring many elements together.

use super::parallel;
use super::run::{BUFFER, Base};
use super::walk::Walk;
use crate::backend::Operand;
use crate::element::{Element, convert};
use rayon::prelude::*;
use std::slice;

/// How elements are brought together: the neutral start, one more element, two parts.
pub(super) struct Fold<A, Step, Join> {
    pub(super) start: A,
    pub(super) step: Step,
    pub(super) join: Join,
}

/// Folds the elements over `dims` and writes one result for each position of the other dimensions, which are `out`'s.
pub(super) fn fold<S: Element, A: Copy + Send + Sync, D: Copy>(
    out: Operand<'_>,
    input: Operand<'_>,
    dims: &[usize],
    fold: &Fold<A, impl Fn(A, S::Compute) -> A + Send + Sync, impl Fn(A, A) -> A + Send + Sync>,
    finish: impl Fn(A) -> D + Send + Sync,
) {
    let (base, base_in) = (Base::<D>::of(out), Base::<S>::of(input));
    let starts = input.layout().without(dims);
    let within = Walk::over([input.layout()], dims);
    let total = |walk: &Walk<1>, from: usize| {
        let mut total = fold.start;
        walk.each([from], |run| {
            // SAFETY: the run lies in the operand's block.
            total =
                (fold.join)(total, unsafe { fold_run(base_in.at(run.offsets[0]), run.strides[0], run.length, fold) });
        });
        total
    };
    if starts.numel() == 1 {
        let parts = within.pieces(parallel::parts(input.layout()));
        let totals: Vec<A> = if parallel::pays(input.layout().numel()) {
            parts.par_iter().map(|part| total(part, 0)).collect()
        } else {
            parts.iter().map(|part| total(part, 0)).collect()
        };
        let all = totals.into_iter().fold(fold.start, &fold.join);
        // SAFETY: the one element of the output, which nothing else refers to.
        unsafe { base.at(out.layout().offset()).write(finish(all)) }
        return;
    }
    let independent = || parallel::independent(out, &[input]);
    parallel::each(Walk::new([out.layout(), &starts]), independent, |run| {
        for k in 0..run.length {
            // Both walks count from the offset of the input; it counts once.
            let all = total(&within, run.offsets[1] + k * run.strides[1] - starts.offset());
            // SAFETY: the run lies in the output's block, which nothing else refers to.
            unsafe { base.at(run.offsets[0] + k * run.strides[0]).write(finish(all)) }
        }
    });
}

/// Independent accumulators, so that one addition need not wait for the one before.
const LANES: usize = 8;

/// # Safety
/// `length` elements from `from` on, `stride` apart, must be valid for reads.
unsafe fn fold_run<S: Element, A: Copy>(
    from: *const S,
    stride: usize,
    length: usize,
    fold: &Fold<A, impl Fn(A, S::Compute) -> A, impl Fn(A, A) -> A>,
) -> A {
    let Fold { start, step, join } = fold;
    if stride != 1 {
        // SAFETY: promised by the caller.
        return (0..length).fold(*start, |total, k| step(total, convert(unsafe { from.add(k * stride).read() })));
    }
    // SAFETY: promised by the caller.
    let elements = unsafe { slice::from_raw_parts(from, length) };
    let mut lanes = [*start; LANES];
    if S::BUFFERED {
        let mut loaded = [S::Compute::from_i64(0); BUFFER];
        let mut total = *start;
        for part in elements.chunks(BUFFER) {
            S::load(part, &mut loaded[..part.len()]);
            let (groups, rest) = loaded[..part.len()].as_chunks::<LANES>();
            add_groups(&mut lanes, groups, step, |element| element);
            total = rest.iter().fold(total, |total, element| step(total, *element));
        }
        return lanes.into_iter().fold(total, join);
    }
    let (groups, rest) = elements.as_chunks::<LANES>();
    add_groups(&mut lanes, groups, step, convert);
    let total = lanes.into_iter().fold(*start, join);
    rest.iter().fold(total, |total, element| step(total, convert(*element)))
}

#[inline(always)]
fn add_groups<E: Copy, C, A: Copy>(
    lanes: &mut [A; LANES],
    groups: &[[E; LANES]],
    step: impl Fn(A, C) -> A,
    load: impl Fn(E) -> C,
) {
    for group in groups {
        for (lane, element) in lanes.iter_mut().zip(group) {
            *lane = step(*lane, load(*element));
        }
    }
}
