//! Whether a program makes sense, asked before any of it runs.

use crate::{Fail, Handle, Op, Program, Step};
use std::collections::BTreeSet;

/// Slots are numbered below this: a library keeps a place for each number.
const SLOTS: u64 = 1 << 16;

impl Program {
    /// Refuses, with kind `protocol`, a program whose steps read what nothing made, whose slots are not as many as an op
    /// gives tensors or beyond all numbers of slots, or whose body cannot run again.
    pub fn check(&self) -> Result<(), Fail> {
        let mut live = BTreeSet::new();
        run_through(&self.setup, &mut live)?;
        let kept = live.clone();
        run_through(&self.body, &mut live)?;
        if !live.contains(&self.result) {
            return Err(refusal(format!("slot {} holds no tensor at the end of the body", self.result.0)));
        }
        let made: BTreeSet<&Handle> = self.body.iter().flat_map(out).collect();
        match kept.iter().find(|slot| !live.contains(slot) || made.contains(slot)) {
            Some(slot) => {
                let slot = slot.0;
                Err(refusal(format!("the body cannot run again: it drops or replaces slot {slot} of the setup")))
            }
            None => Ok(()),
        }
    }
}

/// Brings the slots that hold a tensor from before these steps to after them.
fn run_through(steps: &[Step], live: &mut BTreeSet<Handle>) -> Result<(), Fail> {
    for step in steps {
        match step {
            Step::Drop(slots) => slots.iter().for_each(|slot| {
                live.remove(slot);
            }),
            Step::Call { op, out } => {
                check_slots(op, out.len())?;
                if let Some(empty) = op.handles().iter().find(|slot| !live.contains(slot)) {
                    let (name, slot) = (op.name(), empty.0);
                    return Err(refusal(format!("{name} reads slot {slot}, which holds no tensor at that step")));
                }
                if let Some(beyond) = out.iter().find(|slot| slot.0 >= SLOTS) {
                    return Err(refusal(format!("slot {}: slots are numbered from 0 to {}", beyond.0, SLOTS - 1)));
                }
                live.extend(out.iter().cloned());
            }
        }
    }
    Ok(())
}

/// How many tensors an op that gives several will give is seen when it runs.
fn check_slots(op: &Op, slots: usize) -> Result<(), Fail> {
    let gives = match op.gives() {
        "tensors" => return Ok(()),
        "tensor" => 1,
        _ => 0,
    };
    if slots == gives {
        return Ok(());
    }
    Err(refusal(format!("{} gives {gives} tensors, the program has {slots} slots for them", op.name())))
}

fn out(step: &Step) -> &[Handle] {
    if let Step::Call { out, .. } = step { out } else { &[] }
}

fn refusal(what: String) -> Fail {
    Fail::error("protocol", what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, DType};

    fn slot(number: u64) -> Handle {
        Handle(number)
    }

    fn ones(into: u64) -> Step {
        Step::Call { op: Op::Ones { shape: vec![1], dtype: DType::F32 }, out: vec![slot(into)] }
    }

    fn add(of: u64, into: &[u64]) -> Step {
        let op = Op::AddScalar { a: slot(of), value: 1.into() };
        Step::Call { op, out: into.iter().copied().map(slot).collect() }
    }

    fn check(setup: Vec<Step>, body: Vec<Step>, result: u64) -> Result<(), String> {
        let program = Program { setup, body, result: slot(result), clock: Clock::Host };
        program.check().map_err(|fail| match fail {
            Fail::Error { kind, message } if kind == "protocol" => message,
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn each_fault_of_a_program_is_told_before_it_runs() {
        let dropped = |number| Step::Drop(vec![slot(number)]);
        assert_eq!(check(vec![ones(0)], vec![add(0, &[1])], 1), Ok(()));
        for (setup, body, result, told) in [
            (vec![ones(0)], vec![add(2, &[1])], 1, "add_scalar reads slot 2, which holds no tensor at that step"),
            (vec![ones(0)], vec![add(0, &[1, 2])], 1, "add_scalar gives 1 tensors, the program has 2 slots for them"),
            (vec![ones(0)], vec![add(0, &[1]), dropped(1)], 1, "slot 1 holds no tensor at the end of the body"),
            (
                vec![ones(0)],
                vec![dropped(0), add(0, &[1])],
                1,
                "add_scalar reads slot 0, which holds no tensor at that step",
            ),
            (vec![ones(u64::MAX)], vec![], 0, "slot 18446744073709551615: slots are numbered from 0 to 65535"),
            (vec![ones(0)], vec![ones(0)], 0, "the body cannot run again: it drops or replaces slot 0 of the setup"),
            (
                vec![ones(0)],
                vec![add(0, &[1]), dropped(0)],
                1,
                "the body cannot run again: it drops or replaces slot 0 of the setup",
            ),
        ] {
            assert_eq!(check(setup, body, result), Err(told.to_owned()));
        }
    }
}
