//! Bytes of elements and of tensors.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const SIZE_BY_DTYPE: &str = "t000.dtype.size-by-dtype";
const MEANING: &str = "t000.dtype.element-size-numel-meaning";
const BEFORE: &str = "t000.dtype.computable-before-alloc";
const FITS: &str = "t000.dtype.batch-fits-is-arithmetic";
const BATCH: &str = "t000.dtype.batch-bytes";
const BATCH_MB: &str = "t000.dtype.batch-36.75-MB";
const RANGE: &str = "t000.dtype.range-2000-8000";

/// Bytes of 64 RGB images of 224 by 224 pixels in float32.
const BATCH_BYTES: i64 = 38_535_168;

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = DType::ALL.into_iter().map(element_case).collect();
    cases.extend([
        Case::new("dtype.bytes-known-before-allocating", &[BEFORE], bytes_known_before).counts_heap(),
        Case::pytorch("dtype.bytes-known-on-meta", &[BEFORE], bytes_known_on_meta).counts_heap(),
        Case::new("dtype.image-batch", &[BATCH, BATCH_MB], image_batch),
        Case::pytorch("dtype.batch-in-a-training-step", &[FITS], batch_in_a_training_step).counts_heap(),
        Case::pytorch("dtype.range-over-dtypes", &[RANGE], range_over_dtypes),
    ]);
    cases
}

/// The claims about the size of one dtype.
fn sizes_claimed(dtype: DType) -> &'static [&'static str] {
    match dtype {
        DType::F16 => &["t000.dtype.float16-bytes"],
        DType::Bf16 => &["t000.dtype.bfloat16-bytes"],
        DType::F32 => &["t000.dtype.float32-bytes", "t001.dtype.float-4-bytes"],
        DType::I32 => &["t000.dtype.int32-bytes"],
        DType::F64 => &["t000.dtype.float64-bytes"],
        DType::I64 => &["t000.dtype.int64-bytes"],
        DType::Bool | DType::U8 | DType::I8 | DType::I16 => &[],
    }
}

fn element_case(dtype: DType) -> Case {
    let own = sizes_claimed(dtype);
    let claims = [own, &[SIZE_BY_DTYPE, MEANING]].concat();
    Case::new(format!("dtype.element-size-{dtype}"), &claims, move |p| element_size(p, dtype, own))
}

/// An element has the size of its dtype whatever the shape, and numel counts the elements.
fn element_size(p: &Probe, dtype: DType, own: &[&str]) -> Result<(), Stop> {
    let size = dtype.size();
    for (shape, elements) in [(vec![], 1), (vec![0], 0), (vec![2, 0, 5], 0), (vec![1000], 1000), (vec![10, 20], 200)] {
        let a = p.zeros(shape.clone(), dtype)?;
        p.fact(format!("bytes of an element, shape {shape:?}"), p.element_size(&a)?)
            .known(size)
            .claimed(SIZE_BY_DTYPE, size)
            .claimed(MEANING, size);
        p.fact(format!("elements, shape {shape:?}"), p.numel(&a)?).known(elements).claimed(MEANING, elements);
    }
    let a = p.zeros([1000], dtype)?;
    let thousand = p.fact("bytes of 1000 elements", p.storage_bytes(&a)?).known(1000 * size);
    own.iter().fold(thousand, |fact, claim| fact.claimed(claim, 1000 * size));
    Ok(())
}

/// Size of an element times elements of a shape gives the bytes of the storage and of the heap before there is a tensor.
fn bytes_known_before(p: &Probe) -> Result<(), Stop> {
    for dtype in [DType::U8, DType::I32, DType::F32, DType::F64] {
        for shape in [vec![70_001], vec![7, 11, 1013], vec![64, 3, 32, 32], vec![1, 1, 1 << 18]] {
            let computed = dtype.size() * shape.iter().product::<i64>();
            let (a, heap) = p.account(|p| p.zeros(shape.clone(), dtype))?;
            p.fact(format!("bytes of the storage, {dtype} {shape:?}"), p.storage_bytes(&a)?)
                .known(computed)
                .claimed(BEFORE, computed);
            p.fact(format!("bytes from the heap, {dtype} {shape:?}"), heap.kept_bytes)
                .known(computed)
                .claimed(BEFORE, computed);
        }
    }
    Ok(())
}

