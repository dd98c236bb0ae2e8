//! The loops over runs, typed. Runs without gaps go through slices or one pointer, which the compiler can vectorize.

use super::walk::Walk;
use crate::backend::Operand;
use std::slice;

/// Whether two ranges of memory have no byte in common.
fn apart<A, B>(a: *const A, b: *const B, length: usize) -> bool {
    let (a, b) = (a as usize, b as usize);
    a + length * size_of::<A>() <= b || b + length * size_of::<B>() <= a
}

/// Where element `offset` of an operand lies. `T` is the type of the operand's dtype.
fn at<T>(operand: Operand<'_>, offset: usize) -> *mut T {
    debug_assert_eq!(operand.dtype().element_size(), size_of::<T>());
    operand.block().cast::<T>().as_ptr().wrapping_add(offset)
}

/// Writes what `next` gives into every element, in row-major order.
pub(super) fn generate<D: Copy>(out: Operand<'_>, mut next: impl FnMut() -> D) {
    Walk::new([out.layout()]).each([0], |run| {
        let (to, [step]) = (at::<D>(out, run.offsets[0]), run.strides);
        if step == 1 {
            // SAFETY: the run lies in the operand's block, which nothing else refers to.
            unsafe { slice::from_raw_parts_mut(to, run.length) }.iter_mut().for_each(|element| *element = next());
            return;
        }
        for k in 0..run.length {
            // SAFETY: as above.
            unsafe { to.add(k * step).write(next()) }
        }
    });
}

/// Hands every element to `visit`, in row-major order.
pub(super) fn visit<S: Copy>(input: Operand<'_>, mut visit: impl FnMut(S)) {
    Walk::new([input.layout()]).each([0], |run| {
        let from = at::<S>(input, run.offsets[0]);
        for k in 0..run.length {
            // SAFETY: the run lies in the operand's block.
            visit(unsafe { from.add(k * run.strides[0]).read() });
        }
    });
}

/// Writes `f(element)` for every element of the input.
pub(super) fn map<S: Copy, D: Copy>(out: Operand<'_>, input: Operand<'_>, f: impl Fn(S) -> D) {
    Walk::new([out.layout(), input.layout()]).each([0, 0], |run| {
        let (to, from) = (at::<D>(out, run.offsets[0]), at::<S>(input, run.offsets[1]));
        // SAFETY: the runs lie in the blocks of the operands, which nothing else refers to.
        unsafe { map_run(to, from, run.strides, run.length, &f) }
    });
}

/// # Safety
/// `length` elements from each pointer on, `steps` apart, must be valid for the accesses, and reached by nothing else.
unsafe fn map_run<S: Copy, D: Copy>(to: *mut D, from: *const S, steps: [usize; 2], length: usize, f: impl Fn(S) -> D) {
    if steps == [1, 1] && apart(to, from, length) {
        // SAFETY: promised by the caller, and the ranges are apart.
        let (out, input) = unsafe { (slice::from_raw_parts_mut(to, length), slice::from_raw_parts(from, length)) };
        out.iter_mut().zip(input).for_each(|(out, input)| *out = f(*input));
    } else if steps == [1, 1] && std::ptr::eq(to, from.cast()) && size_of::<S>() == size_of::<D>() {
        for k in 0..length {
            // SAFETY: promised by the caller; input and output are the same elements.
            unsafe {
                let element = to.add(k);
                element.write(f(element.cast::<S>().read()));
            }
        }
    } else {
        for k in 0..length {
            // SAFETY: promised by the caller.
            unsafe { to.add(k * steps[0]).write(f(from.add(k * steps[1]).read())) }
        }
    }
}

/// Writes `f(first, second)` for every pair of elements.
pub(super) fn zip<T: Copy>(out: Operand<'_>, first: Operand<'_>, second: Operand<'_>, f: impl Fn(T, T) -> T) {
    Walk::new([out.layout(), first.layout(), second.layout()]).each([0, 0, 0], |run| {
        let to = at::<T>(out, run.offsets[0]);
        let (a, b) = (at::<T>(first, run.offsets[1]), at::<T>(second, run.offsets[2]));
        // SAFETY: the runs lie in the blocks of the operands, which nothing else refers to.
        unsafe { zip_run(to, a, b, run.strides, run.length, &f) }
    });
}

