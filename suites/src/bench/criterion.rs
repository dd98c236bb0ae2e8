//! The only module that knows criterion: it plans iterations and samples, the subject keeps the time.
//!
//! Criterion prints and writes files as it likes, so this runs in a process of its own ([`Job`] in, records out).

use super::plan::Timing;
use crate::record::{Measurement, Params, Record};
use crate::run::{Instruments, Launch, Session};
use criterion::Criterion;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::Duration;
use subject::{Build, Checksum, Program, Reply, Request};

/// What one launch measures in one round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// How to start the subject.
    pub launch: Launch,
    /// The name under which it is measured.
    pub name: String,
    /// The round.
    pub round: u32,
    /// How each cell is timed.
    pub timing: Timing,
    /// The cells.
    pub cells: Vec<JobCell>,
    /// The file that gets a record for each cell.
    pub records: PathBuf,
}

/// One cell of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobCell {
    /// The workload's name.
    pub workload: String,
    /// Its parameters.
    pub params: Params,
    /// Its program.
    pub program: Program,
    /// What its result must be.
    pub expected: Checksum,
}

/// A body that takes longer than this is hanging.
const LIMIT: Duration = Duration::from_secs(120);

/// Measures every cell of a job and writes a record for each as it is done.
pub fn measure(job: &Job) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", job.records.display());
    let mut file = File::create(&job.records).map_err(told)?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut criterion = Criterion::default()
        .output_directory(scratch.path())
        .without_plots()
        .sample_size(job.timing.samples)
        .warm_up_time(job.timing.warm_up)
        .measurement_time(job.timing.time)
        .nresamples(1001);
    let mut session = Session::start(&job.launch, Instruments::None)?;
    for cell in &job.cells {
        let mut record = Measurement {
            subject: job.name.clone(),
            device: job.launch.device.clone(),
            workload: cell.workload.clone(),
            params: cell.params.clone(),
            round: job.round,
            iterations: Vec::new(),
            nanoseconds: Vec::new(),
            accounting: None,
            error: None,
        };
        match sample(&mut criterion, &mut session, cell, job.timing.samples) {
            Ok((iterations, nanoseconds)) => (record.iterations, record.nanoseconds) = (iterations, nanoseconds),
            Err(error) => {
                record.error = Some(error);
                // Whatever went wrong, the next cell gets a subject that is in order.
                session = Session::start(&job.launch, Instruments::None)?;
            }
        }
        let line = serde_json::to_string(&Record::Measurement(record)).map_err(|error| error.to_string())?;
        writeln!(file, "{line}").map_err(told)?;
    }
    Ok(())
}

type Samples = (Vec<u64>, Vec<u64>);

fn sample(criterion: &mut Criterion, session: &mut Session, cell: &JobCell, wanted: usize) -> Result<Samples, String> {
    if session.hello().build == Build::Debug {
        return Err("a debug build is not measured: build the subject with --release".into());
    }
    let program = match session.must(&Request::Prepare(cell.program.clone()), LIMIT)? {
        Reply::Prepared { program } => program,
        other => return Err(unexpected(&other)),
    };
    let calls: RefCell<Samples> = RefCell::default();
    let failure = RefCell::new(None);
    let shared = RefCell::new(&mut *session);
    // A call that returned zero after a failure would make criterion spin for ever, so the failure unwinds out of it.
    let done = catch_unwind(AssertUnwindSafe(|| {
        criterion.bench_function(cell.workload.as_str(), |bencher| {
            bencher.iter_custom(|iterations| match measured(&mut shared.borrow_mut(), program, iterations) {
                Ok(nanoseconds) => {
                    let mut calls = calls.borrow_mut();
                    calls.0.push(iterations);
                    calls.1.push(nanoseconds);
                    Duration::from_nanos(nanoseconds.max(1))
                }
                Err(error) => {
                    *failure.borrow_mut() = Some(error);
                    resume_unwind(Box::new("a cell failed"))
                }
            });
        });
    }));
    if let Some(error) = failure.into_inner() {
        return Err(error);
    }
    if done.is_err() {
        return Err("criterion gave up on this cell".into());
    }
    match session.must(&Request::Checksum { program }, LIMIT)? {
        Reply::Checksum(checksum) if checksum == cell.expected => {}
        Reply::Checksum(checksum) => {
            return Err(format!("wrong result: {checksum:?}, the reference has {:?}", cell.expected));
        }
        other => return Err(unexpected(&other)),
    }
    session.ask(&Request::Reset {}, LIMIT).map_err(|broken| broken.to_string())?;
    let (iterations, nanoseconds) = calls.into_inner();
    // The warm-up calls come first; the last calls are the samples.
    let first = iterations.len().saturating_sub(wanted);
    Ok((iterations[first..].to_vec(), nanoseconds[first..].to_vec()))
}

fn measured(session: &mut Session, program: u64, iterations: u64) -> Result<u64, String> {
    match session.must(&Request::Measure { program, iterations }, LIMIT)? {
        Reply::Sample { nanoseconds } => Ok(nanoseconds),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(reply: &Reply) -> String {
    format!("the subject answered {reply:?}")
}
