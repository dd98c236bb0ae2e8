//! What the caching allocator's advice comes to on the CPU.

use super::figures::{grown, process_peak};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const SECOND_BLOCK: &str = "t002.caching-allocator.reassign-needs-second-block";
const RESET: &str = "t002.caching-allocator.reset-advice";

/// Rows and columns of a tensor of 64 MiB, which process memory shows clearly.
const LARGE: [i64; 2] = [4096, 4096];
const LARGE_BYTES: i64 = 64 << 20;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::pytorch(
            "caching-allocator.del-removes-a-name",
            &["t000.caching-allocator.del-then-empty-cache"],
            del_removes_a_name,
        ),
        Case::pytorch(
            "caching-allocator.empty_cache-without-gpu",
            &["t000.caching-allocator.empty-cache-gpu-only"],
            empty_cache_without_gpu,
        ),
        Case::new("caching-allocator.rebinding-takes-a-second-block", &[SECOND_BLOCK, RESET], rebinding)
            .reads_process_memory(),
        Case::new("caching-allocator.deleting-first-takes-none", &[RESET], deleting_first).reads_process_memory(),
        Case::new("caching-allocator.reset-in-place-takes-none", &[RESET], reset_in_place).reads_process_memory(),
        Case::pytorch("caching-allocator.old-tensor-lives-while-the-new-is-made", &[SECOND_BLOCK], old_lives),
    ]
}

/// `del` and `empty_cache()` let the block go only where the deleted name was the last reference to it.
fn del_removes_a_name(p: &Probe) -> Result<(), Stop> {
    let holders = [
        ("no other reference", "None", true),
        ("another name", "t", false),
        ("a list", "[t]", false),
        ("a view", "t[0]", false),
    ];
    for (name, holder, gone) in holders {
        // The block is a NumPy array's, which can be watched.
        let source = format!(
            r#"
gc.disable()
try:
    array = np.ones(4)
    block = weakref.ref(array)
    t = torch.from_numpy(array)
    del array
    holder = {holder}
    del t
    torch.cuda.empty_cache()
    answer = block() is None
finally:
    gc.enable()
"#
        );
        p.fact(format!("with {name} the block is gone"), p.python(&source, &[])?)
            .known(gone)
            .claimed("t000.caching-allocator.del-then-empty-cache", true);
    }
    Ok(())
}

/// Without a GPU in use the call does nothing and wakes nothing.
fn empty_cache_without_gpu(p: &Probe) -> Result<(), Stop> {
    let claim = "t000.caching-allocator.empty-cache-gpu-only";
    let [returned, woken, values] = p.python_list(
        r#"
t = torch.ones(2)
returned = torch.cuda.empty_cache()
answer = [returned, torch.cuda.is_initialized(), t.tolist()]
"#,
        &[],
    )?;
    p.fact("what it returns", returned).known(()).claimed(claim, ());
    p.fact("CUDA is initialised by it", woken).known(false).claimed(claim, false);
    p.fact("a CPU tensor afterwards", values).known([1.0; 2]).claimed(claim, [1.0; 2]);
    Ok(())
}

/// `c = torch.ones(..)` over a live `c` makes the new tensor before the old one goes.
fn rebinding(p: &Probe) -> Result<(), Stop> {
    let start = p.resident_bytes()?;
    let old = p.ones(LARGE, DType::F32)?;
    let (_new, peak) = process_peak(p, LARGE_BYTES, || {
        let new = p.ones(LARGE, DType::F32)?;
        p.release(old)?;
        Ok(new)
    })?;
    p.fact("peak above the old tensor, in tensors", peak)
        .within(0.1)
        .known(1.0)
        .claimed(SECOND_BLOCK, 1.0)
        .claimed(RESET, 1.0);
    p.fact("resident afterwards, in tensors", grown(p, start, LARGE_BYTES)?).within(0.1).known(1.0);
    Ok(())
}

/// Deleted first, the old tensor leaves room for the new one.
fn deleting_first(p: &Probe) -> Result<(), Stop> {
    let old = p.ones(LARGE, DType::F32)?;
    let (_new, peak) = process_peak(p, LARGE_BYTES, || {
        p.release(old)?;
        p.ones(LARGE, DType::F32)
    })?;
    p.fact("peak above the old tensor, in tensors", peak).within(0.1).known(0.0).claimed(RESET, 0.0);
    Ok(())
}

/// A reset in place needs no room at all, although nothing was moved or deleted first.
fn reset_in_place(p: &Probe) -> Result<(), Stop> {
    let mut tensor = p.ones(LARGE, DType::F32)?;
    let ((), peak) = process_peak(p, LARGE_BYTES, || p.zero_(&mut tensor))?;
    p.fact("peak above the tensor, in tensors", peak).within(0.1).known(0.0).claimed(RESET, 1.0);
    Ok(())
}

/// While the right-hand side of an assignment is computed, the name still holds the old tensor.
fn old_lives(p: &Probe) -> Result<(), Stop> {
    let [during, after] = p.python_list(
        r#"
def made():
    global during
    during = old() is not None
    return torch.zeros(4)

c = torch.zeros(4)
old = weakref.ref(c)
c = made()
answer = [during, old() is not None]
"#,
        &[],
    )?;
    p.fact("the old tensor lives while the new one is made", during).known(true).claimed(SECOND_BLOCK, true);
    p.fact("the old tensor lives afterwards", after).known(false);
    Ok(())
}
