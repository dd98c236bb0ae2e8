//! Reading a run log.

use serde::Deserialize;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use suites::record::{FORMAT, Footer, Header, Record};

/// A whole run log: it begins with a header and ends with a footer, of a finished or an interrupted run.
#[derive(Debug, Clone)]
pub struct RunLog {
    /// Every record in the order of the file, header and footer included.
    pub records: Vec<Record>,
    pub(crate) header: Header,
    pub(crate) footer: Footer,
    pub(crate) bytes: Vec<u8>,
}

/// The run logs of a folder that have times of a workload on a device, such as those that came from a machine with a GPU,
/// newest first; and why others were left out, one line each. No folder is no log.
pub fn imported(folder: &Path) -> (Vec<RunLog>, Vec<String>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|of| of == "jsonl")).collect();
    paths.sort();
    let (mut logs, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        match read(&path) {
            Ok(log) if log.timed_on_a_device() => logs.push(log),
            Ok(_) => left_out.push(format!("{}: left out, it has no time of a workload on a device", path.display())),
            Err(error) => left_out.push(format!("{error}: left out")),
        }
    }
    logs.sort_by(|a, b| b.header.started.cmp(&a.header.started));
    (logs, left_out)
}

impl RunLog {
    fn timed_on_a_device(&self) -> bool {
        let on_device = |name: &str| {
            self.records.iter().any(|r| matches!(r, Record::Workload(w) if w.workload == name && w.device.is_some()))
        };
        let timed =
            |r: &Record| matches!(r, Record::Measurement(m) if !m.nanoseconds.is_empty() && on_device(&m.workload));
        self.records.iter().any(timed)
    }
}

/// Why a run log cannot be read. Lines count from 1.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be opened or read.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The first line is no header.
    NotARunLog {
        /// The file.
        path: PathBuf,
    },
    /// The header names a format that this version does not read.
    Format {
        /// The file.
        path: PathBuf,
        /// The format found.
        found: u64,
    },
    /// A line is no record, or stands where it must not.
    Line {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
    /// The footer is missing: the run that wrote the file was killed, or the file was copied while it was written.
    CutShort {
        /// The file.
        path: PathBuf,
        /// The last whole line.
        after: usize,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, cause } => write!(f, "{}: cannot be read: {cause}", path.display()),
            Self::NotARunLog { path } => {
                write!(f, "{}: line 1: not a run log: its first line must be a header record", path.display())
            }
            Self::Format { path, found } => write!(
                f,
                "{}: line 1: a run log of format {found}, and this version reads format {FORMAT}: use the version of Tensormark that wrote it",
                path.display()
            ),
            Self::Line { path, line, cause } => write!(f, "{}: line {line}: {cause}", path.display()),
            Self::CutShort { path, after } => write!(
                f,
                "{}: cut short: it stops after line {after} and has no footer: run again, or take the whole file",
                path.display()
            ),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io { cause, .. } = self { Some(cause) } else { None }
    }
}

/// The part of a header that every format has.
#[derive(Deserialize)]
struct Stamp {
    r#type: String,
    format: u64,
}

/// Reads the run log at `path`, line by line.
pub fn read(path: &Path) -> Result<RunLog, ReadError> {
    let bytes = fs::read(path).map_err(|cause| ReadError::Io { path: path.into(), cause })?;
    parse(path, bytes)
}

