//! What a copy shares with its source: nothing.

use super::figures::printed_lines;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle, Value};

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "clone.has-storage-of-its-own",
            &["t001.clone.own-memory", "t001.clone.different-ptr"],
            storage_of_its_own,
        ),
        Case::new("clone.takes-one-block", &["t001.clone.own-memory"], takes_one_block).counts_heap(),
        Case::new("clone.write-stays-in-the-copy", &["t001.clone.original-unchanged"], write_stays_in_the_copy),
        Case::new("clone.stays-in-the-graph", &[], stays_in_the_graph),
        Case::pytorch(
            "clone.printed-after-a-write",
            &["t001.clone.printed-original", "t001.clone.printed-copy"],
            printed_after_a_write,
        ),
        Case::pytorch("clone.printed-addresses", &["t001.clone.printed-addresses"], printed_addresses),
    ]
}

/// A clone has a storage of its own, as large as its own elements, and the two blocks do not overlap.
fn storage_of_its_own(p: &Probe) -> Result<(), Stop> {
    let (own, different) = ("t001.clone.own-memory", "t001.clone.different-ptr");
    let original = p.ones([3, 3], DType::F32)?;
    let copy = p.clone(&original)?;
    let (from, to) = (p.storage_ptr(&original)?, p.storage_ptr(&copy)?);
    p.fact("same storage address", from == to).known(false).claimed(own, false).claimed(different, false).example();
    let bytes = p.storage_bytes(&copy)?;
    p.fact("bytes of the clone's storage", bytes).known(36).claimed(own, 36);
    p.fact("the blocks overlap", (from - to).abs() < bytes).known(false).claimed(different, false);
    let matrix = p.zeros([1000, 1000], DType::F32)?;
    let column = p.clone(&p.select(&matrix, 1, 0)?)?;
    p.fact("bytes of the clone of a column", p.storage_bytes(&column)?).known(4000).claimed(own, 4000);
    Ok(())
}

/// A clone takes one block of the bytes of its elements.
fn takes_one_block(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.clone.own-memory";
    let original = p.ones([1000, 1000], DType::F32)?;
    let (_copy, heap) = p.account(|p| p.clone(&original))?;
    p.fact("blocks taken", heap.allocations as i64).known(1).claimed(claim, 1);
    p.fact("bytes kept", heap.kept_bytes).known(4_000_000).claimed(claim, 4_000_000);
    Ok(())
}

/// A write to either of the two leaves the other as it was.
fn write_stays_in_the_copy(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.clone.original-unchanged";
    let original = p.ones([3, 3], DType::F32)?;
    let copy = p.clone(&original)?;
    p.fill_(&mut corner(p, &copy)?, 99.0)?;
    p.fact("original after a write to the copy", p.values(&original)?)
        .known([1.0; 9])
        .claimed(claim, [1.0; 9])
        .example();
    p.fill_(&mut corner(p, &original)?, 7.0)?;
    let mut expected = [1.0; 9];
    expected[0] = 99.0;
    p.fact("copy after a write to the original", p.values(&copy)?).known(expected);
    Ok(())
}

fn corner(p: &Probe, matrix: &Handle) -> Result<Handle, Stop> {
    p.narrow(&p.narrow(matrix, 0, 0, 1)?, 1, 0, 1)
}

/// A clone of a tensor that requires grad is a recorded operation: it is cut from its source's elements, not from the
/// graph.
fn stays_in_the_graph(p: &Probe) -> Result<(), Stop> {
    let mut weight = p.ones([3], DType::F32)?;
    p.requires_grad_(&mut weight, true)?;
    let copy = p.clone(&weight)?;
    p.fact("the clone has a grad_fn", p.has_grad_fn(&copy)?).known(true);
    p.fact("the clone is a leaf", p.is_leaf(&copy)?).known(false);
    p.backward(&p.sum(&copy)?)?;
    p.fact("gradient of the source", p.values(&p.grad(&weight)?)?).known([1.0; 3]);
    Ok(())
}

/// The program of the listing, printed as PyTorch prints it.
fn printed_after_a_write(p: &Probe) -> Result<(), Stop> {
    let printed = p.python(
        r#"
original = torch.ones(3, 3)
copy = original.clone()
copy[0, 0] = 99
answer = f"Original tensor:\n{original}\nCopy tensor:\n{copy}"
"#,
        &[],
    )?;
    let Value::Text(printed) = printed else {
        return Err(Stop::Harness(format!("expected text from Python, got {printed}")));
    };
    let original = [
        (65, "Original tensor:", "Original tensor:"),
        (66, "tensor([[1., 1., 1.],", "tensor([[1., 1., 1.],"),
        (67, "[1., 1., 1.],", "        [1., 1., 1.],"),
        (68, "[1., 1., 1.]])", "        [1., 1., 1.]])"),
    ];
    let copy = [
        (69, "Copy tensor:", "Copy tensor:"),
        (70, "tensor([[99., 1., 1.],", "tensor([[99.,  1.,  1.],"),
        (71, "[ 1., 1., 1.],", "        [ 1.,  1.,  1.],"),
        (72, "[ 1., 1., 1.]])", "        [ 1.,  1.,  1.]])"),
    ];
    let lines: Vec<&str> = printed.lines().collect();
    let (first, second) = lines.split_at(original.len().min(lines.len()));
    printed_lines(p, "t001.clone.printed-original", &first.join("\n"), &original);
    printed_lines(p, "t001.clone.printed-copy", &second.join("\n"), &copy);
    Ok(())
}

/// The two printed addresses differ, and neither is one that PyTorch gives a fresh storage: those are multiples of 64.
fn printed_addresses(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.clone.printed-addresses";
    let [equal, original, copy] = p.python_list(
        r#"
original = torch.ones(3, 3)
copy = original.clone()
addresses = [tensor.untyped_storage().data_ptr() for tensor in (original, copy)]
answer = [addresses[0] == addresses[1], addresses[0] % 64, addresses[1] % 64]
"#,
        &[],
    )?;
    p.fact("the two addresses are equal", equal).known(false).claimed(claim, false);
    p.fact("the original's address modulo 64", original).known(0).claimed(claim, 140_637_895_499_936_i64 % 64);
    p.fact("the copy's address modulo 64", copy).known(0).claimed(claim, 140_637_895_523_504_i64 % 64);
    Ok(())
}
