//! What writes in place, and what takes blocks.

use crate::case::Case;
use crate::cases::figures::{in_units, process_peak};
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

/// Rows and columns of a tensor of 36 MB: large enough that each block is the system's own pages, and small enough for
/// four temporaries of twice its bytes.
const LARGE: [i64; 2] = [3000, 3000];
const LARGE_BYTES: i64 = 3000 * 3000 * 4;

/// The cases of this theme.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("inplace.add_-keeps-the-address", &["t000.inplace.ptr-kept"], add_keeps_the_address),
        Case::new(
            "inplace.add-takes-a-block",
            &["t000.inplace.add-allocates-new", "t000.inplace.A-untouched"],
            add_takes_a_block,
        )
        .counts_heap(),
        Case::pytorch(
            "inplace.printed-addresses",
            &["t000.inplace.printed-L93", "t000.inplace.printed-L94"],
            printed_addresses,
        ),
        Case::pytorch(
            "inplace.underscore-replaces-the-block",
            &["t000.inplace.underscore-writes-in-place"],
            underscore_replaces_the_block,
        ),
        Case::new(
            "inplace.add-in-place-has-no-peak",
            &["t000.inplace.table-no-alloc", "t001.inplace.no-intermediate"],
            no_peak,
        )
        .reads_process_memory(),
        Case::new("inplace.other-dtype-has-a-peak", &["t001.inplace.no-intermediate"], other_dtype_has_a_peak)
            .reads_process_memory(),
        Case::new("inplace.rebinding-has-a-peak", &["t001.inplace.b-plus-5-new"], rebinding_has_a_peak)
            .reads_process_memory(),
        Case::pytorch("inplace.add_-returns-its-tensor", &["t001.inplace.add_-same-object"], returns_its_tensor),
        Case::pytorch("inplace.plus-makes-a-tensor", &["t001.inplace.b-plus-5-new"], plus_makes_a_tensor),
    ];
    cases.extend(writes());
    cases.extend(temporaries());
    cases
}

/// `add_` writes into the tensor's own storage.
fn add_keeps_the_address(p: &Probe) -> Result<(), Stop> {
    let claim = "t000.inplace.ptr-kept";
    let mut a = p.ones([3, 3], DType::F32)?;
    let before = p.data_ptr(&a)?;
    p.add_scalar_(&mut a, 5.0)?;
    p.fact("address kept by add_", p.data_ptr(&a)? == before).known(true).claimed(claim, true).example();
    p.fact("values after add_", p.values(&a)?).known([6.0; 9]);
    Ok(())
}

/// `add` puts its result into one block of its own and leaves its operand alone.
fn add_takes_a_block(p: &Probe) -> Result<(), Stop> {
    let (new, untouched) = ("t000.inplace.add-allocates-new", "t000.inplace.A-untouched");
    let a = p.full([3, 3], 6.0, DType::F32)?;
    let b = p.add_scalar(&a, 5.0)?;
    p.fact("same address", p.data_ptr(&b)? == p.data_ptr(&a)?).known(false).claimed(new, false).example();
    p.fact("values of the result", p.values(&b)?).known([11.0; 9]);
    p.fact("values of the operand", p.values(&a)?).known([6.0; 9]).claimed(untouched, [6.0; 9]).example();
    let large = p.ones([256, 256], DType::F32)?;
    let (_sum, heap) = p.account(|p| p.add_scalar(&large, 5.0))?;
    p.fact("blocks taken", heap.allocations as i64).known(1).claimed(new, 1);
    p.fact("bytes kept, in tensors", in_units(heap.kept_bytes, 256 * 256 * 4)).known(1.0).claimed(new, 1.0);
    Ok(())
}

