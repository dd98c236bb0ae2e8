//! Adding and multiplying by a number: into the tensor itself, or into a new one.

use super::{FLOATS, Purpose, SINGLE, Workload, input};
use crate::record::Loop;
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

const PLAIN: Workload = Workload {
    name: "",
    about: "",
    bound: Some(Loop::Copy),
    device: None,
    sizes: SINGLE,
    dtypes: FLOATS,
    write: add_allocating,
};

pub(super) const ADD_ALLOCATING: Workload =
    Workload { name: "add.allocating", about: "b = a + 5, a new tensor each time", write: add_allocating, ..PLAIN };

pub(super) const ADD_IN_PLACE: Workload =
    Workload { name: "add.in-place", about: "a.add_(5), into the tensor itself", write: add_in_place, ..PLAIN };

pub(super) const MUL_ALLOCATING: Workload = Workload {
    name: "mul.allocating",
    about: "b = a * 5, a new tensor each time",
    dtypes: super::F32,
    write: mul_allocating,
    ..PLAIN
};

pub(super) const MUL_IN_PLACE: Workload = Workload {
    name: "mul.in-place",
    about: "a.mul_(5), into the tensor itself",
    dtypes: super::F32,
    write: mul_in_place,
    ..PLAIN
};

/// Below half an ulp of the smallest element, 0.5, in every float dtype: the input stays as it was.
const TINY: f64 = 1e-17;

pub(super) fn addend(purpose: Purpose) -> f64 {
    match purpose {
        Purpose::Account => 5.0,
        Purpose::Measure => TINY,
    }
}

fn factor(purpose: Purpose) -> f64 {
    match purpose {
        Purpose::Account => 5.0,
        Purpose::Measure => 1.0,
    }
}

fn add_allocating(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let a = input(b, elements, dtype)?;
    b.begin_body();
    b.add_scalar(&a, addend(purpose))
}

fn add_in_place(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let mut a = input(b, elements, dtype)?;
    b.begin_body();
    b.add_scalar_(&mut a, addend(purpose))?;
    Ok(a)
}

fn mul_allocating(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let a = input(b, elements, dtype)?;
    b.begin_body();
    b.mul_scalar(&a, factor(purpose))
}

fn mul_in_place(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let mut a = input(b, elements, dtype)?;
    b.begin_body();
    b.mul_scalar_(&mut a, factor(purpose))?;
    Ok(a)
}
