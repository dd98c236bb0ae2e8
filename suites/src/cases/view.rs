//! What shares a block, and how long a shared block lives.

use super::figures::{grown, in_units, printed_lines};
use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle, Value};

/// Rows and columns of a tensor of 64 MiB, which process memory shows clearly.
const LARGE: [i64; 2] = [4096, 4096];
const LARGE_BYTES: i64 = 64 << 20;

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("view.slice-stands-on-the-whole-block", &["t000.view.slice-shares-4MB"], slice_shares),
        Case::new(
            "view.block-goes-with-the-last-view",
            &["t000.view.no-saving-while-parent-alive", "t000.view.freed-after-last-reference"],
            block_goes_with_the_last_view,
        )
        .reads_process_memory(),
        Case::new("view.clone-lets-the-block-go", &["t000.view.freed-after-last-reference"], clone_lets_the_block_go)
            .counts_heap(),
        Case::pytorch(
            "view.every-reference-keeps-the-block",
            &["t000.view.freed-after-last-reference"],
            every_reference_keeps_the_block,
        ),
        Case::new("view.many-views-cost-no-memory", &["t001.view.no-new-memory"], many_views).reads_process_memory(),
        Case::new("view.write-reaches-the-original", &["t001.view.program"], write_reaches_the_original),
        Case::pytorch(
            "view.printed-after-a-write",
            &["t001.view.printed-original", "t001.view.printed-view", "t001.view.printed-address"],
            printed_after_a_write,
        ),
        Case::new("view.same-storage-address", &["t001.view.same-ptr"], same_storage_address),
        Case::new("view.same-address-while-alive", &["t001.view.same-address-means-shared"], same_address_while_alive),
        Case::pytorch(
            "view.same-address-without-sharing",
            &["t001.view.same-address-means-shared"],
            same_address_without_sharing,
        ),
    ];
    cases.extend(views());
    cases.extend(copies());
    cases.extend(refusals());
    cases.extend(pytorch_views());
    cases
}

/// A column of a matrix counts its own elements and stands on the whole block.
fn slice_shares(p: &Probe) -> Result<(), Stop> {
    let claim = "t000.view.slice-shares-4MB";
    let t = p.zeros([1000, 1000], DType::F32)?;
    let column = p.select(&t, 1, 0)?;
    p.fact("elements of t[:, 0]", p.numel(&column)?).known(1000).claimed(claim, 1000);
    p.fact("bytes of its storage", p.storage_bytes(&column)?).known(4_000_000).claimed(claim, 4_000_000).example();
    p.fact("same storage as t", p.storage_ptr(&column)? == p.storage_ptr(&t)?).known(true).claimed(claim, true);
    p.fact("strides", p.stride(&column)?).known([1000]);
    Ok(())
}

/// The process gives the block back when the last view goes, and not when its parent's name does.
fn block_goes_with_the_last_view(p: &Probe) -> Result<(), Stop> {
    let (saving, freed) = ("t000.view.no-saving-while-parent-alive", "t000.view.freed-after-last-reference");
    let start = p.resident_bytes()?;
    let t = p.ones(LARGE, DType::F32)?;
    p.fact("resident with t, in tensors", grown(p, start, LARGE_BYTES)?).within(0.1).known(1.0);
    let column = p.select(&t, 1, 0)?;
    p.fact("with a view beside t", grown(p, start, LARGE_BYTES)?).within(0.1).known(1.0).claimed(saving, 1.0);
    p.release(t)?;
    // The sentence limits itself to the life of the parent: after it, the view alone is to cost its own elements.
    p.fact("with the view alone", grown(p, start, LARGE_BYTES)?)
        .within(0.1)
        .known(1.0)
        .claimed(saving, 0.0)
        .claimed(freed, 1.0);
    p.release(column)?;
    p.fact("after the view is gone", grown(p, start, LARGE_BYTES)?).within(0.1).known(0.0).claimed(freed, 0.0);
    Ok(())
}

/// A copy of a part needs that part alone, so that the block can go.
fn clone_lets_the_block_go(p: &Probe) -> Result<(), Stop> {
    let claim = "t000.view.freed-after-last-reference";
    let shape = [1024, 1024];
    let bytes = 4 << 20;
    let (view, kept) = p.account(|p| {
        let t = p.ones(shape, DType::F32)?;
        let view = p.narrow(&t, 0, 0, 256)?;
        p.release(t)?;
        Ok(view)
    })?;
    p.fact("live under a view of a quarter, in tensors", in_units(kept.kept_bytes, bytes))
        .known(1.0)
        .claimed(claim, 1.0);
    let (copy, kept) = p.account(|p| {
        let copy = p.clone(&view)?;
        p.release(view)?;
        Ok(copy)
    })?;
    p.fact("change when a clone takes its place", in_units(kept.kept_bytes, bytes)).known(-0.75).claimed(claim, -0.75);
    let ((), kept) = p.account(|p| p.release(copy))?;
    p.fact("change when the clone goes", in_units(kept.kept_bytes, bytes)).known(-0.25);
    Ok(())
}

