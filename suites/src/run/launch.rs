//! Subjects as `subjects.toml` describes them, and the launches made of them.

use super::process::CommandLine;
use super::simulated::{self, Backing};
use crate::near;
use crate::record::{CPU, CUDA, SIMULATED};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where things are on this machine.
#[derive(Debug, Clone)]
pub struct Places {
    /// The folder of subjects, with `subjects.toml`.
    pub subjects: PathBuf,
    /// The folder of the built programs and instruments.
    pub target: PathBuf,
    /// The Python interpreter for Python subjects.
    pub python: PathBuf,
}

/// An implementation under test, as `subjects.toml` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Short id.
    pub id: String,
    /// Name for readers.
    pub title: String,
    /// Program and arguments, with `{target}`, `{subjects}` and `{python}` to be filled in.
    pub start: Vec<String>,
    /// The devices that cases may run on.
    pub devices: Vec<String>,
    /// What is loaded into its process to stand in for hardware.
    #[serde(default)]
    pub instruments: Vec<String>,
    /// What to say when it cannot start.
    pub missing: String,
}

/// The devices that an entry may name.
const DEVICES: [&str; 3] = [CPU, CUDA, SIMULATED];
/// The instrument that stands in for CUDA's runtime.
const SIMULATED_CUDA: &str = "simulated-cuda";
/// What is filled in in a start command.
const PLACES: [&str; 3] = ["{target}", "{subjects}", "{python}"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    subject: Vec<Subject>,
}

/// Reads `subjects.toml`.
pub fn subjects(places: &Places) -> Result<Vec<Subject>, String> {
    let path = places.subjects.join("subjects.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file: File = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    check(&file.subject).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(file.subject)
}

/// Refuses what would be passed over in silence later: a second entry of one id, and names that nothing has.
fn check(subjects: &[Subject]) -> Result<(), String> {
    for (at, subject) in subjects.iter().enumerate() {
        let id = &subject.id;
        if subjects[..at].iter().any(|other| other.id == *id) {
            return Err(format!("{id} has two entries"));
        }
        if let Some(device) = subject.devices.iter().find(|device| !DEVICES.contains(&device.as_str())) {
            return Err(format!("{id}: {}", near::unknown("device", device, &DEVICES)));
        }
        if !subject.devices.iter().any(|device| device == CPU) {
            return Err(format!("{id}: its devices are {:?}, and every subject runs on {CPU:?}", subject.devices));
        }
        if let Some(name) = subject.instruments.iter().find(|name| **name != SIMULATED_CUDA) {
            return Err(format!("{id}: {}", near::unknown("instrument", name, &[SIMULATED_CUDA])));
        }
        let left = |word: &str| PLACES.iter().fold(word.to_owned(), |word, place| word.replace(place, ""));
        if let Some(word) = subject.start.iter().find(|word| left(word).contains('{')) {
            return Err(format!("{id}: {word:?} in start has a place beside {}", PLACES.join(", ")));
        }
    }
    Ok(())
}

/// The subjects with these ids, in the order of the file; all when none is named.
pub fn choose(all: Vec<Subject>, ids: &[String]) -> Result<Vec<Subject>, String> {
    let known: Vec<&str> = all.iter().map(|subject| subject.id.as_str()).collect();
    for id in ids {
        if !known.contains(&id.as_str()) {
            return Err(near::unknown("subject", id, &known));
        }
    }
    Ok(all.into_iter().filter(|subject| ids.is_empty() || ids.contains(&subject.id)).collect())
}

/// How a subject's process is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The subject.
    pub subject: Subject,
    /// The device.
    pub device: String,
    /// Threads that it may use.
    pub threads: u32,
    /// The command line, filled in.
    pub command: CommandLine,
    /// Why it cannot start here, where that is known beforehand.
    pub unavailable: Option<String>,
}

/// Bytes of the simulated device where nothing else is asked for.
pub const SIMULATED_BYTES: u64 = 80 << 30;

impl Launch {
    /// A launch on the CPU with so many threads.
    pub fn new(subject: Subject, threads: u32, places: &Places) -> Launch {
        let fill = |word: &String| -> OsString {
            let path = |path: &Path| path.to_string_lossy().into_owned();
            let [target, subjects, python] = PLACES;
            word.replace(target, &path(&places.target))
                .replace(subjects, &path(&places.subjects))
                .replace(python, &path(&places.python))
                .into()
        };
        let words = subject.start.iter().map(fill).collect();
        // Libraries read these once, when they start.
        let names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"];
        let environment = names.map(|name| (name.into(), threads.to_string().into())).to_vec();
        let command = CommandLine { words, environment };
        Launch { subject, device: CPU.into(), threads, command, unavailable: None }
    }

    /// A launch of one thread on the simulated device, with so many bytes of device memory.
    pub fn simulated(subject: Subject, memory: u64, backing: Backing, places: &Places) -> Launch {
        let mut launch = Launch { device: SIMULATED.into(), ..Launch::new(subject, 1, places) };
        let environment = if launch.subject.instruments.iter().any(|name| name == SIMULATED_CUDA) {
            simulated::prepare(&places.target, &places.python).map(|ready| ready.environment(memory, backing))
        } else {
            simulated::driver(&places.target, memory, backing)
        };
        match environment {
            Ok(environment) => launch.command.environment.extend(environment),
            Err(why) => launch.unavailable = Some(why),
        }
        launch
    }

    /// The launches of a subject on those of these devices that it knows.
    pub fn on_devices(subject: &Subject, devices: &[String], places: &Places) -> Vec<Launch> {
        let on = |device: &String| match device.as_str() {
            SIMULATED => Launch::simulated(subject.clone(), SIMULATED_BYTES, Backing::Host, places),
            other => Launch { device: other.into(), ..Launch::new(subject.clone(), 1, places) },
        };
        subject.devices.iter().filter(|device| devices.contains(device)).map(on).collect()
    }

    /// Whether its device is simulated, so that it has no times.
    pub fn is_simulated(&self) -> bool {
        self.device == SIMULATED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"
[[subject]]
id = "a"
title = "A"
start = ["{python}", "{subjects}/a.py"]
devices = ["cpu", "cuda"]
missing = "none"
"#;

    fn read(text: &str) -> Result<usize, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("subjects.toml"), text).unwrap();
        let here = folder.path().to_owned();
        subjects(&Places { subjects: here.clone(), target: here.clone(), python: here }).map(|subjects| subjects.len())
    }

    #[test]
    fn an_entry_with_names_that_nothing_has_is_refused() {
        assert_eq!(read(ENTRY), Ok(1));
        for (text, words) in [
            (ENTRY.repeat(2), "a has two entries"),
            (ENTRY.replace("\"cuda\"", "\"gpu\""), "unknown device \"gpu\"; known are: cpu, cuda, cuda (simulated)"),
            (ENTRY.replace("\"cpu\", ", ""), "every subject runs on \"cpu\""),
            (
                ENTRY.replace("{python}", "{pyton}"),
                "\"{pyton}\" in start has a place beside {target}, {subjects}, {python}",
            ),
            (format!("{ENTRY}instruments = [\"nothing\"]"), "unknown instrument \"nothing\""),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
