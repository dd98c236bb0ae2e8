//! Options that several commands share.

use crate::console::Failure;
use crate::places;
use std::collections::BTreeSet;
use std::path::PathBuf;
use suites::case::Case;
use suites::claims::{Catalogue, Claim, catalogue};
use suites::record::{CPU, CUDA, SIMULATED};
use suites::run::{Launch, Places, choose, subjects};
use suites::workloads::{WORKLOADS, Workload, timed_on};

/// Which subjects.
#[derive(clap::Args)]
pub struct Which {
    /// Only these subjects, separated by commas [default: all in suites/subjects/subjects.toml]
    #[arg(long, value_delimiter = ',', value_name = "SUBJECT")]
    pub subject: Vec<String>,
    /// On these devices, separated by commas: cpu, cuda (a real one), simulated. Cases about device memory run on cuda
    /// or simulated, all others on cpu; a launch on cpu also times the workloads of a GPU, where a driver shows one
    #[arg(long, value_delimiter = ',', value_name = "DEVICE", default_values = ["cpu", "simulated"])]
    pub device: Vec<On>,
    /// Python interpreter for the Python subjects [default: the active environment, else the one that `setup` made,
    /// else python3]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
}

impl Which {
    /// Finds the places and makes the launches, one for each device of a subject, with a Python that was just made or
    /// the one that is found. Of the cases and workloads those must be left that one of the launches runs.
    pub fn launches(
        &self,
        made: Option<PathBuf>,
        cases: &[Case],
        workloads: &[&str],
    ) -> Result<(Places, Vec<Launch>), Failure> {
        let places = places::find(made.as_deref().or(self.python.as_deref()))?;
        let chosen = choose(subjects(&places)?, &self.subject).map_err(Failure::Usage)?;
        let devices: Vec<String> = self.device.iter().map(|on| on.device().to_owned()).collect();
        let mut launches = Vec::new();
        for subject in &chosen {
            let own = Launch::on_devices(subject, &devices, &places);
            if own.is_empty() && !self.subject.is_empty() {
                let (id, asked, known) = (&subject.id, devices.join(", "), subject.devices.join(", "));
                return Err(Failure::Usage(format!("{id} does not run on {asked}: it runs on {known}")));
            }
            launches.extend(own);
        }
        let runs_case =
            |launch: &Launch| cases.iter().any(|case| case.runs_on(&launch.device, &launch.subject.devices));
        if workloads.is_empty() && !launches.iter().any(runs_case) {
            return Err(Failure::Usage(format!(
                "nothing of what was chosen runs on {}: cases about device memory run on cuda or on a simulated device, \
                 all others on the CPU; workloads that need a GPU are timed by launches on cpu or cuda, all others on \
                 the CPU",
                devices.join(", ")
            )));
        }
        // Starting a simulated device takes its time.
        launches.retain(|launch| !launch.is_simulated() || runs_case(launch));
        Ok((places, launches))
    }

    /// Whether a launch on one of these devices times the workload.
    pub fn times(&self, workload: &str) -> bool {
        self.device.iter().any(|on| timed_on(on.device(), workload))
    }
}

/// A device to run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum On {
    /// The processor
    Cpu,
    /// A real CUDA device
    #[value(alias = "gpu")]
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
    /// Only cases and workloads whose name, or one of whose claims, contains every word of QUERY. A workload of a GPU
    /// brings the one along that bounds it
    #[arg(long, value_name = "QUERY")]
    pub only: Option<String>,
}

impl Only {
    /// The cases and the names of the workloads that match; an error when neither is left.
    pub fn cases_and_workloads(&self) -> Result<(Vec<Case>, Vec<&'static str>), Failure> {
        match (self.matching(), self.workloads()?) {
            ((cases, mut names), workloads) if cases.is_empty() && workloads.is_empty() => {
                names.extend(WORKLOADS.iter().map(|workload| workload.name.to_owned()));
                Err(self.unknown("case, workload or claim", &names))
            }
            ((cases, _), workloads) => Ok((cases, workloads)),
        }
    }

    /// The names of the workloads that match, and of those that bound them.
    fn workloads(&self) -> Result<Vec<&'static str>, Failure> {
        let catalogue = claims()?;
        let matches = |name: &str| self.words().all(|word| name.contains(word));
        let wanted = |workload: &str| {
            let of_claim = |claim: &Claim| claim.workloads().is_some_and(|(a, b)| [a, b].contains(&workload));
            matches(workload) || catalogue.claims.iter().any(|claim| of_claim(claim) && matches(&claim.id))
        };
        // A share of a limit needs the limit, too.
        let limits: Vec<_> =
            WORKLOADS.iter().filter(|workload| wanted(workload.name)).filter_map(Workload::bound_by).collect();
        let names = WORKLOADS.iter().map(|workload| workload.name);
        Ok(names.filter(|name| wanted(name) || limits.contains(name)).collect())
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
        let (cases, names) = self.matching();
        if !cases.is_empty() {
            return Ok(cases);
        }
        match self.workloads()? {
            workloads if workloads.is_empty() => Err(self.unknown("case or claim", &names)),
            workloads => Err(Failure::Usage(format!(
                "no case matches, and cases are all that is run here; `cargo xtask bench` measures the workloads: {}",
                workloads.join(", ")
            ))),
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
