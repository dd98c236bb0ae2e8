//! Many seeds, one after the other, until the sides differ.

use super::Side;
use super::pair::{Differs, Pair, Step, Stop};
use super::shrink::shrink;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::BTreeMap;
use std::fmt;

/// What the programs of many seeds did.
#[derive(Debug, Default)]
pub struct Campaign {
    /// How many programs ran.
    pub programs: usize,
    /// How often each op was carried out and agreed on.
    pub uses: BTreeMap<&'static str, usize>,
}

/// The first disagreement, shrunk.
#[derive(Debug)]
pub struct Finding {
    /// The seed of the program.
    pub seed: u64,
    /// How many programs agreed before it.
    pub after: usize,
    /// Who the sides are.
    pub sides: [String; 2],
    /// The steps up to the disagreement.
    pub steps: Vec<Step>,
    /// The answers that differ.
    pub differs: Box<Differs>,
}

impl Campaign {
    /// Runs the program of each seed on both sides.
    ///
    /// # Errors
    /// What to tell the user when a side cannot go on. Where the sides differ the campaign ends with the finding.
    pub fn run(
        left: &mut dyn Side,
        right: &mut dyn Side,
        seeds: impl IntoIterator<Item = u64>,
        program: impl Fn(&Pair, &mut StdRng) -> Result<(), Stop>,
    ) -> Result<(Campaign, Option<Finding>), String> {
        let mut campaign = Campaign::default();
        for seed in seeds {
            let pair = Pair::new(left, right)?;
            let ended = program(&pair, &mut StdRng::seed_from_u64(seed));
            let mut steps = pair.steps();
            if let Err(Stop::Differs(differs)) = ended {
                steps.push(Step { op: differs.op.clone(), out: Vec::new() });
                let sides = [left.name().to_owned(), right.name().to_owned()];
                let (steps, differs) = shrink(left, right, steps, differs)?;
                let finding = Finding { seed, after: campaign.programs, sides, steps, differs };
                return Ok((campaign, Some(finding)));
            }
            campaign.programs += 1;
            for step in steps {
                *campaign.uses.entry(step.op.name()).or_default() += 1;
            }
        }
        Ok((campaign, None))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}, after {} programs:", self.seed, self.after)?;
        for step in &self.steps {
            writeln!(f, "    {step}")?;
        }
        for (side, answer) in self.sides.iter().zip([&self.differs.left, &self.differs.right]) {
            match answer {
                Ok(value) => writeln!(f, "{side}: {value}")?,
                Err(subject::Fail::Unsupported(what)) => writeln!(f, "{side}: unsupported: {what}")?,
                Err(subject::Fail::Error { kind, message }) => writeln!(f, "{side}: {kind}: {message}")?,
            }
        }
        Ok(())
    }
}
