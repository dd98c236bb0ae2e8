//! What `sys.getsizeof` counts of a tensor.

use super::figures::grown;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use crate::record::Value;
use subject::{Calls, DType};

const PRINTED_47: &str = "t000.getsizeof.printed-L47";
const PRINTED_48: &str = "t000.getsizeof.printed-L48";
const WRAPPER: &str = "t000.getsizeof.wrapper-only";
const HONEST: &str = "t000.getsizeof.storage-honest";
const DONT_USE: &str = "t000.getsizeof.dont-use";

/// Bytes of one machine word: what the headers of Python objects differ by between minor versions.
const WORD: f64 = 8.0;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::pytorch("getsizeof.wrapper-and-storage", &[PRINTED_47, PRINTED_48, HONEST], wrapper_and_storage),
        Case::pytorch("getsizeof.same-for-every-tensor", &[WRAPPER], same_for_every_tensor),
        Case::pytorch("getsizeof.against-the-process", &[WRAPPER, DONT_USE], against_the_process)
            .reads_process_memory(),
        Case::pytorch("getsizeof.storages-of-views", &[HONEST], storages_of_views),
    ]
}

/// The sizes of the wrapper and of the storage's header change by a word with the minor version of Python.
fn wrapper_and_storage(p: &Probe) -> Result<(), Stop> {
    let source = "
a = torch.zeros(1000, 1000)
storage = a.untyped_storage()
answer = [sys.getsizeof(a), sys.getsizeof(storage), sys.getsizeof(storage) - storage.nbytes()]
";
    let [wrapper, storage, header] = p.python_list(source, &[])?;
    for (what, claim, seen, printed, on_311) in [
        ("getsizeof of the tensor", PRINTED_47, wrapper, 72, 80),
        ("getsizeof of the storage", PRINTED_48, storage, 4_000_056, 4_000_064),
    ] {
        let to_a_word = if let Value::Int(bytes) = seen { Value::Float(bytes as f64) } else { seen.clone() };
        p.fact(what, seen).known(printed).known_on("python 3.11", on_311).claimed(claim, printed);
        p.fact(format!("{what}, to a word"), to_a_word)
            .known(f64::from(printed))
            .claimed(claim, f64::from(printed))
            .within(WORD);
    }
    p.fact("header of the storage", header).known(56).known_on("python 3.11", 64).claimed(HONEST, 56);
    Ok(())
}

/// `sys.getsizeof` gives one number whatever the shape, the dtype and the storage.
fn same_for_every_tensor(p: &Probe) -> Result<(), Stop> {
    let source = "
made = [torch.zeros(10), torch.zeros(()), torch.zeros(0), torch.zeros(1000, 1000)]
made += [torch.zeros(10, dtype=torch.float64), made[3][:, 0], torch.zeros(10, requires_grad=True)]
answer = [sys.getsizeof(tensor) for tensor in made]
";
    let [small, others @ ..] = p.python_list::<7>(source, &[])?;
    let whats = ["no dimension", "no element", "1000 by 1000", "float64", "a column of it", "requires grad"];
    p.fact("getsizeof of 10 elements", small.clone()).known(72).known_on("python 3.11", 80);
    for (what, seen) in whats.into_iter().zip(others) {
        p.fact(format!("the same for a tensor: {what}"), seen == small).known(true).claimed(WRAPPER, true);
    }
    Ok(())
}

/// A tensor enlarges the process by its data, of which `sys.getsizeof` counts nothing.
fn against_the_process(p: &Probe) -> Result<(), Stop> {
    let before = p.resident_bytes()?;
    let a = p.ones([16 << 20], DType::F32)?;
    let grown = grown(p, before, p.storage_bytes(&a)?)?;
    let counted = p.python("float(sys.getsizeof(a) / a.nbytes)", &[("a", &a)])?;
    p.fact("process growth, in bytes of data", grown).known(1.0).claimed(DONT_USE, 1.0).within(0.1);
    p.fact("getsizeof, in bytes of data", counted)
        .known(0.0)
        .claimed(WRAPPER, 0.0)
        .claimed(DONT_USE, 0.0)
        .within(0.001);
    Ok(())
}

/// `sys.getsizeof` of a storage counts its data, and counts them again for each view.
fn storages_of_views(p: &Probe) -> Result<(), Stop> {
    let source = "
a = torch.zeros(1000, 1000)
size = sys.getsizeof(a.untyped_storage())
answer = [size - sys.getsizeof(torch.zeros(0).untyped_storage()), sys.getsizeof(a[:, 0].untyped_storage()) + size > 2 * a.nbytes]
";
    let [data, twice] = p.python_list(source, &[])?;
    p.fact("data that getsizeof counts of a storage", data).known(4_000_000).claimed(HONEST, 4_000_000);
    p.fact("a tensor and its view are counted twice", twice).known(true).claimed(HONEST, false);
    Ok(())
}
