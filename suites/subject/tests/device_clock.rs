//! How a program is timed by a device's own clock, on a device that only counts.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::time::Duration;
use subject::{Calls, Clock, DType, Fail, Lap, Library, Prepared, ProgramBuilder, Scalar};

/// A device on which a write takes 10 ns, and enqueuing it takes as long as the test wants.
#[derive(Default)]
struct Counting {
    enqueuing: Duration,
    gate: Option<Duration>,
    enqueued: u64,
    /// The writes and the gate of each lap.
    laps: Vec<(u64, Duration)>,
    waited: u32,
    refuses_after: Option<u64>,
}

impl Library for Counting {
    type Tensor = ();

    fn ones(&mut self, _: &[i64], _: DType) -> Result<(), Fail> {
        Ok(())
    }

    fn add_scalar_(&mut self, _: &mut (), _: Scalar) -> Result<(), Fail> {
        if self.refuses_after == Some(self.enqueued) {
            return Err(Fail::error("device", "refused"));
        }
        self.enqueued += 1;
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fail> {
        self.waited += 1;
        Ok(())
    }

    fn start_clock(&mut self, gate: Duration) -> Result<(), Fail> {
        assert_eq!(self.gate.replace(gate), None, "started twice");
        self.enqueued = 0;
        Ok(())
    }

    fn stop_clock(&mut self) -> Result<Lap, Fail> {
        let gate = self.gate.take().expect("stopped and not started");
        self.laps.push((self.enqueued, gate));
        Ok(Lap { nanoseconds: 10 * self.enqueued, gated: self.enqueuing * self.enqueued as u32 <= gate })
    }
}

fn program(library: &mut Counting, steps: u32) -> Prepared<Counting> {
    let builder = ProgramBuilder::default();
    let mut a = builder.ones([4], DType::F32).unwrap();
    builder.begin_body();
    (0..steps).for_each(|_| builder.add_scalar_(&mut a, 1.0).unwrap());
    Prepared::new(builder.finish(a, Clock::Device), library).unwrap()
}

#[test]
fn a_long_loop_is_timed_in_parts_that_the_device_takes_ahead() {
    let mut library = Counting::default();
    let mut program = program(&mut library, 2);
    assert_eq!(program.measure(&mut library, 300), Ok(10 * 600));
    let parts: Vec<u64> = library.laps.iter().map(|(writes, _)| *writes).collect();
    assert_eq!(parts, [256, 256, 88]);
}

#[test]
fn a_body_of_more_steps_than_the_device_takes_is_a_part_of_its_own() {
    let mut library = Counting::default();
    let mut program = program(&mut library, 1000);
    assert_eq!(program.measure(&mut library, 2), Ok(10 * 2000));
    assert_eq!(library.laps.len(), 2);
}

#[test]
fn the_gate_grows_until_it_holds_and_stays_so() {
    let mut library = Counting { enqueuing: Duration::from_micros(5), ..Counting::default() };
    let mut program = program(&mut library, 1);
    for _ in 0..2 {
        // Only laps behind a shut gate count.
        assert_eq!(program.measure(&mut library, 256), Ok(10 * 256));
    }
    let gates: Vec<u128> = library.laps.iter().map(|(_, gate)| gate.as_micros()).collect();
    assert_eq!(gates, [200, 400, 800, 1600, 1600]);
}

#[test]
fn a_body_that_waits_for_the_device_has_no_time() {
    let mut library = Counting { enqueuing: Duration::from_secs(1), ..Counting::default() };
    let mut program = program(&mut library, 1);
    let Err(Fail::Error { message, .. }) = program.measure(&mut library, 3) else { panic!("a time") };
    assert!(message.contains("waits for the device itself"), "{message}");
    assert_eq!(library.laps.last().unwrap().1, Duration::from_millis(250), "what the message says was tried");
}

#[test]
fn a_body_that_fails_leaves_no_clock_running() {
    let mut library = Counting { refuses_after: Some(5), ..Counting::default() };
    let mut program = program(&mut library, 1);
    assert_eq!(program.measure(&mut library, 20), Err(Fail::error("device", "refused")));
    assert_eq!((library.gate, library.laps.len()), (None, 1));
}

#[test]
fn a_result_is_looked_at_when_the_device_has_it() {
    let mut library = Counting::default();
    let mut program = program(&mut library, 1);
    let waited = program.result(&mut library, |library, ()| Ok(library.waited));
    assert_eq!(waited, Ok(1));
    program.run(&mut library).unwrap();
    assert!(library.laps.is_empty(), "no clock without a time");
}
