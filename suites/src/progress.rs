//! What long work tells whoever waits for it.

/// Gets told what runs now.
pub trait Progress: Sync {
    /// A phase of so many steps begins.
    fn phase(&self, what: &str, steps: u64);
    /// This runs now.
    fn now(&self, what: &str);
    /// A step is done.
    fn step(&self);
    /// The phase is over.
    fn end_phase(&self);
    /// A line worth keeping on the screen.
    fn say(&self, line: &str);
}
