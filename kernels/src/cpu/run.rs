//! The loops over runs, typed. Runs without gaps go through slices, which the compiler can vectorize, also where an input
//! is the output.

use super::parallel;
use super::walk::Walk;
use crate::backend::Operand;
use crate::element::{Element, convert};
use std::any::TypeId;
use std::slice;

/// Start of an operand's block as its elements' type, which threads may share.
pub(super) struct Base<T>(*mut T);

// SAFETY: a base is an address; what is done through it is answered for where it is done.
unsafe impl<T> Send for Base<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Base<T> {}

impl<T> Base<T> {
    /// `T` is the type of the operand's dtype, or one of the same size.
    pub(super) fn of(operand: Operand<'_>) -> Base<T> {
        debug_assert_eq!(operand.dtype().element_size(), size_of::<T>());
        Base(operand.block().cast::<T>().as_ptr())
    }

    /// Where element `offset` lies.
    pub(super) fn at(&self, offset: usize) -> *mut T {
        self.0.wrapping_add(offset)
    }
}

/// Elements converted at a time, in buffers that stay in the nearest cache.
pub(super) const BUFFER: usize = 256;

/// Whether two ranges of memory have no byte in common.
fn apart<A, B>(a: *const A, b: *const B, length: usize) -> bool {
    let (a, b) = (a as usize, b as usize);
    a + length * size_of::<A>() <= b || b + length * size_of::<B>() <= a
}

/// Whether an input is the output itself, element for element.
fn same<D: Element, S: Element>(to: *const D, from: *const S) -> bool {
    TypeId::of::<D>() == TypeId::of::<S>() && to == from.cast()
}

/// An element of the output as one of the input that [`same`] found it to be.
///
/// # Safety
/// `S` and `D` are the same type.
#[inline(always)]
unsafe fn read_as<D: Element, S: Element>(element: &D) -> S {
    // SAFETY: promised by the caller.
    unsafe { std::ptr::from_ref(element).cast::<S>().read() }
}

/// Writes what `next` gives into every element, in row-major order.
pub(super) fn generate<D: Copy>(out: Operand<'_>, mut next: impl FnMut() -> D) {
    let base = Base::<D>::of(out);
    Walk::new([out.layout()]).each([0], |run| {
        let to = base.at(run.offsets[0]);
        for k in 0..run.length {
            // SAFETY: the run lies in the operand's block, which nothing else refers to.
            unsafe { to.add(k * run.strides[0]).write(next()) }
        }
    });
}

/// Writes one value into every element.
pub(super) fn fill<D: Element>(out: Operand<'_>, value: D) {
    let base = Base::<D>::of(out);
    let independent = || parallel::independent(out, &[]);
    parallel::each(Walk::new([out.layout()]), independent, |run| {
        let to = base.at(run.offsets[0]);
        if run.strides[0] == 1 {
            // SAFETY: the run lies in the operand's block, which nothing else refers to.
            unsafe { slice::from_raw_parts_mut(to, run.length) }.fill(value);
            return;
        }
        for k in 0..run.length {
            // SAFETY: as above.
            unsafe { to.add(k * run.strides[0]).write(value) }
        }
    });
}

/// Hands every element to `visit`, in row-major order.
pub(super) fn visit<S: Copy>(input: Operand<'_>, mut visit: impl FnMut(S)) {
    let base = Base::<S>::of(input);
    Walk::new([input.layout()]).each([0], |run| {
        let from = base.at(run.offsets[0]);
        for k in 0..run.length {
            // SAFETY: the run lies in the operand's block.
            visit(unsafe { from.add(k * run.strides[0]).read() });
        }
    });
}

/// Writes `f(element)` for every element of the input.
pub(super) fn map<S: Element, D: Element>(
    out: Operand<'_>,
    input: Operand<'_>,
    f: impl Fn(S::Compute) -> D::Compute + Send + Sync,
) {
    let (base, base_in) = (Base::<D>::of(out), Base::<S>::of(input));
    let independent = || parallel::independent(out, &[input]);
    parallel::each(Walk::new([out.layout(), input.layout()]), independent, |run| {
        let (to, from) = (base.at(run.offsets[0]), base_in.at(run.offsets[1]));
        // SAFETY: the runs lie in the blocks of the operands, which nothing else refers to.
        unsafe { map_run::<S, D>(to, from, run.strides, run.length, &f) }
    });
}

/// Writes every element of the input, converted. There are as many of these loops as pairs of types, so each is plain.
pub(super) fn convert_all<S: Element, D: Element>(out: Operand<'_>, input: Operand<'_>) {
    let (base, base_in) = (Base::<D>::of(out), Base::<S>::of(input));
    Walk::new([out.layout(), input.layout()]).each([0, 0], |run| {
        let (to, from) = (base.at(run.offsets[0]), base_in.at(run.offsets[1]));
        for k in 0..run.length {
            // SAFETY: the runs lie in the blocks of the operands, which nothing else refers to.
            unsafe { to.add(k * run.strides[0]).write(convert(from.add(k * run.strides[1]).read())) }
        }
    });
}

