//! One tensor refilled in a loop, against a new one each time.

use super::figures::{in_units, process_peak};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

const ALLOCATES: &str = "t001.reuse.inefficient-allocates";
const REUSES: &str = "t001.reuse.efficient-reuses";
const IN_PLACE: &str = "t001.reuse.result-in-place";

const COUNTED: [i64; 2] = [256, 256];
const COUNTED_BYTES: i64 = 256 * 256 * 4;
/// Rows and columns of a tensor of 64 MiB, which process memory shows clearly.
const LARGE: [i64; 2] = [4096, 4096];
const LARGE_BYTES: i64 = 64 << 20;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("reuse.fresh-tensors-take-two-blocks", &[ALLOCATES], fresh_take_two_blocks).counts_heap(),
        Case::new("reuse.refilled-tensor-takes-no-block", &[REUSES, IN_PLACE], refilled_takes_no_block).counts_heap(),
        Case::new("reuse.fresh-tensors-peak", &[ALLOCATES], fresh_peak).reads_process_memory(),
        Case::new("reuse.refilled-tensor-peak", &[REUSES], refilled_peak).reads_process_memory(),
        Case::pytorch("reuse.both-loops-agree", &["t001.reuse.same-result"], both_loops_agree),
        Case::pytorch("reuse.kept-tensor-is-overwritten", &["t001.reuse.aliasing-hazard"], kept_is_overwritten),
        Case::pytorch("reuse.augmented-addition-keeps-the-object", &[IN_PLACE], augmented_keeps_the_object),
    ]
}

/// The body of the loop that allocates: the ones go when their product is there, the previous product when the name
/// moves on.
fn fresh(p: &Probe, result: &mut Handle, shape: [i64; 2], i: i64, previous: Option<Handle>) -> Result<Handle, Stop> {
    let ones = p.ones(shape, DType::F32)?;
    let product = p.mul_scalar(&ones, i)?;
    p.release(ones)?;
    if let Some(previous) = previous {
        p.release(previous)?;
    }
    p.add_(result, &product)?;
    Ok(product)
}

/// The body of the loop that refills.
fn refilled(p: &Probe, result: &mut Handle, helper: &mut Handle, i: i64) -> Result<(), Stop> {
    p.fill_(&mut *helper, i)?;
    p.add_(result, &*helper)
}

/// Each iteration makes two tensors: the ones and their product.
fn fresh_take_two_blocks(p: &Probe) -> Result<(), Stop> {
    let mut result = p.zeros(COUNTED, DType::F32)?;
    let (_last, heap) = p.account(|p| fresh(p, &mut result, COUNTED, 3, None))?;
    p.fact("an iteration takes blocks", heap.allocations > 0).known(true).claimed(ALLOCATES, true);
    p.fact("blocks taken in an iteration", heap.allocations as i64).known(2).claimed(ALLOCATES, 1);
    p.fact("bytes of them, in tensors", in_units(heap.bytes as i64, COUNTED_BYTES)).known(2.0);
    Ok(())
}

/// Each iteration refills the helper and adds it in place: both stay where they are, and no block is taken.
fn refilled_takes_no_block(p: &Probe) -> Result<(), Stop> {
    let mut result = p.zeros(COUNTED, DType::F32)?;
    let mut helper = p.ones(COUNTED, DType::F32)?;
    let (helper_at, result_at) = (p.data_ptr(&helper)?, p.data_ptr(&result)?);
    let ((), heap) = p.account(|p| (0..3).try_for_each(|i| refilled(p, &mut result, &mut helper, i)))?;
    p.fact("blocks taken in three iterations", heap.allocations as i64).known(0).claimed(REUSES, 0);
    p.fact("the helper's address is kept", p.data_ptr(&helper)? == helper_at).known(true).claimed(REUSES, true);
    p.fact("the result's address is kept", p.data_ptr(&result)? == result_at).known(true).claimed(IN_PLACE, true);
    Ok(())
}

/// The loop that allocates needs four tensors at its peak: the result, the old product, the ones and the new product.
fn fresh_peak(p: &Probe) -> Result<(), Stop> {
    let (_result, peak) = process_peak(p, LARGE_BYTES, || {
        let mut result = p.zeros(LARGE, DType::F32)?;
        let mut product = None;
        for i in 0..2 {
            product = Some(fresh(p, &mut result, LARGE, i, product)?);
        }
        Ok(result)
    })?;
    p.fact("peak of the loop that allocates, in tensors", peak).within(0.1).known(4.0);
    Ok(())
}

/// The loop that refills needs two tensors: the result and its helper.
fn refilled_peak(p: &Probe) -> Result<(), Stop> {
    let (_result, peak) = process_peak(p, LARGE_BYTES, || {
        let mut result = p.zeros(LARGE, DType::F32)?;
        let mut helper = p.ones(LARGE, DType::F32)?;
        (0..2).try_for_each(|i| refilled(p, &mut result, &mut helper, i))?;
        Ok(result)
    })?;
    p.fact("peak of the loop that refills, in tensors", peak).within(0.1).known(2.0).claimed(REUSES, 2.0);
    Ok(())
}

/// Both loops give equal tensors; from 2^24 on the sum of a float32 is no longer n(n-1)/2.
fn both_loops_agree(p: &Probe) -> Result<(), Stop> {
    for (count, value) in [(0, 0.0), (1, 0.0), (10, 45.0), (1000, 499_500.0), (6000, 17_996_896.0)] {
        let source = format!(
            r#"
shape, count = (2, 2), {count}
fresh = torch.zeros(shape)
for i in range(count):
    product = torch.ones(shape) * i
    fresh += product
refilled, helper = torch.zeros(shape), torch.ones(shape)
for i in range(count):
    helper.fill_(i)
    refilled += helper
answer = [torch.equal(fresh, refilled), fresh[0, 0].item()]
"#
        );
        let [equal, first] = p.python_list(&source, &[])?;
        p.fact(format!("equal after {count} iterations"), equal).known(true).claimed("t001.reuse.same-result", true);
        p.fact(format!("value after {count} iterations"), first).known(value);
    }
    Ok(())
}

/// Whoever keeps a refilled tensor keeps its last value.
fn kept_is_overwritten(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.reuse.aliasing-hazard";
    let [kept, summed] = p.python_list(
        r#"
helper, total, kept = torch.ones(2), torch.zeros(2), []
for i in range(3):
    helper.fill_(i)
    total += helper
    kept.append(helper)
answer = [[tensor.tolist() for tensor in kept], total.tolist()]
"#,
        &[],
    )?;
    p.fact("the sum of the values", summed).known([3.0; 2]).claimed(claim, [3.0; 2]);
    p.fact("the values that a list keeps", kept).known([[2.0; 2]; 3]).claimed(claim, [[0.0; 2], [1.0; 2], [2.0; 2]]);
    Ok(())
}

/// `result += temp` writes into the result, and every other name of it sees that.
fn augmented_keeps_the_object(p: &Probe) -> Result<(), Stop> {
    let [same, address, alias] = p.python_list(
        r#"
result, temp = torch.zeros(2), torch.ones(2)
alias, address = result, result.data_ptr()
result += temp
answer = [result is alias, result.data_ptr() == address, alias.tolist()]
"#,
        &[],
    )?;
    p.fact("the same object", same).known(true).claimed(IN_PLACE, true);
    p.fact("the same block", address).known(true).claimed(IN_PLACE, true);
    p.fact("values of an alias", alias).known([1.0; 2]);
    Ok(())
}
