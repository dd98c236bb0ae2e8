//! How a batch is cut and joined.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

/// The cases of this theme.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::pytorch(
            "chunk.printed-program",
            &[
                "t000.chunk.printed-L96",
                "t000.chunk.printed-L97",
                "t000.chunk.printed-L98",
                "t000.chunk.printed-L99",
                "t000.chunk.printed-L100",
            ],
            printed_program,
        ),
        Case::pytorch("chunk.seed-42-repeats", &["t000.chunk.randn-seed-42"], seed_repeats),
        Case::new("chunk.8-rows-into-3", &["t000.chunk.8-into-3-3-2"], eight_into_three),
        Case::new("chunk.cat-joins-in-new-storage", &["t000.chunk.cat-shape"], cat_joins),
        Case::pytorch("chunk.split-and-tensor_split", &[], split_and_tensor_split),
    ];
    cases.extend(sizes());
    cases.extend(refusals());
    cases
}

/// The calls of the listing, with its last five printed lines.
fn printed_program(p: &Probe) -> Result<(), Stop> {
    let lines = p.python_list::<5>(
        r#"
torch.manual_seed(42)
out = io.StringIO()
with contextlib.redirect_stdout(out):
    batch = torch.randn(8, 2)
    print("batch shape:", tuple(batch.shape))
    results = []
    for i, piece in enumerate(batch.chunk(3, dim=0)):
        print(f"chunk {i}: shape {tuple(piece.shape)}")
        results.append(piece * 2.0)
    joined = torch.cat(results, dim=0)
    print("joined shape:", tuple(joined.shape), "| equal:", torch.equal(joined, batch * 2.0))
answer = out.getvalue().splitlines()
"#,
        &[],
    )?;
    let listed = [
        (96, "batch shape: (8, 2)"),
        (97, "chunk 0: shape (3, 2)"),
        (98, "chunk 1: shape (3, 2)"),
        (99, "chunk 2: shape (2, 2)"),
        (100, "joined shape: (8, 2) | equal: True"),
    ];
    for (line, (number, listed)) in lines.into_iter().zip(listed) {
        p.fact(format!("line {number}"), line)
            .known(listed)
            .claimed(&format!("t000.chunk.printed-L{number}"), listed)
            .example();
    }
    Ok(())
}

/// The seed 42 gives one batch on every run; the beginning of a longer sequence is not a shorter one.
fn seed_repeats(p: &Probe) -> Result<(), Stop> {
    let [same, first, prefix] = p.python_list(
        r#"
def drawn(*shape):
    torch.manual_seed(42)
    return torch.randn(*shape)

batch = drawn(8, 2)
answer = [torch.equal(batch, drawn(8, 2)), [round(value, 4) for value in batch[0].tolist()],
          torch.equal(drawn(15), drawn(16)[:15])]
"#,
        &[],
    )?;
    p.fact("two runs give equal batches", same).known(true).claimed("t000.chunk.randn-seed-42", true);
    p.fact("first row, to four decimals", first).known([1.9269, 1.4873]);
    p.fact("15 numbers begin as 16 do", prefix).known(false);
    Ok(())
}

/// Eight rows in three chunks are views of 3, 3 and 2 rows.
fn eight_into_three(p: &Probe) -> Result<(), Stop> {
    let claim = "t000.chunk.8-into-3-3-2";
    let batch = p.ones([8, 2], DType::F32)?;
    let parts = p.chunk(&batch, 3, 0)?;
    let rows = rows(p, &parts)?;
    p.fact("rows of the chunks", rows).known([3, 3, 2]).claimed(claim, [3, 3, 2]).example();
    let storage = p.storage_ptr(&batch)?;
    let mut offsets = Vec::new();
    let mut shared = true;
    for part in &parts {
        offsets.push(p.storage_offset(part)?);
        shared &= p.storage_ptr(part)? == storage;
    }
    p.fact("offsets of the chunks", offsets).known([0, 6, 12]);
    p.fact("all share the batch's storage", shared).known(true);
    Ok(())
}

