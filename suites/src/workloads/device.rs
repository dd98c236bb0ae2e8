//! What is done on a device again and again: in place or into new memory, with its cache kept or emptied.

use super::add::addend;
use super::transfer::{CUDA, UPLOAD_PAGEABLE};
use super::{Purpose, SEVERAL, Workload, input};
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const ADD_ALLOCATING: Workload = Workload {
    name: "device-add.allocating",
    about: "ten times round: d + 5 on the device, a new tensor each time; waited for",
    sizes: SEVERAL,
    write: add_allocating,
    ..UPLOAD_PAGEABLE
};

pub(super) const ADD_IN_PLACE: Workload = Workload {
    name: "device-add.in-place",
    about: "ten times round: d.add_(5) on the device, into the tensor itself; waited for",
    write: add_in_place,
    ..ADD_ALLOCATING
};

pub(super) const LOOP_ALLOCATING: Workload = Workload {
    name: "device-loop.allocating",
    about: "ten times round: t = zeros(n) on the device, filled; waited for",
    write: loop_allocating,
    ..ADD_ALLOCATING
};

pub(super) const LOOP_REUSING: Workload = Workload {
    name: "device-loop.reusing",
    about: "ten times round: one tensor on the device, filled again; waited for",
    write: loop_reusing,
    ..ADD_ALLOCATING
};

pub(super) const CACHE_KEPT: Workload = Workload {
    name: "device-cache.kept",
    about: "ten times round: a tensor on the device comes and goes; waited for",
    write: cache_kept,
    ..ADD_ALLOCATING
};

pub(super) const CACHE_EMPTIED: Workload = Workload {
    name: "device-cache.emptied",
    about: "ten times round: a tensor on the device comes and goes, and the cache is emptied; waited for",
    write: cache_emptied,
    ..ADD_ALLOCATING
};

const ROUNDS: usize = 10;

fn on_device(b: &ProgramBuilder, elements: i64, dtype: DType) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    b.to_device(&host, CUDA, false)
}

fn add_allocating(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let a = on_device(b, elements, dtype)?;
    b.begin_body();
    for _ in 1..ROUNDS {
        let sum = b.add_scalar(&a, addend(purpose))?;
        b.drop_tensor(sum);
    }
    let sum = b.add_scalar(&a, addend(purpose))?;
    b.synchronize()?;
    Ok(sum)
}

fn add_in_place(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let mut a = on_device(b, elements, dtype)?;
    b.begin_body();
    for _ in 0..ROUNDS {
        b.add_scalar_(&mut a, addend(purpose))?;
    }
    b.synchronize()?;
    Ok(a)
}

fn loop_allocating(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    let mut last = b.zeros_on([elements], dtype, CUDA)?;
    for round in 1..ROUNDS {
        b.drop_tensor(last);
        last = b.empty_on([elements], dtype, CUDA)?;
        b.fill_(&mut last, round as i64)?;
    }
    b.synchronize()?;
    Ok(last)
}

fn loop_reusing(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    let mut tensor = b.zeros_on([elements], dtype, CUDA)?;
    for round in 1..ROUNDS {
        b.fill_(&mut tensor, round as i64)?;
    }
    b.synchronize()?;
    Ok(tensor)
}

fn cache_kept(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    come_and_go(b, elements, dtype, false)
}

fn cache_emptied(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    come_and_go(b, elements, dtype, true)
}

fn come_and_go(b: &ProgramBuilder, elements: i64, dtype: DType, emptied: bool) -> Result<Handle, Fail> {
    b.begin_body();
    for _ in 0..ROUNDS {
        let tensor = b.empty_on([elements], dtype, CUDA)?;
        b.drop_tensor(tensor);
        if emptied {
            b.empty_cache()?;
        }
    }
    let last = b.zeros_on([elements], dtype, CUDA)?;
    b.synchronize()?;
    Ok(last)
}
