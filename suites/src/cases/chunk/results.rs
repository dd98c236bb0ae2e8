//! Whether chunked results are the whole batch's.

use crate::case::Case;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const PROVES: &str = "t000.chunk.equal-proves-identical";
const SAME_RESULT: &str = "t000.chunk.saves-peak-same-result";
const IDENTICAL: &str = "t000.chunk.table-identical";
const LINEAR: &str = "t000.chunk.linear-bitwise";

/// The cases of this theme.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("chunk.equal-compares-values", &[PROVES], equal_compares_values),
        Case::pytorch("chunk.mean-of-unequal-chunks", &[IDENTICAL], mean_of_unequal_chunks),
        Case::pytorch("chunk.linear-rounds-by-rows", &[LINEAR], linear_rounds_by_rows),
    ];
    cases.extend(doubled());
    cases.extend(functions());
    cases
}

/// Doubling rounds nothing, so that pieces give the bits of the whole.
fn doubled() -> impl Iterator<Item = Case> {
    [DType::F16, DType::Bf16, DType::F32, DType::F64].into_iter().map(|dtype| {
        Case::new(format!("chunk.doubled-{dtype}-is-equal"), &[PROVES, SAME_RESULT], move |p| {
            let batch = p.to(&p.view(&p.arange(16, DType::F32)?, [8, 2])?, dtype)?;
            let pieces = p.chunk(&batch, 3, 0)?;
            let results = pieces.iter().map(|piece| p.mul_scalar(piece, 2.0)).collect::<Result<Vec<_>, _>>()?;
            let equal = p.equal(&p.cat(results, 0)?, &p.mul_scalar(&batch, 2.0)?)?;
            p.fact("joined and whole are equal", equal).known(true).claimed(PROVES, true).claimed(SAME_RESULT, true);
            Ok(())
        })
    })
}

/// Equality is of values: NaN equals nothing, zeros of both signs are equal, and so are equal values of two dtypes.
fn equal_compares_values(p: &Probe) -> Result<(), Stop> {
    let nan = p.tensor([f64::NAN.into()], [1], DType::F32)?;
    let equal = p.equal(&nan, &p.clone(&nan)?)?;
    p.fact("NaN and its copy are equal", equal).known(false).claimed(PROVES, true);
    let (zero, negative) = (p.tensor([0.0.into()], [1], DType::F32)?, p.tensor([(-0.0).into()], [1], DType::F32)?);
    p.fact("0.0 and -0.0 are equal", p.equal(&zero, &negative)?).known(true).claimed(PROVES, false);
    let (single, double) = (p.ones([1], DType::F32)?, p.ones([1], DType::F64)?);
    p.fact("1.0 in two dtypes is equal", p.equal(&single, &double)?).known(true).claimed(PROVES, false);
    Ok(())
}

/// What a function of a batch gives in pieces: the very bits, other roundings, or other values.
fn functions() -> impl Iterator<Item = Case> {
    // Whether all bits are the same, and whether the values are close.
    const ROWS: [(&str, &str, bool, bool); 14] = [
        ("exp", "torch.exp", true, true),
        ("tanh", "torch.tanh", true, true),
        ("gelu", "F.gelu", true, true),
        ("row-softmax", "lambda x: x.softmax(1)", true, true),
        ("layer-norm", "lambda x: F.layer_norm(x, (50,))", true, true),
        ("batch-norm-in-evaluation", "nn.BatchNorm1d(50).eval()", true, true),
        ("sigmoid", "torch.sigmoid", false, true),
        ("silu", "F.silu", false, true),
        ("softplus", "F.softplus", false, true),
        ("batch-norm-in-training", "nn.BatchNorm1d(50)", false, false),
        ("softmax-over-rows", "lambda x: x.softmax(0)", false, false),
        ("cumsum-over-rows", "lambda x: x.cumsum(0)", false, false),
        ("sort-over-rows", "lambda x: x.sort(0).values", false, false),
        ("global-norm", "lambda x: x / x.norm()", false, false),
    ];
    ROWS.into_iter().map(|(name, function, bits, close)| {
        let claims: &[&str] = if bits {
            &[]
        } else if close {
            &[IDENTICAL, SAME_RESULT]
        } else {
            &[IDENTICAL]
        };
        Case::pytorch(format!("chunk.{name}-in-pieces"), claims, move |p| {
            let source = format!(
                r#"
torch.manual_seed(0)
batch = torch.randn(1000, 50)
function = {function}
with torch.no_grad():
    whole = function(batch)
    joined = torch.cat([function(piece) for piece in batch.chunk(777)])
answer = [torch.equal(joined, whole), torch.allclose(joined, whole)]
"#
            );
            let [equal, near] = p.python_list(&source, &[])?;
            let mut fact = p.fact("every bit is the same", equal).known(bits);
            for claim in claims {
                fact = fact.claimed(claim, true);
            }
            p.fact("the values are close", near).known(close);
            Ok(())
        })
    })
}

/// The mean of the chunks' mean losses is not the batch's where the chunks have 3, 3 and 2 rows; weighted means are.
fn mean_of_unequal_chunks(p: &Probe) -> Result<(), Stop> {
    let [plain, weighted] = p.python_list(
        r#"
torch.manual_seed(0)
batch = torch.randn(8, 2)
whole = (batch ** 2).mean()
means = [(piece ** 2).mean() for piece in batch.chunk(3)]
weighted = sum(mean * len(piece) / 8 for mean, piece in zip(means, batch.chunk(3)))
answer = [torch.allclose(sum(means) / 3, whole), torch.allclose(weighted, whole)]
"#,
        &[],
    )?;
    p.fact("the mean of the means is the whole's", plain).known(false).claimed(IDENTICAL, true);
    p.fact("the weighted mean is", weighted).known(true);
    Ok(())
}

/// A linear layer rounds by the number of rows it is given: compared over several shapes, some bits differ.
fn linear_rounds_by_rows(p: &Probe) -> Result<(), Stop> {
    let [bits, near] = p.python_list(
        r#"
torch.manual_seed(0)
bits, near = [], []
with torch.no_grad():
    for rows, inner, columns in [(64, 64, 64), (100, 300, 50), (33, 1024, 7)]:
        for dtype in (torch.float32, torch.float64):
            layer = nn.Linear(inner, columns, dtype=dtype)
            batch = torch.randn(rows, inner, dtype=dtype)
            whole = layer(batch)
            for chunks in (3, 7, rows):
                joined = torch.cat([layer(piece) for piece in batch.chunk(chunks)])
                bits.append(torch.equal(joined, whole))
                near.append(torch.allclose(joined, whole, atol=1e-4))
answer = [all(bits), all(near)]
"#,
        &[],
    )?;
    p.fact("every bit is the same at every size", bits).known(false).claimed(LINEAR, true);
    p.fact("the values are close", near).known(true);
    Ok(())
}