fn rows(p: &Probe, parts: &[Handle]) -> Result<Vec<i64>, Stop> {
    parts.iter().map(|part| Ok(p.shape(part)?.first().copied().unwrap_or_default())).collect()
}

/// `cat` gives the shape of the batch back, in new storage.
fn cat_joins(p: &Probe) -> Result<(), Stop> {
    let batch = p.ones([8, 2], DType::F32)?;
    let parts = p.chunk(&batch, 3, 0)?;
    let results = parts.iter().map(|part| p.mul_scalar(part, 2.0)).collect::<Result<Vec<_>, _>>()?;
    let joined = p.cat(results.clone(), 0)?;
    p.fact("shape", p.shape(&joined)?).known([8, 2]).claimed("t000.chunk.cat-shape", [8, 2]).example();
    p.fact("values", p.values(&joined)?).known([2.0; 16]);
    let storage = p.storage_ptr(&joined)?;
    let mut shared = false;
    for result in &results {
        shared |= p.storage_ptr(result)? == storage;
    }
    p.fact("shares storage with a piece", shared).known(false);
    Ok(())
}

/// Each chunk has ceil(rows / chunks) rows but the last, so that there may be fewer chunks than asked for.
fn sizes() -> impl Iterator<Item = Case> {
    const ROWS: [(i64, i64, &[i64]); 12] = [
        (9, 3, &[3, 3, 3]),
        (10, 3, &[4, 4, 2]),
        (7, 3, &[3, 3, 1]),
        (8, 5, &[2, 2, 2, 2]),
        (4, 3, &[2, 2]),
        (5, 4, &[2, 2, 1]),
        (3, 8, &[1, 1, 1]),
        (8, 1, &[8]),
        (1, 3, &[1]),
        (0, 3, &[0, 0, 0]),
        (10, 6, &[2, 2, 2, 2, 2]),
        (100, 7, &[15, 15, 15, 15, 15, 15, 10]),
    ];
    ROWS.into_iter().map(|(count, chunks, expected)| {
        Case::new(format!("chunk.{count}-rows-into-{chunks}"), &[], move |p| {
            let batch = p.ones([count, 2], DType::F32)?;
            p.fact("rows of the chunks", rows(p, &p.chunk(&batch, chunks, 0)?)?).known(expected.to_vec());
            Ok(())
        })
    })
}

/// `split` takes the size of a piece where `chunk` takes their number; `tensor_split` gives exactly that number.
fn split_and_tensor_split(p: &Probe) -> Result<(), Stop> {
    let [split, exact] = p.python_list(
        r#"
batch = torch.ones(8, 2)
answer = [[len(part) for part in batch.split(3)], [len(part) for part in batch.tensor_split(5)]]
"#,
        &[],
    )?;
    p.fact("rows of split(3)", split).known([3, 3, 2]);
    p.fact("rows of tensor_split(5)", exact).known([2, 2, 2, 1, 1]);
    Ok(())
}

type Refused = fn(&Probe, &Handle) -> Result<(), Stop>;

/// What cannot be cut or joined is refused.
fn refusals() -> impl Iterator<Item = Case> {
    const ROWS: [(&str, Refused, &str); 4] = [
        ("chunk-into-none", |p, a| p.chunk(a, 0, 0).map(drop), "other"),
        ("chunk-of-no-such-dimension", |p, a| p.chunk(a, 2, 5).map(drop), "index"),
        ("cat-of-nothing", |p, _| p.cat(Vec::new(), 0).map(drop), "other"),
        ("cat-of-other-widths", |p, a| p.cat([a.clone(), p.ones([8, 3], DType::F32)?], 0).map(drop), "shape"),
    ];
    ROWS.into_iter().map(|(name, ask, kind)| {
        Case::new(format!("chunk.{name}-is-refused"), &[], move |p| {
            let batch = p.ones([8, 2], DType::F32)?;
            p.fact("kind of error", p.kind_of(ask(p, &batch))?).known(kind);
            Ok(())
        })
    })
}
