//! The typed face of a launch for one case.

mod memory;

pub use memory::{Reading, SegmentsSeen};

use crate::record::{Accounting, Claimed, Fact, Record, Value};
use crate::run::{Broken, Session};
use std::cell::{Cell, RefCell};
use std::time::Duration;
use subject::{Calls, Handle, Hello, Op, Reply, Request};

/// Why a case ended before its last line.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The library lacks an API.
    Unsupported(String),
    /// The library refused what it should do.
    Refused {
        /// The kind of refusal.
        kind: String,
        /// The library's own words.
        message: String,
    },
    /// It cannot run here.
    NotRun(String),
    /// The subject's process is gone or has broken the protocol; it must be started again.
    Broken(Broken),
    /// The case asked for what makes no sense, or got an answer of the wrong type.
    Harness(String),
}

/// What a case talks to: one subject, for the length of one case.
pub struct Probe<'s> {
    session: RefCell<&'s mut Session>,
    limit: Duration,
    facts: RefCell<Vec<Fact>>,
    transcript: RefCell<Vec<String>>,
    memory: RefCell<Vec<Record>>,
    broken: Cell<bool>,
}

/// What a probe gathered.
pub struct Gathered {
    /// The facts, in order.
    pub facts: Vec<Fact>,
    /// What was asked and answered.
    pub transcript: Vec<String>,
    /// Timelines, segments and failed requests, without the names of subject, device and case.
    pub memory: Vec<Record>,
    /// Whether the subject must be started again.
    pub broken: bool,
}

/// Long answers are cut in the transcript.
const TRANSCRIPT_LINE: usize = 300;

impl<'s> Probe<'s> {
    /// A probe over a session, with a time limit for each request.
    pub fn new(session: &'s mut Session, limit: Duration) -> Probe<'s> {
        Probe {
            session: RefCell::new(session),
            limit,
            facts: RefCell::default(),
            transcript: RefCell::default(),
            memory: RefCell::default(),
            broken: Cell::new(false),
        }
    }

    /// Ends the probing.
    pub fn finish(self) -> Gathered {
        Gathered {
            facts: self.facts.into_inner(),
            transcript: self.transcript.into_inner(),
            memory: self.memory.into_inner(),
            broken: self.broken.get(),
        }
    }

    /// Who the subject is.
    pub fn hello(&self) -> Hello {
        self.session.borrow().hello().clone()
    }

    /// Establishes a fact. What is known of PyTorch and what claims claim is added to the answer.
    pub fn fact(&self, what: impl Into<String>, seen: impl Into<Value>) -> FactEntry<'_> {
        let mut facts = self.facts.borrow_mut();
        facts.push(Fact { what: what.into(), seen: seen.into(), known: None, claimed: Vec::new(), tolerance: None });
        FactEntry { facts: &self.facts, hello: self.hello(), at: facts.len() - 1 }
    }

    /// Asks without a line in the transcript, for what is one of thousands.
    pub fn unnoted<T>(&self, ask: impl FnOnce(&Self) -> Result<T, Stop>) -> Result<T, Stop> {
        let lines = self.transcript.borrow().len();
        let answer = ask(self)?;
        self.transcript.borrow_mut().truncate(lines);
        Ok(answer)
    }

    /// Forgets a tensor, as `del` does.
    pub fn release(&self, tensor: Handle) -> Result<(), Stop> {
        self.note(format!("del t{}", tensor.0));
        self.value(&Request::Drop { handle: tensor }).map(drop)
    }

    /// Runs a piece of Python: an expression, or statements that leave their answer in `answer`. It sees the tensors
    /// under the names given.
    pub fn python(&self, source: &str, names: &[(&str, &Handle)]) -> Result<Value, Stop> {
        let source = source.trim();
        let bound: Vec<String> = names.iter().map(|(name, tensor)| format!("{name} = t{}", tensor.0)).collect();
        let before = if bound.is_empty() { String::new() } else { bound.join("; ") + "\n" };
        let at = self.note(format!("{before}{source}"));
        let names = names.iter().map(|(name, tensor)| ((*name).to_owned(), (*tensor).clone())).collect();
        let value = self.value(&Request::Python { source: source.into(), names })?;
        self.answered(at, &value);
        Ok(value)
    }

