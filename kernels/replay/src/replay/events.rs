//! Replays the traces of a snapshot.
//!
//! A trace shows blocks handed out, blocks given back (when a program did, and when the streams were done with them),
//! and what the allocator did with segments. Requests and completed frees are fed in their order; what was done with
//! segments follows, except where a program emptied the cache: a run of returned segments that no request needed.

use super::{
    Failed, MOST_DEVICE, Options, Part, Plan, Progress, Report, Stage, Stop, Summary, UNKNOWN_DEVICE, count,
    recorded_settings,
};
use crate::check::{Checker, difference, final_segments, segment_events};
use crate::device::ReplayDevice;
use crate::snapshot::{Event, Segment, Snapshot};
use crate::start::{Start, rebuild};
use kernels::memory::{Action, AllocError, CachingAllocator, TorchVersion};
use std::borrow::Cow;
use std::collections::HashMap;

/// Streams that stand for whatever a block waits for after its program gave it back: one for each wait.
const WAITS: u64 = 1 << 63;
/// Events between two reports of progress.
const STRIDE: usize = 1 << 14;

pub(super) fn replay(snapshot: &Snapshot, options: &Options, progress: &Progress<'_>) -> Result<Report, Stop> {
    let recorded = snapshot.settings.as_deref().unwrap_or("");
    let mut notes = Vec::new();
    let torch = options.torch.unwrap_or_else(|| {
        let torch = assumed(snapshot);
        notes.push(format!(
            "a snapshot does not name its version of PyTorch: by its layout, the rules of {torch} are taken"
        ));
        torch
    });
    let plan = Plan::new(options, recorded, torch)?;
    let own_settings = recorded_settings(recorded, torch)?;
    let all = snapshot.traces.iter().map(Vec::len).sum::<usize>() as u64;
    if all == 0 {
        return Err(Stop::Words(
            "no entry of a trace is in the file, so there is nothing to replay: switch recording on with \
             torch.cuda.memory._record_memory_history() before the program runs"
                .to_owned(),
        ));
    }
    let devices = (0..).zip(&snapshot.traces).filter(|(_, trace)| !trace.is_empty());
    let several = devices.clone().count() > 1;
    let mut checker = Checker::default();
    let mut parts = Vec::new();
    let mut done = 0;
    for (device, trace) in devices {
        let (events, segments) = default_pools(device, trace, &snapshot.segments, &mut notes);
        let start = rebuild(&events, &segments, &own_settings).map_err(Stop::Words)?;
        let card = Card::of(&events, &start);
        card.suits(device, &plan, options.device_memory, &mut notes)?;
        let mut replay = Replay::new(&events, &plan, &start, &card, options.device_memory).map_err(Stop::Words)?;
        replay.name = several.then_some(device);
        replay.collected =
            own_settings.garbage_collection_threshold > 0.0 && own_settings.per_process_memory_fraction < 1.0;
        replay.run(&mut checker, &|now| progress(Stage::Replaying, done + now as u64, all)).map_err(Stop::Words)?;
        if plan.check {
            final_segments(&mut checker, replay.name, &events, &segments, &replay.allocator.snapshot());
        }
        if !start.segments.is_empty() && torch >= (TorchVersion { major: 2, minor: 11 }) {
            notes.push(format!(
                "device {device} held {} before the recording: the order of taking them is not in the file, and is \
                 taken to be that of addresses",
                count(start.segments.len(), "segment", "segments")
            ));
        }
        done += trace.len() as u64;
        parts.push(Part {
            device,
            device_memory: options.device_memory.or(card.total),
            held_before: start.held(),
            summary: Summary::of(events.len() as u64, replay.allocator.statistics()),
            failed: replay.failed,
        });
        notes.extend(start.notes);
    }
    let devices = if several { format!("{} devices", parts.len()) } else { "one device".to_owned() };
    Ok(plan.report(format!("a memory snapshot of {devices}"), recorded, parts, checker, notes))
}

