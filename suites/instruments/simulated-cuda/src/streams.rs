//! Streams and events. Most work is done when it is called for; copies with pinned memory are queued, kernels that spin
//! are a gate, and events can be held back.

use crate::errors::Error;
use std::collections::{BTreeMap, BTreeSet};

/// The stream that everything but non-blocking streams is ordered with, its other name, and the stream of a thread.
pub const LEGACY: u64 = 0;
const LEGACY_TOO: u64 = 1;
const PER_THREAD: u64 = 2;
const FIRST: u64 = 0x1000;
const STEP: u64 = 0x10;

/// A copy that waits in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    pub to: u64,
    pub from: u64,
    pub bytes: u64,
}

/// Something on a stream that has not completed.
struct Pending {
    stream: u64,
    work: Work,
}

enum Work {
    Copy(Queued),
    /// A kernel that spins; it ends only where it is waited for.
    Gate,
    /// An event was recorded; one that is held completes only when it is waited for.
    Event {
        held: bool,
    },
    /// What comes next waits for the event with this serial number.
    Wait(u64),
}

struct Stream {
    priority: i32,
    blocking: bool,
}

#[derive(Default)]
struct Event {
    /// The serial number of its latest record.
    recorded: u64,
}

/// All streams and events.
///
/// Where copies are returned, the caller carries them out in their order before it goes on.
#[derive(Default)]
pub struct Streams {
    created: u64,
    streams: BTreeMap<u64, Stream>,
    events: BTreeMap<u64, Event>,
    held: bool,
    serial: u64,
    pending: BTreeMap<u64, Pending>,
}

impl Streams {
    /// A new stream; handles ascend in the order of creation. A blocking one is ordered with the legacy stream.
    pub fn create(&mut self, priority: i32, blocking: bool) -> u64 {
        let handle = self.next_handle();
        self.streams.insert(handle, Stream { priority, blocking });
        handle
    }

    /// Destroys a stream. What was held back on it completes.
    pub fn destroy(&mut self, stream: u64) -> Result<Vec<Queued>, Error> {
        if !self.streams.contains_key(&stream) {
            return Err(Error::INVALID_RESOURCE_HANDLE);
        }
        let copies = self.synchronize(stream)?;
        self.streams.remove(&stream);
        Ok(copies)
    }

    pub fn priority(&self, stream: u64) -> Result<i32, Error> {
        self.check(stream)?;
        Ok(self.streams.get(&stream).map_or(0, |stream| stream.priority))
    }

    /// How many streams and events there are.
    pub fn count(&self) -> (u64, u64) {
        (self.streams.len() as u64, self.events.len() as u64)
    }

    /// Queues a copy.
    pub fn queue(&mut self, stream: u64, copy: Queued) -> Result<(), Error> {
        self.check(stream)?;
        self.push(stream, Work::Copy(copy));
        Ok(())
    }

    /// Shuts a gate on a stream: events recorded after it are pending until it or they are waited for.
    pub fn gate(&mut self, stream: u64) -> Result<(), Error> {
        self.check(stream)?;
        self.push(stream, Work::Gate);
        Ok(())
    }

    /// The copies that come before work that is asked for on a stream now.
    pub fn before_work(&mut self, stream: u64) -> Result<Vec<Queued>, Error> {
        self.check(stream)?;
        Ok(self.take(self.before(stream, u64::MAX), false))
    }

    /// The copies that come before an event.
    pub fn before_event(&mut self, event: u64) -> Result<Vec<Queued>, Error> {
        Ok(self.take(self.before_record(event)?, false))
    }

    /// All copies.
    pub fn queued(&mut self) -> Vec<Queued> {
        self.take(self.pending.keys().copied().collect(), false)
    }

    /// Whether everything on a stream has completed.
    pub fn query(&self, stream: u64) -> Result<(), Error> {
        self.check(stream)?;
        let stream = name(stream);
        if self.pending.values().any(|pending| pending.stream == stream) { Err(Error::NOT_READY) } else { Ok(()) }
    }

    /// Completes everything on a stream, and what that waits for.
    pub fn synchronize(&mut self, stream: u64) -> Result<Vec<Queued>, Error> {
        self.check(stream)?;
        Ok(self.take(self.before(stream, u64::MAX), true))
    }

