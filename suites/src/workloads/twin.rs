//! A program for a device as one for the host alone: it says what the result must be, without a device.

use subject::{Clock, Op, Program, Step};

/// The same program on the host: tensors of the device are tensors of the host, copies are copies, and what only concerns
/// the device is left out. Nothing where the results need not be the same bits: a device adds up the products of
/// matrices in an order of its own.
pub fn on_the_host(program: Program) -> Option<Program> {
    let steps = |steps: Vec<Step>| -> Option<Vec<Step>> {
        let twins = steps.into_iter().map(|step| match step {
            Step::Call { op: Op::Matmul { .. }, .. } => None,
            Step::Call { op, out } => Some(twin(op).map(|op| Step::Call { op, out })),
            dropped => Some(Some(dropped)),
        });
        Some(twins.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
    };
    let (setup, body) = (steps(program.setup)?, steps(program.body)?);
    Some(Program { setup, body, result: program.result, clock: Clock::Host })
}

/// The op of the host that gives the same values; nothing where none is needed.
fn twin(op: Op) -> Option<Op> {
    Some(match op {
        Op::EmptyOn { shape, dtype, .. } | Op::EmptyPinned { shape, dtype } => Op::Empty { shape, dtype },
        Op::ZerosOn { shape, dtype, .. } => Op::Zeros { shape, dtype },
        Op::ToDevice { a, .. } | Op::PinMemory { a } => Op::Clone { a },
        Op::CopyFrom { a, b, .. } => Op::Copy_ { a, b },
        Op::Register_ { .. }
        | Op::Unregister_ { .. }
        | Op::Synchronize {}
        | Op::EmptyCache {}
        | Op::TakeAndGiveBack { .. } => return None,
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{Purpose, WORKLOADS};
    use subject::DType;

    #[test]
    fn a_twin_names_no_device_and_can_run_again() {
        let devices = ["transfer", "memory"];
        for workload in WORKLOADS.iter().filter(|workload| workload.device.is_some()) {
            let program = workload.program(1 << 10, DType::F32, Purpose::Account).unwrap();
            let Some(twin) = on_the_host(program) else {
                assert!(workload.name.starts_with("matmul."), "{}", workload.name);
                continue;
            };
            twin.check().unwrap();
            for step in twin.setup.iter().chain(&twin.body) {
                let Step::Call { op, .. } = step else { continue };
                let info = subject::OPS.iter().find(|info| info.name == op.name()).unwrap();
                assert!(
                    !devices.contains(&info.group) && !info.args.iter().any(|(name, _)| *name == "device"),
                    "{op:?}"
                );
            }
        }
    }
}
