//! The workloads of a device over the simulated one, which has no times: what each of them leaves is looked at.

use super::cell::Cell;
use super::truth::{Truth, checksum};
use crate::progress::Progress;
use crate::record::Params;
use crate::run::{Instruments, Launch, Session};
use crate::workloads::{Purpose, WORKLOADS};
use std::collections::BTreeMap;

/// A page, and more than a driver stages of pageable memory at once.
const SIZES: [u64; 2] = [1 << 10, 1 << 18];
/// How the answer to what the device does not compute begins.
const UNSUPPORTED: &str = "unsupported: ";

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

/// Runs every workload of a device once on each launch, and holds its result against the reference's on the host.
pub fn walk(launches: &[&Launch], reference: &Launch, progress: &dyn Progress) -> Result<Walk, String> {
    let mut walk = Walk::default();
    let mut truth = Truth::new(reference);
    let workloads: Vec<_> = WORKLOADS.iter().filter(|workload| workload.device.is_some()).collect();
    for launch in launches {
        let mut session = Session::start(launch, Instruments::None)?;
        progress.phase(&format!("workloads of {} on {}", launch.subject.id, launch.device), workloads.len() as u64);
        for workload in &workloads {
            progress.now(workload.name);
            for &dtype in workload.dtypes {
                for elements in SIZES {
                    let cell =
                        Cell { workload: workload.name, params: Params { dtype: dtype.name().into(), elements } };
                    let known = truth.of(&cell, Purpose::Account)?;
                    match checksum(&mut session, cell.program(Purpose::Account)?) {
                        Ok(seen) => match known.filter(|known| *known != seen) {
                            None => walk.ran += 1,
                            Some(known) => {
                                let what = format!("{}: {} of {}", launch.subject.id, cell.workload, cell.params);
                                walk.faults.push(format!("{what}: wrong result: {seen}, the reference has {known}"));
                            }
                        },
                        Err(why) if why.starts_with(UNSUPPORTED) => {
                            *walk.unsupported.entry((launch.subject.id.clone(), why)).or_default() += 1;
                        }
                        Err(why) => {
                            let what = format!("{}: {} of {}", launch.subject.id, cell.workload, cell.params);
                            walk.faults.push(format!("{what}: {why}"));
                            session = Session::start(launch, Instruments::None)?;
                        }
                    }
                }
            }
            progress.step();
        }
        progress.end_phase();
    }
    Ok(walk)
}