/// # Safety
/// `length` elements from each pointer on, `steps` apart, must be valid for the accesses, and reached by nothing else.
unsafe fn map_run<S: Element, D: Element>(
    to: *mut D,
    from: *const S,
    steps: [usize; 2],
    length: usize,
    f: impl Fn(S::Compute) -> D::Compute,
) {
    let dense = steps == [1, 1];
    // SAFETY: promised by the caller; slices are made of memory that is apart, or of the output alone.
    unsafe {
        if dense && (S::BUFFERED || D::BUFFERED) {
            map_buffered::<S, D>(to, from, length, f);
        } else if dense && apart(to, from, length) {
            let (out, input) = (slice::from_raw_parts_mut(to, length), slice::from_raw_parts(from, length));
            out.iter_mut().zip(input).for_each(|(out, input)| *out = D::computed(f(convert(*input))));
        } else if dense && same(to, from) {
            let out = slice::from_raw_parts_mut(to, length);
            out.iter_mut().for_each(|own| *own = D::computed(f(convert(read_as::<D, S>(own)))));
        } else {
            for k in 0..length {
                to.add(k * steps[0]).write(D::computed(f(convert(from.add(k * steps[1]).read()))));
            }
        }
    }
}

/// # Safety
/// As for [`map_run`], with steps of 1.
unsafe fn map_buffered<S: Element, D: Element>(
    to: *mut D,
    from: *const S,
    length: usize,
    f: impl Fn(S::Compute) -> D::Compute,
) {
    let mut loaded = [S::Compute::from_i64(0); BUFFER];
    let mut computed = [D::Compute::from_i64(0); BUFFER];
    for start in (0..length).step_by(BUFFER) {
        let count = BUFFER.min(length - start);
        // SAFETY: promised by the caller; the slice is gone before anything is written.
        S::load(unsafe { slice::from_raw_parts(from.add(start), count) }, &mut loaded[..count]);
        computed.iter_mut().zip(&loaded).for_each(|(computed, loaded)| *computed = f(*loaded));
        // SAFETY: promised by the caller.
        D::store(&computed[..count], unsafe { slice::from_raw_parts_mut(to.add(start), count) });
    }
}

/// Writes `f(first, second)` for every pair of elements.
pub(super) fn zip<S: Element, D: Element>(
    out: Operand<'_>,
    first: Operand<'_>,
    second: Operand<'_>,
    f: impl Fn(S::Compute, S::Compute) -> D::Compute + Send + Sync,
) {
    let (base, base_a, base_b) = (Base::<D>::of(out), Base::<S>::of(first), Base::<S>::of(second));
    let independent = || parallel::independent(out, &[first, second]);
    parallel::each(Walk::new([out.layout(), first.layout(), second.layout()]), independent, |run| {
        let to = base.at(run.offsets[0]);
        let (a, b) = (base_a.at(run.offsets[1]), base_b.at(run.offsets[2]));
        // SAFETY: the runs lie in the blocks of the operands, which nothing else refers to.
        unsafe { zip_run::<S, D>(to, a, b, run.strides, run.length, &f) }
    });
}

/// # Safety
/// As for [`map_run`].
unsafe fn zip_run<S: Element, D: Element>(
    to: *mut D,
    a: *const S,
    b: *const S,
    steps: [usize; 3],
    length: usize,
    f: impl Fn(S::Compute, S::Compute) -> D::Compute,
) {
    let dense = steps == [1, 1, 1];
    let (a_apart, b_apart) = (apart(to, a, length), apart(to, b, length));
    // SAFETY: promised by the caller; slices are made of memory that is apart, or of the output alone. A number spread over
    // the run is read before anything is written, and is not written.
    unsafe {
        if steps[2] == 0 && apart(to, b, length * steps[0].max(1)) {
            let constant = convert(b.read());
            map_run::<S, D>(to, a, [steps[0], steps[1]], length, |x| f(x, constant));
        } else if dense && (S::BUFFERED || D::BUFFERED) {
            zip_buffered::<S, D>(to, a, b, length, f);
        } else if dense && a_apart && b_apart {
            let out = slice::from_raw_parts_mut(to, length);
            let (a, b) = (slice::from_raw_parts(a, length), slice::from_raw_parts(b, length));
            out.iter_mut()
                .zip(a.iter().zip(b))
                .for_each(|(out, (x, y))| *out = D::computed(f(convert(*x), convert(*y))));
        } else if dense && same(to, a) && same(to, b) {
            let out = slice::from_raw_parts_mut(to, length);
            out.iter_mut()
                .for_each(|own| *own = D::computed(f(convert(read_as::<D, S>(own)), convert(read_as::<D, S>(own)))));
        } else if dense && same(to, a) && b_apart {
            let (out, b) = (slice::from_raw_parts_mut(to, length), slice::from_raw_parts(b, length));
            out.iter_mut()
                .zip(b)
                .for_each(|(own, y)| *own = D::computed(f(convert(read_as::<D, S>(own)), convert(*y))));
        } else if dense && same(to, b) && a_apart {
            let (out, a) = (slice::from_raw_parts_mut(to, length), slice::from_raw_parts(a, length));
            out.iter_mut()
                .zip(a)
                .for_each(|(own, x)| *own = D::computed(f(convert(*x), convert(read_as::<D, S>(own)))));
        } else {
            for k in 0..length {
                let (x, y) = (a.add(k * steps[1]).read(), b.add(k * steps[2]).read());
                to.add(k * steps[0]).write(D::computed(f(convert(x), convert(y))));
            }
        }
    }
}

