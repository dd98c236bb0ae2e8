//! Fewer steps that show the same disagreement.

use super::Side;
use super::pair::{Differs, Pair, Step};
use super::relabel::{handles, relabel};
use subject::Op;

/// Leaves out one step after the other for as long as the sides go on differing in the same way.
///
/// # Errors
/// What to tell the user when a side cannot go on.
pub(super) fn shrink(
    left: &mut dyn Side,
    right: &mut dyn Side,
    mut steps: Vec<Step>,
    mut differs: Box<Differs>,
) -> Result<(Vec<Step>, Box<Differs>), String> {
    let mut at = steps.len().saturating_sub(1);
    while at > 0 {
        at -= 1;
        let Some(fewer) = without(&steps, at) else { continue };
        let pair = Pair::new(&mut *left, &mut *right)?;
        if let Some(seen) = pair.replay(&fewer)
            && seen.resembles(&differs)
        {
            (steps, differs) = (fewer, seen);
        }
    }
    Ok((steps, differs))
}

/// The steps but one; who read its tensors reads what it read itself.
fn without(steps: &[Step], at: usize) -> Option<Vec<Step>> {
    let gone = &steps[at];
    // What stands in for a conversion would be of another dtype, and differ for that.
    let stand_in = if let Op::To { .. } = gone.op { None } else { handles(&gone.op).into_iter().next() };
    let mut fewer = steps[..at].to_vec();
    for step in &steps[at + 1..] {
        let other = |handle| if gone.out.contains(&handle) { stand_in.clone() } else { Some(handle) };
        fewer.push(Step { op: relabel(&step.op, other)?, out: step.out.clone() });
    }
    Some(fewer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use subject::{DType, Handle};

    #[test]
    fn a_step_left_out_is_replaced_by_what_it_read() {
        let steps = [
            Step { op: Op::Ones { shape: vec![2], dtype: DType::F32 }, out: vec![Handle(0)] },
            Step { op: Op::Neg { a: Handle(0) }, out: vec![Handle(1)] },
            Step { op: Op::Values { a: Handle(1) }, out: vec![] },
        ];
        let lines = |steps: Vec<Step>| steps.iter().map(Step::to_string).collect::<Vec<_>>();
        assert_eq!(
            lines(without(&steps, 1).unwrap()),
            ["t0 = torch.ones([2], dtype=torch.float32)", "t0.flatten().tolist()"]
        );
        assert!(without(&steps, 0).is_none(), "nothing stands in for a new tensor");
    }
}