/// Another name, a list, a view, a detached tensor and a graph each keep a block; reference counting frees it at once
/// after the last of them. The block is a NumPy array's, which can be watched.
fn every_reference_keeps_the_block(p: &Probe) -> Result<(), Stop> {
    let claim = "t000.view.freed-after-last-reference";
    let holders = [
        ("another name", "t"),
        ("a list", "[t]"),
        ("a view", "t[0]"),
        ("a detached tensor", "t.detach()"),
        ("a NumPy array", "t.numpy()"),
        ("a graph that saved it", "torch.ones(4, requires_grad=True) * t"),
    ];
    for (name, holder) in holders {
        let source = format!(
            r#"
gc.disable()
try:
    array = np.ones(4, dtype=np.float32)
    block = weakref.ref(array)
    t = torch.from_numpy(array)
    del array
    holder = {holder}
    del t
    kept = block() is not None
    del holder
    answer = [kept, block() is None]
finally:
    gc.enable()
"#
        );
        let [kept, freed] = p.python_list(&source, &[])?;
        p.fact(format!("{name} keeps the block"), kept).known(true).claimed(claim, true);
        p.fact(format!("without {name} the block is free at once"), freed).known(true).claimed(claim, true);
    }
    Ok(())
}

/// Two hundred views of one tensor leave the process as large as it was.
fn many_views(p: &Probe) -> Result<(), Stop> {
    let t = p.ones(LARGE, DType::F32)?;
    let start = p.resident_bytes()?;
    let mut views = Vec::new();
    for row in 0..200 {
        views.push(p.select(&t, 0, row)?);
    }
    p.fact("resident for 200 views, in tensors", grown(p, start, LARGE_BYTES)?)
        .within(0.1)
        .known(0.0)
        .claimed("t001.view.no-new-memory", 0.0);
    Ok(())
}

type MakeView = fn(&Probe, &Handle) -> Result<Handle, Stop>;

/// How to view a tensor of 64 rows and 1024 columns, and the shape, strides and offset of the view.
type ViewRow = (&'static str, MakeView, &'static [i64], &'static [i64], i64);

/// Each view takes no block and describes the same elements by another shape, other strides, another offset.
fn views() -> impl Iterator<Item = Case> {
    const ROWS: [ViewRow; 8] = [
        ("view", |p, a| p.view(a, [65536]), &[65536], &[1], 0),
        ("reshape", |p, a| p.reshape(a, [128, 512]), &[128, 512], &[512, 1], 0),
        ("narrow", |p, a| p.narrow(a, 1, 1, 10), &[64, 10], &[1024, 1], 1),
        ("select", |p, a| p.select(a, 0, -1), &[1024], &[1], 63 * 1024),
        ("transpose", |p, a| p.transpose(a, 0, 1), &[1024, 64], &[1, 1024], 0),
        ("expand", |p, a| p.expand(a, [4, 64, 1024]), &[4, 64, 1024], &[0, 1024, 1], 0),
        ("chunk", |p, a| second(p.chunk(a, 4, 0)?), &[16, 1024], &[1024, 1], 16 * 1024),
        ("contiguous", |p, a| p.contiguous(a), &[64, 1024], &[1024, 1], 0),
    ];
    ROWS.into_iter().map(|(name, make, shape, stride, offset)| {
        let claim = "t001.view.no-new-memory";
        Case::new(format!("view.{name}-takes-no-block"), &[claim], move |p| {
            let a = p.ones([64, 1024], DType::F32)?;
            let (view, heap) = p.account(|p| make(p, &a))?;
            p.fact("blocks taken", heap.allocations as i64).known(0).claimed(claim, 0);
            p.fact("same storage", p.storage_ptr(&view)? == p.storage_ptr(&a)?).known(true).claimed(claim, true);
            p.fact("shape", p.shape(&view)?).known(shape.to_vec());
            p.fact("strides", p.stride(&view)?).known(stride.to_vec());
            p.fact("offset", p.storage_offset(&view)?).known(offset);
            Ok(())
        })
        .counts_heap()
    })
}

fn second(parts: Vec<Handle>) -> Result<Handle, Stop> {
    parts.into_iter().nth(1).ok_or_else(|| Stop::Harness("expected at least two chunks".into()))
}

/// What looks like a view and copies: each takes one block of its own.
fn copies() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, MakeView, i64); 6] = [
        ("clone", |p, a| p.clone(a), 1),
        ("contiguous-of-transposed", |p, a| p.contiguous(&p.transpose(a, 0, 1)?), 1),
        ("reshape-of-transposed", |p, a| p.reshape(&p.transpose(a, 0, 1)?, [65536]), 1),
        ("clone-of-expanded", |p, a| p.clone(&p.expand(&p.narrow(a, 0, 0, 1)?, [64, 1024])?), 1),
        ("cat-of-one", |p, a| p.cat([a.into()], 0), 1),
        ("conversion", |p, a| p.to(a, DType::F64), 2),
    ];
    ROWS.into_iter().map(|(name, make, units)| {
        Case::new(format!("view.{name}-copies"), &[], move |p| {
            let a = p.ones([64, 1024], DType::F32)?;
            let (copy, heap) = p.account(|p| make(p, &a))?;
            p.fact("shares the storage", p.storage_ptr(&copy)? == p.storage_ptr(&a)?).known(false);
            p.fact("bytes kept, in tensors", in_units(heap.kept_bytes, 64 * 1024 * 4)).known(units as f64);
            Ok(())
        })
        .counts_heap()
    })
}

