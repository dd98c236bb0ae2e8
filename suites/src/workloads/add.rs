//! Adding a number: into the tensor itself, or into a new one.

use super::{Purpose, Workload, input};
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const ALLOCATING: Workload =
    Workload { name: "add.allocating", about: "b = a + 5, a new tensor each time", is_loop: false, write: allocating };

pub(super) const IN_PLACE: Workload =
    Workload { name: "add.in-place", about: "a.add_(5), into the tensor itself", is_loop: false, write: in_place };

/// Below half an ulp of the smallest element, 0.5, in f32 and f64: the input stays as it was.
const TINY: f64 = 1e-17;

fn addend(purpose: Purpose) -> f64 {
    match purpose {
        Purpose::Account => 5.0,
        Purpose::Measure => TINY,
    }
}

fn allocating(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let a = input(b, elements, dtype)?;
    b.begin_body();
    b.add_scalar(&a, addend(purpose))
}

fn in_place(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let mut a = input(b, elements, dtype)?;
    b.begin_body();
    b.add_scalar_(&mut a, addend(purpose))?;
    Ok(a)
}
