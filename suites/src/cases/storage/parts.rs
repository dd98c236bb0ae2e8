//! What belongs to every tensor, and what only to some.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const NUMPY: &str = "t001.storage.like-numpy";
const HAS_STORAGE: &str = "t001.storage.has-storage";
const METADATA: &str = "t001.storage.has-metadata";
const HISTORY: &str = "t001.storage.has-history";
const PTR_API: &str = "t001.storage.ptr-api";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    vec![
        Case::pytorch("storage.shared-with-numpy", &[NUMPY], shared_with_numpy),
        Case::pytorch("storage.not-as-in-numpy", &[NUMPY], not_as_in_numpy),
        Case::pytorch("storage.who-has-one", &[HAS_STORAGE], who_has_one),
        Case::new("storage.metadata-is-the-tensors-own", &[METADATA], metadata),
        Case::new("storage.history-begins-at-results", &[HISTORY], history),
        Case::pytorch("storage.typed-storage-is-deprecated", &[PTR_API], typed_storage).alone(),
    ]
}

/// A tensor and an array can be two faces of one block, and a write through one shows in the other.
fn shared_with_numpy(p: &Probe) -> Result<(), Stop> {
    let source = "
array = np.zeros(3, dtype=np.float32)
tensor = torch.from_numpy(array)
array[0] = 7
tensor[1] = 8
answer = [
    tensor.data_ptr() == array.ctypes.data,
    tensor.numpy().ctypes.data == tensor.data_ptr(),
    array.tolist() == tensor.tolist() == [7, 8, 0],
]
";
    let whats = ["from_numpy keeps the address", "numpy() keeps the address", "each sees the other's writes"];
    for (what, seen) in whats.into_iter().zip(p.python_list::<3>(source, &[])?) {
        p.fact(what, seen).known(true).claimed(NUMPY, true);
    }
    Ok(())
}

/// Strides count other units, and some arrays and tensors have no counterpart.
fn not_as_in_numpy(p: &Probe) -> Result<(), Stop> {
    let [torch_strides, numpy_strides] =
        p.python_list("[torch.zeros(2, 3).stride(), np.zeros((2, 3), dtype=np.float32).strides]", &[])?;
    p.fact("strides in PyTorch, in elements", torch_strides).known([3, 1]).claimed(NUMPY, numpy_strides.clone());
    p.fact("strides in NumPy, in bytes", numpy_strides).known([12, 4]);
    for (what, source, kind) in [
        ("an array with a negative stride as a tensor", "torch.from_numpy(np.arange(3)[::-1])", "ValueError"),
        ("a bfloat16 tensor as an array", "torch.zeros(3, dtype=torch.bfloat16).numpy() is None", "TypeError"),
        (
            "a tensor that requires grad as an array",
            "torch.zeros(3, requires_grad=True).numpy() is None",
            "RuntimeError",
        ),
    ] {
        p.fact(format!("{what}: error"), p.kind_of(p.python(source, &[]))?).known(kind).claimed(NUMPY, ());
    }
    Ok(())
}

/// A dense tensor has a storage with an address, a meta tensor one without, a sparse tensor none.
fn who_has_one(p: &Probe) -> Result<(), Stop> {
    let has_address = |what: &str, source: &str, known: bool| -> Result<(), Stop> {
        let seen = p.python(&format!("{source}.untyped_storage().data_ptr() != 0"), &[])?;
        p.fact(format!("the storage of {what} has an address"), seen).known(known).claimed(HAS_STORAGE, true);
        Ok(())
    };
    has_address("a dense tensor", "torch.zeros(3)", true)?;
    has_address("a meta tensor", "torch.zeros(3, device='meta')", false)?;
    let sparse = p.python("torch.zeros(3).to_sparse().untyped_storage().nbytes()", &[]);
    p.fact("storage of a sparse tensor: error", p.kind_of(sparse)?)
        .known("NotImplementedError")
        .claimed(HAS_STORAGE, ());
    Ok(())
}

/// Two tensors over one storage have shapes and strides of their own.
fn metadata(p: &Probe) -> Result<(), Stop> {
    let a = p.ones([2, 3], DType::F32)?;
    let b = p.view(&a, [3, 2])?;
    p.fact("one storage", p.storage_ptr(&a)? == p.storage_ptr(&b)?).known(true);
    for (what, tensor, shape, stride) in [("tensor", &a, [2, 3], [3, 1]), ("view", &b, [3, 2], [2, 1])] {
        p.fact(format!("shape of the {what}"), p.shape(tensor)?).known(shape).claimed(METADATA, shape);
        p.fact(format!("strides of the {what}"), p.stride(tensor)?).known(stride).claimed(METADATA, stride);
        p.fact(format!("dtype of the {what}"), p.dtype(tensor)?).known(DType::F32).claimed(METADATA, DType::F32);
    }
    Ok(())
}

/// A leaf has no history, whether it requires grad or not; the result of a recorded operation has one.
fn history(p: &Probe) -> Result<(), Stop> {
    let mut leaf = p.ones([3], DType::F32)?;
    p.requires_grad_(&mut leaf, true)?;
    p.fact("a leaf that requires grad has a history", p.has_grad_fn(&leaf)?).known(false).claimed(HISTORY, true);
    let result = p.mul_scalar(&leaf, 2.0)?;
    p.fact("its result requires grad", p.requires_grad(&result)?).known(true);
    p.fact("its result has a history", p.has_grad_fn(&result)?).known(true).claimed(HISTORY, true);
    let plain = p.ones([3], DType::F32)?;
    let plain = p.mul_scalar(&plain, 2.0)?;
    p.fact("a result without grad has a history", p.has_grad_fn(&plain)?).known(false);
    Ok(())
}

/// `storage()` gives the address and warns once in a process; `untyped_storage()` gives it and does not warn.
fn typed_storage(p: &Probe) -> Result<(), Stop> {
    let source = "
a = torch.zeros(5)
def warned(address):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        same = address() == a.data_ptr()
    return [same, sum('TypedStorage is deprecated' in str(warning.message) for warning in seen)]
typed = lambda: a.storage().data_ptr()
answer = warned(lambda: a.untyped_storage().data_ptr()) + warned(typed) + warned(typed)
";
    let [untyped, untyped_warned, typed, first, _, second] = p.python_list(source, &[])?;
    p.fact("storage().data_ptr() is the address", typed).known(true).claimed(PTR_API, true);
    p.fact("warnings at its first call", first).known(1).known_on("pytorch 1.", 0).claimed(PTR_API, 0);
    p.fact("warnings at its second call", second).known(0);
    p.fact("untyped_storage().data_ptr() is the address", untyped).known(true);
    p.fact("warnings of untyped_storage()", untyped_warned).known(0);
    Ok(())
}
