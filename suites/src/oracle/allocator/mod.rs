//! Two caching allocators on the same random requests, compared event by event.
//!
//! After each event the sides must agree on where the block lies, on every statistic and on every refusal word for word,
//! and from time to time on all segments and blocks. Both run over devices that give addresses by one rule.

mod figures;
mod program;

use super::Side;
use program::{Program, Stop};
use std::fmt;

pub use program::EVENTS;

/// What kind of programs.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    /// Its name.
    pub name: &'static str,
    /// Bytes of the device.
    pub memory: u64,
    /// Settings: a program begins with one of them.
    settings: &'static [&'static str],
    /// Whether it also changes to others on its way.
    changes: bool,
    /// Memory fractions that a program sets on its way.
    fractions: &'static [f64],
    /// Streams that blocks are allocated on.
    streams: i64,
}

const PLAIN: Mode =
    Mode { name: "default", memory: 2 << 30, settings: &[""], changes: false, fractions: &[], streams: 2 };

/// All kinds of programs.
pub const MODES: [Mode; 9] = [
    PLAIN,
    Mode {
        name: "max-split",
        settings: &[
            "max_split_size_mb:20",
            "max_split_size_mb:64",
            "max_split_size_mb:100,max_non_split_rounding_mb:40",
        ],
        ..PLAIN
    },
    Mode {
        name: "roundup",
        settings: &[
            "roundup_power2_divisions:4",
            "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
            "roundup_power2_divisions:[1:8,4:2,64:4,>:16]",
            "",
        ],
        changes: true,
        ..PLAIN
    },
    Mode {
        name: "fraction-with-gc",
        settings: &[
            "garbage_collection_threshold:0.6",
            "garbage_collection_threshold:0.3",
            "garbage_collection_threshold:0.8,max_split_size_mb:64",
        ],
        fractions: &[0.3, 0.5, 0.9, 1.0],
        ..PLAIN
    },
    Mode { name: "expandable", settings: &["expandable_segments:True"], fractions: &[0.5, 1.0], ..PLAIN },
    Mode {
        name: "expandable-on-and-off",
        settings: &["expandable_segments:True", "expandable_segments:False"],
        changes: true,
        ..PLAIN
    },
    Mode {
        name: "large-segments",
        settings: &[
            "large_segment_size_mb:40",
            "large_segment_size_mb:12",
            "large_segment_size_mb:24,expandable_segments:True",
            "large_segment_size_mb:20,expandable_segments:False",
        ],
        changes: true,
        ..PLAIN
    },
    Mode { name: "three-streams", streams: 3, ..PLAIN },
    Mode { name: "1-gib-card", memory: 1 << 30, fractions: &[0.5, 1.0], ..PLAIN },
];

/// What happened on the way: a comparison in which little happens says little.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events compared.
    pub events: u64,
    /// Requests repeated after the cache was emptied.
    pub retries: u64,
    /// Requests that ran out of memory.
    pub ooms: u64,
    /// Segments that garbage collection returned.
    pub collected: u64,
    /// Blocks that were split.
    pub splits: u64,
    /// Blocks that were merged with a neighbour.
    pub merges: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.events += other.events;
        self.retries += other.retries;
        self.ooms += other.ooms;
        self.collected += other.collected;
        self.splits += other.splits;
        self.merges += other.merges;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { events, retries, ooms, collected, splits, merges } = self;
        write!(f, "{events} events, {retries} retries, {ooms} out of memory, {collected} segments collected, ")?;
        write!(f, "{splits} splits, {merges} merges")
    }
}

/// The first event on which the sides differ.
#[derive(Debug)]
pub struct Unequal {
    /// The kind of program.
    pub mode: &'static str,
    /// Its seed.
    pub seed: u64,
    /// The event's place in the program, from 1.
    pub event: u64,
    /// The last lines, the one that differs last.
    pub lines: Vec<String>,
    /// Who the sides are, and what each answered.
    pub answers: [(String, String); 2],
}

impl fmt::Display for Unequal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} differs at event {} of the program of seed {}:", self.mode, self.event, self.seed)?;
        for line in &self.lines {
            writeln!(f, "    {line}")?;
        }
        let [(left, one), (right, other)] = &self.answers;
        writeln!(f, "{left}: {one}")?;
        write!(f, "{right}: {other}")
    }
}

/// Runs the program of one seed on both sides.
///
/// # Errors
/// What to tell the user when a side cannot go on.
pub fn compare(
    left: &mut dyn Side,
    right: &mut dyn Side,
    mode: &Mode,
    seed: u64,
) -> Result<Result<Tally, Box<Unequal>>, String> {
    left.reset()?;
    right.reset()?;
    let names = [left.name().to_owned(), right.name().to_owned()];
    let mut program = Program::new([left, right], mode, seed);
    match program.run() {
        Ok(()) => Ok(Ok(program.tally)),
        Err(Stop::Broken(what)) => Err(what),
        Err(Stop::Unequal([one, other])) => {
            let [left, right] = names;
            Ok(Err(Box::new(Unequal {
                mode: mode.name,
                seed,
                event: program.tally.events + 1,
                lines: program.lines.into(),
                answers: [(left, one), (right, other)],
            })))
        }
    }
}
