//! What cases saw of memory, by case: timelines, maps of segments, requests that failed.

use crate::subjects::{self, CONTROL};
use suites::record::{MemoryStep, OutOfMemory, Record, SegmentMap};

/// What one case saw, on every launch that ran it.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// The case.
    pub case: &'a str,
    /// Timelines, in the subjects' order; none is empty.
    pub timelines: Vec<Timeline<'a>>,
    /// Maps of segments, by subject and then in the order of the run.
    pub maps: Vec<&'a SegmentMap>,
    /// Requests that ran out of memory, by subject and then in the order of the run.
    pub failures: Vec<&'a OutOfMemory>,
}

/// Memory after each line of code, on one launch.
#[derive(Debug, Clone)]
pub struct Timeline<'a> {
    /// The subject's id.
    pub subject: &'a str,
    /// The device.
    pub device: &'a str,
    /// The steps, in order.
    pub steps: Vec<&'a MemoryStep>,
}

/// One of the four quantities of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes of tensors in use.
    Live,
    /// Bytes that the allocator has.
    Held,
    /// What the driver shows.
    Process,
    /// What the operating system shows of main memory.
    Host,
}

impl Quantity {
    /// All, in the order in which they are shown.
    pub const ALL: [Quantity; 4] = [Quantity::Live, Quantity::Held, Quantity::Process, Quantity::Host];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Quantity::Live => "live",
            Quantity::Held => "held",
            Quantity::Process => "process",
            Quantity::Host => "host",
        }
    }

    /// Its bytes after a step, where they were read.
    pub fn of(self, step: &MemoryStep) -> Option<u64> {
        match self {
            Quantity::Live => step.live,
            Quantity::Held => step.held,
            Quantity::Process => step.process,
            Quantity::Host => step.host,
        }
    }
}

impl Timeline<'_> {
    /// A quantity after each step.
    pub fn bytes(&self, quantity: Quantity) -> Vec<Option<u64>> {
        self.steps.iter().map(|step| quantity.of(step)).collect()
    }

    /// Whether a quantity was read at all.
    pub fn has(&self, quantity: Quantity) -> bool {
        self.steps.iter().any(|step| quantity.of(step).is_some())
    }

    /// Whether this timeline follows the same lines of code as another, as far as the shorter of them goes.
    pub fn follows(&self, other: &Timeline) -> bool {
        self.steps.iter().zip(&other.steps).all(|(a, b)| a.code == b.code)
    }
}

impl<'a> Seen<'a> {
    /// Collects what the records say, case by case in the order of the run.
    pub fn collect(records: &'a [Record]) -> Vec<Seen<'a>> {
        let mut all: Vec<Seen> = Vec::new();
        for record in records {
            match record {
                Record::Memory(step) if step.subject != CONTROL => Seen::of(&mut all, &step.case).step(step),
                Record::Segments(map) if map.subject != CONTROL => Seen::of(&mut all, &map.case).maps.push(map),
                Record::OutOfMemory(failure) if failure.subject != CONTROL => {
                    Seen::of(&mut all, &failure.case).failures.push(failure);
                }
                _ => {}
            }
        }
        for seen in &mut all {
            seen.timelines.sort_by_key(|timeline| subjects::order(timeline.subject));
            seen.maps.sort_by_key(|map| subjects::order(&map.subject));
            seen.failures.sort_by_key(|failure| subjects::order(&failure.subject));
            for timeline in &mut seen.timelines {
                timeline.steps.sort_by_key(|step| step.step);
            }
        }
        all
    }

    fn of<'s>(all: &'s mut Vec<Seen<'a>>, case: &'a str) -> &'s mut Seen<'a> {
        let at = all.iter().position(|seen| seen.case == case).unwrap_or_else(|| {
            all.push(Seen { case, timelines: Vec::new(), maps: Vec::new(), failures: Vec::new() });
            all.len() - 1
        });
        &mut all[at]
    }

    fn step(&mut self, step: &'a MemoryStep) {
        let mine = |timeline: &&mut Timeline| timeline.subject == step.subject && timeline.device == step.device;
        match self.timelines.iter_mut().find(mine) {
            Some(timeline) => timeline.steps.push(step),
            None => self.timelines.push(Timeline { subject: &step.subject, device: &step.device, steps: vec![step] }),
        }
    }

    /// The launches that saw something, as subject and device, in the subjects' order.
    pub fn launches(&self) -> Vec<(&'a str, &'a str)> {
        let timelines = self.timelines.iter().map(|timeline| (timeline.subject, timeline.device));
        let maps = self.maps.iter().map(|map| (map.subject.as_str(), map.device.as_str()));
        let failures = self.failures.iter().map(|failure| (failure.subject.as_str(), failure.device.as_str()));
        let mut launches: Vec<_> = timelines.chain(maps).chain(failures).collect();
        launches.sort_by_key(|launch| (subjects::order(launch.0), launch.1));
        launches.dedup();
        launches
    }
}
