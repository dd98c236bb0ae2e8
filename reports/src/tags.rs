//! Words with a glyph and a class: verdicts, weights, outcomes, effects. The word carries the meaning, the glyph helps,
//! the colour comes third.

use serde::Serialize;
use suites::record::{EffectKind, Grade, OutcomeKind, VerdictKind, Weight};

/// One such word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tag {
    /// Hidden from screen readers.
    pub glyph: &'static str,
    /// What it says.
    pub word: &'static str,
    /// Its class in the style sheet.
    pub class: &'static str,
}

const fn tag(glyph: &'static str, word: &'static str, class: &'static str) -> Tag {
    Tag { glyph, word, class }
}

/// A claim that this run log says nothing about.
pub const NO_VERDICT: Tag = tag("·", "no verdict", "open");
/// PyTorch itself gave another value than the one known of it.
pub const UNEXPECTED: Tag = tag("≠", "unexpected", "unexpected");
/// A value seen that equals what was claimed.
pub const FITS: Tag = tag("✓", "fits", "fits");
/// A value seen that does not.
pub const DOES_NOT_FIT: Tag = tag("✗", "does not fit", "does-not-fit");

/// The tag of a verdict.
pub fn verdict(kind: VerdictKind) -> Tag {
    match kind {
        VerdictKind::Right => tag("✓", "right", "right"),
        VerdictKind::PartlyRight => tag("◐", "partly-right", "partly"),
        VerdictKind::Wrong => tag("✗", "wrong", "wrong"),
        VerdictKind::Open => tag("○", "open", "open"),
        VerdictKind::NotTestable => tag("–", "not-testable", "not-testable"),
    }
}

/// The tag of a weight.
pub fn weight(weight: Weight) -> Tag {
    match weight {
        Weight::Breaks => tag("■", "breaks", "breaks"),
        Weight::Misleads => tag("◧", "misleads", "misleads"),
        Weight::Wording => tag("□", "wording", "wording"),
    }
}

/// The tag of an outcome.
pub fn outcome(kind: OutcomeKind) -> Tag {
    match kind {
        OutcomeKind::Agrees => tag("=", "agrees", "agrees"),
        OutcomeKind::Differs => tag("≠", "differs", "differs"),
        OutcomeKind::Unsupported => tag("∅", "unsupported", "unsupported"),
        OutcomeKind::NotRun => tag("·", "not-run", "not-run"),
        OutcomeKind::Crashed => tag("!", "crashed", "crashed"),
        OutcomeKind::TimedOut => tag("…", "timed-out", "timed-out"),
        OutcomeKind::HarnessError => tag("#", "harness-error", "harness-error"),
    }
}

/// The tag of an effect.
pub fn effect(kind: EffectKind) -> Tag {
    match kind {
        EffectKind::Holds => tag("▲", "holds", "holds"),
        EffectKind::Reversed => tag("▼", "reversed", "reversed"),
        EffectKind::NoDifference => tag("=", "no-difference", "no-difference"),
        EffectKind::Ambiguous => tag("?", "ambiguous", "ambiguous"),
    }
}

/// The tag of the weather.
pub fn weather(grade: Option<Grade>) -> Tag {
    match grade {
        Some(Grade::Quiet) => tag("●", "quiet", "holds"),
        Some(Grade::Usable) => tag("◐", "usable", "ambiguous"),
        Some(Grade::DoNotCompare) => tag("✗", "do-not-compare", "reversed"),
        None => tag("○", "not graded", "open"),
    }
}

/// How loud an outcome is: a cell that joins several shows the loudest.
pub fn loudness(kind: OutcomeKind) -> u8 {
    match kind {
        OutcomeKind::Crashed => 6,
        OutcomeKind::TimedOut => 5,
        OutcomeKind::HarnessError => 4,
        OutcomeKind::Differs => 3,
        OutcomeKind::Unsupported => 2,
        OutcomeKind::NotRun => 1,
        OutcomeKind::Agrees => 0,
    }
}
