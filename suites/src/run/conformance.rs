//! Runs cases on a launch. Whatever a subject does, each case ends in an outcome and the run goes on.

use super::{Broken, Instruments, Launch, Session, Silence};
use crate::case::Case;
use crate::claims::Need;
use crate::probe::{Gathered, Probe, Stop};
use crate::record::{CPU, LaunchRecord, Outcome, OutcomeKind, Record};
use std::path::Path;
use std::time::{Duration, Instant};
use subject::{Reply, Request};

const RESET: Duration = Duration::from_secs(60);

/// Runs cases on one launch, starting its process when it is needed and again after it broke.
pub struct Conformance<'a> {
    launch: &'a Launch,
    target: &'a Path,
    record: LaunchRecord,
    memory: Vec<Record>,
    plain: Option<Session>,
    counting: Option<Session>,
}

impl<'a> Conformance<'a> {
    /// Starts the launch; a subject that is missing is recorded as such, and its cases end as `not-run`.
    pub fn start(launch: &'a Launch, target: &'a Path) -> Conformance<'a> {
        let mut record = LaunchRecord {
            subject: launch.subject.id.clone(),
            device: launch.device.clone(),
            threads: launch.threads,
            ..LaunchRecord::default()
        };
        let plain = match Session::start(launch, Instruments::None) {
            Ok(session) => {
                let hello = session.hello();
                record.version = Some(hello.version.clone());
                record.language = Some(hello.language.clone());
                record.build = Some(hello.build);
                Some(session)
            }
            Err(missing) => {
                record.missing = Some(missing);
                None
            }
        };
        Conformance { launch, target, record, memory: Vec::new(), plain, counting: None }
    }

    /// What the header says of this launch.
    pub fn record(&self) -> &LaunchRecord {
        &self.record
    }

    /// The launch.
    pub fn launch(&self) -> &'a Launch {
        self.launch
    }

    /// What the cases that ran since the last time saw of memory: timelines, segments, failed requests.
    pub fn take_memory(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.memory)
    }

    /// Whether this launch is the one that runs the case for its subject.
    pub fn runs(&self, case: &Case) -> bool {
        case.runs_on(&self.launch.device, &self.launch.subject.devices)
    }

    /// Runs one case.
    pub fn run(&mut self, case: &Case) -> Outcome {
        let start = Instant::now();
        let mut outcome = Outcome {
            subject: self.record.subject.clone(),
            subject_version: self.record.version.clone(),
            device: self.record.device.clone(),
            case: case.name.clone(),
            claims: case.claims.clone(),
            outcome: OutcomeKind::NotRun,
            reason: None,
            facts: Vec::new(),
            transcript: Vec::new(),
            nanoseconds: 0,
        };
        if let Some(missing) = &self.record.missing {
            outcome.reason = Some(missing.clone());
            return outcome;
        }
        let (stop, gathered) = self.attempt(case);
        if let Some(gathered) = gathered {
            outcome.facts = gathered.facts;
            outcome.transcript = gathered.transcript;
            self.memory.extend(gathered.memory.into_iter().map(|record| record.seen_by(&outcome)));
        }
        (outcome.outcome, outcome.reason) = ending(stop.err(), &outcome);
        outcome.nanoseconds = start.elapsed().as_nanos() as u64;
        outcome
    }

    fn attempt(&mut self, case: &Case) -> (Result<(), Stop>, Option<Gathered>) {
        if case.pytorch_only && self.record.subject != crate::record::JUDGED {
            return (Err(Stop::Unsupported("about PyTorch's own classes".into())), None);
        }
        let python = self.record.language.as_deref().is_some_and(|language| language.starts_with("python"));
        if case.needs.contains(&Need::Python) && !python {
            return (Err(Stop::Unsupported("this subject does not run Python".into())), None);
        }
        if case.needs.contains(&Need::GpuMemory) && self.launch.device == CPU {
            return (Err(Stop::Unsupported("this subject has no device memory".into())), None);
        }
        let mut session = match self.take(case) {
            Ok(session) => session,
            Err(stop) => return (Err(stop), None),
        };
        let probe = Probe::new(&mut session, case.limit);
        let stop = (case.run)(&probe);
        let gathered = probe.finish();
        if !gathered.broken && !case.alone {
            *self.place(case) = Some(session);
        }
        (stop, Some(gathered))
    }

    fn place(&mut self, case: &Case) -> &mut Option<Session> {
        if case.ledger { &mut self.counting } else { &mut self.plain }
    }

    /// A session that is fresh, or one that has forgotten what it had.
    fn take(&mut self, case: &Case) -> Result<Session, Stop> {
        let (launch, target) = (self.launch, self.target);
        if !case.alone
            && let Some(mut session) = self.place(case).take()
            && session.ask(&Request::Reset {}, RESET) == Ok(Reply::Value(subject::Value::None))
        {
            return Ok(session);
        }
        let instruments = if case.ledger { Instruments::HeapLedger(target) } else { Instruments::None };
        Session::start(launch, instruments).map_err(Stop::NotRun)
    }
}

fn ending(stop: Option<Stop>, so_far: &Outcome) -> (OutcomeKind, Option<String>) {
    let Some(stop) = stop else {
        let stray = so_far.facts.iter().flat_map(|fact| &fact.claimed).find(|c| !so_far.claims.contains(&c.claim));
        if let Some(claimed) = stray {
            return (OutcomeKind::HarnessError, Some(format!("the case does not declare the claim {}", claimed.claim)));
        }
        let agrees = so_far.facts.iter().all(crate::record::Fact::agrees);
        return (if agrees { OutcomeKind::Agrees } else { OutcomeKind::Differs }, None);
    };
    let kind = match &stop {
        Stop::Unsupported(_) => OutcomeKind::Unsupported,
        Stop::Refused { .. } => OutcomeKind::Differs,
        Stop::NotRun(_) => OutcomeKind::NotRun,
        Stop::Broken(Broken::Silent(Silence::TimedOut(_))) => OutcomeKind::TimedOut,
        Stop::Broken(Broken::Silent(Silence::Nonsense(_)) | Broken::Nonsense(_)) | Stop::Harness(_) => {
            OutcomeKind::HarnessError
        }
        Stop::Broken(Broken::Silent(_)) => OutcomeKind::Crashed,
    };
    (kind, Some(stop.to_string()))
}