    /// A piece of Python whose answer is a tensor.
    pub fn python_tensor(&self, source: &str, names: &[(&str, &Handle)]) -> Result<Handle, Stop> {
        match self.python(source, names)? {
            Value::Tensor(handle) => Ok(handle),
            other => Err(Stop::Harness(format!("expected a tensor from Python, got {other}"))),
        }
    }

    /// A piece of Python whose answer is a list of as many values as the caller takes apart.
    pub fn python_list<const N: usize>(&self, source: &str, names: &[(&str, &Handle)]) -> Result<[Value; N], Stop> {
        match self.python(source, names)? {
            Value::List(list) => list
                .try_into()
                .map_err(|list: Vec<_>| Stop::Harness(format!("expected {N} values from Python, got {}", list.len()))),
            other => Err(Stop::Harness(format!("expected a list from Python, got {other}"))),
        }
    }

    /// The kind of error that a call ended in, as a value for a fact: nothing where it went through.
    pub fn kind_of<T>(&self, outcome: Result<T, Stop>) -> Result<Value, Stop> {
        self.refusal(outcome).map(|refusal| refusal.map(|(kind, _)| kind).into())
    }

    /// Kind and words of the error that a call ended in; nothing where it went through.
    pub fn refusal<T>(&self, outcome: Result<T, Stop>) -> Result<Option<(String, String)>, Stop> {
        match outcome {
            Ok(_) => Ok(None),
            Err(Stop::Refused { kind, message }) => Ok(Some((kind, message))),
            Err(other) => Err(other),
        }
    }

    /// Counts the subject's tensor-sized heap blocks while `work` runs.
    pub fn account<T>(&self, work: impl FnOnce(&Self) -> Result<T, Stop>) -> Result<(T, Accounting), Stop> {
        let no_ledger = || Stop::NotRun("the heap ledger is not loaded: it needs Linux with glibc".into());
        let window = self.session.borrow().ledger().ok_or_else(no_ledger)?.open().map_err(Stop::NotRun)?;
        let done = work(self)?;
        let accounting = self.session.borrow().ledger().ok_or_else(no_ledger)?.close(&window).map_err(Stop::Harness)?;
        self.note(format!(
            "heap: {} blocks, {} bytes, peak {} bytes, kept {} bytes",
            accounting.allocations, accounting.bytes, accounting.peak_bytes, accounting.kept_bytes
        ));
        Ok((done, accounting))
    }

    /// Resident bytes of the subject's process, anonymous memory alone, as the operating system shows them.
    pub fn resident_bytes(&self) -> Result<u64, Stop> {
        self.process_bytes("RssAnon")
    }

    /// Starts the peak of [`Probe::peak_resident_bytes`] anew.
    pub fn reset_peak(&self) -> Result<(), Stop> {
        let path = format!("/proc/{}/clear_refs", self.session.borrow().pid());
        std::fs::write(path, "5")
            .map_err(|error| Stop::NotRun(format!("the peak of process memory cannot be reset here: {error}")))
    }

    /// The most resident bytes since the start or the last reset, files included.
    pub fn peak_resident_bytes(&self) -> Result<u64, Stop> {
        self.process_bytes("VmHWM")
    }

    /// Resident bytes, files included: what the peak is measured against.
    pub fn total_resident_bytes(&self) -> Result<u64, Stop> {
        self.process_bytes("VmRSS")
    }

    fn process_bytes(&self, field: &str) -> Result<u64, Stop> {
        let path = format!("/proc/{}/status", self.session.borrow().pid());
        let text = std::fs::read_to_string(path)
            .map_err(|error| Stop::NotRun(format!("process memory cannot be read here: {error}")))?;
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        kib.map(|kib| kib * 1024).ok_or_else(|| Stop::NotRun(format!("this system does not show {field} of a process")))
    }

