//! What making a tensor allocates.

use crate::case::Case;
use crate::cases::figures::grown;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle, Scalar};

const CONTIGUOUS: &str = "t001.storage.contiguous-on-create";

/// Elements of the tensors whose heap blocks are counted.
const ELEMENTS: i64 = 1 << 20;

type Maker = fn(&Probe) -> Result<Handle, Stop>;

/// Calls that make a tensor in a block of its own.
const MAKERS: [(&str, Maker); 5] = [
    ("empty", |p| p.empty([1024, 1024], DType::F32)),
    ("zeros", |p| p.zeros([1024, 1024], DType::F32)),
    ("ones", |p| p.ones([1024, 1024], DType::F32)),
    ("full", |p| p.full([1024, 1024], Scalar::Float(7.0), DType::F32)),
    ("arange", |p| p.arange(ELEMENTS, DType::F32)),
];

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = MAKERS
        .into_iter()
        .map(|(name, make)| {
            Case::new(format!("storage.{name}-takes-one-block"), &[CONTIGUOUS], move |p| one_block(p, make))
                .counts_heap()
        })
        .collect();
    cases.extend([
        Case::pytorch("storage.randn-takes-one-block", &[CONTIGUOUS], |p| {
            one_block(p, |p| p.python_tensor("torch.manual_seed(0)\nanswer = torch.randn(1024, 1024)", &[]))
        })
        .counts_heap(),
        Case::pytorch("storage.from-numpy-takes-no-block", &[CONTIGUOUS], from_numpy).counts_heap(),
        Case::pytorch("storage.made-not-contiguous", &[CONTIGUOUS], not_contiguous),
        Case::new("storage.no-elements-no-block", &[CONTIGUOUS], no_elements),
        Case::new("storage.pages-come-when-written", &[CONTIGUOUS], pages_come_when_written).reads_process_memory(),
    ]);
    cases
}

/// Making a tensor takes one block of its size, which the elements fill in order.
fn one_block(p: &Probe, make: impl Fn(&Probe) -> Result<Handle, Stop>) -> Result<(), Stop> {
    let (a, heap) = p.account(&make)?;
    let bytes = 4 * ELEMENTS;
    p.fact("contiguous", p.is_contiguous(&a)?).known(true).claimed(CONTIGUOUS, true);
    p.fact("bytes of the storage", p.storage_bytes(&a)?).known(bytes);
    p.fact("blocks taken", heap.allocations as i64).known(1).claimed(CONTIGUOUS, 1);
    p.fact("bytes taken", heap.bytes as i64).known(bytes).claimed(CONTIGUOUS, bytes);
    Ok(())
}

/// A tensor made from an array takes the array's block.
fn from_numpy(p: &Probe) -> Result<(), Stop> {
    let holder = p.python_tensor(
        "
answer = torch.zeros(1)
answer.array = np.ones((1024, 1024), dtype=np.float32)
",
        &[],
    )?;
    let (_, heap) = p.account(|p| p.python_tensor("torch.from_numpy(holder.array)", &[("holder", &holder)]))?;
    p.fact("blocks taken by from_numpy", heap.allocations as i64).known(0).claimed(CONTIGUOUS, 1);
    Ok(())
}

/// Some calls that make a tensor leave its elements in another order than that of rows.
fn not_contiguous(p: &Probe) -> Result<(), Stop> {
    for (what, source) in [
        ("ones_like of a transposed tensor", "torch.ones_like(torch.ones(2, 3).t())"),
        ("tensor of a Fortran-ordered array", "torch.tensor(np.ones((2, 3), order='F'))"),
        ("empty in the order channels_last", "torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)"),
        ("empty_strided", "torch.empty_strided((2, 3), (1, 2))"),
        ("expand", "torch.ones(1, 3).expand(2, 3)"),
    ] {
        let seen = p.python(&format!("{source}.is_contiguous()"), &[])?;
        p.fact(format!("{what} is contiguous"), seen).known(false).claimed(CONTIGUOUS, true);
    }
    Ok(())
}

/// A tensor of no elements has no block.
fn no_elements(p: &Probe) -> Result<(), Stop> {
    let a = p.zeros([0], DType::F32)?;
    p.fact("a tensor of no elements has an address", p.data_ptr(&a)? != 0).known(false).claimed(CONTIGUOUS, true);
    p.fact("bytes of its storage", p.storage_bytes(&a)?).known(0);
    Ok(())
}

/// A block enlarges the process when it is written: at once for ones, not before the first write for empty.
fn pages_come_when_written(p: &Probe) -> Result<(), Stop> {
    let before = p.resident_bytes()?;
    let mut a = p.empty([16 << 20], DType::F32)?;
    let bytes = p.storage_bytes(&a)?;
    p.fact("process growth after empty, in tensors", grown(p, before, bytes)?).known(0.0).within(0.1);
    p.fill_(&mut a, 1.0)?;
    p.fact("process growth after fill_, in tensors", grown(p, before, bytes)?).known(1.0).within(0.1);
    p.release(a)?;
    let b = p.ones([16 << 20], DType::F32)?;
    p.fact("process growth after ones, in tensors", grown(p, before, bytes)?)
        .known(1.0)
        .claimed(CONTIGUOUS, 1.0)
        .within(0.1);
    p.release(b)
}
