//! The one device of this process.

use crate::contexts::Contexts;
use crate::errors::Error;
use crate::graphs::Graphs;
use crate::kernels::Kernels;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::settings::{refuse, settings};
use crate::streams::Streams;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Everything that calls change.
pub struct State {
    pub memory: Memory,
    pub streams: Streams,
    pub graphs: Graphs,
    pub kernels: Kernels,
    pub modules: Modules,
    pub contexts: Contexts,
}

impl State {
    /// What is still there: bytes of device memory in whole granules, bytes of pinned memory, registered ranges,
    /// streams, events, modules.
    pub fn left(&self) -> [u64; 6] {
        let ((pinned, registrations), (streams, events)) = (self.memory.pinned(), self.streams.count());
        [self.memory.used(), pinned, registrations, streams, events, self.modules.count()]
    }
}

/// The state, made at the first call. Nobody calls out of this library while holding it.
pub fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    let state = STATE.get_or_init(|| {
        let memory = Memory::new(settings()).unwrap_or_else(|message| refuse(&message));
        Mutex::new(State {
            memory,
            streams: Streams::default(),
            graphs: Graphs::default(),
            kernels: Kernels::default(),
            modules: Modules::default(),
            contexts: Contexts::default(),
        })
    });
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The only device.
pub fn check_device(device: i32) -> Result<(), Error> {
    if device == 0 { Ok(()) } else { Err(Error::INVALID_DEVICE) }
}
