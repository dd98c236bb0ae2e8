//! What the tutorials' listings about sizes print.

use crate::case::Case;
use crate::probe::{Probe, Stop};

const RUNS: &str = "t000.dtype.program-runs";

/// The cases of this theme.
pub fn cases() -> Vec<Case> {
    let mut table_claims = vec![RUNS];
    table_claims.extend(TABLE_LINES.map(|line| line.claim));
    vec![
        Case::pytorch("dtype.program-of-sizes", &table_claims, table),
        Case::pytorch("dtype.program-of-one-tensor", &ONE_TENSOR_LINES.map(|line| line.claim), one_tensor),
    ]
}

/// A printed line of a tutorial.
struct Line {
    number: u32,
    printed: &'static str,
    claim: &'static str,
    /// What Python 3.11 prints, where it is something else.
    on_311: Option<&'static str>,
}

const fn line(number: u32, claim: &'static str, printed: &'static str) -> Line {
    Line { number, printed, claim, on_311: None }
}

const TABLE: &str = r#"
def row(label, t):
    size = t.element_size() * t.numel()
    print(f"{label:28s} {str(tuple(t.shape)):15s} {str(t.dtype):15s} {size:>11,} byte")

printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    for name in ["int64", "float16", "float32", "float64"]:
        row(f"{name:7s} (1000,)", torch.zeros(1000, dtype=getattr(torch, name)))
    row("batch float32 (64,3,224,224)", torch.zeros(64, 3, 224, 224))
    t = torch.zeros(1000, 1000)
    print("untyped_storage().nbytes():", t.untyped_storage().nbytes())
    print("element_size() * numel():", t.element_size() * t.numel())
    print("getsizeof(t):", sys.getsizeof(t))
    print("getsizeof(storage):", sys.getsizeof(t.untyped_storage()))
    print("t[:, 0] storage:", t[:, 0].untyped_storage().nbytes())
answer = printed.getvalue().splitlines()
"#;

const TABLE_LINES: [Line; 10] = [
    line(39, "t000.dtype.printed-L39", "int64   (1000,)              (1000,)         torch.int64           8,000 byte"),
    line(40, "t000.dtype.printed-L40", "float16 (1000,)              (1000,)         torch.float16         2,000 byte"),
    line(41, "t000.dtype.printed-L41", "float32 (1000,)              (1000,)         torch.float32         4,000 byte"),
    line(42, "t000.dtype.printed-L42", "float64 (1000,)              (1000,)         torch.float64         8,000 byte"),
    line(
        43,
        "t000.dtype.printed-L43",
        "batch float32 (64,3,224,224) (64, 3, 224, 224) torch.float32    38,535,168 byte",
    ),
    line(45, "t000.storage.printed-L45", "untyped_storage().nbytes(): 4000000"),
    line(46, "t000.storage.printed-L46", "element_size() * numel(): 4000000"),
    Line {
        number: 47,
        printed: "getsizeof(t): 72",
        claim: "t000.getsizeof.printed-L47",
        on_311: Some("getsizeof(t): 80"),
    },
    Line {
        number: 48,
        printed: "getsizeof(storage): 4000056",
        claim: "t000.getsizeof.printed-L48",
        on_311: Some("getsizeof(storage): 4000064"),
    },
    line(49, "t000.storage.printed-L49", "t[:, 0] storage: 4000000"),
];

/// The listing of sizes prints every number of the tutorial but the two of `sys.getsizeof`, which are Python's.
fn table(p: &Probe) -> Result<(), Stop> {
    for (line, seen) in TABLE_LINES.iter().zip(p.python_list::<10>(TABLE, &[])?) {
        let fact = p
            .fact(format!("line {}", line.number), seen)
            .known(line.printed)
            .claimed(RUNS, line.printed)
            .claimed(line.claim, line.printed);
        if let Some(printed) = line.on_311 {
            fact.known_on("python 3.11", printed);
        }
    }
    Ok(())
}

const ONE_TENSOR: &str = r#"
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    t = torch.ones(1000, 1000, dtype=torch.float32)
    print(f"Tensor shape: {t.shape}")
    print(f"Tensor data type: {t.dtype}")
    print(f"Memory used (MB): {t.element_size() * t.numel() / 1024**2:.2f}")
answer = printed.getvalue().splitlines()
"#;

const ONE_TENSOR_LINES: [Line; 3] = [
    line(20, "t001.dtype.printed-L20", "Tensor shape: torch.Size([1000, 1000])"),
    line(21, "t001.dtype.printed-L21", "Tensor data type: torch.float32"),
    line(22, "t001.dtype.printed-L22", "Memory used (MB): 3.81"),
];

/// The listing of one tensor prints its shape, dtype and size as the tutorial shows them.
fn one_tensor(p: &Probe) -> Result<(), Stop> {
    for (line, seen) in ONE_TENSOR_LINES.iter().zip(p.python_list::<3>(ONE_TENSOR, &[])?) {
        p.fact(format!("line {}", line.number), seen).known(line.printed).claimed(line.claim, line.printed).example();
    }
    Ok(())
}
