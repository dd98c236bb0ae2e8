//! Back to zero: in place, or by a new tensor.

use super::{F32, Purpose, SINGLE, Workload};
use crate::record::Loop;
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const ALLOCATING: Workload = Workload {
    name: "reset.allocating",
    about: "a new tensor of zeros each time",
    // Zeros may be given without being written.
    bound: None,
    device: None,
    sizes: SINGLE,
    dtypes: F32,
    write: allocating,
};

pub(super) const IN_PLACE: Workload = Workload {
    name: "reset.in-place",
    about: "a.zero_(), into the tensor itself",
    bound: Some(Loop::Fill),
    write: in_place,
    ..ALLOCATING
};

fn allocating(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    b.zeros([elements], dtype)
}

fn in_place(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let mut a = b.ones([elements], dtype)?;
    b.begin_body();
    b.zero_(&mut a)?;
    Ok(a)
}
