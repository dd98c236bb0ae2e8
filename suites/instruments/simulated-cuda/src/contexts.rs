//! The driver's contexts, and which of them is a thread's current one.

use crate::errors::Error;
use crate::state::state;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The handle of the primary context; nothing lies there.
pub const PRIMARY: u64 = 1;

thread_local! {
    /// The contexts of this thread, the current one last.
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// All contexts.
#[derive(Default)]
pub struct Contexts {
    initialized: bool,
    /// Whether the runtime uses the primary context, which it does to the end.
    in_runtime: bool,
    retained: u64,
    created: u64,
    others: BTreeSet<u64>,
}

impl Contexts {
    pub fn initialize(&mut self) {
        self.initialized = true;
    }

    pub fn check_initialized(&self) -> Result<(), Error> {
        if self.initialized { Ok(()) } else { Err(Error::NOT_INITIALIZED) }
    }

    /// Whether the primary context is there.
    pub fn primary_is_active(&self) -> bool {
        self.in_runtime || self.retained > 0
    }

    pub fn retain_primary(&mut self) {
        self.retained += 1;
    }

    pub fn release_primary(&mut self) -> Result<(), Error> {
        self.retained = self.retained.checked_sub(1).ok_or(Error::INVALID_CONTEXT)?;
        Ok(())
    }

    /// A new context; it has yet to be made a thread's current one.
    pub fn create(&mut self) -> u64 {
        self.created += 1;
        let context = PRIMARY + self.created;
        self.others.insert(context);
        context
    }

    pub fn destroy(&mut self, context: u64) -> Result<(), Error> {
        if self.others.remove(&context) { Ok(()) } else { Err(Error::INVALID_CONTEXT) }
    }

    pub fn exists(&self, context: u64) -> bool {
        if context == PRIMARY { self.primary_is_active() } else { self.others.contains(&context) }
    }
}

/// The current context of this thread; 0 where it has none.
pub fn current() -> u64 {
    // A thread that is ending has no context any more.
    STACK.try_with(|stack| stack.borrow().last().copied().unwrap_or(0)).unwrap_or(0)
}

/// Whether this thread has a current context that is still there.
pub fn check_current() -> Result<(), Error> {
    let contexts = &state().contexts;
    contexts.check_initialized()?;
    match current() {
        0 => Err(Error::INVALID_CONTEXT),
        context if contexts.exists(context) => Ok(()),
        _ => Err(Error::CONTEXT_IS_DESTROYED),
    }
}

/// Makes a context the current one, in place of the one that is; 0 leaves what was current before that.
pub fn set_current(context: u64) {
    let _ = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        stack.pop();
        stack.extend((context != 0).then_some(context));
    });
}

/// Makes a context the current one, until it is destroyed.
pub fn push_current(context: u64) {
    let _ = STACK.try_with(|stack| stack.borrow_mut().push(context));
}

/// Undoes `push_current` where the context is the current one.
pub fn pop_current(context: u64) {
    if current() == context {
        set_current(0);
    }
}

/// What a call of the runtime does first: it starts the driver and, where a thread has no context, takes the primary one.
pub fn enter_runtime() {
    if current() == 0 {
        let contexts = &mut state().contexts;
        contexts.initialize();
        contexts.in_runtime = true;
        push_current(PRIMARY);
    }
}
