//! What a person sees: failures with their exit status, and progress.

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use suites::progress::Progress;

/// Why a command did not do what was asked, with the exit status that goes with it.
#[derive(Debug)]
pub enum Failure {
    /// Something failed: status 1.
    Failed(String),
    /// The command line names something that does not exist: status 2.
    Usage(String),
    /// A required subject is missing: status 3.
    Missing(String),
    /// The user pressed Ctrl-C: status 130.
    Interrupted(String),
}

impl Failure {
    /// Prints the failure and gives its exit status.
    pub fn report(self) -> ExitCode {
        let (text, status) = match self {
            Failure::Failed(text) => (text, 1),
            Failure::Usage(text) => (text, 2),
            Failure::Missing(text) => (text, 3),
            Failure::Interrupted(text) => (text, 130),
        };
        eprintln!("error: {text}");
        ExitCode::from(status)
    }
}

/// Prints a line on stdout. A reader that has seen enough, such as `head`, ends the program and is no failure.
pub fn put(line: &str) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(0);
    }
}

/// Prints a value as one line of JSON.
pub fn put_json(value: &impl Serialize) -> Result<(), Failure> {
    put(&serde_json::to_string(value).map_err(|error| Failure::Failed(error.to_string()))?);
    Ok(())
}

/// Prints values as a JSON list.
pub fn put_list(values: &[impl Serialize]) -> Result<(), Failure> {
    put(&serde_json::to_string_pretty(values).map_err(|error| Failure::Failed(error.to_string()))?);
    Ok(())
}

/// Errors of the rooms below are failures of the command.
impl From<String> for Failure {
    fn from(text: String) -> Self {
        Failure::Failed(text)
    }
}

/// Shows progress on stderr: a bar on a terminal, a plain line a phase elsewhere.
#[derive(Default)]
pub struct Console {
    bar: Mutex<Option<ProgressBar>>,
}

impl Console {
    fn with_bar(&self, act: impl FnOnce(&ProgressBar)) {
        if let Ok(bar) = self.bar.lock()
            && let Some(bar) = bar.as_ref()
        {
            act(bar);
        }
    }
}

impl Progress for Console {
    fn phase(&self, what: &str, steps: u64) {
        self.end_phase();
        if steps == 0 {
            return;
        }
        if !std::io::stderr().is_terminal() {
            eprintln!("{what} ({steps})");
            return;
        }
        let bar = ProgressBar::new(steps);
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len}  {eta} left  {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(what.to_owned());
        if let Ok(mut place) = self.bar.lock() {
            *place = Some(bar);
        }
    }

    fn now(&self, what: &str) {
        self.with_bar(|bar| bar.set_message(what.to_owned()));
    }

    fn step(&self) {
        self.with_bar(|bar| bar.inc(1));
    }

    fn end_phase(&self) {
        if let Ok(mut place) = self.bar.lock()
            && let Some(bar) = place.take()
        {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        let mut shown = false;
        self.with_bar(|bar| {
            bar.suspend(|| eprintln!("{line}"));
            shown = true;
        });
        if !shown {
            eprintln!("{line}");
        }
    }
}
