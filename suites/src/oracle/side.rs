//! What is compared: anything that carries out ops.

use crate::run::{Instruments, Launch, Session};
use std::time::Duration;
use subject::{Fail, Handle, Op, Reply, Request, Value};

/// How long one op of a small program may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Something that carries out ops and numbers its tensors 0, 1, 2 and so on from each reset.
pub trait Side {
    /// Whose answers these are.
    fn name(&self) -> &str;

    /// Forgets all tensors.
    ///
    /// # Errors
    /// What to tell the user when it cannot go on.
    fn reset(&mut self) -> Result<(), String>;

    /// Carries out one op.
    ///
    /// # Errors
    /// The refusal.
    fn call(&mut self, op: &Op) -> Result<Value, Fail>;

    /// Forgets one tensor. Sides may then number those that follow in ways of their own.
    ///
    /// # Errors
    /// What to tell the user when it cannot go on.
    fn release(&mut self, handle: &Handle) -> Result<(), String>;
}

/// A subject in its process, started again when it broke.
pub struct Remote {
    launch: Launch,
    session: Option<Session>,
}

impl Remote {
    /// A subject that starts with the first reset.
    pub fn new(launch: Launch) -> Remote {
        Remote { launch, session: None }
    }
}

impl Side for Remote {
    fn name(&self) -> &str {
        &self.launch.subject.id
    }

    fn reset(&mut self) -> Result<(), String> {
        let Some(session) = &mut self.session else {
            self.session = Some(Session::start(&self.launch, Instruments::None)?);
            return Ok(());
        };
        match session.ask(&Request::Reset {}, LIMIT) {
            Ok(Reply::Value(Value::None)) => Ok(()),
            Ok(other) => Err(format!("{} answered reset with {other:?}", self.name())),
            Err(broken) => Err(format!("{} at reset: {broken}", self.name())),
        }
    }

    fn call(&mut self, op: &Op) -> Result<Value, Fail> {
        let Some(session) = &mut self.session else {
            return Err(Fail::error("protocol", "the subject is not running"));
        };
        match session.ask(&Request::Call(op.clone()), LIMIT) {
            Ok(Reply::Value(value)) => Ok(value),
            Ok(Reply::Error { kind, message }) => Err(Fail::Error { kind, message }),
            Ok(Reply::Unsupported(what)) => Err(Fail::Unsupported(what)),
            Ok(other) => Err(Fail::error("protocol", format!("{other:?} is no answer to an op"))),
            Err(broken) => {
                self.session = None;
                Err(Fail::error("protocol", broken.to_string()))
            }
        }
    }

    fn release(&mut self, handle: &Handle) -> Result<(), String> {
        let session = self.session.as_mut().ok_or("the subject is not running")?;
        match session.ask(&Request::Drop { handle: handle.clone() }, LIMIT) {
            Ok(Reply::Value(Value::None)) => Ok(()),
            Ok(other) => Err(format!("{} answered drop with {other:?}", self.name())),
            Err(broken) => Err(format!("{} at drop: {broken}", self.name())),
        }
    }
}
