//! The device's own clock: two events in a stream, the first behind a gate.
//!
//! The gate is a kernel that does nothing for a while. What is enqueued meanwhile runs when it opens, one piece right
//! after the other, so that the time between the events has no enqueuing in it.

use super::launch::Parameter;
use super::{Cuda, driver};
use crate::error::{Error, ErrorKind, Result};
use std::time::Duration;

/// The events of the clock; they are made when it is first started, and kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Events {
    start: u64,
    stop: u64,
}

impl Events {
    fn create() -> Result<Events> {
        let start = driver::create_timed_event()?;
        let stop = driver::create_timed_event().inspect_err(|_| drop(driver::destroy_event(start)))?;
        Ok(Events { start, stop })
    }

    /// Ends both; gives what the driver refused.
    pub fn destroy(self) -> Vec<Error> {
        [self.start, self.stop]
            .into_iter()
            .filter_map(|event| driver::destroy_event(event).err())
            .map(Error::from)
            .collect()
    }
}

/// What the clock showed between its start and its stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lap {
    /// Nanoseconds, to about half a microsecond.
    pub nanoseconds: u64,
    /// Whether the gate was still shut when the clock was stopped: only then is no enqueuing among them.
    pub gated: bool,
}

impl Cuda {
    /// Shuts a gate in the current stream for so long, and starts the clock behind it.
    ///
    /// # Errors
    /// [`ErrorKind::Device`] for what the driver refuses.
    pub fn start_clock(&self, gate: Duration) -> Result<()> {
        let events = match self.0.clock.get() {
            Some(events) => events,
            None => {
                let events = Events::create()?;
                self.0.clock.set(Some(events));
                events
            }
        };
        // SAFETY: the kernel takes a number and follows no address.
        unsafe { self.launch("gate", 1, &mut [Parameter::Count(gate.as_nanos() as u64)]) }?;
        Ok(driver::record_event(events.start, self.stream())?)
    }

    /// Stops the clock behind all that was enqueued in the current stream since, and waits for it.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] where it was never started; [`ErrorKind::Device`] for what the driver refuses.
    pub fn stop_clock(&self) -> Result<Lap> {
        let events = self.0.clock.get().ok_or_else(|| {
            Error::new(ErrorKind::Value, "the device's clock was stopped and never started: start it first")
        })?;
        driver::record_event(events.stop, self.stream())?;
        let gated = !driver::event_done(events.start)?;
        driver::wait_for_event(events.stop)?;
        let milliseconds = driver::elapsed(events.start, events.stop)?;
        Ok(Lap { nanoseconds: (f64::from(milliseconds) * 1e6) as u64, gated })
    }
}
