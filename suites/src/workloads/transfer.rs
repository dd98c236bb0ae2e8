//! What needs a device: from host to device and back, out of pageable and out of pinned memory, and products there.

use super::{F32, Purpose, SINGLE, Workload, input};
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const UPLOAD_PAGEABLE: Workload = Workload {
    name: "upload.pageable",
    about: "a.to(\"cuda\") from pageable memory, waited for",
    bound: None,
    device: Some(CUDA),
    sizes: SINGLE,
    dtypes: F32,
    write: upload_pageable,
};

pub(super) const UPLOAD_PINNED: Workload = Workload {
    name: "upload.pinned",
    about: "a.to(\"cuda\", non_blocking=True) from memory pinned before, waited for",
    write: upload_pinned,
    ..UPLOAD_PAGEABLE
};

pub(super) const UPLOAD_PINNING_INSIDE: Workload = Workload {
    name: "upload.pinning-inside",
    about: "a.pin_memory().to(\"cuda\", non_blocking=True), pinning inside the clock, waited for",
    write: upload_pinning_inside,
    ..UPLOAD_PAGEABLE
};

pub(super) const DOWNLOAD: Workload = Workload {
    name: "download.pageable",
    about: "d.to(\"cpu\") into new pageable memory",
    write: download,
    ..UPLOAD_PAGEABLE
};

pub(super) const DOWNLOAD_PINNED: Workload = Workload {
    name: "download.pinned",
    about: "d.to(\"cpu\", non_blocking=True) into page-locked memory, waited for",
    write: download_pinned,
    ..UPLOAD_PAGEABLE
};

/// Two square matrices of `elements` each.
pub(super) const MATMUL_F32: Workload = Workload {
    name: "matmul.f32",
    about: "a.matmul(b) on the device, waited for, in f32",
    sizes: SQUARES,
    write: matmul,
    ..UPLOAD_PAGEABLE
};

pub(super) const MATMUL_F16: Workload =
    Workload { name: "matmul.f16", about: "the same product in f16", dtypes: &[DType::F16], ..MATMUL_F32 };

pub(super) const CUDA: &str = "cuda";
const SQUARES: &[u64] = &[10_000, 1_000_000, 64_000_000];

fn upload(b: &ProgramBuilder, host: &Handle, non_blocking: bool) -> Result<Handle, Fail> {
    let device = b.to_device(host, CUDA, non_blocking)?;
    b.synchronize()?;
    Ok(device)
}

fn upload_pageable(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    b.begin_body();
    upload(b, &host, false)
}

fn upload_pinned(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    let pinned = b.pin_memory(&host)?;
    b.begin_body();
    upload(b, &pinned, true)
}

fn upload_pinning_inside(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    b.begin_body();
    let pinned = b.pin_memory(&host)?;
    upload(b, &pinned, true)
}

fn download(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    let device = b.to_device(&host, CUDA, false)?;
    b.begin_body();
    b.to_device(&device, "cpu", false)
}

fn download_pinned(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let host = input(b, elements, dtype)?;
    let device = b.to_device(&host, CUDA, false)?;
    b.begin_body();
    let down = b.to_device(&device, "cpu", true)?;
    b.synchronize()?;
    Ok(down)
}

fn matmul(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let width = elements.isqrt();
    let square = |_| {
        let flat = input(b, width * width, dtype)?;
        let host = b.view(&flat, [width, width])?;
        b.to_device(&host, CUDA, false)
    };
    let (left, right) = (square(0)?, square(1)?);
    b.begin_body();
    let product = b.matmul(&left, &right)?;
    b.synchronize()?;
    Ok(product)
}
