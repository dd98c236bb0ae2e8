//! Who is measured: of each subject one launch, and the reference a second time.

use super::cell::Cell;
use crate::judge::{AGAIN, REFERENCE};
use crate::record::{CPU, CUDA};
use crate::run::Launch;

/// A launch under the name that it is measured by.
pub struct Entrant<'a> {
    /// The name.
    pub name: String,
    /// The launch.
    pub launch: &'a Launch,
    /// Only these workloads, where not all are wanted.
    pub only: Option<&'a [&'a str]>,
}

impl Entrant<'_> {
    /// Whether it is measured at this cell.
    pub fn wants(&self, cell: &Cell) -> bool {
        self.only.is_none_or(|only| only.contains(&cell.workload))
    }
}

/// Of these launches, those that measure: a subject's launch on the CPU, or else the one on the GPU.
pub fn measuring<'a>(launches: &[&'a Launch]) -> Vec<&'a Launch> {
    let on_cpu = |subject: &str| launches.iter().any(|launch| launch.device == CPU && launch.subject.id == subject);
    let measures = |launch: &&Launch| match launch.device.as_str() {
        CUDA => !on_cpu(&launch.subject.id),
        device => device == CPU,
    };
    launches.iter().copied().filter(measures).collect()
}

/// Every launch once, and the reference a second time as the A/A control.
pub fn entrants<'a>(present: &[&'a Launch], compared: &'a [&'a str]) -> Vec<Entrant<'a>> {
    let mut entrants = Vec::new();
    for launch in present {
        entrants.push(Entrant { name: launch.subject.id.clone(), launch, only: None });
        if launch.subject.id == REFERENCE {
            entrants.push(Entrant { name: AGAIN.into(), launch, only: Some(compared) });
        }
    }
    entrants
}

/// A launch that starts nothing.
#[cfg(test)]
pub fn launch(subject: &str, device: &str) -> Launch {
    let subject = crate::run::Subject {
        id: subject.into(),
        title: String::new(),
        start: Vec::new(),
        devices: Vec::new(),
        instruments: Vec::new(),
        missing: String::new(),
    };
    let command = crate::run::CommandLine { words: Vec::new(), environment: Vec::new() };
    Launch { subject, device: device.into(), threads: 1, command, unavailable: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SIMULATED;

    #[test]
    fn one_launch_of_each_subject_measures_and_none_on_a_simulated_device() {
        let launches = [
            launch("a", CPU),
            launch("a", CUDA),
            launch("a", SIMULATED),
            launch("b", SIMULATED),
            launch("b", CUDA),
            launch("c", SIMULATED),
        ];
        let measuring = measuring(&launches.iter().collect::<Vec<_>>());
        let measuring: Vec<_> = measuring.iter().map(|launch| (launch.subject.id.as_str(), &*launch.device)).collect();
        assert_eq!(measuring, [("a", CPU), ("b", CUDA)]);
    }
}
