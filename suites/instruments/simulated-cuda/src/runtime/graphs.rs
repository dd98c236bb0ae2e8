//! Capturing what a stream is asked for, and launching it.

use super::answers::answer;
use crate::places::{Place, put};
use crate::state::state;
use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_ulonglong};
use std::ptr::null;

thread_local! {
    static MODE: Cell<c_int> = const { Cell::new(0) };
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamBeginCapture(stream: u64, _mode: c_int) -> c_int {
    let begun = state().graphs.begin(stream, None);
    answer("cudaStreamBeginCapture", begun)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamBeginCaptureToGraph(
    stream: u64,
    graph: u64,
    _nodes: *const u64,
    _edges: *const u64,
    _count: usize,
    _mode: c_int,
) -> c_int {
    let begun = state().graphs.begin(stream, Some(graph));
    answer("cudaStreamBeginCaptureToGraph", begun)
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamEndCapture(stream: u64, graph: Place<u64>) -> c_int {
    let ended = state().graphs.end(stream);
    put(graph, ended.unwrap_or(0));
    answer("cudaStreamEndCapture", ended.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamIsCapturing(stream: u64, status: Place<c_int>) -> c_int {
    put(status, c_int::from(state().graphs.capture(stream).is_some()));
    answer("cudaStreamIsCapturing", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamGetCaptureInfo(
    stream: u64,
    status: Place<c_int>,
    id: Place<c_ulonglong>,
    graph: Place<u64>,
    nodes: Place<*const u64>,
    edges: Place<*const u64>,
    count: Place<usize>,
) -> c_int {
    let capture = state().graphs.capture(stream);
    put(status, c_int::from(capture.is_some()));
    put(id, capture.map_or(0, |capture| capture.id));
    put(graph, capture.map_or(0, |capture| capture.graph));
    put(nodes, null());
    put(edges, null());
    put(count, 0);
    answer("cudaStreamGetCaptureInfo", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamUpdateCaptureDependencies(
    _stream: u64,
    _nodes: *mut u64,
    _edges: *const u64,
    _count: usize,
    _flags: c_uint,
) -> c_int {
    answer("cudaStreamUpdateCaptureDependencies", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaThreadExchangeStreamCaptureMode(mode: Option<&mut c_int>) -> c_int {
    if let Some(mode) = mode {
        *mode = MODE.replace(*mode);
    }
    answer("cudaThreadExchangeStreamCaptureMode", Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphInstantiateWithFlags(executable: Place<u64>, graph: u64, _flags: c_ulonglong) -> c_int {
    let made = state().graphs.instantiate(graph);
    put(executable, made.unwrap_or(0));
    answer("cudaGraphInstantiateWithFlags", made.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphLaunch(executable: u64, stream: u64) -> c_int {
    let launched = {
        let state = &mut *state();
        let nodes = state.before_work(stream).and_then(|()| state.graphs.nodes(executable));
        (0..nodes.unwrap_or(0)).for_each(|_| state.kernels.record("cudaGraphLaunch"));
        nodes
    };
    answer("cudaGraphLaunch", launched.map(|_| ()))
}

/// Tells the number of nodes only: a caller that gives room for them gets none.
#[unsafe(no_mangle)]
extern "C" fn cudaGraphGetNodes(graph: u64, nodes: *mut u64, count: Place<usize>) -> c_int {
    let found = state().graphs.nodes(graph);
    put(count, if nodes.is_null() { found.unwrap_or(0) as usize } else { 0 });
    answer("cudaGraphGetNodes", found.map(|_| ()))
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphDestroy(graph: u64) -> c_int {
    let destroyed = state().graphs.destroy(graph);
    answer("cudaGraphDestroy", destroyed)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGraphExecDestroy(executable: u64) -> c_int {
    let destroyed = state().graphs.destroy(executable);
    answer("cudaGraphExecDestroy", destroyed)
}