/// # Safety
/// As for [`map_run`], with steps of 1.
unsafe fn zip_buffered<S: Element, D: Element>(
    to: *mut D,
    a: *const S,
    b: *const S,
    length: usize,
    f: impl Fn(S::Compute, S::Compute) -> D::Compute,
) {
    let (mut first, mut second) = ([S::Compute::from_i64(0); BUFFER], [S::Compute::from_i64(0); BUFFER]);
    let mut computed = [D::Compute::from_i64(0); BUFFER];
    for start in (0..length).step_by(BUFFER) {
        let count = BUFFER.min(length - start);
        // SAFETY: promised by the caller; the slices are gone before anything is written.
        unsafe {
            S::load(slice::from_raw_parts(a.add(start), count), &mut first[..count]);
            S::load(slice::from_raw_parts(b.add(start), count), &mut second[..count]);
        }
        let pairs = first.iter().zip(&second);
        computed.iter_mut().zip(pairs).for_each(|(computed, (x, y))| *computed = f(*x, *y));
        // SAFETY: promised by the caller.
        D::store(&computed[..count], unsafe { slice::from_raw_parts_mut(to.add(start), count) });
    }
}

/// Writes the element of `first` where that of `condition` is not zero, else that of `second`.
pub(super) fn select<T: Element>(out: Operand<'_>, condition: Operand<'_>, first: Operand<'_>, second: Operand<'_>) {
    let (base, base_if) = (Base::<T>::of(out), Base::<u8>::of(condition));
    let (base_a, base_b) = (Base::<T>::of(first), Base::<T>::of(second));
    let independent = || parallel::independent(out, &[condition, first, second]);
    let layouts = [out, condition, first, second].map(|operand| operand.layout());
    parallel::each(Walk::new(layouts), independent, |run| {
        let (to, chosen) = (base.at(run.offsets[0]), base_if.at(run.offsets[1]));
        let (a, b) = (base_a.at(run.offsets[2]), base_b.at(run.offsets[3]));
        if run.strides == [1; 4]
            && [a, b].iter().all(|input| apart(to, *input, run.length))
            && apart(to, chosen, run.length)
        {
            // SAFETY: the runs lie in the blocks of the operands, which nothing else refers to; the output is apart.
            let (out, (chosen, (a, b))) = unsafe {
                let (a, b) = (slice::from_raw_parts(a, run.length), slice::from_raw_parts(b, run.length));
                (slice::from_raw_parts_mut(to, run.length), (slice::from_raw_parts(chosen, run.length), (a, b)))
            };
            let inputs = chosen.iter().zip(a.iter().zip(b));
            out.iter_mut().zip(inputs).for_each(|(out, (chosen, (x, y)))| {
                // Both are read, so that there is nothing to branch for.
                let (x, y) = (*x, *y);
                *out = if *chosen != 0 { x } else { y };
            });
            return;
        }
        let [step, step_if, step_a, step_b] = run.strides;
        for k in 0..run.length {
            // SAFETY: the runs lie in the blocks of the operands, which nothing else refers to.
            unsafe {
                let (x, y) = (a.add(k * step_a).read(), b.add(k * step_b).read());
                to.add(k * step).write(if chosen.add(k * step_if).read() != 0 { x } else { y });
            }
        }
    });
}

/// Whether `same` holds for every pair of elements; stops after the first run that has another.
pub(super) fn all<T: Copy>(a: Operand<'_>, b: Operand<'_>, same: impl Fn(T, T) -> bool) -> bool {
    let (base_a, base_b) = (Base::<T>::of(a), Base::<T>::of(b));
    let mut equal = true;
    Walk::new([a.layout(), b.layout()]).each([0, 0], |run| {
        let (x, y) = (base_a.at(run.offsets[0]), base_b.at(run.offsets[1]));
        // SAFETY: the runs lie in the blocks of the operands.
        equal = equal
            && (0..run.length)
                .all(|k| unsafe { same(x.add(k * run.strides[0]).read(), y.add(k * run.strides[1]).read()) });
    });
    equal
}
