//! Tutorial 001's two loops: a new tensor each time round, or one that is filled again.

use super::{F32, Purpose, SEVERAL, Workload};
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const ALLOCATING: Workload = Workload {
    name: "loop.allocating",
    about: "ten times round: t = ones(n) * i; result += t",
    bound: None,
    device: None,
    sizes: SEVERAL,
    dtypes: F32,
    write: allocating,
};

pub(super) const REUSING: Workload =
    Workload { name: "loop.reusing", about: "ten times round: t.fill_(i); result += t", write: reusing, ..ALLOCATING };

const ROUNDS: i64 = 10;

fn allocating(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    let mut result = b.zeros([elements], dtype)?;
    let mut previous = None;
    for i in 0..ROUNDS {
        let ones = b.ones([elements], dtype)?;
        let product = b.mul_scalar(&ones, i)?;
        b.drop_tensor(ones);
        // The name is bound to the new product only now, so the previous one lives until here.
        if let Some(previous) = previous.replace(product.clone()) {
            b.drop_tensor(previous);
        }
        b.add_(&mut result, &product)?;
    }
    Ok(result)
}

fn reusing(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    let mut result = b.zeros([elements], dtype)?;
    let mut temporary = b.ones([elements], dtype)?;
    for i in 0..ROUNDS {
        b.fill_(&mut temporary, i)?;
        b.add_(&mut result, &temporary)?;
    }
    Ok(result)
}