/// The version whose rules fit the layout of the file: entries name their pool in files of the newest.
fn assumed(snapshot: &Snapshot) -> TorchVersion {
    if snapshot.names_pools { TorchVersion::DEFAULT } else { TorchVersion { major: 2, minor: 10 } }
}

/// The entries and segments of a device without those of private pools, which are not replayed.
fn default_pools<'a>(
    device: u64,
    trace: &'a [Event],
    segments: &'a [Segment],
    notes: &mut Vec<String>,
) -> (Cow<'a, [Event]>, Vec<&'a Segment>) {
    let (private, default): (Vec<&Segment>, Vec<&Segment>) =
        segments.iter().filter(|segment| segment.device == device).partition(|segment| segment.private);
    let inside = |address: u64| {
        private
            .iter()
            .any(|segment| (segment.address..segment.address.saturating_add(segment.bytes)).contains(&address))
    };
    let is_private = |event: &Event| event.private || event.action != Action::Oom && inside(event.address);
    if private.is_empty() && !trace.iter().any(|event| event.private) {
        return (Cow::Borrowed(trace), default);
    }
    let events: Vec<Event> = trace.iter().filter(|event| !is_private(event)).copied().collect();
    notes.push(format!(
        "left out of device {device}, as parts of private pools such as those of captured graphs: {} and {}",
        count(trace.len() - events.len(), "entry", "entries"),
        count(private.len(), "segment", "segments")
    ));
    (events.into(), default)
}

/// What a recording shows of its device.
struct Card {
    /// Its bytes, where a failed request shows how many were free beside those that were held.
    total: Option<u64>,
    /// The most bytes that were held.
    held: u64,
}

impl Card {
    fn of(events: &[Event], start: &Start) -> Card {
        let mut held = start.held();
        let mut card = Card { total: None, held };
        for event in events {
            match event.action {
                Action::SegmentAlloc | Action::SegmentMap => held = held.saturating_add(event.bytes),
                Action::SegmentFree | Action::SegmentUnmap => held = held.saturating_sub(event.bytes),
                Action::Oom => card.total = card.total.max(held.checked_add(event.address)),
                _ => {}
            }
            card.held = card.held.max(held);
        }
        card.total = card.total.filter(|total| *total <= MOST_DEVICE);
        card
    }

    /// Whether a replay as planned, with so much memory asked for, makes sense on it.
    fn suits(&self, device: u64, plan: &Plan, asked: Option<u64>, notes: &mut Vec<String>) -> Result<(), Stop> {
        if let Some(asked) = asked.filter(|asked| plan.check && self.with(Some(*asked)) != Some(*asked)) {
            let shown = match self.total {
                Some(total) => format!("{total} bytes"),
                None => format!("at least the {} bytes that it held", self.held),
            };
            return Err(Stop::Usage(format!(
                "a check is only possible with as much device memory as the recording shows for device {device}, \
                 {shown}; {asked} bytes are another device"
            )));
        }
        if plan.settings.per_process_memory_fraction < 1.0 && asked.or(self.total).is_none() {
            let what = format!(
                "per_process_memory_fraction is a part of a memory that is not known: the recording does not show that \
                 of device {device}, and --device-memory has to tell it"
            );
            if !plan.own {
                return Err(Stop::Usage(what));
            }
            notes.push(what);
        }
        Ok(())
    }

    /// Its bytes where they are known; those that are asked for, where the recording could have been made with them.
    fn with(&self, asked: Option<u64>) -> Option<u64> {
        self.total.or(asked.filter(|asked| *asked >= self.held))
    }
}

/// A block of the recording.
struct Live {
    /// Where the replay has it.
    address: u64,
    /// The event that it waits for, once its program has given it back.
    waits: Option<u64>,
}

