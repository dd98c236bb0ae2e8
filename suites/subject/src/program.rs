//! A workload as data: ops over slots, written once and run by every subject.

use crate::ops::{Resolved, resolve};
use crate::{Calls, Fail, Handle, Library, Op, Table, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// One step of a program.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// An op; its tensors go into these slots, in order.
    Call {
        /// The op, whose handles are slots.
        op: Op,
        /// The slots that get the answer.
        out: Vec<Handle>,
    },
    /// Forget what these slots hold.
    Drop(Vec<Handle>),
}

/// What is prepared outside the clock, what is inside it, and which tensor is checked.
///
/// What the body makes is dropped at the end of each iteration.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Runs once.
    pub setup: Vec<Step>,
    /// Runs in each iteration.
    pub body: Vec<Step>,
    /// The slot of the checked tensor.
    pub result: Handle,
    /// Whose clock times the body.
    pub clock: Clock,
}

/// Whose clock times a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// That of the host, around calls that return when all is done or wait for it.
    #[default]
    Host,
    /// That of the device, by its own events: the body only enqueues work, and calling for it is not timed.
    Device,
}

/// What a device's clock showed between its start and its stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lap {
    /// Nanoseconds.
    pub nanoseconds: u64,
    /// Whether the gate was still shut when all was enqueued: only then is no enqueuing among them.
    pub gated: bool,
}

/// Writes a program by making the calls that it shall make.
#[derive(Default)]
pub struct ProgramBuilder {
    state: RefCell<Building>,
}

#[derive(Default)]
struct Building {
    setup: Vec<Step>,
    body: Vec<Step>,
    in_body: bool,
    slots: u64,
}

impl ProgramBuilder {
    /// What follows belongs to the body.
    pub fn begin_body(&self) {
        self.state.borrow_mut().in_body = true;
    }

    /// Forgets a tensor where a Python program would delete or re-bind its name.
    pub fn drop_tensor(&self, tensor: Handle) {
        self.push(Step::Drop(vec![tensor]));
    }

    /// The finished program.
    pub fn finish(self, result: Handle, clock: Clock) -> Program {
        let state = self.state.into_inner();
        Program { setup: state.setup, body: state.body, result, clock }
    }

    fn push(&self, step: Step) {
        let mut state = self.state.borrow_mut();
        if state.in_body { state.body.push(step) } else { state.setup.push(step) }
    }

    fn slot(&self) -> Handle {
        let mut state = self.state.borrow_mut();
        state.slots += 1;
        Handle(state.slots - 1)
    }
}

impl Calls for ProgramBuilder {
    type Stop = Fail;

    fn call(&self, op: Op) -> Result<Value, Fail> {
        let (out, value) = match (op.gives(), &op) {
            ("tensor", _) => {
                let slot = self.slot();
                (vec![slot.clone()], Value::Tensor(slot))
            }
            (_, Op::Chunk { chunks, .. }) => {
                let slots: Vec<Handle> = (0..*chunks).map(|_| self.slot()).collect();
                (slots.clone(), Value::List(slots.into_iter().map(Value::Tensor).collect()))
            }
            ("none", _) => (Vec::new(), Value::None),
            _ => return Err(Fail::unsupported(format!("{} in a program: its answer is no tensor", op.name()))),
        };
        self.push(Step::Call { op, out });
        Ok(value)
    }

    fn nonsense(&self, op: &'static str, expected: &'static str) -> Fail {
        Fail::error("protocol", format!("a program cannot hold the answer of {op} ({expected})"))
    }
}

/// A program that a Rust library is ready to run.
pub struct Prepared<L: Library> {
    slots: Table<L::Tensor>,
    body: Vec<ReadyStep<L>>,
    made: Vec<Handle>,
    result: Handle,
    clock: Clock,
    /// How long the gate is shut: as long as it had to be so far.
    gate: Duration,
}

/// Steps that are enqueued behind one gate: CUDA takes about a thousand launches ahead, and a step may have several.
const AHEAD: u64 = 256;
const FIRST_GATE: Duration = Duration::from_micros(200);
const LONGEST_GATE: Duration = Duration::from_millis(250);

enum ReadyStep<L: Library> {
    Call(Resolved<L>, Vec<Handle>),
    Drop(Vec<Handle>),
}

