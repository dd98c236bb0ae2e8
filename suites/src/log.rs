//! Writes a run log: aside, and put in its place when it is finished, so that an earlier one is never half overwritten.

use crate::record::{Footer, Record};
use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A run log that is being written.
pub struct LogWriter {
    file: BufWriter<NamedTempFile>,
    folder: PathBuf,
}

/// The name of a run log in its output folder.
pub const RUN_LOG: &str = "run.jsonl";
/// Where the output folder keeps earlier run logs.
pub const HISTORY: &str = "history";

impl LogWriter {
    /// Begins a run log in this folder, which is made if it is not there.
    pub fn create(folder: &Path) -> Result<LogWriter, String> {
        let told = |error| format!("cannot write into {}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(told)?;
        let readable = fs::Permissions::from_mode(0o644);
        let mut builder = tempfile::Builder::new();
        let file = builder.prefix(".run-").suffix(".jsonl").permissions(readable).tempfile_in(folder).map_err(told)?;
        Ok(LogWriter { file: BufWriter::new(file), folder: folder.into() })
    }

    /// Adds a record.
    pub fn write(&mut self, record: &Record) -> Result<(), String> {
        let line = serde_json::to_string(record).map_err(|error| error.to_string())?;
        writeln!(self.file, "{line}").map_err(|error| self.told(&error))
    }

    /// Adds the footer and puts the log in its place. An earlier log goes to the history.
    pub fn finish(mut self, footer: Footer) -> Result<PathBuf, String> {
        self.write(&Record::Footer(footer))?;
        self.file.flush().map_err(|error| self.told(&error))?;
        let LogWriter { file, folder } = self;
        let told = |error: std::io::Error| format!("cannot write the run log into {}: {error}", folder.display());
        let file = file.into_inner().map_err(|error| told(error.into_error()))?;
        file.as_file().sync_all().map_err(told)?;
        let path = folder.join(RUN_LOG);
        keep_earlier(&path, &folder.join(HISTORY)).map_err(told)?;
        file.persist(&path).map_err(|error| told(error.error))?;
        Ok(path)
    }

    fn told(&self, error: &std::io::Error) -> String {
        format!("cannot write the run log into {}: {error}", self.folder.display())
    }
}

fn keep_earlier(path: &Path, history: &Path) -> std::io::Result<()> {
    let Ok(metadata) = path.metadata() else { return Ok(()) };
    fs::create_dir_all(history)?;
    let written: time::OffsetDateTime = metadata.modified()?.into();
    let name = time::macros::format_description!("[year][month][day]T[hour][minute][second]Z");
    let name = written.format(name).map_err(std::io::Error::other)?;
    fs::rename(path, history.join(format!("{name}.jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_log_keeps_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let footer = Footer { complete: true, reason: "finished".into(), weather: None, nanoseconds: 1 };
        LogWriter::create(folder.path()).unwrap().finish(footer.clone()).unwrap();
        let unfinished = LogWriter::create(folder.path()).unwrap();
        drop(unfinished);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        LogWriter::create(folder.path()).unwrap().finish(footer).unwrap();
        assert_eq!(fs::read_dir(folder.path().join(HISTORY)).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_said() {
        let file = NamedTempFile::new().unwrap();
        let error = LogWriter::create(&file.path().join("out")).err().unwrap();
        assert!(error.contains("cannot write into"), "{error}");
    }
}
