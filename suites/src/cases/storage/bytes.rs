//! Bytes of the storage against bytes of the elements.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

const FORMULA: &str = "t000.dtype.formula";
const AGREE: &str = "t000.storage.two-measures-agree";
const STORAGE_45: &str = "t000.storage.printed-L45";
const PRODUCT_46: &str = "t000.storage.printed-L46";
const SLICE_49: &str = "t000.storage.printed-L49";
const TOTAL: &str = "t001.dtype.total-4000000";
const TOTAL_MB: &str = "t001.dtype.3.81-MB";
const ONE_GB: &str = "t002.storage.1gb-tensor";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("storage.bytes-of-a-dense-tensor", &[FORMULA, AGREE, STORAGE_45, PRODUCT_46, TOTAL, TOTAL_MB], dense),
        Case::new("storage.bytes-of-a-slice", &[FORMULA, AGREE, SLICE_49], slice),
        Case::new("storage.bytes-of-an-expanded-tensor", &[FORMULA, AGREE], expanded),
        Case::pytorch("storage.bytes-of-a-sparse-tensor", &[FORMULA], sparse),
        Case::pytorch("storage.bytes-of-a-meta-tensor", &[FORMULA], meta).counts_heap(),
        Case::pytorch("storage.bytes-of-256x1024x1024", &[ONE_GB], one_gb),
    ]
}

/// Bytes of the elements by the formula.
fn product(p: &Probe, a: &Handle) -> Result<i64, Stop> {
    Ok(p.element_size(a)? * p.numel(a)?)
}

/// A tensor made in one piece spans its storage, so that the product gives the storage's bytes.
fn dense(p: &Probe) -> Result<(), Stop> {
    let a = p.zeros([1000, 1000], DType::F32)?;
    let (storage, product) = (p.storage_bytes(&a)?, product(p, &a)?);
    p.fact("bytes of the storage", storage)
        .known(4_000_000)
        .claimed(FORMULA, product)
        .claimed(AGREE, 4_000_000)
        .claimed(STORAGE_45, 4_000_000)
        .claimed(TOTAL, 4_000_000);
    p.fact("element size times elements", product)
        .known(4_000_000)
        .claimed(AGREE, 4_000_000)
        .claimed(PRODUCT_46, 4_000_000);
    p.fact("MiB (2^20 bytes)", storage as f64 / f64::from(1 << 20)).known(3.81).claimed(TOTAL_MB, 3.81).within(0.005);
    p.fact("MB (10^6 bytes)", storage as f64 / 1e6).known(4.0).claimed(TOTAL_MB, 3.81).within(0.005);
    Ok(())
}

/// A slice keeps the whole storage that it is a view of.
fn slice(p: &Probe) -> Result<(), Stop> {
    let a = p.zeros([1000, 1000], DType::F32)?;
    let column = p.select(&a, 1, 0)?;
    let product = product(p, &column)?;
    p.fact("element size times elements of a column", product).known(4000);
    p.fact("bytes of the column's storage", p.storage_bytes(&column)?)
        .known(4_000_000)
        .claimed(FORMULA, product)
        .claimed(AGREE, product)
        .claimed(SLICE_49, 4_000_000);
    p.fact("the column's storage is that of its parent", p.storage_ptr(&column)? == p.storage_ptr(&a)?)
        .known(true)
        .claimed(SLICE_49, true);
    p.fact("strides of the column", p.stride(&column)?).known([1000]);
    Ok(())
}

/// An expanded tensor repeats a storage that is smaller than its elements.
fn expanded(p: &Probe) -> Result<(), Stop> {
    let one = p.zeros([1, 1], DType::F32)?;
    let a = p.expand(&one, [1000, 1000])?;
    let product = product(p, &a)?;
    p.fact("element size times elements", product).known(4_000_000);
    p.fact("bytes of the storage", p.storage_bytes(&a)?).known(4).claimed(FORMULA, product).claimed(AGREE, product);
    p.fact("strides", p.stride(&a)?).known([0, 0]);
    Ok(())
}

/// A sparse tensor holds its indices and the values at them, whatever its shape.
fn sparse(p: &Probe) -> Result<(), Stop> {
    let source = "
a = torch.sparse_coo_tensor([[3], [4]], [1.0], (1000, 1000))
answer = [a.element_size() * a.numel(), a._values().nbytes + a._indices().nbytes]
";
    let [product, held] = p.python_list(source, &[])?;
    p.fact("bytes of values and indices", held).known(20).claimed(FORMULA, product.clone());
    p.fact("element size times elements", product).known(4_000_000);
    Ok(())
}

/// A tensor on the meta device has bytes by the formula and allocates none.
fn meta(p: &Probe) -> Result<(), Stop> {
    let (a, heap) = p.account(|p| p.python_tensor("torch.empty(10**6, 10**6, device='meta')", &[]))?;
    let product = p.python("a.element_size() * a.numel()", &[("a", &a)])?;
    p.fact("bytes taken from the heap", heap.bytes as i64).known(0).claimed(FORMULA, product.clone());
    p.fact("element size times elements", product).known(4_000_000_000_000_i64);
    Ok(())
}

/// The tensor that a tutorial calls 1 GB takes 1 GiB.
fn one_gb(p: &Probe) -> Result<(), Stop> {
    // Pages that nothing writes cost nothing, which zeros would not give.
    let source = "
a = torch.empty([256, 1024, 1024])
nbytes = a.untyped_storage().nbytes()
answer = [nbytes, nbytes / 2**30, nbytes / 10**9]
";
    let [bytes, gib, gb] = p.python_list(source, &[])?;
    p.fact("bytes of the storage", bytes).known(1_073_741_824);
    p.fact("GiB (2^30 bytes)", gib).known(1.0).claimed(ONE_GB, 1.0).within(0.005);
    p.fact("GB (10^9 bytes)", gb).known(1.074).claimed(ONE_GB, 1.0).within(0.005);
    Ok(())
}
