//! A view against a copy: one costs the same at every size, the other grows with it.

use super::{F32, Purpose, SINGLE, Workload, input};
use crate::record::Loop;
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const CLONE: Workload = Workload {
    name: "share.clone",
    about: "a.clone(), a copy in new storage",
    bound: Some(Loop::Copy),
    device: None,
    sizes: SINGLE,
    dtypes: F32,
    write: clone,
};

pub(super) const VIEW: Workload = Workload {
    name: "share.view",
    about: "a.view(1, -1), the same storage under another shape",
    bound: None,
    write: view,
    ..CLONE
};

fn clone(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let a = input(b, elements, dtype)?;
    b.begin_body();
    b.clone(&a)
}

fn view(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let a = input(b, elements, dtype)?;
    b.begin_body();
    b.view(&a, [1, elements])
}