fn parse(path: &Path, bytes: Vec<u8>) -> Result<RunLog, ReadError> {
    let lines: Vec<&[u8]> = bytes.strip_suffix(b"\n").unwrap_or(&bytes).split(|byte| *byte == b'\n').collect();
    let stamp: Stamp = match lines.first().map(|line| serde_json::from_slice::<Stamp>(line)) {
        Some(Ok(stamp)) if stamp.r#type == "header" => stamp,
        _ => return Err(ReadError::NotARunLog { path: path.into() }),
    };
    if stamp.format != u64::from(FORMAT) {
        return Err(ReadError::Format { path: path.into(), found: stamp.format });
    }
    let mut records = Vec::with_capacity(lines.len());
    let mut header = None;
    let mut footer: Option<Footer> = None;
    for (i, line) in lines.iter().enumerate() {
        let wrong = |cause: String| ReadError::Line { path: path.into(), line: i + 1, cause };
        if footer.is_some() {
            return Err(wrong("a record after the footer: two run logs in one file".into()));
        }
        let record = match serde_json::from_slice(line) {
            Ok(record) => record,
            // The last line of a killed run ends in the middle of a record.
            Err(error) if error.is_eof() && i + 1 == lines.len() => {
                return Err(ReadError::CutShort { path: path.into(), after: i });
            }
            Err(error) => return Err(wrong(format!("not a record: {error}"))),
        };
        match &record {
            Record::Header(_) if header.is_some() => {
                return Err(wrong("a second header: two run logs in one file".into()));
            }
            Record::Header(found) => header = Some((**found).clone()),
            Record::Footer(found) => footer = Some(found.clone()),
            _ => {}
        }
        records.push(record);
    }
    match (header, footer) {
        (Some(header), Some(footer)) => Ok(RunLog { records, header, footer, bytes }),
        _ => Err(ReadError::CutShort { path: path.into(), after: lines.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOOTER: &str = r#"{"type":"footer","complete":false,"reason":"interrupted","weather":null,"nanoseconds":1}"#;

    fn header() -> String {
        serde_json::to_string(&Record::Header(Box::new(Header { format: FORMAT, ..Header::default() }))).unwrap()
    }

    fn error(text: &str) -> String {
        parse(Path::new("night.jsonl"), text.as_bytes().to_vec()).unwrap_err().to_string()
    }

    #[test]
    fn an_interrupted_run_is_a_whole_run_log() {
        let log = parse(Path::new("night.jsonl"), format!("{}\n{FOOTER}\n", header()).into_bytes()).unwrap();
        assert_eq!(log.records.len(), 2);
        assert_eq!(log.footer.reason, "interrupted");
    }

    #[test]
    fn a_file_that_is_no_run_log_is_named() {
        for text in ["", "hello", "{\"type\":\"footer\"}", FOOTER] {
            assert_eq!(error(text), "night.jsonl: line 1: not a run log: its first line must be a header record");
        }
        assert!(
            read(Path::new("no-such-file.jsonl"))
                .unwrap_err()
                .to_string()
                .starts_with("no-such-file.jsonl: cannot be read")
        );
    }

    #[test]
    fn another_format_says_which_and_which_is_read() {
        let text = error(r#"{"type":"header","format":99,"new_field":true}"#);
        assert!(
            text.starts_with("night.jsonl: line 1: a run log of format 99, and this version reads format 1"),
            "{text}"
        );
    }

    #[test]
    fn a_broken_line_is_counted_from_one() {
        let text = error(&format!("{}\n{{\"type\":\"rumour\"}}\n{FOOTER}\n", header()));
        assert!(text.starts_with("night.jsonl: line 2: not a record: unknown variant `rumour`"), "{text}");
        let text = error(&format!("{}\n{{\"type\":\"foo\n{FOOTER}\n", header()));
        assert!(text.starts_with("night.jsonl: line 2: not a record"), "{text}");
    }

    #[test]
    fn two_run_logs_in_one_file_are_refused() {
        let one = format!("{}\n{FOOTER}\n", header());
        assert!(error(&format!("{one}{one}")).starts_with("night.jsonl: line 3: a record after the footer"));
        assert!(error(&format!("{}\n{one}", header())).starts_with("night.jsonl: line 2: a second header"));
    }

    #[test]
    fn a_run_log_without_footer_says_where_it_stops() {
        let whole = error(&format!("{}\n", header()));
        assert!(whole.starts_with("night.jsonl: cut short: it stops after line 1 and has no footer"), "{whole}");
        let torn = error(&format!("{}\n{}", header(), &FOOTER[..30]));
        assert!(torn.starts_with("night.jsonl: cut short: it stops after line 1 and has no footer"), "{torn}");
    }
}
