//! Streams and events. Work is done when it is called for; only events can be held back.

use crate::errors::Error;
use std::collections::{BTreeMap, BTreeSet};

/// The default stream and its two other names.
const DEFAULT: u64 = 0;
const LAST_SPECIAL: u64 = 2;
const FIRST: u64 = 0x1000;
const STEP: u64 = 0x10;

/// Something on a stream that has not completed.
struct Pending {
    stream: u64,
    /// What it waits for on another stream; none for a recorded event.
    awaits: Option<u64>,
}

/// All streams and events.
#[derive(Default)]
pub struct Streams {
    created: u64,
    streams: BTreeMap<u64, i32>,
    events: BTreeMap<u64, Event>,
    held: bool,
    serial: u64,
    pending: BTreeMap<u64, Pending>,
}

#[derive(Default)]
struct Event {
    /// The serial number of its latest record.
    recorded: u64,
}

impl Streams {
    /// A new stream; handles ascend in the order of creation.
    pub fn create(&mut self, priority: i32) -> u64 {
        let handle = self.next_handle();
        self.streams.insert(handle, priority);
        handle
    }

    /// Destroys a stream. What was held back on it completes.
    pub fn destroy(&mut self, stream: u64) -> Result<(), Error> {
        self.synchronize(stream)?;
        self.streams.remove(&stream).map(|_| ()).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    pub fn priority(&self, stream: u64) -> Result<i32, Error> {
        self.check(stream)?;
        Ok(self.streams.get(&stream).copied().unwrap_or(0))
    }

    /// Whether everything on a stream has completed.
    pub fn query(&self, stream: u64) -> Result<(), Error> {
        self.check(stream)?;
        if self.pending.values().any(|pending| pending.stream == stream) { Err(Error::NOT_READY) } else { Ok(()) }
    }

    /// Completes everything on a stream, and what that waits for.
    pub fn synchronize(&mut self, stream: u64) -> Result<(), Error> {
        self.check(stream)?;
        self.complete(stream, u64::MAX);
        Ok(())
    }

    /// Completes everything.
    pub fn synchronize_all(&mut self) {
        self.pending.clear();
    }

    /// Whether events recorded from now on stay pending.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    pub fn create_event(&mut self) -> u64 {
        let handle = self.next_handle();
        self.events.insert(handle, Event::default());
        handle
    }

    pub fn destroy_event(&mut self, event: u64) -> Result<(), Error> {
        self.events.remove(&event).map(|_| ()).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    pub fn record(&mut self, event: u64, stream: u64) -> Result<(), Error> {
        self.check(stream)?;
        self.serial += 1;
        self.events.get_mut(&event).ok_or(Error::INVALID_RESOURCE_HANDLE)?.recorded = self.serial;
        if self.held {
            self.pending.insert(self.serial, Pending { stream, awaits: None });
        }
        Ok(())
    }

    pub fn query_event(&self, event: u64) -> Result<(), Error> {
        let event = self.events.get(&event).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        if self.pending.contains_key(&event.recorded) { Err(Error::NOT_READY) } else { Ok(()) }
    }

    /// Completes an event and what its stream holds before it.
    pub fn synchronize_event(&mut self, event: u64) -> Result<(), Error> {
        let serial = self.events.get(&event).ok_or(Error::INVALID_RESOURCE_HANDLE)?.recorded;
        if let Some(pending) = self.pending.get(&serial) {
            self.complete(pending.stream, serial);
        }
        Ok(())
    }

    /// Makes what comes next on a stream wait for an event.
    pub fn wait(&mut self, stream: u64, event: u64) -> Result<(), Error> {
        self.check(stream)?;
        let awaited = self.events.get(&event).ok_or(Error::INVALID_RESOURCE_HANDLE)?.recorded;
        if self.pending.contains_key(&awaited) {
            self.serial += 1;
            self.pending.insert(self.serial, Pending { stream, awaits: Some(awaited) });
        }
        Ok(())
    }

    pub fn check(&self, stream: u64) -> Result<(), Error> {
        if stream <= LAST_SPECIAL || self.streams.contains_key(&stream) {
            Ok(())
        } else {
            Err(Error::INVALID_RESOURCE_HANDLE)
        }
    }

    fn complete(&mut self, stream: u64, last: u64) {
        let (mut goals, mut done) = (vec![(stream, last)], BTreeSet::new());
        while let Some((stream, last)) = goals.pop() {
            for (&serial, pending) in self.pending.range(..=last).filter(|(_, pending)| pending.stream == stream) {
                if done.insert(serial)
                    && let Some(awaited) = pending.awaits
                    && let Some(other) = self.pending.get(&awaited)
                {
                    goals.push((other.stream, awaited));
                }
            }
        }
        self.pending.retain(|serial, _| !done.contains(serial));
    }

    fn next_handle(&mut self) -> u64 {
        self.created += 1;
        DEFAULT + FIRST + STEP * self.created
    }
}

#[cfg(test)]
mod tests {
    use super::Streams;
    use crate::errors::Error;

    #[test]
    fn a_held_event_is_pending_until_its_stream_is_waited_for() {
        let mut streams = Streams::default();
        let (one, two) = (streams.create(0), streams.create(-5));
        assert!(0 < one && one < two);
        let event = streams.create_event();
        streams.hold(true);
        assert_eq!(streams.query_event(event), Ok(()));
        streams.record(event, one).unwrap();
        assert_eq!(streams.query_event(event), Err(Error::NOT_READY));
        assert_eq!(streams.query(one), Err(Error::NOT_READY));
        streams.synchronize(two).unwrap();
        assert_eq!(streams.query_event(event), Err(Error::NOT_READY));
        streams.synchronize(one).unwrap();
        assert_eq!(streams.query_event(event), Ok(()));
        streams.record(event, one).unwrap();
        streams.synchronize_all();
        assert_eq!(streams.query(one), Ok(()));
    }

    #[test]
    fn waiting_for_an_event_completes_what_lies_before_it_and_nothing_after_it() {
        let mut streams = Streams::default();
        let events = [(); 3].map(|()| streams.create_event());
        streams.hold(true);
        events.iter().for_each(|event| streams.record(*event, 0).unwrap());
        streams.synchronize_event(events[1]).unwrap();
        assert_eq!(events.map(|event| streams.query_event(event).is_ok()), [true, true, false]);
    }

    #[test]
    fn a_stream_that_waits_for_another_completes_it() {
        let mut streams = Streams::default();
        let (one, two) = (streams.create(0), streams.create(0));
        let (first, later) = (streams.create_event(), streams.create_event());
        streams.hold(true);
        streams.record(first, one).unwrap();
        streams.wait(two, first).unwrap();
        streams.record(later, one).unwrap();
        streams.synchronize(two).unwrap();
        assert_eq!(streams.query_event(first), Ok(()));
        assert_eq!(streams.query_event(later), Err(Error::NOT_READY));
    }

    #[test]
    fn an_event_recorded_again_is_pending_again() {
        let mut streams = Streams::default();
        let event = streams.create_event();
        streams.hold(true);
        streams.record(event, 0).unwrap();
        streams.hold(false);
        streams.record(event, 0).unwrap();
        assert_eq!(streams.query_event(event), Ok(()));
        assert_eq!(streams.record(event, 77), Err(Error::INVALID_RESOURCE_HANDLE));
    }
}
