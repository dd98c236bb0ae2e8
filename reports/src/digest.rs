//! A run log in the shape that pages ask for: by claim, by column, by workload.

use crate::memory::Seen;
use crate::subjects::{self, CONTROL};
use crate::{RunLog, stats, tags, words};
use std::collections::{BTreeMap, BTreeSet};
use suites::claims::{Catalogue, Claim};
use suites::record::{
    Cells, Control, Effect, Floor, Footer, Header, JUDGED, Loop, Measurement, Outcome, OutcomeKind, Params, Record,
    SIMULATED, Slope, Verdict, VerdictKind, Weather, Weight, WorkloadInfo, cells,
};

/// One subject: a column of the matrix. Each case runs on one of its launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column<'a> {
    /// The subject's id.
    pub subject: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The devices that something ran on.
    pub devices: BTreeSet<&'a str>,
    /// The library's version.
    pub version: Option<&'a str>,
}

/// What verdicts come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Verdicts.
    pub verdicts: usize,
    /// Of these: right.
    pub right: usize,
    /// Partly right.
    pub partly: usize,
    /// Wrong.
    pub wrong: usize,
    /// Not decided in this run.
    pub open: usize,
    /// About the text itself.
    pub not_testable: usize,
    /// Corrections without which code fails or results change.
    pub breaks: usize,
    /// Corrections about bytes or time.
    pub misleads: usize,
    /// Corrections of wording.
    pub wording: usize,
}

/// One run log and the catalogue, indexed.
pub struct Digest<'a> {
    /// The claims.
    pub catalogue: &'a Catalogue,
    /// What ran where.
    pub header: &'a Header,
    /// How it ended.
    pub footer: &'a Footer,
    /// Verdicts by claim.
    pub verdicts: BTreeMap<&'a str, &'a Verdict>,
    /// Outcomes in the order of the run.
    pub outcomes: Vec<&'a Outcome>,
    /// Effects in the order of the run.
    pub effects: Vec<&'a Effect>,
    /// Every measurement but the control's.
    pub measurements: Vec<&'a Measurement>,
    /// Timed measurements by cell.
    pub cells: Cells<'a>,
    /// Readings of the machine's noise.
    pub weather: Vec<&'a Weather>,
    /// The A/A control.
    pub control: Option<&'a Control>,
    /// What the workloads do, by name.
    pub workloads: BTreeMap<&'a str, &'a WorkloadInfo>,
    /// How times grow with size, in the order of the run.
    pub slopes: Vec<&'a Slope>,
    /// What the harness costs, by subject.
    pub floors: BTreeMap<&'a str, &'a Floor>,
    limits: BTreeMap<(Loop, u64), f64>,
    /// What cases saw of memory, in the order of the run.
    pub memory: Vec<Seen<'a>>,
    /// Subjects with at least one outcome that is not `not-run`.
    pub columns: Vec<Column<'a>>,
    by_claim: BTreeMap<&'a str, Vec<&'a Outcome>>,
}

impl<'a> Digest<'a> {
    /// Indexes a run log.
    pub fn new(log: &'a RunLog, catalogue: &'a Catalogue) -> Self {
        let mut digest = Digest {
            catalogue,
            header: &log.header,
            footer: &log.footer,
            verdicts: BTreeMap::new(),
            outcomes: Vec::new(),
            effects: Vec::new(),
            measurements: Vec::new(),
            cells: cells(&log.records),
            weather: Vec::new(),
            control: None,
            workloads: BTreeMap::new(),
            slopes: Vec::new(),
            floors: BTreeMap::new(),
            limits: BTreeMap::new(),
            memory: Seen::collect(&log.records),
            columns: Vec::new(),
            by_claim: BTreeMap::new(),
        };
        for record in &log.records {
            match record {
                Record::Outcome(outcome) if outcome.subject != CONTROL => digest.outcome(outcome),
                Record::Verdict(verdict) => {
                    digest.verdicts.insert(&verdict.claim, verdict);
                }
                Record::Effect(effect) if effect.subject != CONTROL => digest.effects.push(effect),
                Record::Measurement(m) if m.subject != CONTROL => digest.measurements.push(m),
                Record::Weather(weather) => digest.weather.push(weather),
                Record::Control(control) => digest.control = Some(control),
                Record::Workload(info) => {
                    digest.workloads.insert(&info.workload, info);
                }
                Record::Slope(slope) => digest.slopes.push(slope),
                Record::Floor(floor) => {
                    digest.floors.insert(&floor.subject, floor);
                }
                Record::Limit(limit) => {
                    digest.limits.insert((limit.what, limit.bytes), limit.nanoseconds);
                }
                _ => {}
            }
        }
        digest.columns = digest.make_columns();
        digest
    }

