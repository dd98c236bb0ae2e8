//! Doubling a batch: at once, or in eight chunks that are joined again.

use super::{F32, Purpose, SEVERAL, Workload, input};
use crate::record::Loop;
use subject::{Calls, DType, Fail, Handle, ProgramBuilder};

pub(super) const WHOLE: Workload = Workload {
    name: "chunk.whole",
    about: "batch * 2 at once",
    bound: Some(Loop::Copy),
    device: None,
    sizes: SEVERAL,
    dtypes: F32,
    write: whole,
};

pub(super) const PIECES: Workload = Workload {
    name: "chunk.pieces",
    about: "cat([piece * 2 for piece in batch.chunk(8)])",
    bound: Some(Loop::Copy),
    device: None,
    sizes: SEVERAL,
    dtypes: F32,
    write: pieces,
};

const CHUNKS: i64 = 8;

fn whole(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let batch = input(b, elements, dtype)?;
    b.begin_body();
    b.mul_scalar(&batch, 2.0)
}

fn pieces(b: &ProgramBuilder, elements: i64, dtype: DType, _: Purpose) -> Result<Handle, Fail> {
    let batch = input(b, elements, dtype)?;
    b.begin_body();
    let chunks = b.chunk(&batch, CHUNKS, 0)?;
    let doubled = chunks.iter().map(|chunk| b.mul_scalar(chunk, 2.0)).collect::<Result<Vec<_>, _>>()?;
    b.cat(doubled, 0)
}