/// # Safety
/// As for [`map_run`].
unsafe fn zip_run<T: Copy>(
    to: *mut T,
    a: *const T,
    b: *const T,
    steps: [usize; 3],
    length: usize,
    f: impl Fn(T, T) -> T,
) {
    let [step, step_a, step_b] = steps;
    if step == 1 && step_b == 0 && apart(to, b, length) {
        // SAFETY: promised by the caller. `b` is read before anything is written, and is not written.
        unsafe {
            let constant = b.read();
            map_run(to, a, [step, step_a], length, |x| f(x, constant));
        }
    } else if steps == [1, 1, 1] && to.cast_const() == a && apart(to, b, length) {
        // SAFETY: promised by the caller, and the ranges are apart.
        let (out, second) = unsafe { (slice::from_raw_parts_mut(to, length), slice::from_raw_parts(b, length)) };
        out.iter_mut().zip(second).for_each(|(out, second)| *out = f(*out, *second));
    } else if steps == [1, 1, 1] && apart(to, a, length) && apart(to, b, length) {
        // SAFETY: promised by the caller, and the output is apart from both inputs.
        let (out, first, second) = unsafe {
            (slice::from_raw_parts_mut(to, length), slice::from_raw_parts(a, length), slice::from_raw_parts(b, length))
        };
        out.iter_mut().zip(first.iter().zip(second)).for_each(|(out, (first, second))| *out = f(*first, *second));
    } else {
        for k in 0..length {
            // SAFETY: promised by the caller.
            unsafe { to.add(k * step).write(f(a.add(k * step_a).read(), b.add(k * step_b).read())) }
        }
    }
}

/// Folds the elements over `dims` and writes one result for each position of the other dimensions, which are `out`'s.
pub(super) fn fold<S: Copy, A: Copy, D: Copy>(
    out: Operand<'_>,
    input: Operand<'_>,
    dims: &[usize],
    fold: &Fold<A, impl Fn(A, S) -> A, impl Fn(A, A) -> A>,
    finish: impl Fn(A) -> D,
) {
    let starts = input.layout().without(dims);
    let within = Walk::over([input.layout()], dims);
    Walk::new([out.layout(), &starts]).each([0, 0], |run| {
        for k in 0..run.length {
            // Both walks count from the offset of the input; it counts once.
            let base = run.offsets[1] + k * run.strides[1] - starts.offset();
            let mut total = fold.start;
            within.each([base], |run| {
                let from = at::<S>(input, run.offsets[0]);
                // SAFETY: the run lies in the operand's block.
                total = (fold.join)(total, unsafe { fold_run(from, run.strides[0], run.length, fold) });
            });
            // SAFETY: the run lies in the output's block, which nothing else refers to.
            unsafe { at::<D>(out, run.offsets[0] + k * run.strides[0]).write(finish(total)) }
        }
    });
}

/// How elements are brought together: the neutral start, one more element, two parts.
pub(super) struct Fold<A, Step, Join> {
    pub(super) start: A,
    pub(super) step: Step,
    pub(super) join: Join,
}

/// Independent accumulators, so that one addition need not wait for the one before.
const LANES: usize = 8;

/// # Safety
/// `length` elements from `from` on, `stride` apart, must be valid for reads.
unsafe fn fold_run<S: Copy, A: Copy>(
    from: *const S,
    stride: usize,
    length: usize,
    fold: &Fold<A, impl Fn(A, S) -> A, impl Fn(A, A) -> A>,
) -> A {
    let Fold { start, step, join } = fold;
    if stride != 1 {
        // SAFETY: promised by the caller.
        return (0..length).fold(*start, |total, k| step(total, unsafe { from.add(k * stride).read() }));
    }
    // SAFETY: promised by the caller.
    let (groups, rest) = unsafe { slice::from_raw_parts(from, length) }.as_chunks::<LANES>();
    let mut lanes = [*start; LANES];
    for group in groups {
        for (lane, element) in lanes.iter_mut().zip(group) {
            *lane = step(*lane, *element);
        }
    }
    let total = lanes.into_iter().fold(*start, join);
    rest.iter().fold(total, |total, element| step(total, *element))
}

/// Whether `same` holds for every pair of elements; stops after the first run that has another.
pub(super) fn all<T: Copy>(a: Operand<'_>, b: Operand<'_>, same: impl Fn(T, T) -> bool) -> bool {
    let mut equal = true;
    Walk::new([a.layout(), b.layout()]).each([0, 0], |run| {
        let (x, y) = (at::<T>(a, run.offsets[0]), at::<T>(b, run.offsets[1]));
        // SAFETY: the runs lie in the blocks of the operands.
        equal = equal
            && (0..run.length)
                .all(|k| unsafe { same(x.add(k * run.strides[0]).read(), y.add(k * run.strides[1]).read()) });
    });
    equal
}
