//! A subject's process: one line out, one line back, under a time limit.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A reply longer than this is nonsense: the largest honest one lists some million values.
const LONGEST_REPLY: u64 = 256 << 20;
const STDERR_LINES: usize = 20;
const STDERR_LINE: u64 = 4096;

/// The variables of the runner's own environment that a subject gets; its launch adds others.
const INHERITED: [&str; 10] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "USER",
    "XDG_CACHE_HOME",
    // A driver may lie there, and the runner looks for one too.
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
];

/// How to start a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandLine {
    /// Program and arguments.
    pub words: Vec<OsString>,
    /// Variables of the launch.
    pub environment: Vec<(String, OsString)>,
}

/// Why a process gave no line.
#[derive(Debug, Clone, PartialEq)]
pub enum Silence {
    /// It could not be started.
    NotStarted(String),
    /// It ended: how, and the last lines it printed on stderr.
    Died(String, Option<i32>),
    /// It did not answer within the limit.
    TimedOut(Duration),
    /// It answered something that is no line of text.
    Nonsense(String),
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Silence::NotStarted(why) => write!(f, "could not be started: {why}"),
            Silence::Died(how, _) => f.write_str(how),
            Silence::TimedOut(limit) => write!(f, "gave no answer within {} s", limit.as_secs_f64()),
            Silence::Nonsense(what) => f.write_str(what),
        }
    }
}

/// A running subject. Its whole process group is killed when it is dropped.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Result<String, String>>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    /// Reads stderr until it ends.
    listener: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts it with a cleaned environment, in a process group of its own so that Ctrl-C reaches the runner alone.
    pub fn start(command: &CommandLine) -> Result<Process, Silence> {
        let [program, arguments @ ..] = command.words.as_slice() else {
            return Err(Silence::NotStarted("its start command is empty".into()));
        };
        let mut builder = Command::new(program);
        builder.args(arguments).env_clear().process_group(0);
        builder.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        builder.envs(command.environment.iter().map(|(name, value)| (name, value)));
        builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            builder.spawn().map_err(|error| Silence::NotStarted(format!("{}: {error}", program.to_string_lossy())))?;
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let listener = child.stderr.take().map(|pipe| {
            let kept = Arc::clone(&stderr);
            std::thread::spawn(move || keep_last_lines(BufReader::new(pipe), &kept))
        });
        let (sender, lines) = sync_channel(1);
        if let Some(pipe) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut pipe = BufReader::new(pipe);
                while let Some(line) = next_line(&mut pipe) {
                    let stop = line.is_err();
                    if sender.send(line).is_err() || stop {
                        return;
                    }
                }
            });
        }
        Ok(Process { stdin: child.stdin.take(), child, lines, stderr, listener })
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line and waits for the line that answers it.
    pub fn ask(&mut self, line: &str, limit: Duration) -> Result<String, Silence> {
        let sent = self.stdin.as_mut().map(|stdin| stdin.write_all(format!("{line}\n").as_bytes()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.died());
        }
        match self.lines.recv_timeout(limit) {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(nonsense)) => Err(Silence::Nonsense(nonsense)),
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(Silence::TimedOut(limit))
            }
        }
    }

    /// Closes its input and waits until it ended by itself; the error says how else it ended, or that it did not.
    pub fn end(mut self) -> Result<(), Silence> {
        match self.died() {
            Silence::Died(_, Some(0)) => Ok(()),
            other => Err(other),
        }
    }

    fn died(&mut self) -> Silence {
        self.stdin = None;
        let deadline = Instant::now() + Duration::from_secs(2);
        let status = loop {
            let status = self.child.try_wait().ok().flatten();
            // Its last words may come after it.
            let heard = status.is_some() && self.listener.as_ref().is_none_or(JoinHandle::is_finished);
            if heard || Instant::now() >= deadline {
                break status;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let ended = status.map_or_else(|| "closed its output".into(), describe);
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let last: Vec<&str> = stderr.iter().map(String::as_str).collect();
        let said = if last.is_empty() { String::new() } else { format!("; it last said: {}", last.join(" | ")) };
        Silence::Died(format!("{ended}{said}"), status.and_then(|status| status.code()))
    }

    fn kill(&mut self) {
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            // The group may be gone already, which is what is wanted.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stdin = None;
        self.kill();
        let _ = self.child.wait();
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

fn next_line(pipe: &mut impl BufRead) -> Option<Result<String, String>> {
    let mut line = Vec::new();
    match pipe.take(LONGEST_REPLY).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) if line.last() != Some(&b'\n') => Some(Err(format!("the reply was cut off after {} bytes", line.len()))),
        Ok(_) => Some(String::from_utf8(line).map_err(|_| "the reply is not UTF-8".into())),
    }
}

/// Reads stderr to its end, so that a flood never blocks the subject, and keeps the last lines.
fn keep_last_lines(mut pipe: impl BufRead, kept: &Mutex<VecDeque<String>>) {
    let mut line = Vec::new();
    while let Ok(1..) = (&mut pipe).take(STDERR_LINE).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == STDERR_LINES {
            kept.pop_front();
        }
        kept.push_back(text);
    }
}
