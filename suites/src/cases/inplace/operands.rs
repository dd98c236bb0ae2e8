//! Which operands an in-place op accepts.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle, Scalar, Value};

/// The cases of this theme.
pub(super) fn cases() -> Vec<Case> {
    dtypes().chain(shapes()).chain(overlaps()).collect()
}

type Write = fn(&Probe, &mut Handle) -> Result<(), Stop>;

/// The target's dtype and what each of its elements is before, the write, and each element after or the kind of error.
type DtypeRow = (&'static str, DType, Scalar, Write, Result<Scalar, &'static str>);

/// The target keeps its dtype: what would promote it to another kind of number is refused, and integers wrap.
fn dtypes() -> impl Iterator<Item = Case> {
    use Scalar::{Bool, Float, Int};
    const ROWS: [DtypeRow; 12] = [
        ("add_-of-a-float-to-i64", DType::I64, Int(1), |p, a| p.add_scalar_(a, 5.0), Err("dtype")),
        ("add_-of-an-integer-to-i64", DType::I64, Int(1), |p, a| p.add_scalar_(a, 5), Ok(Int(6))),
        ("mul_-by-a-float-of-i64", DType::I64, Int(1), |p, a| p.mul_scalar_(a, 2.5), Err("dtype")),
        ("add_-of-f32-to-i64", DType::I64, Int(1), |p, a| p.add_(a, &p.ones([3], DType::F32)?), Err("dtype")),
        ("add_-of-i64-to-i32", DType::I32, Int(1), |p, a| p.add_(a, &p.ones([3], DType::I64)?), Ok(Int(2))),
        ("add_-of-f64-to-f32-rounds", DType::F32, Int(1), |p, a| p.add_(a, &p.ones([3], DType::F64)?), Ok(Float(2.0))),
        ("add_-of-f32-to-f16", DType::F16, Int(1), |p, a| p.add_(a, &p.ones([3], DType::F32)?), Ok(Float(2.0))),
        ("add_-of-an-integer-to-bool", DType::Bool, Bool(true), |p, a| p.add_scalar_(a, 1), Err("dtype")),
        ("add_-of-true-to-bool", DType::Bool, Bool(true), |p, a| p.add_scalar_(a, true), Ok(Bool(true))),
        ("add_-past-255-of-u8", DType::U8, Int(250), |p, a| p.add_scalar_(a, 10), Ok(Int(4))),
        ("add_-past-127-of-i8", DType::I8, Int(127), |p, a| p.add_scalar_(a, 1), Ok(Int(-128))),
        ("fill_-of-i64-with-a-float", DType::I64, Int(1), |p, a| p.fill_(a, 2.7), Ok(Int(2))),
    ];
    ROWS.into_iter().map(|(name, dtype, before, write, after)| {
        Case::new(format!("inplace.{name}"), &[], move |p| {
            let mut a = p.full([3], before, dtype)?;
            p.fact("kind of error", p.kind_of(write(p, &mut a))?).known(after.err());
            let each = Value::from(after.unwrap_or(before));
            p.fact("values after", p.values(&a)?).known(vec![each; 3]);
            p.fact("dtype after", p.dtype(&a)?).known(dtype);
            Ok(())
        })
    })
}

/// The target keeps its shape: the operand is broadcast to it, never the other way round.
fn shapes() -> impl Iterator<Item = Case> {
    const ROWS: [(&[i64], &[i64], Option<&str>); 5] = [
        (&[2, 3], &[3], None),
        (&[0], &[1], None),
        (&[3], &[2, 3], Some("shape")),
        (&[2, 3], &[2], Some("shape")),
        (&[1], &[3], Some("shape")),
    ];
    ROWS.into_iter().map(|(target, operand, kind)| {
        Case::new(format!("inplace.add_-of-shape-{operand:?}-to-{target:?}").replace(", ", "x"), &[], move |p| {
            let mut a = p.ones(target, DType::F32)?;
            let b = p.ones(operand, DType::F32)?;
            p.fact("kind of error", p.kind_of(p.add_(&mut a, &b))?).known(kind);
            p.fact("shape after", p.shape(&a)?).known(target.to_vec());
            Ok(())
        })
    })
}

type Overlap = fn(&Probe, &Handle) -> Result<(), Stop>;

/// Writing through a tensor whose elements share places, or from one that overlaps the target in part, is refused.
fn overlaps() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, Overlap, Option<&str>); 6] = [
        ("add_-to-expanded", |p, a| p.add_scalar_(&mut p.expand(&p.narrow(a, 0, 0, 1)?, [4])?, 1.0), Some("overlap")),
        ("fill_-of-expanded", |p, a| p.fill_(&mut p.expand(&p.narrow(a, 0, 0, 1)?, [4])?, 1.0), None),
        ("add_-of-shifted", |p, a| p.add_(&mut p.narrow(a, 0, 1, 3)?, &p.narrow(a, 0, 0, 3)?), Some("overlap")),
        ("copy_-of-shifted", |p, a| p.copy_(&mut p.narrow(a, 0, 1, 3)?, &p.narrow(a, 0, 0, 3)?), Some("overlap")),
        ("add_-of-the-same-elements", |p, a| p.add_(&mut p.narrow(a, 0, 0, 4)?, a), None),
        ("add_-of-the-other-half", |p, a| p.add_(&mut p.narrow(a, 0, 0, 2)?, &p.narrow(a, 0, 2, 2)?), None),
    ];
    ROWS.into_iter().map(|(name, write, kind)| {
        Case::new(format!("inplace.{name}"), &[], move |p| {
            let a = p.arange(4, DType::F32)?;
            p.fact("kind of error", p.kind_of(write(p, &a))?).known(kind);
            Ok(())
        })
    })
}
