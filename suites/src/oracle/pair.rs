//! Two sides that carry out the same ops, and the rule by which their answers agree.

use super::Side;
use super::relabel::relabel;
use super::tolerance;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use subject::{Calls, Fail, Handle, Op, Value};

/// An op that was carried out on both sides, with the tensors that it gave.
#[derive(Debug, Clone)]
pub struct Step {
    /// The op.
    pub op: Op,
    /// Its tensors.
    pub out: Vec<Handle>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.out.iter().map(|handle| format!("t{}", handle.0)).collect();
        match names.as_slice() {
            [] => f.write_str(&self.op.torch()),
            names => write!(f, "{} = {}", names.join(", "), self.op.torch()),
        }
    }
}

/// The answers to an op on which the sides differ.
#[derive(Debug)]
pub struct Differs {
    /// The op.
    pub op: Op,
    /// What the left side answered.
    pub left: Result<Value, Fail>,
    /// What the right side answered.
    pub right: Result<Value, Fail>,
}

impl Differs {
    /// Whether this is another sight of the same disagreement: the same op, answered and refused in the same way.
    pub(super) fn resembles(&self, other: &Differs) -> bool {
        let alike = |mine: &Result<Value, Fail>, others: &Result<Value, Fail>| match (mine, others) {
            (Err(mine), Err(others)) => same_kind(mine, others),
            (mine, others) => mine.is_ok() && others.is_ok(),
        };
        self.op.name() == other.op.name() && alike(&self.left, &other.left) && alike(&self.right, &other.right)
    }
}

/// Why an op gave the program no value to go on with.
#[derive(Debug)]
pub enum Stop {
    /// The sides differ.
    Differs(Box<Differs>),
    /// Both refused, for the same kind of reason.
    Refused,
}

/// Two sides at the start of a program.
///
/// Their answers agree when they are equal, with two exceptions: the stride of a dimension that has no second element
/// may be any, and values that were added up in an order of a library's own may differ within a bound
/// (`tolerance.rs`). Refusals agree when they are of one kind; their words are each library's own.
pub struct Pair<'s> {
    state: RefCell<State<'s>>,
}

struct State<'s> {
    left: &'s mut dyn Side,
    right: &'s mut dyn Side,
    steps: Vec<Step>,
}

impl<'s> Pair<'s> {
    /// Both sides, which have forgotten all tensors.
    ///
    /// # Errors
    /// What to tell the user when a side cannot go on.
    pub fn new(left: &'s mut dyn Side, right: &'s mut dyn Side) -> Result<Self, String> {
        left.reset()?;
        right.reset()?;
        Ok(Pair { state: RefCell::new(State { left, right, steps: Vec::new() }) })
    }

    /// What was carried out and agreed on, in order.
    pub fn steps(self) -> Vec<Step> {
        self.state.into_inner().steps
    }

    /// Carries out steps whose handles are slots; what the first disagreement is, if there is one.
    ///
    /// A step whose tensors are not there, because those before it gave fewer, ends the program.
    pub(super) fn replay(&self, steps: &[Step]) -> Option<Box<Differs>> {
        let mut slots: BTreeMap<Handle, Handle> = BTreeMap::new();
        for step in steps {
            let op = relabel(&step.op, |slot| slots.get(&slot).cloned())?;
            match self.call(op) {
                Ok(value) => slots.extend(step.out.iter().cloned().zip(tensors(&value))),
                Err(Stop::Refused) => {}
                Err(Stop::Differs(differs)) => return Some(differs),
            }
        }
        None
    }
}

impl Calls for Pair<'_> {
    type Stop = Stop;

    fn call(&self, op: Op) -> Result<Value, Stop> {
        let state = &mut *self.state.borrow_mut();
        let (left, right) = (state.left.call(&op), state.right.call(&op));
        let agreed = match (&left, &right) {
            (Ok(left), Ok(right)) => left == right || state.near(&op, left, right),
            (Err(left), Err(right)) => same_kind(left, right),
            _ => false,
        };
        match left {
            Ok(value) if agreed => {
                state.steps.push(Step { op, out: tensors(&value) });
                Ok(value)
            }
            Err(_) if agreed => Err(Stop::Refused),
            left => Err(Stop::Differs(Box::new(Differs { op, left, right }))),
        }
    }

    fn nonsense(&self, op: &'static str, expected: &'static str) -> Stop {
        let told = || Err(Fail::error("protocol", format!("both sides: the answer of {op} is no {expected}")));
        let last = self.state.borrow().steps.last().map(|step| step.op.clone());
        last.map_or(Stop::Refused, |op| Stop::Differs(Box::new(Differs { op, left: told(), right: told() })))
    }
}

impl State<'_> {
    /// Whether answers that are not equal agree all the same.
    fn near(&mut self, op: &Op, left: &Value, right: &Value) -> bool {
        match op {
            Op::Stride { a } => {
                let shape = self.left.call(&Op::Shape { a: a.clone() });
                shape.is_ok_and(|shape| strides_agree(&shape, left, right))
            }
            Op::Values { a } => {
                let made = self.steps.iter().rev().find(|step| step.out.contains(a)).map(|step| step.op.clone());
                made.is_some_and(|made| tolerance::within(self.left, &made, a, left, right))
            }
            _ => false,
        }
    }
}

/// Whether strides lead to the same elements: where there is no second element they lead nowhere.
fn strides_agree(shape: &Value, left: &Value, right: &Value) -> bool {
    let (Value::List(shape), Value::List(left), Value::List(right)) = (shape, left, right) else { return false };
    let empty = shape.contains(&Value::Int(0));
    let one = Value::Int(1);
    shape.len() == left.len()
        && left.len() == right.len()
        && (empty
            || shape.iter().zip(left.iter().zip(right)).all(|(size, (left, right))| *size == one || left == right))
}

fn same_kind(left: &Fail, right: &Fail) -> bool {
    match (left, right) {
        (Fail::Unsupported(_), Fail::Unsupported(_)) => true,
        (Fail::Error { kind: left, .. }, Fail::Error { kind: right, .. }) => left == right && left != "protocol",
        _ => false,
    }
}

/// The tensors in an answer.
fn tensors(value: &Value) -> Vec<Handle> {
    match value {
        Value::Tensor(handle) => vec![handle.clone()],
        Value::List(list) => list.iter().flat_map(tensors).collect(),
        _ => Vec::new(),
    }
}
