//! The run log: one record a line, each with a `type`. `docs/run-log.md` describes the format for readers.

mod measured;
mod memory;

pub use measured::*;
pub use memory::*;

use serde::{Deserialize, Serialize};
use std::fmt;
pub use subject::Value;

/// The format that this version writes.
pub const FORMAT: u32 = 1;

/// One line of a run log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first line: what ran where.
    Header(Box<Header>),
    /// What one case came to on one launch.
    Outcome(Outcome),
    /// What the judge says of one claim.
    Verdict(Verdict),
    /// The samples of one workload in one round, or its exact accounting.
    Measurement(Measurement),
    /// What a performance claim comes to on one subject at one size.
    Effect(Effect),
    /// How a workload's time grows with its size.
    Slope(Slope),
    /// What a workload does, and what bounds it.
    Workload(WorkloadInfo),
    /// What the machine itself can do: one plain loop over memory.
    Limit(Limit),
    /// What the harness itself costs on one subject.
    Floor(Floor),
    /// One step of a memory timeline.
    Memory(MemoryStep),
    /// The segments of an allocator at one moment.
    Segments(SegmentMap),
    /// A request that ran out of memory, and what was there.
    OutOfMemory(OutOfMemory),
    /// One reading of the machine's own noise.
    Weather(Weather),
    /// The reference measured as two subjects: what our own rule takes for a difference.
    Control(Control),
    /// The last line: how the run ended.
    Footer(Footer),
}

/// What ran where.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The format of the run log, [`FORMAT`].
    pub format: u32,
    /// The version of Tensormark that wrote it.
    pub tensormark: String,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// The commit of the working tree, where there is one; `+` marks uncommitted changes.
    pub commit: Option<String>,
    /// The machine.
    pub machine: Machine,
    /// The compiler that built the Rust subjects.
    pub toolchain: String,
    /// Every launch that was asked for, also those that could not start.
    pub launches: Vec<LaunchRecord>,
    /// Timed rounds planned.
    pub rounds: u32,
    /// The words that chose cases and workloads, where not all were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// What was left out or shortened to fit the time allowed, in words.
    pub cut: Vec<String>,
}

/// The machine that a run happened on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Processors that the run may use.
    pub processors: u32,
    /// Bytes of main memory.
    pub memory_bytes: u64,
    /// Bytes of the largest cache, where the system tells.
    pub last_cache_bytes: Option<u64>,
    /// Operating system and kernel version.
    pub system: String,
    /// The first GPU, where its management library tells of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Gpu>,
}

/// A GPU as its management library describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// The version of its driver.
    pub driver: String,
    /// The highest clock of its processors, in MHz.
    pub processor_mhz: u32,
    /// The highest clock of its memory, in MHz.
    pub memory_mhz: u32,
    /// Generation and width of its PCIe link, such as 5 and 16.
    pub link: [u32; 2],
}

/// One launch: an implementation under test and how its process is started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// The subject's id in `subjects.toml`.
    pub subject: String,
    /// The device.
    pub device: String,
    /// Threads that it may use.
    pub threads: u32,
    /// The library's version; absent when it could not start.
    pub version: Option<String>,
    /// The language that the subject is written in.
    pub language: Option<String>,
    /// How it was built.
    pub build: Option<subject::Build>,
    /// Why it could not start and what to do.
    pub missing: Option<String>,
}

/// How a case ended on a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeKind {
    /// Every value seen equals the value known of PyTorch.
    Agrees,
    /// At least one does not.
    Differs,
    /// The library lacks an API that the case needs.
    Unsupported,
    /// It could not run here.
    NotRun,
    /// The subject's process died.
    Crashed,
    /// The subject did not answer in time.
    TimedOut,
    /// The harness or the subject broke the protocol.
    HarnessError,
}

/// What one case came to on one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The subject's id.
    pub subject: String,
    /// The library's version; absent when it could not start.
    pub subject_version: Option<String>,
    /// The device.
    pub device: String,
    /// The case's name.
    pub case: String,
    /// The claims that it bears on.
    pub claims: Vec<String>,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// Why, for every end but `agrees` and `differs`.
    pub reason: Option<String>,
    /// What it established, also when it ended early.
    pub facts: Vec<Fact>,
    /// What was asked and answered, as lines of PyTorch.
    pub transcript: Vec<String>,
    /// How long it took.
    pub nanoseconds: u64,
}

/// One thing that a case established.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// What was looked at.
    pub what: String,
    /// The value seen.
    pub seen: Value,
    /// The value known of PyTorch, where the case states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Value>,
    /// The values that claims claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<Claimed>,
    /// How far apart two numbers may be and still count as equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// The value that a claim claimed for a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// The claim.
    pub claim: String,
    /// The value.
    pub value: Value,
    /// Whether the fact is the tutorial's own example.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub example: bool,
}

impl Fact {
    /// Whether the value seen equals the value known; `true` where none is stated.
    pub fn agrees(&self) -> bool {
        self.known.as_ref().is_none_or(|known| self.same(known))
    }

    /// Whether the value seen equals what was claimed.
    pub fn fits(&self, claimed: &Claimed) -> bool {
        self.same(&claimed.value)
    }

    fn same(&self, other: &Value) -> bool {
        match (self.tolerance, &self.seen, other) {
            (Some(tolerance), Value::Float(a), Value::Float(b)) => (a - b).abs() <= tolerance,
            _ => self.seen == *other,
        }
    }
}

/// What the judge says of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// It holds.
    Right,
    /// It holds in part.
    PartlyRight,
    /// It does not hold.
    Wrong,
    /// Not decided in this run.
    Open,
    /// It is about the text itself.
    NotTestable,
}

/// How much a claim that is not right matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Code fails or results change.
    Breaks,
    /// Bytes or time are other than told.
    Misleads,
    /// Units and formatting.
    Wording,
}

/// What the judge says of one claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The claim.
    pub claim: String,
    /// The verdict.
    pub verdict: VerdictKind,
    /// How much it matters, for a verdict that is not right.
    pub weight: Option<Weight>,
    /// The right statement, for a verdict that is not right; our finding for an editorial claim.
    pub correction: Option<String>,
    /// Why the claim is open, or where a performance claim stops holding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// Whether everything planned was done.
    pub complete: bool,
    /// `finished` or `interrupted`.
    pub reason: String,
    /// The grade of the weather.
    pub weather: Option<Grade>,
    /// How long the run took.
    pub nanoseconds: u64,
}

macro_rules! words {
    ($($type:ty { $($variant:ident => $word:literal),* $(,)? })*) => { $(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word),* })
            }
        }
    )* };
}

words! {
    OutcomeKind {
        Agrees => "agrees", Differs => "differs", Unsupported => "unsupported", NotRun => "not-run",
        Crashed => "crashed", TimedOut => "timed-out", HarnessError => "harness-error",
    }
    VerdictKind {
        Right => "right", PartlyRight => "partly-right", Wrong => "wrong", Open => "open", NotTestable => "not-testable",
    }
    Weight { Breaks => "breaks", Misleads => "misleads", Wording => "wording" }
    EffectKind { Holds => "holds", Reversed => "reversed", NoDifference => "no-difference", Ambiguous => "ambiguous" }
    Loop { Read => "read", Fill => "fill", Copy => "copy" }
    Grade { Quiet => "quiet", Usable => "usable", DoNotCompare => "do-not-compare" }
}

/// The subject whose answers decide verdicts.
pub const JUDGED: &str = "pytorch";

/// The dtype that a program gets when it names none: what a claim on time is about.
pub const DEFAULT_DTYPE: &str = "f32";
