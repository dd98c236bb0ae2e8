//! A name that gets a new tensor: over a live one, or after that was deleted.

use super::{F32, Purpose, SEVERAL, Workload};
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const OVER_LIVE: Workload = Workload {
    name: "rebind.over-live",
    about: "c = ones(n); c = ones(n): the new tensor is made while the old one lives",
    bound: None,
    device: None,
    sizes: SEVERAL,
    dtypes: F32,
    write: over_live,
};

pub(super) const DELETE_FIRST: Workload = Workload {
    name: "rebind.delete-first",
    about: "c = ones(n); del c; c = ones(n): one tensor at a time",
    write: delete_first,
    ..OVER_LIVE
};

fn over_live(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    let old = b.ones([elements], dtype)?;
    let new = b.ones([elements], dtype)?;
    b.drop_tensor(old);
    Ok(new)
}

fn delete_first(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    let old = b.ones([elements], dtype)?;
    b.drop_tensor(old);
    b.ones([elements], dtype)
}
