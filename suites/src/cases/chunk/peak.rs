//! What chunking does to the peak.

use crate::case::Case;
use crate::cases::figures::{grown, in_units, process_peak};
use crate::probe::{Probe, Stop};
use subject::{Calls, DType, Handle};

/// Rows and columns of a batch of 144 MB, and its chunks: each is large enough to be the system's own pages.
const LARGE: [i64; 2] = [12000, 3000];
const LARGE_BYTES: i64 = 12000 * 3000 * 4;
const PIECES: i64 = 4;
/// A batch of 1 MiB, each of whose chunks is a block that the heap ledger counts.
const COUNTED: [i64; 2] = [1024, 256];
const COUNTED_BYTES: i64 = 1 << 20;

const CONTROLS: &str = "t000.chunk.controls-peak";
const TABLE: &str = "t000.chunk.table-peak";
const SAVES: &str = "t000.chunk.saves-peak-same-result";
const ONE_PIECE: &str = "t000.chunk.one-piece-alive";

/// The cases of this theme.
pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("chunk.list-and-cat-peak", &[CONTROLS, TABLE, SAVES, ONE_PIECE], list_and_cat_peak)
            .reads_process_memory(),
        Case::new("chunk.reduced-results-peak", &[CONTROLS, TABLE], reduced_results_peak).reads_process_memory(),
        Case::new("chunk.live-bytes-of-the-program", &[SAVES, ONE_PIECE], live_bytes).counts_heap(),
        Case::new("chunk.live-bytes-into-an-output", &[], live_bytes_into_an_output).counts_heap(),
    ]
}

/// The whole batch in one call.
fn whole(p: &Probe, batch: &Handle) -> Result<Handle, Stop> {
    p.mul_scalar(batch, 2.0)
}

/// One result for each chunk, all of them kept.
fn results(p: &Probe, batch: &Handle) -> Result<Vec<Handle>, Stop> {
    p.chunk(batch, PIECES, 0)?.iter().map(|piece| p.mul_scalar(piece, 2.0)).collect()
}

/// The listing's program at 144 MB: chunks are views of a whole batch, a list keeps every result, and `cat` needs room
/// for all of them again.
fn list_and_cat_peak(p: &Probe) -> Result<(), Stop> {
    let batch = p.ones(LARGE, DType::F32)?;
    let (doubled, at_once) = process_peak(p, LARGE_BYTES, || whole(p, &batch))?;
    p.release(doubled)?;
    p.fact("peak of the whole batch at once, in batches", at_once).within(0.1).known(1.0);
    let start = p.resident_bytes()?;
    let (kept, in_chunks) = process_peak(p, LARGE_BYTES, || {
        let kept = results(p, &batch)?;
        let after_loop = grown(p, start, LARGE_BYTES)?;
        p.fact("results live after the loop, in batches", after_loop).within(0.1).known(1.0).claimed(ONE_PIECE, 0.25);
        p.cat(kept.clone(), 0)?;
        Ok(kept)
    })?;
    p.fact("peak in chunks, a list and cat, in batches", in_chunks)
        .within(0.1)
        .known(2.0)
        .claimed(ONE_PIECE, 0.25)
        .example();
    p.fact("the peak in chunks is lower", in_chunks < at_once - 0.1)
        .known(false)
        .claimed(CONTROLS, true)
        .claimed(TABLE, true)
        .claimed(SAVES, true)
        .example();
    kept.into_iter().try_for_each(|result| p.release(result))
}

/// The peak falls where each result is reduced before the next piece.
fn reduced_results_peak(p: &Probe) -> Result<(), Stop> {
    let batch = p.ones(LARGE, DType::F32)?;
    let (_total, at_once) = process_peak(p, LARGE_BYTES, || {
        let doubled = whole(p, &batch)?;
        let total = p.sum(&doubled)?;
        p.release(doubled)?;
        Ok(total)
    })?;
    p.fact("peak of the whole batch at once, in batches", at_once).within(0.1).known(1.0);
    let ((), in_chunks) = process_peak(p, LARGE_BYTES, || {
        for piece in p.chunk(&batch, PIECES, 0)? {
            let doubled = p.mul_scalar(&piece, 2.0)?;
            p.sum(&doubled)?;
            p.release(doubled)?;
        }
        Ok(())
    })?;
    p.fact("peak in chunks with reduced results, in batches", in_chunks).within(0.1).known(0.25);
    p.fact("the peak in chunks is lower", in_chunks < at_once - 0.1)
        .known(true)
        .claimed(CONTROLS, true)
        .claimed(TABLE, true);
    Ok(())
}

/// The exact live bytes of the listing's program, the batch counted: two batches at once, three in chunks.
fn live_bytes(p: &Probe) -> Result<(), Stop> {
    let (doubled, at_once) = p.account(|p| {
        let batch = p.ones(COUNTED, DType::F32)?;
        let doubled = whole(p, &batch)?;
        p.release(batch)?;
        Ok(doubled)
    })?;
    let (joined, in_chunks) = p.account(|p| {
        let batch = p.ones(COUNTED, DType::F32)?;
        let kept = results(p, &batch)?;
        let joined = p.cat(kept.clone(), 0)?;
        p.release(batch)?;
        kept.into_iter().try_for_each(|result| p.release(result))?;
        Ok(joined)
    })?;
    let at_once = in_units(at_once.peak_bytes as i64, COUNTED_BYTES);
    let in_chunks = in_units(in_chunks.peak_bytes as i64, COUNTED_BYTES);
    p.fact("peak at once, in batches", at_once).known(2.0);
    // One piece is a view of the batch, so that one piece with its result would be the batch and a quarter of it.
    p.fact("peak in chunks, in batches", in_chunks).known(3.0).claimed(ONE_PIECE, 1.25);
    p.fact("the peak in chunks is lower", in_chunks < at_once).known(false).claimed(SAVES, true);
    p.fact("the results are equal", p.equal(&joined, &doubled)?).known(true).claimed(SAVES, true);
    Ok(())
}

/// With an output made beforehand, chunks need one more piece than the batch and the output.
fn live_bytes_into_an_output(p: &Probe) -> Result<(), Stop> {
    let ((), heap) = p.account(|p| {
        let batch = p.ones(COUNTED, DType::F32)?;
        let output = p.empty(COUNTED, DType::F32)?;
        for (piece, mut place) in p.chunk(&batch, PIECES, 0)?.into_iter().zip(p.chunk(&output, PIECES, 0)?) {
            let doubled = p.mul_scalar(&piece, 2.0)?;
            p.copy_(&mut place, &doubled)?;
            p.release(doubled)?;
        }
        Ok(())
    })?;
    p.fact("peak into an output, in batches", in_units(heap.peak_bytes as i64, COUNTED_BYTES)).known(2.25);
    Ok(())
}
