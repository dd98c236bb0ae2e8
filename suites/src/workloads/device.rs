//! What is done on a device: copies and sums by its own clock, and what a program sees of loops and of its cache.

use super::add::addend;
use super::transfer::{COPY_UP, UPLOAD_PAGEABLE, blank, filled};
use super::{FLOATS, OnDevice, Purpose, Workload};
use crate::record::CUDA;
use subject::{Calls, Clock, DType, Fail, Handle, ProgramBuilder};

pub(super) const COPY_WITHIN: Workload = Workload {
    name: "device-copy.within",
    about: "e.copy_(d): from one tensor on the device to another",
    dtypes: FLOATS,
    write: copy_within,
    ..COPY_UP
};

pub(super) const ADD_ALLOCATING: Workload = Workload {
    name: "device-add.allocating",
    about: "e = d + 5 on the device, a new tensor each time",
    device: Some(OnDevice { clock: Clock::Device, bound_by: Some("device-copy.within") }),
    write: add_allocating,
    ..COPY_WITHIN
};

pub(super) const ADD_IN_PLACE: Workload = Workload {
    name: "device-add.in-place",
    about: "d.add_(5) on the device, into the tensor itself",
    write: add_in_place,
    ..ADD_ALLOCATING
};

pub(super) const LOOP_ALLOCATING: Workload = Workload {
    name: "device-loop.allocating",
    about: "ten times round: t = empty(n) on the device, filled; waited for",
    device: Some(OnDevice { clock: Clock::Host, bound_by: None }),
    write: loop_allocating,
    ..UPLOAD_PAGEABLE
};

pub(super) const LOOP_REUSING: Workload = Workload {
    name: "device-loop.reusing",
    about: "ten times round: one tensor on the device, filled again; waited for",
    write: loop_reusing,
    ..LOOP_ALLOCATING
};

pub(super) const CACHE_KEPT: Workload = Workload {
    name: "device-cache.kept",
    about: "ten times round: a tensor on the device comes and goes; waited for",
    write: cache_kept,
    ..LOOP_ALLOCATING
};

pub(super) const CACHE_EMPTIED: Workload = Workload {
    name: "device-cache.emptied",
    about: "ten times round: a tensor on the device comes and goes, and the cache is emptied; waited for",
    write: cache_emptied,
    ..LOOP_ALLOCATING
};

pub(super) const CACHE_NONE: Workload = Workload {
    name: "device-cache.none",
    about: "ten times round: as many bytes taken from the driver itself and given back; waited for",
    write: cache_none,
    ..LOOP_ALLOCATING
};

const ROUNDS: usize = 10;

fn copy_within(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let from = filled(b, elements, dtype)?;
    let mut to = blank(b, elements, dtype)?;
    b.begin_body();
    b.copy_(&mut to, &from)?;
    Ok(to)
}

fn add_allocating(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let a = filled(b, elements, dtype)?;
    b.begin_body();
    b.add_scalar(&a, addend(purpose))
}

fn add_in_place(b: &ProgramBuilder, elements: i64, dtype: DType, purpose: Purpose) -> Result<Handle, Fail> {
    let mut a = filled(b, elements, dtype)?;
    b.begin_body();
    b.add_scalar_(&mut a, addend(purpose))?;
    Ok(a)
}

fn loop_allocating(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    b.begin_body();
    let mut last = b.empty_on([elements], dtype, CUDA)?;
    b.fill_(&mut last, 0)?;
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
    let mut tensor = b.empty_on([elements], dtype, CUDA)?;
    for round in 0..ROUNDS {
        b.fill_(&mut tensor, round as i64)?;
    }
    b.synchronize()?;
    Ok(tensor)
}

fn cache_kept(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    come_and_go(b, elements, dtype, |b| {
        let tensor = b.empty_on([elements], dtype, CUDA)?;
        b.drop_tensor(tensor);
        Ok(())
    })
}

fn cache_emptied(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    come_and_go(b, elements, dtype, |b| {
        let tensor = b.empty_on([elements], dtype, CUDA)?;
        b.drop_tensor(tensor);
        b.empty_cache()
    })
}

fn cache_none(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    come_and_go(b, elements, dtype, |b| b.take_and_give_back(elements * dtype.size()))
}

/// Memory of the device comes and goes while a tensor stays, which is the checked one.
fn come_and_go(
    b: &ProgramBuilder,
    elements: i64,
    dtype: DType,
    round: impl Fn(&ProgramBuilder) -> Result<(), Fail>,
) -> Result<Handle, Fail> {
    let kept = filled(b, elements, dtype)?;
    b.begin_body();
    for _ in 0..ROUNDS {
        round(b)?;
    }
    b.synchronize()?;
    Ok(kept)
}
