//! From host to device and back: out of pageable, registered and pinned memory, with and without locking its pages.

use super::{F32, OnDevice, Purpose, TRANSFERS, Workload, input};
use crate::record::CUDA;
use subject::{Calls, Clock, DType, Fail, Handle, ProgramBuilder};

pub(super) const UPLOAD_PAGEABLE: Workload = Workload {
    name: "upload.pageable",
    about: "d.copy_(a): from pageable memory; waited for",
    bound: None,
    device: Some(OnDevice { clock: Clock::Host, bound_by: Some("device-copy.up") }),
    sizes: TRANSFERS,
    dtypes: F32,
    write: upload_pageable,
};

pub(super) const UPLOAD_PINNED: Workload = Workload {
    name: "upload.pinned",
    about: "d.copy_(a, non_blocking=True): from memory pinned before; waited for",
    write: upload_pinned,
    ..UPLOAD_PAGEABLE
};

pub(super) const UPLOAD_REGISTERED: Workload = Workload {
    name: "upload.registered",
    about: "d.copy_(a, non_blocking=True): from ordinary memory whose pages were locked before; waited for",
    write: upload_registered,
    ..UPLOAD_PAGEABLE
};

pub(super) const UPLOAD_PINNING_INSIDE: Workload = Workload {
    name: "upload.pinning-inside",
    about: "d.copy_(a.pin_memory(), non_blocking=True): a copy into pinned memory, which the allocator keeps, inside \
            the clock; waited for",
    write: upload_pinning_inside,
    ..UPLOAD_PAGEABLE
};

pub(super) const UPLOAD_LOCKING_INSIDE: Workload = Workload {
    name: "upload.locking-inside",
    about: "d.copy_(a, non_blocking=True): pages locked before and unlocked after it, inside the clock; waited for",
    write: upload_locking_inside,
    ..UPLOAD_PAGEABLE
};

pub(super) const DOWNLOAD_PAGEABLE: Workload = Workload {
    name: "download.pageable",
    about: "a.copy_(d): into pageable memory that was touched before",
    device: Some(OnDevice { clock: Clock::Host, bound_by: Some("device-copy.down") }),
    write: download_pageable,
    ..UPLOAD_PAGEABLE
};

pub(super) const DOWNLOAD_FRESH: Workload = Workload {
    name: "download.fresh",
    about: "d.to(\"cpu\"): into new pageable memory, first touch inside the clock",
    write: download_fresh,
    ..DOWNLOAD_PAGEABLE
};

pub(super) const DOWNLOAD_PINNED: Workload = Workload {
    name: "download.pinned",
    about: "a.copy_(d, non_blocking=True): into memory pinned before; waited for",
    write: download_pinned,
    ..DOWNLOAD_PAGEABLE
};

pub(super) const DOWNLOAD_REGISTERED: Workload = Workload {
    name: "download.registered",
    about: "a.copy_(d, non_blocking=True): into ordinary memory whose pages were locked before; waited for",
    write: download_registered,
    ..DOWNLOAD_PAGEABLE
};

pub(super) const COPY_UP: Workload = Workload {
    name: "device-copy.up",
    about: "d.copy_(a, non_blocking=True): from pinned memory",
    device: Some(OnDevice { clock: Clock::Device, bound_by: None }),
    write: copy_up,
    ..UPLOAD_PAGEABLE
};

pub(super) const COPY_DOWN: Workload = Workload {
    name: "device-copy.down",
    about: "a.copy_(d, non_blocking=True): into pinned memory",
    write: copy_down,
    ..COPY_UP
};

/// A tensor of zeros on the device: what a copy brings there is seen.
pub(super) fn blank(b: &ProgramBuilder, elements: i64, dtype: DType) -> Result<Handle, Fail> {
    b.zeros_on([elements], dtype, CUDA)
}

/// The input on the device.
pub(super) fn filled(b: &ProgramBuilder, elements: i64, dtype: DType) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    let device = b.to_device(&host, CUDA, false)?;
    b.drop_tensor(host);
    Ok(device)
}

/// A copy that may still be under way, and the wait for it.
fn copy(b: &ProgramBuilder, to: &mut Handle, from: &Handle) -> Result<(), Fail> {
    b.copy_from(to, from, true)?;
    b.synchronize()
}

fn upload_pageable(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    let mut device = blank(b, elements, dtype)?;
    b.begin_body();
    b.copy_from(&mut device, &host, false)?;
    b.synchronize()?;
    Ok(device)
}

fn upload_pinned(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let pinned = pinned_input(b, elements, dtype)?;
    let mut device = blank(b, elements, dtype)?;
    b.begin_body();
    copy(b, &mut device, &pinned)?;
    Ok(device)
}

fn upload_registered(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let mut host = input(b, elements, dtype)?;
    b.register_(&mut host)?;
    let mut device = blank(b, elements, dtype)?;
    b.begin_body();
    copy(b, &mut device, &host)?;
    Ok(device)
}

fn upload_pinning_inside(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    let mut device = blank(b, elements, dtype)?;
    b.begin_body();
    let pinned = b.pin_memory(&host)?;
    copy(b, &mut device, &pinned)?;
    Ok(device)
}

fn upload_locking_inside(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let mut host = input(b, elements, dtype)?;
    let mut device = blank(b, elements, dtype)?;
    b.begin_body();
    b.register_(&mut host)?;
    copy(b, &mut device, &host)?;
    b.unregister_(&mut host)?;
    Ok(device)
}

fn download_pageable(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let device = filled(b, elements, dtype)?;
    let mut host = b.zeros([elements], dtype)?;
    b.begin_body();
    b.copy_from(&mut host, &device, false)?;
    Ok(host)
}

fn download_fresh(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let device = filled(b, elements, dtype)?;
    b.begin_body();
    b.to_device(&device, "cpu", false)
}

fn download_pinned(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let device = filled(b, elements, dtype)?;
    let mut pinned = b.empty_pinned([elements], dtype)?;
    b.begin_body();
    copy(b, &mut pinned, &device)?;
    Ok(pinned)
}

fn download_registered(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let device = filled(b, elements, dtype)?;
    let mut host = b.zeros([elements], dtype)?;
    b.register_(&mut host)?;
    b.begin_body();
    copy(b, &mut host, &device)?;
    Ok(host)
}

fn copy_up(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let pinned = pinned_input(b, elements, dtype)?;
    let mut device = blank(b, elements, dtype)?;
    b.begin_body();
    b.copy_from(&mut device, &pinned, true)?;
    Ok(device)
}

fn copy_down(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let device = filled(b, elements, dtype)?;
    let mut pinned = b.empty_pinned([elements], dtype)?;
    b.begin_body();
    b.copy_from(&mut pinned, &device, true)?;
    Ok(pinned)
}

fn pinned_input(b: &ProgramBuilder, elements: i64, dtype: DType) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    let pinned = b.pin_memory(&host)?;
    b.drop_tensor(host);
    Ok(pinned)
}
