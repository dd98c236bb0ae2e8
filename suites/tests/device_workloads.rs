//! What is measured on a GPU, run over the simulated device: the data are right after every copy and every sum, and no
//! time comes out.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

mod common;

use std::time::Duration;
use subject::{Calls, Checksum, Clock, DType, Program, ProgramBuilder, Reply, Request, Value};
use suites::bench::walk;
use suites::progress::Progress;
use suites::run::{Backing, Instruments, Launch, SIMULATED_BYTES, Session};
use suites::workloads::{Purpose, WORKLOADS, Workload, find};

const LIMIT: Duration = Duration::from_secs(60);
/// One page, and more than the driver stages at once.
const SIZES: [u64; 2] = [1 << 10, 1 << 18];
/// Kernels that the simulated device does not compute.
const NOT_COMPUTED: [&str; 3] = ["matmul.f32", "matmul.f16", "matmul.bf16"];

#[test]
fn the_reference_engine_has_the_right_data() {
    let mut device = start(&common::simulated("reference", SIMULATED_BYTES, Backing::Host));
    let mut host = start(&common::launch("reference"));
    let workloads = on_device();
    assert!(workloads.len() > 15, "{}", workloads.len());
    for workload in workloads {
        for &dtype in workload.dtypes {
            for elements in SIZES {
                let seen = checksum(&mut device, workload.program(elements, dtype, Purpose::Account).unwrap());
                let known = checksum(&mut host, equal_on_the_host(workload, elements, dtype));
                assert_eq!(seen, known, "{} {dtype} {elements}", workload.name);
            }
        }
    }
}

#[test]
fn pytorch_has_the_same_data_as_the_engine() {
    let launches = ["reference", "pytorch"].map(|id| common::simulated(id, SIMULATED_BYTES, Backing::Host));
    let walk = walk(&launches.iter().collect::<Vec<_>>(), &common::launch("reference"), &Untold).unwrap();
    assert_eq!(walk.faults, Vec::<String>::new());
    // Products on both, and PyTorch's own kernels for sums of 16 bits, each at two sizes.
    assert_eq!(walk.unsupported.values().sum::<usize>(), 3 * 2 * 2 + 2 * 2 * 2, "{:?}", walk.unsupported);
    assert!(walk.ran > 100, "{}", walk.ran);
}

#[test]
fn a_subject_that_copies_nothing_is_found() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/fake.py");
    let mut liar = common::launch("reference");
    liar.subject.id = "liar".into();
    liar.command.words = ["python3", "-u", script, "copies-nothing"].map(Into::into).into();
    let walk = walk(&[&liar], &common::launch("reference"), &Untold).unwrap();
    // Nobody knows the bits of a product.
    assert_eq!(walk.ran, 3 * 2, "every other result was checked");
    assert!(walk.faults.iter().all(|fault| fault.contains("wrong result: 2 elements")), "{:?}", walk.faults);
}

/// Nobody is told.
struct Untold;

impl Progress for Untold {
    fn phase(&self, _: &str, _: u64) {}
    fn now(&self, _: &str) {}
    fn step(&self) {}
    fn end_phase(&self) {}
    fn say(&self, _: &str) {}
}

#[test]
fn a_simulated_device_yields_no_time() {
    for id in ["reference", "pytorch"] {
        let mut device = start(&common::simulated(id, SIMULATED_BYTES, Backing::Host));
        let timed = |workload: &&&Workload| workload.device.is_some_and(|device| device.clock == Clock::Device);
        for workload in on_device().iter().filter(timed) {
            let program = prepare(&mut device, workload.program(1 << 10, DType::F32, Purpose::Measure).unwrap());
            let refused = device.must(&Request::Measure { program, iterations: 300 }, LIMIT).unwrap_err();
            assert!(refused.starts_with("unsupported: "), "{id}, {}: {refused}", workload.name);
            // It is in order all the same.
            let checked = device.must(&Request::Checksum { program }, LIMIT);
            assert!(matches!(checked, Ok(Reply::Checksum(_))), "{id}, {}: {checked:?}", workload.name);
        }
    }
}

fn on_device() -> Vec<&'static Workload> {
    static ALL: [Workload; WORKLOADS.len()] = WORKLOADS;
    ALL.iter().filter(|workload| workload.device.is_some() && !NOT_COMPUTED.contains(&workload.name)).collect()
}

/// A program on the host that has the same result.
fn equal_on_the_host(workload: &Workload, elements: u64, dtype: DType) -> Program {
    if workload.name.starts_with("device-loop.") {
        let builder = ProgramBuilder::default();
        let last = builder.full([elements as i64], 9, dtype).unwrap();
        return builder.finish(last, Clock::Host);
    }
    let adds = workload.name.starts_with("device-add.");
    let equal = find(if adds { "add.allocating" } else { "share.clone" }).unwrap();
    equal.program(elements, dtype, Purpose::Account).unwrap()
}

fn start(launch: &Launch) -> Session {
    Session::start(launch, Instruments::None).unwrap()
}

fn prepare(session: &mut Session, program: Program) -> u64 {
    match session.must(&Request::Prepare(program), LIMIT) {
        Ok(Reply::Prepared { program }) => program,
        other => panic!("{other:?}"),
    }
}

/// The checksum of the result of the first run of the body.
fn checksum(session: &mut Session, program: Program) -> Checksum {
    let program = prepare(session, program);
    let Ok(Reply::Checksum(seen)) = session.must(&Request::Checksum { program }, LIMIT) else { panic!("no checksum") };
    assert_eq!(session.must(&Request::Reset {}, LIMIT), Ok(Reply::Value(Value::None)));
    seen
}
