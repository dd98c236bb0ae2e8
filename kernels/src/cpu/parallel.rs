//! Large walks shared among threads.

use super::walk::{Run, Walk};
use crate::backend::Operand;
use crate::layout::Layout;
use crate::sharing::{Sharing, sharing};
use rayon::prelude::*;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Elements from which on the start of threads is paid back.
const LARGE: usize = 200_000;

/// Threads that kernels may use: `RAYON_NUM_THREADS`, or as many as the process may run on. With one, nothing is started.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
        let threads = asked.filter(|number| *number > 0);
        let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        if threads > 1 {
            // A pool that the program built before serves as well.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build_global();
        }
        threads
    })
}

/// Whether a walk over so many elements is shared among threads.
pub(super) fn pays(elements: usize) -> bool {
    elements >= LARGE && threads() > 1
}

/// Calls `body` with every run of the walk, on several threads where that pays. The order of runs is then open, so
/// `independent` says whether it may be; it is asked last.
pub(super) fn each<const N: usize>(
    walk: Walk<N>,
    independent: impl FnOnce() -> bool,
    body: impl Fn(Run<N>) + Send + Sync,
) {
    if pays(walk.len()) && independent() {
        share(&walk, &body);
    } else {
        walk.each([0; N], body);
    }
}

/// Apart from [`each`] and behind a pointer, so that the threads' machinery is compiled once and not for every kernel.
fn share<const N: usize>(walk: &Walk<N>, body: &(dyn Fn(Run<N>) + Send + Sync)) {
    walk.pieces(threads()).into_par_iter().for_each(|piece| piece.each([0; N], body));
}

/// Whether parts of the output can be written in any order and at once: every element has a place of its own, and each
/// input is either apart or the output itself, element for element.
pub(super) fn independent(out: Operand<'_>, inputs: &[Operand<'_>]) -> bool {
    let (layout, size) = (out.layout(), out.dtype().element_size());
    layout.keeps_elements_apart()
        && inputs.iter().all(|input| {
            let input_size = input.dtype().element_size();
            let same = layout == input.layout() && size == input_size;
            same || input.block() != out.block() || sharing(layout, size, input.layout(), input_size) == Sharing::Apart
        })
}

/// Parts in which elements are brought together: decided by their number alone, so that a result never depends on the
/// number of threads.
pub(super) fn parts(layout: &Layout) -> usize {
    (layout.numel() / (LARGE / 2)).clamp(1, 64)
}
