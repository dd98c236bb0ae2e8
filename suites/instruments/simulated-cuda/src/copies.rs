//! Moving bytes between host and device.

use crate::backing::{Backing, zero};
use crate::errors::Error;
use crate::memory::Memory;
use crate::state::state;
use crate::streams::{LEGACY, Queued};
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

const CHUNK: u64 = 64 << 10;
static ZEROS: [u8; CHUNK as usize] = [0; CHUNK as usize];

/// A part of a copy; a hole was never written and reads as zeros.
struct Part {
    source: u64,
    bytes: u64,
    hole: bool,
}

/// Copies `bytes` on a stream: at once, or, with pinned memory, when the stream comes to it.
pub fn copy_on(stream: u64, to: u64, from: u64, bytes: u64) -> Result<(), Error> {
    {
        let state = &mut *state();
        let copy = Queued { to, from, bytes };
        if bytes > 0 && state.stays_queued(copy) {
            return state.queue(stream, copy);
        }
        state.before_work(stream)?;
    }
    copy(to, from, bytes)
}

/// Copies `bytes` while the caller waits, after what comes before it on the legacy stream.
pub fn copy_now(to: u64, from: u64, bytes: u64) -> Result<(), Error> {
    state().before_work(LEGACY)?;
    copy(to, from, bytes)
}

/// Carries out copies that were queued.
pub fn carry_out(memory: &Memory, copies: &[Queued]) {
    for copy in copies {
        // Their memory was there when they were queued, and does not go before they are carried out.
        if let Ok(parts) = parts(memory, copy.to, copy.from, copy.bytes) {
            move_parts(parts, copy.to, copy.from, memory.is_device(copy.to));
        }
    }
}

fn copy(to: u64, from: u64, bytes: u64) -> Result<(), Error> {
    let (parts, to_device) = {
        let state = state();
        (parts(&state.memory, to, from, bytes)?, state.memory.is_device(to))
    };
    move_parts(parts, to, from, to_device);
    Ok(())
}

/// Zeros cost no memory on the device: reading pages that were never written does not make them, and zeros that come
/// from the host are not written.
fn move_parts(parts: Vec<Part>, destination: u64, source: u64, to_device: bool) {
    for part in parts {
        let destination = destination + (part.source - source);
        match (part.hole, to_device) {
            (true, true) => zero(destination, part.bytes),
            // SAFETY: the caller gave a destination of `bytes`.
            (true, false) => unsafe {
                with_exposed_provenance_mut::<u8>(destination as usize).write_bytes(0, part.bytes as usize);
            },
            (false, true) => write_to_device(destination, part.source, part.bytes),
            (false, false) => copy_bytes(destination, part.source, part.bytes),
        }
    }
}

/// Sets `bytes` bytes to a repeated pattern of 1, 2, 4 or 8 bytes, on a stream. `anywhere` allows memory of the host.
pub fn set(stream: u64, destination: u64, pattern: &[u8], bytes: u64, anywhere: bool) -> Result<(), Error> {
    {
        let state = &mut *state();
        state.before_work(stream)?;
        if !anywhere || state.memory.is_device(destination) {
            state.memory.pieces(destination, bytes)?;
            if matches!(state.memory.backing(), Backing::Addresses) {
                return Ok(());
            }
        }
    }
    fill(destination, pattern, bytes);
    Ok(())
}

/// Fills `bytes` of mapped device memory with a pattern of 1, 2, 4 or 8 bytes.
pub fn fill(destination: u64, pattern: &[u8], bytes: u64) {
    if pattern.iter().all(|byte| *byte == 0) {
        return zero(destination, bytes);
    }
    let mut done = (pattern.len() as u64).min(bytes);
    copy_bytes(destination, pattern.as_ptr().expose_provenance() as u64, done);
    // What is written already is the source of the next, longer part; short enough to stay in the cache.
    while done < bytes {
        let next = done.min(bytes - done).min(CHUNK);
        copy_bytes(destination + done, destination, next);
        done += next;
    }
}

/// What a copy moves; with nothing behind the addresses of the device, nothing of one that touches them.
fn parts(memory: &Memory, destination: u64, source: u64, bytes: u64) -> Result<Vec<Part>, Error> {
    let (to_device, from_device) = (memory.is_device(destination), memory.is_device(source));
    if to_device {
        memory.pieces(destination, bytes)?;
    }
    let pieces = if from_device { memory.pieces(source, bytes)? } else { Vec::new() };
    if matches!(memory.backing(), Backing::Addresses) && (to_device || from_device) {
        return Ok(Vec::new());
    }
    if !from_device {
        return Ok(vec![Part { source, bytes, hole: false }]);
    }
    let mut parts = Vec::new();
    for piece in pieces {
        let mut done = 0;
        while done < piece.bytes {
            let (bytes, data) = memory.backing().extent(piece.offset + done, piece.bytes - done);
            parts.push(Part { source: piece.address + done, bytes, hole: !data });
            done += bytes;
        }
    }
    Ok(parts)
}

fn write_to_device(destination: u64, source: u64, bytes: u64) {
    let mut done = 0;
    while done < bytes {
        let zeros = run_of_zeros(source + done, bytes - done);
        if zeros > 0 {
            zero(destination + done, zeros);
            done += zeros;
        } else {
            let next = CHUNK.min(bytes - done);
            copy_bytes(destination + done, source + done, next);
            done += next;
        }
    }
}

/// How many bytes from `source` are whole chunks of zeros.
fn run_of_zeros(source: u64, bytes: u64) -> u64 {
    let mut run = 0;
    while run + CHUNK <= bytes {
        let start = with_exposed_provenance::<u8>((source + run) as usize);
        // SAFETY: a chunk of the source, which the caller lets nobody write during the copy.
        if unsafe { std::slice::from_raw_parts(start, CHUNK as usize) } != ZEROS {
            break;
        }
        run += CHUNK;
    }
    run
}

fn copy_bytes(destination: u64, source: u64, bytes: u64) {
    let (to, from) =
        (with_exposed_provenance_mut::<u8>(destination as usize), with_exposed_provenance(source as usize));
    // SAFETY: the caller gave two ranges of `bytes`; they may overlap.
    unsafe { std::ptr::copy(from, to, bytes as usize) };
}