/// What cannot be a view is refused.
fn refusals() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, MakeView, &str); 6] = [
        ("view-of-other-size", |p, a| p.view(a, [7]), "shape"),
        ("view-of-two-unknowns", |p, a| p.view(a, [-1, -1]), "shape"),
        ("view-across-strides", |p, a| p.view(&p.transpose(a, 0, 1)?, [6]), "shape"),
        ("reshape-to-other-size", |p, a| p.reshape(a, [7]), "shape"),
        ("expand-of-a-full-dimension", |p, a| p.expand(a, [4, 3]), "shape"),
        ("select-out-of-range", |p, a| p.select(a, 0, 5), "index"),
    ];
    ROWS.into_iter().map(|(name, make, kind)| {
        Case::new(format!("view.{name}-is-refused"), &[], move |p| {
            let a = p.ones([2, 3], DType::F32)?;
            p.fact("kind of error", p.kind_of(make(p, &a))?).known(kind);
            Ok(())
        })
    })
}

/// The views that PyTorch alone has, of `t = torch.arange(24.).view(2, 3, 4)`: strides, offset, contiguity.
fn pytorch_views() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, &str, &[i64], i64, bool); 12] = [
        ("permute", "t.permute(2, 0, 1)", &[1, 12, 4], 0, false),
        ("strided-slice", "t[..., ::2]", &[12, 4, 2], 0, false),
        ("unsqueeze", "t.unsqueeze(0)", &[24, 12, 4, 1], 0, true),
        ("flatten", "t.flatten()", &[1], 0, true),
        ("unfold", "t.unfold(2, 2, 1)", &[12, 4, 1, 1], 0, false),
        ("as_strided", "t.as_strided((2, 2), (1, 2), 3)", &[1, 2], 3, false),
        ("diagonal", "t.diagonal(0, 1, 2)", &[12, 5], 0, false),
        ("unbind", "t.unbind(0)[1]", &[4, 1], 12, true),
        ("view-of-another-dtype", "t.view(torch.int32)", &[12, 4, 1], 0, true),
        ("detach", "t.detach()", &[12, 4, 1], 0, true),
        ("data", "t.data", &[12, 4, 1], 0, true),
        ("single-element", "t[0, 1, 2]", &[], 6, true),
    ];
    ROWS.into_iter().map(|(name, expression, stride, offset, contiguous)| {
        Case::pytorch(format!("view.{name}-shares"), &[], move |p| {
            let t = p.python_tensor("torch.arange(24.).view(2, 3, 4)", &[])?;
            let view = p.python_tensor(expression, &[("t", &t)])?;
            p.fact("same storage", p.storage_ptr(&view)? == p.storage_ptr(&t)?).known(true);
            p.fact("strides", p.stride(&view)?).known(stride.to_vec());
            p.fact("offset", p.storage_offset(&view)?).known(offset);
            p.fact("contiguous", p.is_contiguous(&view)?).known(contiguous);
            Ok(())
        })
    })
}

/// A write through a view shows in the original, and the other way round.
fn write_reaches_the_original(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.view.program";
    let original = p.ones([5, 5], DType::F32)?;
    let view = p.view(&original, [25])?;
    let mut first = p.narrow(&view, 0, 0, 1)?;
    p.fill_(&mut first, 100.0)?;
    let mut expected = [1.0; 25];
    expected[0] = 100.0;
    p.fact("original after a write to the view", p.values(&original)?)
        .known(expected)
        .claimed(claim, expected)
        .example();
    let corner = p.narrow(&original, 0, 4, 1)?;
    let mut corner = p.narrow(&corner, 1, 4, 1)?;
    p.fill_(&mut corner, 7.0)?;
    let last = p.values(&p.narrow(&view, 0, 24, 1)?)?;
    p.fact("last element of the view after a write to the original", last).known([7.0]);
    Ok(())
}