impl<L: Library> Prepared<L> {
    /// Checks it, runs the setup and resolves the body.
    pub fn new(program: Program, library: &mut L) -> Result<Self, Fail> {
        program.check()?;
        let mut slots = Table::default();
        for step in ready(program.setup) {
            step.run(library, &mut slots)?;
        }
        let made = program
            .body
            .iter()
            .flat_map(|step| if let Step::Call { out, .. } = step { out.clone() } else { vec![] })
            .collect();
        let Program { body, result, clock, .. } = program;
        Ok(Prepared { slots, body: ready(body), made, result, clock, gate: FIRST_GATE })
    }

    /// Runs the body once, without a clock.
    pub fn run(&mut self, library: &mut L) -> Result<(), Fail> {
        self.repeat(library, 1)
    }

    /// Runs the body `iterations` times; nanoseconds of the whole loop by the program's clock.
    pub fn measure(&mut self, library: &mut L, iterations: u64) -> Result<u64, Fail> {
        match self.clock {
            Clock::Host => {
                let start = Instant::now();
                self.repeat(library, iterations)?;
                Ok(start.elapsed().as_nanos() as u64)
            }
            Clock::Device => self.measure_on_device(library, iterations),
        }
    }

    /// A device takes only so much work ahead of time, so that long loops are timed in parts.
    fn measure_on_device(&mut self, library: &mut L, iterations: u64) -> Result<u64, Fail> {
        // Once before: what is taken of the device for the first time would wait for the gate.
        self.run(library)?;
        let part = (AHEAD / self.body.len().max(1) as u64).max(1);
        let (mut nanoseconds, mut left) = (0, iterations);
        while left > 0 {
            let now = left.min(part);
            nanoseconds += self.lap(library, now)?;
            left -= now;
        }
        Ok(nanoseconds)
    }

    /// Enqueues the body so often behind a gate that is shut for long enough.
    fn lap(&mut self, library: &mut L, iterations: u64) -> Result<u64, Fail> {
        loop {
            library.start_clock(self.gate)?;
            let enqueued = self.repeat(library, iterations);
            // Stopped also where the body failed: the device shall not be left behind a gate.
            let lap = library.stop_clock();
            enqueued?;
            let lap = lap?;
            if lap.gated {
                return Ok(lap.nanoseconds);
            }
            if self.gate == LONGEST_GATE {
                self.gate = FIRST_GATE;
                return Err(Fail::error(
                    "other",
                    format!(
                        "a gate of {LONGEST_GATE:?} opened before the body was enqueued: the body waits for the device itself"
                    ),
                ));
            }
            self.gate = LONGEST_GATE.min(self.gate * 2);
        }
    }

    fn repeat(&mut self, library: &mut L, iterations: u64) -> Result<(), Fail> {
        for _ in 0..iterations {
            self.body(library)?;
            self.drop_made();
        }
        Ok(())
    }

    /// Runs the body once more and lets `describe` look at the result.
    pub fn result<R>(
        &mut self,
        library: &mut L,
        describe: impl FnOnce(&mut L, &L::Tensor) -> Result<R, Fail>,
    ) -> Result<R, Fail> {
        self.body(library)?;
        if self.clock == Clock::Device {
            // The body only enqueued it.
            library.synchronize()?;
        }
        let described = describe(library, &*self.slots.read(&self.result)?);
        self.drop_made();
        described
    }

    fn body(&mut self, library: &mut L) -> Result<(), Fail> {
        for step in &self.body {
            step.run(library, &mut self.slots)?;
        }
        Ok(())
    }

    fn drop_made(&mut self) {
        for slot in &self.made {
            self.slots.clear(slot);
        }
    }
}

fn ready<L: Library>(steps: Vec<Step>) -> Vec<ReadyStep<L>> {
    let ready = |step| match step {
        Step::Call { op, out } => ReadyStep::Call(resolve(op), out),
        Step::Drop(slots) => ReadyStep::Drop(slots),
    };
    steps.into_iter().map(ready).collect()
}

impl<L: Library> ReadyStep<L> {
    fn run(&self, library: &mut L, slots: &mut Table<L::Tensor>) -> Result<(), Fail> {
        match self {
            ReadyStep::Call(op, out) => {
                let made = op(library, slots)?;
                if made.len() != out.len() {
                    return Err(Fail::error(
                        "protocol",
                        format!("a step gave {} tensors, the program has {} slots for them", made.len(), out.len()),
                    ));
                }
                for (slot, tensor) in out.iter().zip(made) {
                    slots.put(slot, tensor);
                }
            }
            ReadyStep::Drop(dropped) => {
                for slot in dropped {
                    slots.clear(slot);
                }
            }
        }
        Ok(())
    }
}
