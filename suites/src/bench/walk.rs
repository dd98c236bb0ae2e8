//! The workloads of a device over the simulated one, which has no times: what each of them leaves is looked at.

use super::cell::Cell;
use super::counting::Counting;
use super::truth::Truth;
use crate::progress::Progress;
use crate::record::{Params, UNSUPPORTED};
use crate::run::Launch;
use crate::workloads::WORKLOADS;
use std::collections::BTreeMap;
use subject::DType;

/// A page, and more than a driver stages of pageable memory at once.
const SIZES: [u64; 2] = [1 << 10, 1 << 18];

/// What the walk came to.
#[derive(Default)]
pub struct Walk {
    /// Sizes of workloads that ran on a subject.
    pub ran: usize,
    /// How many the subject or the simulated device cannot do, by subject and reason.
    pub unsupported: BTreeMap<(String, String), usize>,
    /// What went wrong, in words.
    pub faults: Vec<String>,
}

/// Runs every workload of a device on each launch, as where it is counted, and holds its result against the reference's on the host.
pub fn walk(launches: &[&Launch], reference: &Launch, progress: &dyn Progress) -> Result<Walk, String> {
    let mut walk = Walk::default();
    let mut truth = Truth::new(reference);
    let workloads: Vec<_> = WORKLOADS.iter().filter(|workload| workload.device.is_some()).collect();
    for launch in launches {
        let mut subject = Counting::plain(launch)?;
        let id = &launch.subject.id;
        progress.phase(&format!("workloads of {id} on {}", launch.device), workloads.len() as u64);
        for workload in &workloads {
            progress.now(workload.name);
            let params = |dtype: &DType| SIZES.map(|elements| Params { dtype: dtype.name().into(), elements });
            for params in workload.dtypes.iter().flat_map(params) {
                let cell = Cell { workload: workload.name, params };
                match subject.checked(&cell, &mut truth) {
                    Ok(_) => walk.ran += 1,
                    Err(why) if why.starts_with(UNSUPPORTED) => {
                        *walk.unsupported.entry((id.clone(), why)).or_default() += 1;
                    }
                    Err(why) => walk.faults.push(format!("{id}: {} of {}: {why}", cell.workload, cell.params)),
                }
            }
            progress.step();
        }
        progress.end_phase();
    }
    Ok(walk)
}
