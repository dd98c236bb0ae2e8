//! The only module that knows criterion: it plans iterations and samples, the subject keeps the time.
//!
//! Criterion prints and writes files as it likes, so this runs in a process of its own ([`Job`] in, records out).

use super::LIMIT;
use super::gpu::{self, Reading, Watch};
use super::plan::Timing;
use crate::record::{Measurement, Params, Record};
use crate::run::{Instruments, Launch, Session};
use crate::workloads::needs_device;
use criterion::Criterion;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::time::Duration;
use subject::{Build, Checksum, Program, Request};

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
    let watch = job.cells.iter().any(|cell| needs_device(&cell.workload)).then(Watch::open).flatten();
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
            gpu: None,
            error: None,
        };
        let watch = watch.as_ref().filter(|_| needs_device(&cell.workload));
        match sample(&mut criterion, &mut session, cell, job.timing.samples, watch) {
            Ok(samples) => {
                record.gpu = gpu::state(&samples.readings);
                (record.iterations, record.nanoseconds) = (samples.iterations, samples.nanoseconds);
            }
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

/// Sample by sample.
#[derive(Default)]
struct Samples {
    iterations: Vec<u64>,
    nanoseconds: Vec<u64>,
    /// What the GPU did right after each, where it is watched.
    readings: Vec<Option<Reading>>,
}

impl Samples {
    /// The last so many: the warm-up calls come first.
    fn last(mut self, wanted: usize) -> Samples {
        let first = self.iterations.len().saturating_sub(wanted);
        self.iterations.drain(..first);
        self.nanoseconds.drain(..first);
        self.readings.drain(..first);
        self
    }
}

fn sample(
    criterion: &mut Criterion,
    session: &mut Session,
    cell: &JobCell,
    wanted: usize,
    watch: Option<&Watch>,
) -> Result<Samples, String> {
    if session.hello().build == Build::Debug {
        return Err("a debug build is not measured: build the subject with --release".into());
    }
    let program = session.prepare(cell.program.clone(), LIMIT)?;
    let calls: RefCell<Samples> = RefCell::default();
    let failure = RefCell::new(None);
    let shared = RefCell::new(&mut *session);
    // A call that returned zero after a failure would make criterion spin for ever, so the failure unwinds out of it.
    let done = catch_unwind(AssertUnwindSafe(|| {
        criterion.bench_function(cell.workload.as_str(), |bencher| {
            bencher.iter_custom(|iterations| match shared.borrow_mut().measure(program, iterations, LIMIT) {
                Ok(nanoseconds) => {
                    let mut calls = calls.borrow_mut();
                    calls.iterations.push(iterations);
                    calls.nanoseconds.push(nanoseconds);
                    calls.readings.push(watch.and_then(Watch::reading));
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
    let found = session.checksum(program, LIMIT)?;
    if found != cell.expected {
        return Err(format!("wrong result: {found}, it had {} when it was counted", cell.expected));
    }
    session.ask(&Request::Reset {}, LIMIT).map_err(|broken| broken.to_string())?;
    Ok(calls.into_inner().last(wanted))
}
