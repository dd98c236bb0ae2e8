//! A subject that has said hello: requests out, typed replies back.

use super::ledger::{self, Ledger};
use super::{Launch, Process, Silence};
use crate::record::{CUDA, UNSUPPORTED};
use std::fmt;
use std::path::Path;
use std::time::Duration;
use subject::{Checksum, Hello, Program, Reply, Request, Value};

/// How long a subject may take to start and say hello: importing a large library from a cold disk takes its time.
const START: Duration = Duration::from_secs(120);

/// A running subject.
pub struct Session {
    process: Process,
    hello: Hello,
    ledger: Option<Ledger>,
}

/// Whether the heap ledger is loaded into the subject's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruments<'a> {
    /// Nothing is loaded: for times and plain cases.
    None,
    /// The heap ledger, whose library lies in this folder: for bytes and counts.
    HeapLedger(&'a Path),
}

/// Why a request got no reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Broken {
    /// The subject fell silent.
    Silent(Silence),
    /// It answered something that is no reply.
    Nonsense(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Silent(silence) => write!(f, "the subject {silence}"),
            Broken::Nonsense(what) => write!(f, "the subject answered {what}"),
        }
    }
}

impl Session {
    /// Starts the subject and waits for its hello; the error is what to tell the user.
    pub fn start(launch: &Launch, instruments: Instruments) -> Result<Session, String> {
        if let Some(why) = &launch.unavailable {
            return Err(why.clone());
        }
        let mut command = launch.command.clone();
        let ledger = match instruments {
            Instruments::None => None,
            Instruments::HeapLedger(target) => {
                let ledger = Ledger::new()?;
                command.environment.extend(ledger.environment(&ledger::library(target)?));
                Some(ledger)
            }
        };
        let mut process = Process::start(&command).map_err(|silence| missing(launch, &silence))?;
        let hello = match ask(&mut process, &Request::Hello {}, START) {
            Ok(Reply::Hello(hello)) => hello,
            Ok(other) => return Err(format!("{} answered hello with {other:?}", launch.subject.id)),
            Err(Broken::Silent(silence)) => return Err(missing(launch, &silence)),
            Err(Broken::Nonsense(what)) => return Err(format!("{} answered hello with {what}", launch.subject.id)),
        };
        if let Some(ledger) = &ledger {
            ledger.check(process.id())?;
        }
        if launch.device == CUDA && !hello.devices.iter().any(|device| device == CUDA) {
            return Err(no_device(&launch.subject.id));
        }
        Ok(Session { process, hello, ledger })
    }

    /// Who the subject is.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The heap ledger, where it is loaded.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Ends the subject by ending its input; the error says that it did not end well, and what it last said.
    pub fn end(self) -> Result<(), String> {
        self.process.end().map_err(|silence| Broken::Silent(silence).to_string())
    }

    /// Sends a request that must be carried out; the error says what the subject lacks, refused or broke.
    pub fn must(&mut self, request: &Request, limit: Duration) -> Result<Reply, String> {
        match self.ask(request, limit).map_err(|broken| broken.to_string())? {
            Reply::Unsupported(what) => Err(format!("{UNSUPPORTED}{what}")),
            Reply::Error { kind, message } => Err(format!("{kind}: {message}")),
            other => Ok(other),
        }
    }

    /// Makes a program ready and gives its number.
    pub fn prepare(&mut self, program: Program, limit: Duration) -> Result<u64, String> {
        match self.must(&Request::Prepare(program), limit)? {
            Reply::Prepared { program } => Ok(program),
            other => Err(format!("expected a prepared program, got {other:?}")),
        }
    }

    /// Runs the body of a program so often and gives the nanoseconds of the loop.
    pub fn measure(&mut self, program: u64, iterations: u64, limit: Duration) -> Result<u64, String> {
        match self.must(&Request::Measure { program, iterations }, limit)? {
            Reply::Sample { nanoseconds } => Ok(nanoseconds),
            other => Err(format!("expected a sample, got {other:?}")),
        }
    }

    /// What the result of a program is.
    pub fn checksum(&mut self, program: u64, limit: Duration) -> Result<Checksum, String> {
        match self.must(&Request::Checksum { program }, limit)? {
            Reply::Checksum(checksum) => Ok(checksum),
            other => Err(format!("expected a checksum, got {other:?}")),
        }
    }

    /// Sends a request that is answered by nothing.
    pub fn done(&mut self, request: &Request, limit: Duration) -> Result<(), String> {
        match self.must(request, limit)? {
            Reply::Value(Value::None) => Ok(()),
            other => Err(format!("expected nothing, got {other:?}")),
        }
    }

    /// Sends a request and waits for its reply.
    pub fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Broken> {
        ask(&mut self.process, request, limit)
    }
}

fn ask(process: &mut Process, request: &Request, limit: Duration) -> Result<Reply, Broken> {
    let line = serde_json::to_string(request).map_err(|error| Broken::Nonsense(error.to_string()))?;
    let reply = process.ask(&line, limit).map_err(Broken::Silent)?;
    serde_json::from_str(&reply).map_err(|error| {
        let start: String = reply.trim_end().chars().take(120).collect();
        Broken::Nonsense(format!("{start:?}, which is no reply ({error})"))
    })
}

/// Why a subject shows no CUDA device.
pub(crate) fn no_device(subject: &str) -> String {
    // SAFETY: loading the driver runs its own initialisers, as any program that uses CUDA does.
    match unsafe { libloading::Library::new("libcuda.so.1") } {
        Err(_) => "no CUDA driver (libcuda.so.1 not found)".into(),
        Ok(_) => format!("{subject} shows no CUDA device although a driver is there: see `nvidia-smi`"),
    }
}

/// The status with which a subject says that its library is not installed.
const NO_LIBRARY: i32 = 3;

fn missing(launch: &Launch, silence: &Silence) -> String {
    match silence {
        Silence::NotStarted(_) | Silence::Died(_, Some(NO_LIBRARY)) => launch.subject.missing.clone(),
        other => format!("{} did not say hello: it {other}", launch.subject.id),
    }
}