struct Replay<'a> {
    events: &'a [Event],
    plan: &'a Plan,
    allocator: CachingAllocator<ReplayDevice>,
    /// Blocks by their recorded address.
    live: HashMap<u64, Live>,
    /// Events that the recording shows to be done before the next request.
    completed: Vec<u64>,
    /// Bytes that the recording holds.
    held: u64,
    /// Bytes of the device of the recording, where they are known.
    card: Option<u64>,
    /// The end of the present run of returned segments.
    run_end: usize,
    /// Entries up to here are compared.
    compared: usize,
    /// Whether segments that were there before make the order of returns uncertain.
    rebuilt: bool,
    /// Whether settings and device are those of the recording, so that every answer must be the recorded one.
    own: bool,
    /// Whether old segments were returned in the recording when the limit came near.
    collected: bool,
    /// The device, where there are several.
    name: Option<u64>,
    failed: Failed,
}

impl<'a> Replay<'a> {
    fn new(
        events: &'a [Event],
        plan: &'a Plan,
        start: &Start,
        card: &Card,
        asked: Option<u64>,
    ) -> Result<Self, String> {
        let mut device = ReplayDevice::new(asked.or(card.total).unwrap_or(UNKNOWN_DEVICE));
        for segment in &start.segments {
            device.adopt(segment.address, bytes(segment)).map_err(|_| {
                format!("{} bytes were held before the recording began, more than the device has", start.held())
            })?;
        }
        let mut allocator = CachingAllocator::with_segments(device, plan.settings.clone(), &start.segments)
            .map_err(|error| error.to_string())?;
        allocator.record_history(plan.check);
        let live = start.live.iter().map(|address| (*address, Live { address: *address, waits: None })).collect();
        Ok(Replay {
            events,
            plan,
            allocator,
            live,
            completed: Vec::new(),
            held: start.held(),
            card: card.with(asked),
            run_end: 0,
            compared: 0,
            rebuilt: !start.segments.is_empty(),
            collected: false,
            own: plan.own && (asked.is_none() || card.with(asked) == asked),
            name: None,
            failed: Failed::default(),
        })
    }

    fn run(&mut self, checker: &mut Checker, progress: &dyn Fn(usize)) -> Result<(), String> {
        for at in 0..self.events.len() {
            self.event(at, checker).map_err(|error| format!("entry {at}: {error}"))?;
            if at % STRIDE == 0 {
                progress(at);
            }
        }
        self.compare(self.events.len(), checker);
        Ok(())
    }

    fn event(&mut self, at: usize, checker: &mut Checker) -> Result<(), AllocError> {
        let event = self.events[at];
        match event.action {
            Action::Alloc => self.alloc(at, &event, checker),
            Action::FreeRequested => self.give_back(at, &event),
            Action::FreeCompleted => self.complete(&event),
            Action::SegmentAlloc => {
                self.held = self.held.saturating_add(event.bytes);
                if self.own {
                    self.allocator.device_mut().expect_segment(event.address, event.bytes);
                }
                Ok(())
            }
            Action::SegmentMap => {
                self.held = self.held.saturating_add(event.bytes);
                if self.own {
                    self.allocator.device_mut().expect_range(event.address);
                }
                Ok(())
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                let done = if at >= self.run_end { self.returned(at) } else { Ok(()) };
                self.held = self.held.saturating_sub(event.bytes);
                done
            }
            Action::Oom => self.fail(at, &event, checker),
        }
    }

    fn alloc(&mut self, at: usize, event: &Event, checker: &mut Checker) -> Result<(), AllocError> {
        for done in self.completed.drain(..) {
            self.allocator.device_mut().complete(done);
        }
        let got = match self.allocator.allocate(event.bytes, event.stream) {
            Ok(address) => {
                self.live.insert(event.address, Live { address, waits: None });
                Ok(address)
            }
            // The program goes on without the block, and gives back what is not here.
            Err(error) => {
                self.failed.note(at as u64, false, &error, self.allocator.statistics())?;
                Err(error)
            }
        };
        self.allocator.device_mut().expect_nothing();
        // What was done with segments is compared first: a false one explains a false address.
        self.compare(at + 1, checker);
        if self.plan.check && got.as_ref().ok() != Some(&event.address) {
            let got = got.map_or_else(|error| error.to_string(), |address| format!("{address:#x}"));
            let expected = format!("{:#x}", event.address);
            checker.differs(|| difference(self.name, self.events, at, expected, got));
        }
        Ok(())
    }

