//! Options that several commands share.

use crate::console::Failure;
use crate::places;
use std::collections::BTreeSet;
use std::path::PathBuf;
use suites::case::Case;
use suites::claims::{Catalogue, Claim, catalogue};
use suites::record::{CPU, CUDA, SIMULATED};
use suites::run::{Launch, Places, choose, subjects};
use suites::workloads::WORKLOADS;

/// Which subjects.
#[derive(clap::Args)]
pub struct Which {
    /// Only these subjects, separated by commas [default: all in suites/subjects/subjects.toml]
    #[arg(long, value_delimiter = ',', value_name = "SUBJECT")]
    pub subject: Vec<String>,
    /// On these devices, separated by commas: cpu, cuda (a real one), simulated
    #[arg(long, value_delimiter = ',', value_name = "DEVICE", default_values = ["cpu", "simulated"])]
    pub device: Vec<On>,
    /// Python interpreter for the Python subjects [default: the active environment, else the one that `setup` made,
    /// else python3]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
}

impl Which {
    /// Finds the places and makes the launches that run these cases, one for each device of a subject, with a Python
    /// that was just made or the one that is found.
    pub fn launches(&self, made: Option<PathBuf>, cases: &[Case]) -> Result<(Places, Vec<Launch>), Failure> {
        let places = places::find(made.as_deref().or(self.python.as_deref()))?;
        let chosen = choose(subjects(&places)?, &self.subject).map_err(Failure::Usage)?;
        let devices: Vec<String> = self.device.iter().map(|on| on.device().to_owned()).collect();
        let mut launches: Vec<Launch> =
            chosen.iter().flat_map(|subject| Launch::on_devices(subject, &devices, &places)).collect();
        let is_used = |launch: &Launch| cases.iter().any(|case| case.runs_on(&launch.device, &launch.subject.devices));
        launches.retain(|launch| !launch.is_simulated() || is_used(launch));
        Ok((places, launches))
    }
}

/// A device to run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum On {
    /// The processor
    Cpu,
    /// A real CUDA device
    Cuda,
    /// A simulated CUDA device, which has bytes and no times
    Simulated,
}

impl On {
    fn device(self) -> &'static str {
        match self {
            On::Cpu => CPU,
            On::Cuda => CUDA,
            On::Simulated => SIMULATED,
        }
    }
}

/// Which cases.
#[derive(clap::Args)]
pub struct Only {
    /// Only cases and workloads whose name, or one of whose claims, contains every word of QUERY
    #[arg(long, value_name = "QUERY")]
    pub only: Option<String>,
}

impl Only {
    /// The cases and the names of the workloads that match; an error when neither is left.
    pub fn cases_and_workloads(&self) -> Result<(Vec<Case>, Vec<&'static str>), Failure> {
        let catalogue = claims()?;
        let matches = |name: &str| self.words().all(|word| name.contains(word));
        let wanted = |workload: &str| {
            let of_claim = |claim: &Claim| claim.workloads().is_some_and(|(a, b)| [a, b].contains(&workload));
            matches(workload) || catalogue.claims.iter().any(|claim| of_claim(claim) && matches(&claim.id))
        };
        // A share of a limit needs the limit, too.
        let limits: Vec<_> = WORKLOADS
            .iter()
            .filter(|workload| wanted(workload.name))
            .filter_map(|workload| workload.device?.bound_by)
            .collect();
        let names = WORKLOADS.iter().map(|workload| workload.name);
        let workloads: Vec<_> = names.filter(|name| wanted(name) || limits.contains(name)).collect();
        match self.matching() {
            (cases, _) if !cases.is_empty() || !workloads.is_empty() => Ok((cases, workloads)),
            (_, mut names) => {
                names.extend(WORKLOADS.iter().map(|workload| workload.name.to_owned()));
                Err(self.unknown("case, workload or claim", &names))
            }
        }
    }

    fn unknown(&self, what: &str, names: &[String]) -> Failure {
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let names: Vec<&str> = names.into_iter().collect();
        Failure::Usage(suites::near::unknown(what, self.only.as_deref().unwrap_or_default(), &names))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.only.iter().flat_map(|query| query.split_whitespace())
    }

    /// The cases that match; an error names the nearest when none does.
    pub fn cases(&self) -> Result<Vec<Case>, Failure> {
        match self.matching() {
            (cases, names) if cases.is_empty() => Err(self.unknown("case or claim", &names)),
            (cases, _) => Ok(cases),
        }
    }

    /// The cases that match, and the names of the others and of their claims.
    fn matching(&self) -> (Vec<Case>, Vec<String>) {
        let (chosen, rest): (Vec<Case>, Vec<Case>) = suites::cases::all().into_iter().partition(|case| {
            self.words().all(|word| case.name.contains(word) || case.claims.iter().any(|c| c.contains(word)))
        });
        let names = rest.into_iter().flat_map(|case| [vec![case.name], case.claims].concat());
        (chosen, names.collect())
    }
}

/// The claims that are compiled in.
pub fn claims() -> Result<&'static Catalogue, Failure> {
    catalogue().map_err(Failure::Failed)
}