/// On the meta device the bytes of a tensor can be asked for, and nothing is allocated.
fn bytes_known_on_meta(p: &Probe) -> Result<(), Stop> {
    let source = "torch.zeros(64, 3, 224, 224, device='meta')";
    let (a, heap) = p.account(|p| p.python_tensor(source, &[]))?;
    p.fact("bytes computed on the meta device", p.python("a.element_size() * a.numel()", &[("a", &a)])?)
        .known(BATCH_BYTES)
        .claimed(BEFORE, BATCH_BYTES);
    p.fact("blocks taken from the heap", heap.allocations as i64).known(0).claimed(BEFORE, 0);
    Ok(())
}

/// The bytes of a batch of images, in units of 2^20 and of 10^6 bytes.
fn image_batch(p: &Probe) -> Result<(), Stop> {
    let batch = p.zeros([64, 3, 224, 224], DType::F32)?;
    let bytes = p.storage_bytes(&batch)?;
    p.fact("elements", p.numel(&batch)?).known(9_633_792);
    p.fact("bytes of the batch", bytes).known(BATCH_BYTES).claimed(BATCH, BATCH_BYTES).example();
    p.fact("MiB (2^20 bytes)", bytes as f64 / f64::from(1 << 20)).known(36.75).claimed(BATCH_MB, 36.75).within(0.005);
    p.fact("MB (10^6 bytes)", bytes as f64 / 1e6).known(38.54).claimed(BATCH_MB, 36.75).within(0.005);
    Ok(())
}

/// A training step holds more than its batch, and how much more depends on what is recorded for backward.
fn batch_in_a_training_step(p: &Probe) -> Result<(), Stop> {
    let (batch, heap) = p.account(|p| p.zeros([64, 3, 224, 224], DType::F32))?;
    p.fact("bytes of the batch", heap.kept_bytes).known(BATCH_BYTES).claimed(FITS, BATCH_BYTES);
    let step = |source: &str| -> Result<f64, Stop> {
        let ((), heap) = p.account(|p| p.python(source, &[("batch", &batch)]).map(drop))?;
        Ok(heap.peak_bytes as f64 / BATCH_BYTES as f64)
    };
    let trained = step(
        "
weight = torch.ones(3, 1, 1, requires_grad=True)
hidden = batch
for _ in range(3):
    hidden = (hidden * weight).sigmoid()
hidden.sum().backward()
answer = None
",
    )?;
    let inferred = step(
        "
weight = torch.ones(3, 1, 1, requires_grad=True)
with torch.no_grad():
    hidden = batch
    for _ in range(3):
        hidden = (hidden * weight).sigmoid()
    hidden.sum()
answer = None
",
    )?;
    p.fact("the batch is all that a training step holds", trained < 0.5).known(false).claimed(FITS, true);
    p.fact("recording for backward raises the peak", trained > inferred).known(true);
    Ok(())
}

/// 1000 elements take from 1,000 to 16,000 bytes over all dtypes, and 2,000 to 8,000 over the most used ones.
fn range_over_dtypes(p: &Probe) -> Result<(), Stop> {
    let bytes = "
def extremes(dtypes):
    sizes = [torch.empty(1000, dtype=dtype).untyped_storage().nbytes() for dtype in dtypes]
    return [min(sizes), max(sizes)]
shown = [torch.float16, torch.float32, torch.float64, torch.int64]
others = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.bfloat16, torch.complex64, torch.complex128]
answer = extremes(shown) + extremes(shown + others)
";
    let whats = ["fewest, four dtypes", "most, four dtypes", "fewest, all dtypes", "most, all dtypes"];
    let known = [2000, 8000, 1000, 16000];
    let claimed = [2000, 8000, 2000, 8000];
    for (at, seen) in p.python_list::<4>(bytes, &[])?.into_iter().enumerate() {
        p.fact(format!("bytes of 1000 elements: {}", whats[at]), seen).known(known[at]).claimed(RANGE, claimed[at]);
    }
    Ok(())
}