/// The calls of the listing, with its first two printed lines.
fn printed_addresses(p: &Probe) -> Result<(), Stop> {
    let [first, second] = p.python_list(
        r#"
out = io.StringIO()
with contextlib.redirect_stdout(out):
    A = torch.ones(3, 3)
    address = A.data_ptr()
    A.add_(5.0)
    print("A.add_(5.0) same:", A.data_ptr() == address)
    B = A.add(5.0)
    print("B = A.add(5.0) other:", B.data_ptr() != address)
answer = out.getvalue().splitlines()
"#,
        &[],
    )?;
    let lines = [
        (93, "t000.inplace.printed-L93", first, "A.add_(5.0) same: True"),
        (94, "t000.inplace.printed-L94", second, "B = A.add(5.0) other: True"),
    ];
    for (number, claim, line, listed) in lines {
        p.fact(format!("line {number}"), line).known(listed).claimed(claim, listed).example();
    }
    Ok(())
}

type Write = fn(&Probe, &mut Handle, &Handle) -> Result<(), Stop>;

/// Each write op keeps the address, takes no block and moves the version counter by one.
fn writes() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, Write); 7] = [
        ("add_-of-a-number", |p, a, _| p.add_scalar_(a, 5.0)),
        ("mul_-by-a-number", |p, a, _| p.mul_scalar_(a, 2.0)),
        ("add_", |p, a, b| p.add_(a, b)),
        ("mul_", |p, a, b| p.mul_(a, b)),
        ("fill_", |p, a, _| p.fill_(a, 3.0)),
        ("zero_", |p, a, _| p.zero_(a)),
        ("copy_", |p, a, b| p.copy_(a, b)),
    ];
    ROWS.into_iter().map(|(name, write)| {
        let claim = "t000.inplace.underscore-writes-in-place";
        Case::new(format!("inplace.{name}-takes-no-block"), &[claim], move |p| {
            let mut a = p.ones([256, 256], DType::F32)?;
            let b = p.ones([256, 256], DType::F32)?;
            let address = p.data_ptr(&a)?;
            let ((), heap) = p.account(|p| write(p, &mut a, &b))?;
            p.fact("address kept", p.data_ptr(&a)? == address).known(true).claimed(claim, true);
            p.fact("blocks taken", heap.allocations as i64).known(0).claimed(claim, 0);
            p.fact("version counter", p.version(&a)?).known(1);
            Ok(())
        })
        .counts_heap()
    })
}

/// An operand of another dtype is converted first, or the whole operation runs in the wider dtype: both take blocks.
fn temporaries() -> impl Iterator<Item = Case> {
    const ROWS: [(DType, f64); 3] = [(DType::F32, 0.0), (DType::I64, 1.0), (DType::F64, 4.0)];
    ROWS.into_iter().map(|(other, units)| {
        let claim = "t000.inplace.underscore-writes-in-place";
        Case::new(format!("inplace.add_-of-{other}-to-f32"), &[claim], move |p| {
            let mut a = p.ones([512, 512], DType::F32)?;
            let b = p.ones([512, 512], other)?;
            let ((), heap) = p.account(|p| p.add_(&mut a, &b))?;
            p.fact("peak of temporaries, in tensors", in_units(heap.peak_bytes as i64, 512 * 512 * 4))
                .known(units)
                .claimed(claim, 0.0);
            p.fact("dtype after", p.dtype(&a)?).known(DType::F32);
            Ok(())
        })
        .counts_heap()
    })
}

/// Three methods with an underscore leave the block behind, or move it.
fn underscore_replaces_the_block(p: &Probe) -> Result<(), Stop> {
    let claim = "t000.inplace.underscore-writes-in-place";
    let methods = [
        ("resize_ to more elements", "t.resize_(100_000)"),
        ("set_", "t.set_(torch.ones(4))"),
        ("share_memory_", "t.share_memory_()"),
    ];
    for (name, call) in methods {
        let source =
            format!("t = torch.ones(4)\naddress = t.data_ptr()\nkept = t\n{call}\nanswer = t.data_ptr() == address");
        p.fact(format!("address kept by {name}"), p.python(&source, &[])?).known(false).claimed(claim, true);
    }
    Ok(())
}

