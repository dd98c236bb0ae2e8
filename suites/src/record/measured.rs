//! Records of what was measured: samples, counts, effects, and what the machine and the harness themselves cost.

use super::Record;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
pub use subject::Clock;

/// The samples of one workload in one round (round 1 and on), or its exact accounting (round 0).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The subject's id; the second measurement of the reference is `reference (again)`.
    pub subject: String,
    /// The device.
    pub device: String,
    /// The workload.
    pub workload: String,
    /// Its parameters: `dtype` and `elements`.
    pub params: Params,
    /// The round; 0 for accounting.
    pub round: u32,
    /// Iterations of each sample.
    pub iterations: Vec<u64>,
    /// Nanoseconds of each sample.
    pub nanoseconds: Vec<u64>,
    /// Exact counts of one run of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
    /// What the GPU did meanwhile, where the workload needs one and its management library tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuState>,
    /// Why there are no samples: a wrong result, a refused build, a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The clocks and the state of a GPU while a workload was sampled; it is asked after each sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuState {
    /// Lowest and highest clock of its processors, in MHz.
    pub processor_mhz: [u32; 2],
    /// Lowest and highest clock of its memory, in MHz.
    pub memory_mhz: [u32; 2],
    /// The highest temperature, in degrees Celsius.
    pub celsius: u32,
    /// What held its clocks down, in NVML's words, such as `sw-power-cap`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_down_by: Vec<String>,
    /// The samples, counted from 0, that heat or a fault of its supply slowed: nothing is computed from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttled: Vec<usize>,
}

/// The parameters of a workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Params {
    /// The element type's wire name.
    pub dtype: String,
    /// Number of elements.
    pub elements: u64,
}

impl Params {
    /// Bytes of one tensor of this size; 0 for a dtype that is not known here.
    pub fn bytes(&self) -> u64 {
        subject::DType::from_name(&self.dtype).map_or(0, |dtype| dtype.size() as u64 * self.elements)
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.elements)
    }
}

/// Exact counts over one run of a program's body, of heap blocks of 64 KiB and more. Bytes are requested bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// Blocks taken.
    pub allocations: u64,
    /// Bytes of all blocks taken.
    pub bytes: u64,
    /// The most that was live at once, above what was live before.
    pub peak_bytes: u64,
    /// What is live after, above what was live before.
    pub kept_bytes: i64,
}

/// What an effect comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// The whole interval lies above 1.05.
    Holds,
    /// The whole interval lies below 0.95.
    Reversed,
    /// The whole interval lies within 0.95 to 1.05.
    NoDifference,
    /// None of these.
    Ambiguous,
}

/// What a performance claim comes to on one subject at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The claim.
    pub claim: String,
    /// The subject's id.
    pub subject: String,
    /// The size.
    pub params: Params,
    /// The effect.
    pub effect: EffectKind,
    /// Median over rounds and samples of (slower as claimed) / (faster as claimed).
    pub ratio: f64,
    /// The 95 % bootstrap interval of that median.
    pub interval: [f64; 2],
    /// Half the interval's width relative to the ratio: a smaller change could not be seen.
    pub smallest_visible_change: f64,
}

/// How a workload's time grows with its size on one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// The subject's id.
    pub subject: String,
    /// The workload.
    pub workload: String,
    /// The element type's wire name.
    pub dtype: String,
    /// Slope of the logarithm of time over the logarithm of elements: 0 for a time that is the same at every size, 1 for
    /// one that is proportional to it.
    pub slope: f64,
    /// The 95 % bootstrap interval of the slope.
    pub interval: [f64; 2],
}

/// What a workload does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadInfo {
    /// Its name.
    pub workload: String,
    /// Its body, for readers.
    pub about: String,
    /// The plain loop over memory that it cannot be faster than, where one bounds it.
    pub bound: Option<Loop>,
    /// The workload of the same subject that it cannot be faster than, size by size, where one bounds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_by: Option<String>,
    /// The device that it needs beside the CPU.
    pub device: Option<String>,
    /// Whose clock times it.
    #[serde(default)]
    pub clock: Clock,
}

/// A plain loop over memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loop {
    /// Reads every byte once.
    Read,
    /// Writes every byte once.
    Fill,
    /// Reads every byte of one block and writes it to another.
    Copy,
}

