//! What a replay is held against: the recording.

mod events;
mod lines;

pub(crate) use events::{difference, final_segments, segment_events};
pub(crate) use lines::{Lines, Outcome};

use std::fmt;

/// How many events are shown before a difference.
const SHOWN: usize = 5;

/// The first place where a replay and its recording part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The device, where the recording has several.
    pub device: Option<u64>,
    /// The event: an entry of a snapshot's trace counted from 0, or a line of a trace of JSON lines counted from 1.
    pub event: u64,
    /// What was asked.
    pub op: String,
    /// What the recording shows.
    pub expected: String,
    /// What the replay did.
    pub got: String,
    /// The events before it, oldest first.
    pub before: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.device.map_or_else(String::new, |device| format!("device {device}, "));
        writeln!(f, "first difference at {device}event {}: {}", self.event, self.op)?;
        writeln!(f, "  recorded: {}", self.expected)?;
        write!(f, "  replayed: {}", self.got)?;
        for event in &self.before {
            write!(f, "\n  before:   {event}")?;
        }
        Ok(())
    }
}

/// Counts what differs, and keeps the first of it.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    /// Comparisons that failed.
    pub differences: u64,
    pub first: Option<Difference>,
}

impl Checker {
    /// Counts a difference; `make` says what it is.
    pub fn differs(&mut self, make: impl FnOnce() -> Difference) {
        self.differences += 1;
        if self.first.is_none() {
            self.first = Some(make());
        }
    }
}