/// Writing numbers in place raises the process's memory by nothing.
fn no_peak(p: &Probe) -> Result<(), Stop> {
    let (table, temporary) = ("t000.inplace.table-no-alloc", "t001.inplace.no-intermediate");
    let mut a = p.ones(LARGE, DType::F32)?;
    let writes: [(&str, Write); 3] = [
        ("add_", |p, a, _| p.add_scalar_(a, 5.0)),
        ("mul_", |p, a, _| p.mul_scalar_(a, 2.0)),
        ("zero_", |p, a, _| p.zero_(a)),
    ];
    let b = p.ones([1], DType::F32)?;
    for (name, write) in writes {
        let ((), peak) = process_peak(p, LARGE_BYTES, || write(p, &mut a, &b))?;
        p.fact(format!("peak of {name}, in tensors"), peak)
            .within(0.1)
            .known(0.0)
            .claimed(table, 0.0)
            .claimed(temporary, 0.0);
    }
    Ok(())
}

/// Adding a tensor of another dtype in place makes temporaries of one to four times the tensor.
fn other_dtype_has_a_peak(p: &Probe) -> Result<(), Stop> {
    let mut a = p.ones(LARGE, DType::F32)?;
    for (other, units) in [(DType::I64, 1.0), (DType::F64, 4.0)] {
        let b = p.ones(LARGE, other)?;
        let ((), peak) = process_peak(p, LARGE_BYTES, || p.add_(&mut a, &b))?;
        p.fact(format!("peak of adding {other}, in tensors"), peak)
            .within(0.1)
            .known(units)
            .claimed("t001.inplace.no-intermediate", 0.0);
        p.release(b)?;
    }
    Ok(())
}

/// `b = b + 5` needs room for old and new at once, and gives the old block back when the name moves on.
fn rebinding_has_a_peak(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.inplace.b-plus-5-new";
    let b = p.ones(LARGE, DType::F32)?;
    let start = p.total_resident_bytes()?;
    let (_sum, peak) = process_peak(p, LARGE_BYTES, || {
        let sum = p.add_scalar(&b, 5.0)?;
        p.release(b)?;
        Ok(sum)
    })?;
    p.fact("peak, in tensors", peak).within(0.1).known(1.0).claimed(claim, 1.0);
    let after = p.total_resident_bytes()? as i64 - start as i64;
    p.fact("after the old tensor is gone, in tensors", in_units(after, LARGE_BYTES)).within(0.1).known(0.0);
    Ok(())
}

/// `add_` and `+=` give the very object back, with every element written.
fn returns_its_tensor(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.inplace.add_-same-object";
    let [same, address, sixes, augmented] = p.python_list(
        r#"
a = torch.ones(1000, 1000)
address = a.data_ptr()
returned = a.add_(5)
sixes = bool((a == 6).all())
before = a
a += 5
answer = [returned is before, a.data_ptr() == address, sixes, a is before]
"#,
        &[],
    )?;
    p.fact("add_ returns the same object", same).known(true).claimed(claim, true);
    p.fact("in the same block", address).known(true).claimed(claim, true);
    p.fact("every element is 6", sixes).known(true).claimed(claim, true);
    p.fact("+= keeps the object too", augmented).known(true);
    Ok(())
}

/// `b = b + 5` binds another object; an alias keeps the old values.
fn plus_makes_a_tensor(p: &Probe) -> Result<(), Stop> {
    let claim = "t001.inplace.b-plus-5-new";
    let [same, address, values, alias] = p.python_list(
        r#"
b = torch.ones(2)
alias = b
b = b + 5
answer = [b is alias, b.data_ptr() == alias.data_ptr(), b.tolist(), alias.tolist()]
"#,
        &[],
    )?;
    p.fact("the same object", same).known(false).claimed(claim, false).example();
    p.fact("the same block", address).known(false).claimed(claim, false);
    p.fact("values of b", values).known([6.0; 2]);
    p.fact("values of an alias of the old b", alias).known([1.0; 2]);
    Ok(())
}