/// What one plain loop over memory took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The loop.
    pub what: Loop,
    /// Bytes of the block.
    pub bytes: u64,
    /// Nanoseconds of one pass, the median of several.
    pub nanoseconds: f64,
}

/// What the harness costs on one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The subject's id.
    pub subject: String,
    /// Nanoseconds of one iteration of a body that does nothing.
    pub loop_nanoseconds: f64,
    /// Nanoseconds of one request and its reply, the median of several.
    pub round_trip_nanoseconds: f64,
}

/// One reading of the machine's own noise, in nanoseconds of fixed work (fastest and slowest of several tries).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weather {
    /// When, in words (`start`, `round 1, before pytorch`, `end`).
    pub when: String,
    /// A chain of integer arithmetic.
    pub arithmetic: [u64; 2],
    /// A copy of 16 MiB of warm memory.
    pub copy: [u64; 2],
    /// First touch of 16 MiB of fresh memory.
    pub first_touch: [u64; 2],
}

/// How comparable a run's times are with those of another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// The readings agree within 5 %.
    Quiet,
    /// Within 25 %.
    Usable,
    /// They do not.
    DoNotCompare,
}

/// The reference measured as two subjects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Cells compared.
    pub pairs: u32,
    /// Cells that our rule calls different although nothing differs.
    pub different: u32,
}

/// Measurements by subject, workload, parameters and round.
pub type Cells<'a> = BTreeMap<(&'a str, &'a str, &'a Params), Vec<&'a Measurement>>;

/// Groups the timed measurements that have samples.
pub fn cells(records: &[Record]) -> Cells<'_> {
    let mut cells = Cells::new();
    for record in records {
        if let Record::Measurement(m) = record
            && m.round > 0
            && m.error.is_none()
            && m.sound().next().is_some()
        {
            cells.entry((&m.subject, &m.workload, &m.params)).or_default().push(m);
        }
    }
    cells
}

/// How the error begins of a measurement that this machine lacks something for.
pub const NOT_RUN: &str = "not-run: ";
/// How the error begins of a measurement that the subject lacks something for.
pub const UNSUPPORTED: &str = "unsupported: ";

/// Measurements that failed in the same way.
pub struct Failures<'a> {
    /// Why the first of them did.
    pub why: &'a str,
    /// The subjects that did.
    pub subjects: BTreeSet<&'a str>,
    /// At how many cells.
    pub cells: usize,
}

/// Groups the errors of measurements. `way` picks those that are wanted and gives, for each, what makes two the same and
/// what is told of it.
pub fn failures<'a>(
    measurements: impl Iterator<Item = &'a Measurement>,
    way: impl Fn(&'a str) -> Option<(&'a str, &'a str)>,
) -> Vec<Failures<'a>> {
    let mut groups: BTreeMap<&str, (&str, BTreeSet<&str>, BTreeSet<_>)> = BTreeMap::new();
    for m in measurements {
        if let Some((same, why)) = m.error.as_deref().and_then(&way) {
            let (_, subjects, cells) = groups.entry(same).or_insert((why, BTreeSet::new(), BTreeSet::new()));
            subjects.insert(&m.subject);
            cells.insert((&m.workload, &m.params));
        }
    }
    let groups = groups.into_values();
    groups.map(|(why, subjects, cells)| Failures { why, subjects, cells: cells.len() }).collect()
}

/// What this machine lacks for measurements.
pub fn not_run<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Vec<Failures<'a>> {
    failures(measurements, |error| error.strip_prefix(NOT_RUN).map(|why| (why, why)))
}

impl Measurement {
    /// Nanoseconds of one iteration, sample by sample, without the throttled ones.
    pub fn per_iteration(&self) -> Vec<f64> {
        self.sound().collect()
    }

    fn sound(&self) -> impl Iterator<Item = f64> {
        let throttled = self.gpu.as_ref().map_or(&[][..], |gpu| &gpu.throttled);
        let samples = self.iterations.iter().zip(&self.nanoseconds).enumerate();
        let sound = samples.filter(|(at, (iterations, _))| **iterations > 0 && !throttled.contains(at));
        sound.map(|(_, (iterations, nanoseconds))| *nanoseconds as f64 / *iterations as f64)
    }
}
