//! What a narrower dtype saves, when it saves it, and what it loses.

use crate::case::Case;
use crate::cases::figures::{grown, in_units, process_peak};
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Scalar};

const HALVING: &str = "t000.dtype.halving";
const SMALLER: &str = "t000.dtype.smaller-dtype-less-memory";
const ACCURACY: &str = "t000.dtype.accuracy-drops";

/// Elements of the tensors whose process memory is read: 64 MiB in float32.
const MANY: i64 = 16 << 20;

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("dtype.narrowing-holds-both", &[HALVING], narrowing_holds_both).counts_heap(),
        Case::new("dtype.narrowing-in-the-process", &[HALVING], narrowing_in_the_process).reads_process_memory(),
    ];
    for dtype in [DType::F16, DType::Bf16] {
        cases.push(
            Case::new(format!("dtype.{dtype}-takes-half"), &[SMALLER], move |p| takes_half(p, dtype))
                .reads_process_memory(),
        );
    }
    for loss in LOSSES {
        let name = format!("dtype.accuracy-of-{}", loss.dtype);
        cases.push(Case::new(name, &[ACCURACY], move |p| accuracy(p, &loss)));
    }
    cases
}

/// A change of dtype makes the narrower tensor beside the wide one: the bytes rise before they fall.
fn narrowing_holds_both(p: &Probe) -> Result<(), Stop> {
    for (dtype, ratio) in [(DType::F32, 0.5), (DType::F16, 0.25)] {
        let wide = p.ones([1 << 20], DType::F64)?;
        let bytes = p.storage_bytes(&wide)?;
        let (narrow, heap) = p.account(|p| {
            let narrow = p.to(&wide, dtype)?;
            p.release(wide)?;
            Ok(narrow)
        })?;
        p.fact(format!("bytes as {dtype}, in units of f64"), in_units(p.storage_bytes(&narrow)?, bytes))
            .known(ratio)
            .claimed(HALVING, ratio);
        p.fact(format!("most live on the way to {dtype}"), 1.0 + in_units(heap.peak_bytes as i64, bytes))
            .known(1.0 + ratio)
            .claimed(HALVING, 1.0);
        p.fact(format!("live after it, as {dtype}"), 1.0 + in_units(heap.kept_bytes, bytes))
            .known(ratio)
            .claimed(HALVING, ratio);
    }
    Ok(())
}

/// The process rises to one and a half of the wide tensor before it falls to a half.
fn narrowing_in_the_process(p: &Probe) -> Result<(), Stop> {
    let before = p.resident_bytes()?;
    let wide = p.ones([MANY / 2], DType::F64)?;
    let bytes = p.storage_bytes(&wide)?;
    let (single, risen) = process_peak(p, bytes, || {
        let single = p.to(&wide, DType::F32)?;
        p.release(wide)?;
        Ok(single)
    })?;
    p.fact("process at its highest, in units of f64", 1.0 + risen).known(1.5).claimed(HALVING, 1.0).within(0.1);
    p.fact("process after the change, in units of f64", grown(p, before, bytes)?)
        .known(0.5)
        .claimed(HALVING, 0.5)
        .within(0.1);
    p.release(single)
}

/// A half-width tensor takes half the process memory of a float32 tensor.
fn takes_half(p: &Probe, dtype: DType) -> Result<(), Stop> {
    let resident = |dtype| -> Result<f64, Stop> {
        let before = p.resident_bytes()?;
        let tensor = p.ones([MANY], dtype)?;
        let share = grown(p, before, MANY * DType::F32.size())?;
        p.release(tensor)?;
        Ok(share)
    };
    let (single, half) = (resident(DType::F32)?, resident(dtype)?);
    p.fact("takes less of the process than float32", half < single).known(true).claimed(SMALLER, true);
    p.fact("process growth with float32, in its bytes", single).known(1.0).within(0.1);
    p.fact(format!("process growth with {dtype}, in bytes of float32"), half).known(0.5).within(0.1);
    Ok(())
}

/// What a half-width dtype keeps of some numbers.
#[derive(Clone, Copy)]
struct Loss {
    dtype: DType,
    /// 70000 and 1e-8 as this dtype holds them, to three digits.
    kept: [f64; 2],
    /// A whole number that one more does not change.
    last_count: f64,
}

const LOSSES: [Loss; 2] = [
    Loss { dtype: DType::F16, kept: [f64::INFINITY, 0.0], last_count: 2048.0 },
    Loss { dtype: DType::Bf16, kept: [70_144.0, 1e-8], last_count: 256.0 },
];

/// A third is kept within 1 %, but numbers out of range are lost and a count by ones stops early.
fn accuracy(p: &Probe, loss: &Loss) -> Result<(), Stop> {
    let keep = |number: f64| -> Result<f64, Stop> {
        let tensor = p.tensor(vec![Scalar::Float(number)], [1], loss.dtype)?;
        first(p.values(&tensor)?)
    };
    let close = |kept: f64, number: f64| (kept - number).abs() <= 0.01 * number.abs();
    p.fact("1/3 is kept within 1 %", close(keep(1.0 / 3.0)?, 1.0 / 3.0)).known(true).claimed(ACCURACY, true);
    for (number, known) in [70_000.0, 1e-8].into_iter().zip(loss.kept) {
        let kept = keep(number)?;
        p.fact(format!("{number:?} is kept within 1 %"), close(kept, number))
            .known(close(known, number))
            .claimed(ACCURACY, true);
    }
    let mut count = p.full([1], Scalar::Float(loss.last_count), loss.dtype)?;
    p.add_scalar_(&mut count, 1.0)?;
    p.fact(format!("{} and one more", loss.last_count), first(p.values(&count)?)?)
        .known(loss.last_count)
        .claimed(ACCURACY, loss.last_count + 1.0);
    Ok(())
}

fn first(values: Vec<Scalar>) -> Result<f64, Stop> {
    let value = values.first().copied().map(Scalar::as_f64);
    value.ok_or_else(|| Stop::Harness("a tensor of one element has no value".into()))
}