    /// A request that the recording shows to fail.
    fn fail(&mut self, at: usize, event: &Event, checker: &mut Checker) -> Result<(), AllocError> {
        if self.own {
            self.allocator.device_mut().refuse(event.address);
        }
        let got = self.allocator.allocate(event.bytes, event.stream);
        self.allocator.device_mut().expect_nothing();
        self.compare(at + 1, checker);
        match got {
            // The program went on without the block.
            Ok(address) => self.allocator.free(address),
            Err(error) => self.failed.note(at as u64, true, &error, self.allocator.statistics()),
        }
    }

    /// A program gives a block back. Where it is free at once, the next entry says so and does the work.
    fn give_back(&mut self, at: usize, event: &Event) -> Result<(), AllocError> {
        let next = self.events.get(at + 1);
        if next.is_some_and(|next| next.action == Action::FreeCompleted && next.address == event.address) {
            return Ok(());
        }
        let Some(live) = self.live.get_mut(&event.address).filter(|live| live.waits.is_none()) else { return Ok(()) };
        let stream = WAITS + self.allocator.device().last_event();
        self.allocator.record_stream(live.address, stream)?;
        self.allocator.free(live.address)?;
        live.waits = Some(self.allocator.device().last_event());
        Ok(())
    }

    /// A block is free.
    fn complete(&mut self, event: &Event) -> Result<(), AllocError> {
        match self.live.remove(&event.address) {
            Some(Live { waits: Some(waits), .. }) => {
                self.completed.push(waits);
                Ok(())
            }
            Some(Live { address, waits: None }) => self.allocator.free(address),
            None => Ok(()),
        }
    }

    /// The first of a run of returned segments: either the next request needed them, and the allocator will find out by
    /// itself; or the program emptied the cache.
    fn returned(&mut self, at: usize) -> Result<(), AllocError> {
        let run = self.events[at..].iter();
        self.run_end =
            at + run.take_while(|event| matches!(event.action, Action::SegmentFree | Action::SegmentUnmap)).count();
        // Either way all streams are waited for, in the allocator's own time.
        self.completed.clear();
        if self.was_needed() { Ok(()) } else { self.allocator.empty_cache() }
    }

    fn was_needed(&self) -> bool {
        let after = &self.events[self.run_end..];
        let asked = match after.first().map(|event| event.action) {
            Some(Action::Oom) => return true,
            Some(Action::SegmentAlloc) => after[0].bytes,
            Some(Action::SegmentMap) => {
                let maps = after.iter().take_while(|event| event.action == Action::SegmentMap);
                maps.map(|event| event.bytes).fold(0, u64::saturating_add)
            }
            _ => return false,
        };
        self.collected || self.card.is_some_and(|card| self.held.saturating_add(asked) > card)
    }

    /// Compares what was done with segments up to an entry.
    fn compare(&mut self, to: usize, checker: &mut Checker) {
        if self.plan.check {
            let history = self.allocator.take_history();
            let entries = (self.compared, to);
            segment_events(checker, self.name, self.events, entries, &history, self.rebuilt);
            self.compared = to;
        }
    }
}

impl Start {
    /// Bytes held.
    fn held(&self) -> u64 {
        self.segments.iter().map(bytes).fold(0, u64::saturating_add)
    }
}

fn bytes(segment: &kernels::memory::SegmentStart) -> u64 {
    segment.blocks.iter().map(|block| block.size).sum()
}
