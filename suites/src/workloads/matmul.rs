//! Products on a device, dtype by dtype.

use super::transfer::{UPLOAD_PAGEABLE, filled};
use super::{OnDevice, Purpose, Workload};
use subject::{Calls, Clock, DType, Fail, Handle, ProgramBuilder};

/// Two square matrices of `elements` each.
pub(super) const F32: Workload = Workload {
    name: "matmul.f32",
    about: "a.matmul(b) on the device, in f32",
    device: Some(OnDevice { clock: Clock::Device, bound_by: None }),
    sizes: &[10_000, 1_000_000, 64_000_000],
    write: matmul,
    ..UPLOAD_PAGEABLE
};

pub(super) const F16: Workload =
    Workload { name: "matmul.f16", about: "the same product in f16", dtypes: &[DType::F16], ..F32 };

pub(super) const BF16: Workload =
    Workload { name: "matmul.bf16", about: "the same product in bf16", dtypes: &[DType::Bf16], ..F32 };

fn matmul(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let width = elements.isqrt();
    let square = |_| {
        let flat = filled(b, width * width, dtype)?;
        b.view(&flat, [width, width])
    };
    let (left, right) = (square(0)?, square(1)?);
    b.begin_body();
    b.matmul(&left, &right)
}
