//! The workloads of a device over the simulated one, which has no times: what each of them leaves is looked at.

use crate::judge::REFERENCE;
use crate::progress::Progress;
use crate::run::{Instruments, Launch, Session};
use crate::workloads::{Purpose, WORKLOADS};
use std::collections::BTreeMap;
use std::time::Duration;
use subject::{Checksum, DType, Program, Reply, Request};

const LIMIT: Duration = Duration::from_secs(60);
/// A page, and more than a driver stages of pageable memory at once.
const SIZES: [u64; 2] = [1 << 10, 1 << 18];
/// How the answer to what the device does not compute begins.
const UNSUPPORTED: &str = "unsupported: ";

/// What the walk came to.
#[derive(Default)]
pub struct Walk {
    /// Sizes of workloads that ran on a subject.
    pub ran: usize,
    /// Those that the subject or the simulated device cannot do.
    pub unsupported: usize,
    /// What went wrong, in words.
    pub faults: Vec<String>,
}

/// Runs every workload of a device once on each launch. The reference comes first: the results of others are held
/// against its own.
pub fn walk(launches: &[&Launch], progress: &dyn Progress) -> Result<Walk, String> {
    let mut walk = Walk::default();
    let mut truth: BTreeMap<(&str, DType, u64), Checksum> = BTreeMap::new();
    let workloads: Vec<_> = WORKLOADS.iter().filter(|workload| workload.device.is_some()).collect();
    for launch in launches {
        let mut session = Session::start(launch, Instruments::None)?;
        progress.phase(&format!("workloads of {} on {}", launch.subject.id, launch.device), workloads.len() as u64);
        for workload in &workloads {
            progress.now(workload.name);
            for &dtype in workload.dtypes {
                for elements in SIZES {
                    let program =
                        workload.program(elements, dtype, Purpose::Account).map_err(|fail| format!("{fail:?}"))?;
                    let name = format!("{}: {} of {elements} {dtype}", launch.subject.id, workload.name);
                    let known = truth.get(&(workload.name, dtype, elements));
                    match result(&mut session, program) {
                        Ok(seen) if known.is_some_and(|known| *known != seen) => {
                            walk.faults.push(format!("{name}: wrong result: {seen:?}, the reference has {known:?}"));
                        }
                        Ok(seen) => {
                            walk.ran += 1;
                            if launch.subject.id == REFERENCE {
                                truth.insert((workload.name, dtype, elements), seen);
                            }
                        }
                        Err(why) if why.starts_with(UNSUPPORTED) => walk.unsupported += 1,
                        Err(why) => {
                            walk.faults.push(format!("{name}: {why}"));
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

fn result(session: &mut Session, program: Program) -> Result<Checksum, String> {
    let checksum = match session.must(&Request::Prepare(program), LIMIT)? {
        Reply::Prepared { program } => session.must(&Request::Checksum { program }, LIMIT),
        other => return Err(format!("expected a prepared program, got {other:?}")),
    };
    session.must(&Request::Reset {}, LIMIT)?;
    match checksum? {
        Reply::Checksum(checksum) => Ok(checksum),
        other => Err(format!("expected a checksum, got {other:?}")),
    }
}
