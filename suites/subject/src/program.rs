//! A workload as data: ops over slots, written once and run by every subject.

use crate::ops::{Resolved, resolve};
use crate::{Calls, Fail, Handle, Library, Op, Table, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::time::Instant;

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
    pub fn finish(self, result: Handle) -> Program {
        let state = self.state.into_inner();
        Program { setup: state.setup, body: state.body, result }
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
        let info = crate::OPS.iter().find(|info| info.name == op.name());
        let (out, value) = match (info.map(|info| info.gives), &op) {
            (Some("tensor"), _) => {
                let slot = self.slot();
                (vec![slot.clone()], Value::Tensor(slot))
            }
            (_, Op::Chunk { chunks, .. }) => {
                let slots: Vec<Handle> = (0..*chunks).map(|_| self.slot()).collect();
                (slots.clone(), Value::List(slots.into_iter().map(Value::Tensor).collect()))
            }
            (Some("none"), _) => (Vec::new(), Value::None),
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
}

enum ReadyStep<L: Library> {
    Call(Resolved<L>, Vec<Handle>),
    Drop(Vec<Handle>),
}

impl<L: Library> Prepared<L> {
    /// Runs the setup and resolves the body.
    pub fn new(program: Program, library: &mut L) -> Result<Self, Fail> {
        let mut slots = Table::default();
        for step in ready(program.setup) {
            step.run(library, &mut slots)?;
        }
        let made = program
            .body
            .iter()
            .flat_map(|step| if let Step::Call { out, .. } = step { out.clone() } else { vec![] })
            .collect();
        Ok(Prepared { slots, body: ready(program.body), made, result: program.result })
    }

    /// Runs the body `iterations` times; nanoseconds of the whole loop.
    pub fn measure(&mut self, library: &mut L, iterations: u64) -> Result<u64, Fail> {
        let start = Instant::now();
        for _ in 0..iterations {
            self.body(library)?;
            self.drop_made();
        }
        Ok(start.elapsed().as_nanos() as u64)
    }

    /// Runs the body once more and lets `describe` look at the result.
    pub fn result<R>(
        &mut self,
        library: &mut L,
        describe: impl FnOnce(&mut L, &L::Tensor) -> Result<R, Fail>,
    ) -> Result<R, Fail> {
        self.body(library)?;
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