    fn value(&self, request: &Request) -> Result<Value, Stop> {
        let reply = self.session.borrow_mut().ask(request, self.limit);
        let stop = match reply {
            Ok(Reply::Value(value)) => return Ok(value),
            Ok(Reply::Unsupported(what)) => Stop::Unsupported(what),
            Ok(Reply::Error { kind, message }) if kind == "protocol" => Stop::Harness(message),
            Ok(Reply::Error { kind, message }) => Stop::Refused { kind, message },
            Ok(other) => Stop::Harness(format!("expected a value, got {other:?}")),
            Err(broken) => {
                self.broken.set(true);
                Stop::Broken(broken)
            }
        };
        let noted = match &stop {
            Stop::Unsupported(what) => format!("unsupported: {what}"),
            Stop::Refused { kind, message } => format!("{kind}: {message}"),
            other => other.to_string(),
        };
        self.note(format!("# {}", cut(&noted)));
        Err(stop)
    }

    fn note(&self, line: String) -> usize {
        let mut transcript = self.transcript.borrow_mut();
        transcript.push(line);
        transcript.len() - 1
    }

    /// Completes a line of the transcript with its answer.
    fn answered(&self, at: usize, value: &Value) {
        let line = &mut self.transcript.borrow_mut()[at];
        match value {
            Value::None => {}
            Value::Tensor(handle) if !line.contains('\n') => *line = format!("t{} = {line}", handle.0),
            Value::List(list) if !list.is_empty() && list.iter().all(|v| matches!(v, Value::Tensor(_))) => {
                let names: Vec<String> = list.iter().map(Value::to_string).collect();
                *line = format!("{} = {line}", names.join(", "));
            }
            other => *line = format!("{line}  # {}", cut(&other.to_string())),
        }
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= TRANSCRIPT_LINE {
        text.into()
    } else {
        text.chars().take(TRANSCRIPT_LINE).chain(['…']).collect()
    }
}

impl Calls for Probe<'_> {
    type Stop = Stop;

    fn call(&self, op: Op) -> Result<Value, Stop> {
        let at = self.note(op.torch());
        let value = self.value(&Request::Call(op))?;
        self.answered(at, &value);
        Ok(value)
    }

    fn nonsense(&self, op: &'static str, expected: &'static str) -> Stop {
        Stop::Harness(format!("the answer of {op} is no {expected}"))
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Unsupported(what) | Stop::NotRun(what) | Stop::Harness(what) => f.write_str(what),
            Stop::Refused { kind, message } => write!(f, "refused, {kind}: {message}"),
            Stop::Broken(broken) => broken.fmt(f),
        }
    }
}

/// A fact just established, to which known and claimed values are added.
pub struct FactEntry<'p> {
    facts: &'p RefCell<Vec<Fact>>,
    hello: Hello,
    at: usize,
}

impl FactEntry<'_> {
    /// PyTorch's value.
    pub fn known(self, value: impl Into<Value>) -> Self {
        self.edit(|fact| fact.known = Some(value.into()))
    }

    /// PyTorch's value where the language or the library begins with this name and version, such as `python 3.11` or
    /// `pytorch 1.`.
    pub fn known_on(self, version: &str, value: impl Into<Value>) -> Self {
        let library = format!("{} {}", self.hello.name, self.hello.version);
        if self.hello.language.starts_with(version) || library.starts_with(version) { self.known(value) } else { self }
    }

    /// What a claim says the value is.
    pub fn claimed(self, claim: &str, value: impl Into<Value>) -> Self {
        self.edit(|fact| fact.claimed.push(Claimed { claim: claim.into(), value: value.into(), example: false }))
    }

    /// Marks the claim just named: this is the tutorial's own example.
    pub fn example(self) -> Self {
        self.edit(|fact| {
            if let Some(claimed) = fact.claimed.last_mut() {
                claimed.example = true;
            }
        })
    }

    /// How far apart two floats may be and still count as equal.
    pub fn within(self, tolerance: f64) -> Self {
        self.edit(|fact| fact.tolerance = Some(tolerance))
    }

    fn edit(self, change: impl FnOnce(&mut Fact)) -> Self {
        if let Some(fact) = self.facts.borrow_mut().get_mut(self.at) {
            change(fact);
        }
        self
    }
}