    fn outcome(&mut self, outcome: &'a Outcome) {
        self.outcomes.push(outcome);
        for claim in &outcome.claims {
            self.by_claim.entry(claim).or_default().push(outcome);
        }
    }

    fn make_columns(&self) -> Vec<Column<'a>> {
        let mut columns: Vec<Column> = Vec::new();
        for outcome in self.outcomes.iter().filter(|outcome| outcome.outcome != OutcomeKind::NotRun) {
            let at = columns.iter().position(|column| column.subject == outcome.subject).unwrap_or_else(|| {
                let (subject, name) = (outcome.subject.as_str(), subjects::name(&outcome.subject));
                columns.push(Column { subject, name, devices: BTreeSet::new(), version: None });
                columns.len() - 1
            });
            columns[at].devices.insert(&outcome.device);
            columns[at].version = columns[at].version.or(outcome.subject_version.as_deref());
        }
        columns.sort_by_key(|column| subjects::order(column.subject));
        columns
    }

    /// The claims of a tutorial, in the order of its text.
    pub fn claims(&self, tutorial: &str) -> impl Iterator<Item = &'a Claim> {
        self.catalogue.claims.iter().filter(move |claim| claim.tutorial() == tutorial)
    }

    /// The verdict's tag.
    pub fn verdict_tag(&self, claim: &str) -> tags::Tag {
        self.verdicts.get(claim).map_or(tags::NO_VERDICT, |verdict| tags::verdict(verdict.verdict))
    }

    /// Outcomes of the cases that bear on a claim.
    pub fn outcomes_of(&self, claim: &str) -> &[&'a Outcome] {
        self.by_claim.get(claim).map_or(&[], Vec::as_slice)
    }

    /// Outcomes of a claim in one column.
    pub fn cell(&self, claim: &str, column: &Column) -> Vec<&'a Outcome> {
        let outcomes = self.outcomes_of(claim).iter().copied();
        outcomes.filter(|outcome| outcome.subject == column.subject).collect()
    }

    /// Whether a verdict rests on what PyTorch did on a simulated device.
    pub fn rests_on_simulation(&self, claim: &str) -> bool {
        self.verdicts.contains_key(claim) && self.outcomes_of(claim).iter().any(|o| o.subject == JUDGED && simulated(o))
    }

    /// Whether anything in this run came from a simulated device.
    pub fn simulates(&self) -> bool {
        let devices = self.columns.iter().flat_map(|column| &column.devices);
        let seen = self.memory.iter().flat_map(Seen::launches).map(|launch| launch.1);
        devices.copied().chain(seen).any(|device| device == SIMULATED)
    }

    /// A launch as it is shown: `PyTorch 2.13.0, cpu`.
    pub fn launch(&self, subject: &str, device: &str) -> String {
        let column = self.columns.iter().find(|column| column.subject == subject);
        match column.and_then(|column| column.version) {
            Some(version) => format!("{} {version}, {device}", subjects::name(subject)),
            None => format!("{}, {device}", subjects::name(subject)),
        }
    }

    /// What the cases of a claim saw of memory.
    pub fn memory_of(&self, claim: &str) -> impl Iterator<Item = &Seen<'a>> {
        let outcomes = self.outcomes_of(claim);
        self.memory.iter().filter(|seen| outcomes.iter().any(|outcome| outcome.case == seen.case))
    }

    /// Outcomes of a case, in the order of the run.
    pub fn outcomes_of_case(&self, case: &str) -> impl Iterator<Item = &'a Outcome> {
        self.outcomes.iter().copied().filter(move |outcome| outcome.case == case)
    }

    /// What the verdicts on these claims come to.
    pub fn counts<'c>(&self, claims: impl Iterator<Item = &'c Claim>) -> Counts {
        let mut counts = Counts::default();
        for verdict in claims.filter_map(|claim| self.verdicts.get(claim.id.as_str())) {
            counts.verdicts += 1;
            match verdict.verdict {
                VerdictKind::Right => counts.right += 1,
                VerdictKind::PartlyRight => counts.partly += 1,
                VerdictKind::Wrong => counts.wrong += 1,
                VerdictKind::Open => counts.open += 1,
                VerdictKind::NotTestable => counts.not_testable += 1,
            }
            match harm(verdict) {
                Some(Weight::Breaks) => counts.breaks += 1,
                Some(Weight::Misleads) => counts.misleads += 1,
                Some(Weight::Wording) => counts.wording += 1,
                None => {}
            }
        }
        counts
    }

    /// Tutorials with at least one verdict.
    pub fn judged_tutorials(&self) -> usize {
        let ids: BTreeSet<&str> =
            self.verdicts.keys().filter_map(|id| self.catalogue.claim(id)).map(Claim::tutorial).collect();
        ids.len()
    }

    /// Effects of a claim, PyTorch's first, then in the fixed order.
    pub fn effects_of(&self, claim: &str) -> Vec<&'a Effect> {
        let mut effects: Vec<&Effect> = self.effects.iter().copied().filter(|effect| effect.claim == claim).collect();
        effects.sort_by_key(|e| (e.subject != JUDGED, subjects::order(&e.subject), &e.params));
        effects
    }

    /// The page names of the workloads measured: what stands before the first dot.
    pub fn workload_pages(&self) -> BTreeSet<&'a str> {
        self.measurements.iter().map(|m| family(&m.workload)).collect()
    }

    /// Nanoseconds of what bounds a workload on a subject at this size, where something does and was timed: a plain loop,
    /// or another workload of the same subject.
    pub fn limit(&self, subject: &str, workload: &str, params: &Params) -> Option<f64> {
        let info = self.workloads.get(workload)?;
        match (info.bound, &info.bound_by) {
            (Some(bound), _) => self.limits.get(&(bound, params.bytes())).copied(),
            (None, Some(other)) => Some(stats::cell(self.cells.get(&(subject, other, params))?)?.median),
            (None, None) => None,
        }
    }

    /// Why verdicts say little in this run, where something that they rest on was left out.
    fn selection(&self) -> Option<String> {
        words::selection(self.judged_version().is_some(), self.header.only.as_deref())
    }

    /// A lead made from counts of verdicts, after what was left out that they rest on.
    pub fn lead(&self, counts: String) -> String {
        match self.selection() {
            Some(selection) if self.judged_version().is_none() => selection,
            Some(selection) => format!("{selection} {counts}"),
            None => counts,
        }
    }

    /// What the run left out, in words.
    pub fn cut(&self) -> Vec<String> {
        let only = self.header.only.iter().map(|words| format!("everything but \"{words}\""));
        only.chain(self.header.cut.iter().cloned()).collect()
    }

    /// PyTorch's version in this run, where it started, whether or not a case ran on it.
    pub fn judged_version(&self) -> Option<&'a str> {
        let mut launches = self.header.launches.iter().filter(|launch| launch.subject == JUDGED);
        launches.find_map(|launch| launch.version.as_deref())
    }
}

/// Whether something ran and was seen on a simulated device.
pub fn simulated(outcome: &Outcome) -> bool {
    outcome.device == SIMULATED && outcome.outcome != OutcomeKind::NotRun
}

/// What stands before the first dot of a workload's name: its variants share a page.
pub fn family(workload: &str) -> &str {
    workload.split_once('.').map_or(workload, |(family, _)| family)
}

/// The weight of a verdict that asks for a change; none for a right or an open one.
pub fn harm(verdict: &Verdict) -> Option<Weight> {
    match verdict.verdict {
        VerdictKind::Right | VerdictKind::Open => None,
        _ => verdict.weight,
    }
}