/// The program of the listing, printed as PyTorch prints it: the numbers fit, the alignment does not.
fn printed_after_a_write(p: &Probe) -> Result<(), Stop> {
    let [original, view, equal, listed] = p.python_list(
        r#"
original = torch.ones(5, 5)
view = original.view(25)
view[0] = 100
addresses = [tensor.untyped_storage().data_ptr() for tensor in (original, view)]
answer = [f"Original tensor:\n{original}", f"View tensor:\n{view}",
          addresses[0] == addresses[1], addresses == [140637895477952] * 2]
"#,
        &[],
    )?;
    let original_lines = [
        (36, "Original tensor:", "Original tensor:"),
        (37, "tensor([[100., 1., 1., 1., 1.],", "tensor([[100.,   1.,   1.,   1.,   1.],"),
        (38, "[ 1., 1., 1., 1., 1.],", "        [  1.,   1.,   1.,   1.,   1.],"),
        (39, "[ 1., 1., 1., 1., 1.],", "        [  1.,   1.,   1.,   1.,   1.],"),
        (40, "[ 1., 1., 1., 1., 1.],", "        [  1.,   1.,   1.,   1.,   1.],"),
        (41, "[ 1., 1., 1., 1., 1.]])", "        [  1.,   1.,   1.,   1.,   1.]])"),
    ];
    let view_lines = [
        (42, "View tensor:", "View tensor:"),
        (
            43,
            "tensor([100., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.,",
            "tensor([100.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,",
        ),
        (
            44,
            "1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.,",
            "          1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,   1.,",
        ),
        (45, "1.])", "          1.])"),
    ];
    printed_lines(p, "t001.view.printed-original", &text(original)?, &original_lines);
    printed_lines(p, "t001.view.printed-view", &text(view)?, &view_lines);
    let claim = "t001.view.printed-address";
    p.fact("the two printed addresses are equal", equal).known(true).claimed(claim, true);
    p.fact("they are the listed address", listed).known(false).claimed(claim, true);
    Ok(())
}

fn text(value: Value) -> Result<String, Stop> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(Stop::Harness(format!("expected text from Python, got {other}"))),
    }
}

/// A view has its parent's storage address, and with an offset another address of its first element.
fn same_storage_address(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.view.same-ptr";
    let original = p.ones([5, 5], DType::F32)?;
    let view = p.view(&original, [25])?;
    let storage = p.storage_ptr(&original)?;
    p.fact("same storage address", p.storage_ptr(&view)? == storage).known(true).claimed(claim, true).example();
    let row = p.narrow(&original, 0, 1, 1)?;
    p.fact("same with an offset", p.storage_ptr(&row)? == storage).known(true).claimed(claim, true);
    p.fact("bytes from the first element to that of row 1", p.data_ptr(&row)? - p.data_ptr(&original)?).known(20);
    Ok(())
}

/// Between tensors that are alive and not empty, an equal address means one storage.
fn same_address_while_alive(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.view.same-address-means-shared";
    let a = p.ones([3], DType::F32)?;
    let mut view = p.view(&a, [3])?;
    let other = p.ones([3], DType::F32)?;
    p.fact("a view has the same address", p.storage_ptr(&view)? == p.storage_ptr(&a)?).known(true);
    p.fill_(&mut view, 2.0)?;
    p.fact("and what is written to it shows", p.values(&a)?).known([2.0; 3]).claimed(claim, [2.0; 3]).example();
    p.fact("another tensor has the same address", p.storage_ptr(&other)? == p.storage_ptr(&a)?).known(false);
    Ok(())
}

/// A freed block is given out again, and tensors of no elements have no address at all.
fn same_address_without_sharing(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.view.same-address-means-shared";
    let [reused, empty_equal, empty_shared] = p.python_list(
        r#"
addresses = [torch.ones(1000).data_ptr() for _ in range(100)]
reused = len(set(addresses)) < len(addresses)
a, b = torch.empty(0), torch.empty(0)
answer = [reused, a.data_ptr() == b.data_ptr(), a.untyped_storage()._cdata == b.untyped_storage()._cdata]
"#,
        &[],
    )?;
    p.fact("of 100 tensors that each went before the next, two had one address", reused)
        .known(true)
        .claimed(claim, false);
    p.fact("two empty tensors have the same address", empty_equal).known(true);
    p.fact("and share a storage", empty_shared).known(false).claimed(claim, true);
    Ok(())
}