    /// Completes everything.
    pub fn synchronize_all(&mut self) -> Vec<Queued> {
        self.take(self.pending.keys().copied().collect(), true)
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

    /// Records an event; it is complete at once where neither copies nor a gate come before it and it is not held.
    pub fn record(&mut self, event: u64, stream: u64) -> Result<(), Error> {
        self.check(stream)?;
        if !self.events.contains_key(&event) {
            return Err(Error::INVALID_RESOURCE_HANDLE);
        }
        let delays =
            |serial| matches!(self.pending.get(serial), Some(Pending { work: Work::Copy(_) | Work::Gate, .. }));
        let recorded = if self.held || self.before(stream, u64::MAX).iter().any(delays) {
            self.push(stream, Work::Event { held: self.held })
        } else {
            self.next_serial()
        };
        self.events.insert(event, Event { recorded });
        Ok(())
    }

    pub fn query_event(&self, event: u64) -> Result<(), Error> {
        let event = self.events.get(&event).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        if self.pending.contains_key(&event.recorded) { Err(Error::NOT_READY) } else { Ok(()) }
    }

    /// Completes an event and what its stream holds before it.
    pub fn synchronize_event(&mut self, event: u64) -> Result<Vec<Queued>, Error> {
        Ok(self.take(self.before_record(event)?, true))
    }

    /// Makes what comes next on a stream wait for an event.
    pub fn wait(&mut self, stream: u64, event: u64) -> Result<(), Error> {
        self.check(stream)?;
        let awaited = self.events.get(&event).ok_or(Error::INVALID_RESOURCE_HANDLE)?.recorded;
        if self.pending.contains_key(&awaited) {
            self.push(stream, Work::Wait(awaited));
        }
        Ok(())
    }

    pub fn check(&self, stream: u64) -> Result<(), Error> {
        if stream <= PER_THREAD || self.streams.contains_key(&stream) {
            Ok(())
        } else {
            Err(Error::INVALID_RESOURCE_HANDLE)
        }
    }

    /// The serial numbers of what must complete before the end of a stream, looked at up to `last`.
    fn before(&self, stream: u64, last: u64) -> BTreeSet<u64> {
        let (mut goals, mut found) = (vec![(name(stream), last)], BTreeSet::new());
        while let Some((stream, last)) = goals.pop() {
            for (&serial, pending) in self.pending.range(..=last) {
                if !self.ordered(pending.stream, stream) || !found.insert(serial) {
                    continue;
                }
                if pending.stream != stream {
                    goals.push((pending.stream, serial));
                }
                if let Work::Wait(awaited) = pending.work
                    && let Some(other) = self.pending.get(&awaited)
                {
                    goals.push((other.stream, awaited));
                }
            }
        }
        found
    }

    fn before_record(&self, event: u64) -> Result<BTreeSet<u64>, Error> {
        let serial = self.events.get(&event).ok_or(Error::INVALID_RESOURCE_HANDLE)?.recorded;
        Ok(self.pending.get(&serial).map(|pending| self.before(pending.stream, serial)).unwrap_or_default())
    }

    /// Whether two streams keep the order of their work with each other.
    fn ordered(&self, one: u64, other: u64) -> bool {
        let blocking = |stream| stream == PER_THREAD || self.streams.get(&stream).is_some_and(|known| known.blocking);
        one == other || (one == LEGACY && blocking(other)) || (other == LEGACY && blocking(one))
    }

    /// Whether a gate comes before a place in a stream.
    fn is_gated(&self, stream: u64, last: u64) -> bool {
        let is_gate = |serial| matches!(self.pending.get(serial), Some(Pending { work: Work::Gate, .. }));
        self.before(stream, last).iter().any(is_gate)
    }

    /// Takes out what completes of the given; gates, held events and what comes behind them only where they are waited
    /// for.
    fn take(&mut self, serials: BTreeSet<u64>, waited_for: bool) -> Vec<Queued> {
        let mut copies = Vec::new();
        for serial in serials {
            let Some(Pending { stream, work }) = self.pending.get(&serial) else { continue };
            let completes = match work {
                Work::Copy(copy) => {
                    copies.push(*copy);
                    true
                }
                Work::Gate => waited_for,
                Work::Event { held } => waited_for || !held && !self.is_gated(*stream, serial),
                Work::Wait(awaited) => waited_for || !self.pending.contains_key(awaited),
            };
            if completes {
                self.pending.remove(&serial);
            }
        }
        copies
    }

    fn push(&mut self, stream: u64, work: Work) -> u64 {
        let serial = self.next_serial();
        self.pending.insert(serial, Pending { stream: name(stream), work });
        serial
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    fn next_handle(&mut self) -> u64 {
        self.created += 1;
        FIRST + STEP * self.created
    }
}

/// Whether a stream that is created with these flags is ordered with the legacy stream.
pub fn is_blocking(flags: u32) -> bool {
    flags & 1 == 0
}

/// One name for the stream that has two.
fn name(stream: u64) -> u64 {
    if stream == LEGACY_TOO { LEGACY } else { stream }
}

#[cfg(test)]
mod tests {
    use super::{LEGACY, Queued, Streams};
    use crate::errors::Error;

    #[test]
    fn a_held_event_is_pending_until_its_stream_is_waited_for() {
        let mut streams = Streams::default();
        let (one, two) = (streams.create(0, true), streams.create(-5, true));
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
        let (one, two) = (streams.create(0, true), streams.create(0, true));
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

    #[test]
    fn events_behind_a_gate_are_pending_until_it_is_waited_for() {
        let mut streams = Streams::default();
        let (one, two) = (streams.create(0, false), streams.create(0, false));
        let [before, start, stop, other] = [(); 4].map(|()| streams.create_event());
        let pending = |streams: &Streams| {
            [before, start, stop, other].map(|event| streams.query_event(event) == Err(Error::NOT_READY))
        };
        streams.record(before, one).unwrap();
        streams.gate(one).unwrap();
        streams.record(start, one).unwrap();
        streams.wait(two, start).unwrap();
        streams.record(other, two).unwrap();
        streams.record(stop, one).unwrap();
        assert_eq!(streams.before_work(one), Ok(Vec::new()));
        assert_eq!(streams.before_event(stop), Ok(Vec::new()));
        assert_eq!(pending(&streams), [false, true, true, true], "asking opens no gate");
        assert_eq!([one, two].map(|stream| streams.query(stream)), [Err(Error::NOT_READY); 2]);
        streams.synchronize(LEGACY).unwrap();
        assert_eq!(pending(&streams), [false, true, true, true], "neither stream is ordered with the legacy one");
        streams.synchronize_event(start).unwrap();
        assert_eq!([stop, other].map(|event| streams.before_event(event)), [const { Ok(Vec::new()) }; 2]);
        assert_eq!(pending(&streams), [false; 4], "behind an open gate events complete when they are asked for");
        streams.gate(one).unwrap();
        streams.record(start, one).unwrap();
        streams.synchronize(one).unwrap();
        assert_eq!((pending(&streams), streams.query(one)), ([false; 4], Ok(())));
        assert_eq!(streams.gate(77), Err(Error::INVALID_RESOURCE_HANDLE));
    }

    #[test]
    fn a_gate_holds_events_back_and_not_copies() {
        let mut streams = Streams::default();
        let stream = streams.create(0, true);
        let event = streams.create_event();
        streams.gate(stream).unwrap();
        streams.queue(stream, copy(1)).unwrap();
        streams.record(event, LEGACY).unwrap();
        assert_eq!(streams.before_event(event), Ok([copy(1)].to_vec()));
        assert_eq!(streams.query_event(event), Err(Error::NOT_READY));
        streams.synchronize_all();
        assert_eq!((streams.query_event(event), streams.query(stream)), (Ok(()), Ok(())));
    }

    fn copy(number: u64) -> Queued {
        Queued { to: number, from: 0, bytes: 1 }
    }

    #[test]
    fn copies_come_out_in_order_across_streams_that_wait_for_each_other() {
        let mut streams = Streams::default();
        let (one, two) = (streams.create(0, false), streams.create(0, false));
        let event = streams.create_event();
        streams.queue(two, copy(1)).unwrap();
        streams.queue(one, copy(2)).unwrap();
        streams.record(event, one).unwrap();
        streams.queue(one, copy(3)).unwrap();
        streams.wait(two, event).unwrap();
        streams.queue(two, copy(4)).unwrap();
        assert_eq!(streams.query_event(event), Err(Error::NOT_READY));
        assert_eq!(streams.before_work(LEGACY), Ok(Vec::new()), "neither stream is ordered with the legacy one");
        assert_eq!(streams.before_work(two), Ok([1, 2, 4].map(copy).to_vec()));
        assert_eq!((streams.query(two), streams.query_event(event)), (Ok(()), Ok(())));
        assert_eq!(streams.query(one), Err(Error::NOT_READY));
        assert_eq!(streams.queued(), [copy(3)]);
    }

    #[test]
    fn the_legacy_stream_is_ordered_with_blocking_streams() {
        let mut streams = Streams::default();
        let (blocking, free) = (streams.create(0, true), streams.create(0, false));
        streams.queue(blocking, copy(1)).unwrap();
        streams.queue(free, copy(2)).unwrap();
        streams.queue(LEGACY, copy(3)).unwrap();
        assert_eq!(streams.before_work(free), Ok(vec![copy(2)]));
        assert_eq!(streams.before_work(1), Ok([1, 3].map(copy).to_vec()), "1 is another name of the legacy stream");
        streams.queue(LEGACY, copy(4)).unwrap();
        assert_eq!(streams.before_work(blocking), Ok(vec![copy(4)]));
    }

    #[test]
    fn a_held_event_does_not_hold_the_copies_back() {
        let mut streams = Streams::default();
        let event = streams.create_event();
        streams.hold(true);
        streams.queue(0, copy(1)).unwrap();
        streams.record(event, 0).unwrap();
        streams.queue(0, copy(2)).unwrap();
        assert_eq!(streams.before_event(event), Ok(vec![copy(1)]));
        assert_eq!(streams.query_event(event), Err(Error::NOT_READY));
        assert_eq!(streams.synchronize_event(event), Ok(Vec::new()));
        assert_eq!((streams.query_event(event), streams.query(0)), (Ok(()), Err(Error::NOT_READY)));
        assert_eq!(streams.synchronize(0), Ok(vec![copy(2)]));
    }
}
