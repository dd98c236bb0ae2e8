//! Where the bytes of CPU tensors come from, and what an address tells.

use crate::case::Case;
use crate::probe::{Probe, Stop};

const PYTHON_MANAGER: &str = "t001.cpu-vs-gpu.python-manager";
const ADDRESSES: &str = "t001.cpu-vs-gpu.printed-addresses";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::pytorch("cpu-vs-gpu.data-are-not-pythons", &[PYTHON_MANAGER], data_are_not_pythons).counts_heap(),
        Case::pytorch("cpu-vs-gpu.printed-address", &[ADDRESSES], printed_address),
    ]
}

/// Python's allocator sees a bytearray of 40 MB and nothing of a tensor of 40 MB, which the C heap gives.
fn data_are_not_pythons(p: &Probe) -> Result<(), Stop> {
    let traced = |make: &str| {
        format!(
            "
import tracemalloc
tracemalloc.start()
before = tracemalloc.get_traced_memory()[0]
made = {make}
answer = tracemalloc.get_traced_memory()[0] - before >= 40_000_000
tracemalloc.stop()
"
        )
    };
    p.fact("Python's allocator sees a bytearray's bytes", p.python(&traced("bytearray(40_000_000)"), &[])?).known(true);
    let (seen, heap) = p.account(|p| p.python(&traced("torch.ones(10_000_000)"), &[]))?;
    p.fact("Python's allocator sees a tensor's bytes", seen).known(false).claimed(PYTHON_MANAGER, true);
    p.fact("the C heap gives a tensor's bytes", heap.bytes >= 40_000_000).known(true);
    let aligned = p.python("all(torch.ones(size).data_ptr() % 64 == 0 for size in range(1, 100))", &[])?;
    p.fact("tensors lie at multiples of 64 bytes", aligned).known(true);
    Ok(())
}

/// An address is a whole number that is another one in another run, and says nothing of the device.
fn printed_address(p: &Probe) -> Result<(), Stop> {
    let source = "
a = torch.ones(3, 3)
printed = f'{a.untyped_storage().data_ptr()}'
answer = [printed.isdecimal(), printed == '140637895477952', a.device.type]
";
    let [number, printed, device] = p.python_list(source, &[])?;
    p.fact("the address prints as a whole number", number).known(true).claimed(ADDRESSES, true);
    p.fact("it is the number of the tutorial", printed).known(false).claimed(ADDRESSES, true);
    p.fact("what the device attribute says", device).known("cpu");
    Ok(())
}
