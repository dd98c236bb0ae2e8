//! Claims by subjects: where a library parts from PyTorch.

use super::engine::Engine;
use super::facts;
use super::frame::{Frame, claim_path};
use crate::digest::{self, Column, Digest};
use crate::tags::{self, Tag};
use crate::words;
use serde::Serialize;
use suites::claims::Claim;
use suites::record::{JUDGED, Outcome, OutcomeKind};

/// Longest line under an outcome, in characters.
const REMARK: usize = 30;

#[derive(Serialize)]
struct View {
    lead: String,
    columns: Vec<(String, String)>,
    key: Vec<(Tag, &'static str)>,
    topics: Vec<Topic>,
    missing: Vec<(String, String)>,
    /// What a simulated device is, where there was one.
    simulation: Option<String>,
    verdicts: Vec<Tag>,
}

#[derive(Serialize)]
struct Topic {
    name: String,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    short: String,
    href: String,
    statement: String,
    verdict: Tag,
    /// Whether the verdict rests on a simulated device.
    simulated: bool,
    /// Outcomes in the row, for the filter.
    seen: String,
    cells: Vec<Option<Cell>>,
    /// Why no subject has an outcome.
    none: Option<String>,
}

#[derive(Serialize)]
struct Cell {
    tag: Tag,
    remark: String,
    /// Which of its cases ran on a simulated device, in words, where one did.
    simulated: Option<String>,
}

/// Cells by what they come to.
#[derive(Default)]
struct Tally {
    differ: usize,
    crash: usize,
    time_out: usize,
    /// Cells of PyTorch whose values are not the ones known of it.
    unexpected: usize,
    /// Cells in which the library was able to answer.
    compared: usize,
}

impl Tally {
    fn count(&mut self, column: &Column, outcome: OutcomeKind) {
        match outcome {
            OutcomeKind::NotRun | OutcomeKind::Unsupported => return,
            OutcomeKind::Differs if column.subject == JUDGED => self.unexpected += 1,
            OutcomeKind::Differs => self.differ += 1,
            OutcomeKind::Crashed => self.crash += 1,
            OutcomeKind::TimedOut => self.time_out += 1,
            OutcomeKind::Agrees | OutcomeKind::HarnessError => {}
        }
        self.compared += 1;
    }
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest) -> Result<(String, String), String> {
    let mut topics: Vec<Topic> = Vec::new();
    let mut tally = Tally::default();
    for claim in &digest.catalogue.claims {
        let row = row(digest, claim, &mut tally);
        match topics.iter_mut().find(|topic| topic.name == claim.topic) {
            Some(topic) => topic.rows.push(row),
            None => topics.push(Topic { name: claim.topic.clone(), rows: vec![row] }),
        }
    }
    use OutcomeKind::{Agrees, Crashed, Differs, HarnessError, NotRun, TimedOut, Unsupported};
    use suites::record::VerdictKind as V;
    let view = View {
        lead: words::matrix(tally.differ, tally.crash, tally.time_out, tally.unexpected, tally.compared),
        columns: digest.columns.iter().map(|c| (c.name.into(), c.version.unwrap_or_default().into())).collect(),
        key: vec![
            (tags::outcome(Agrees), "every value is the one known of PyTorch"),
            (tags::outcome(Differs), "at least one is not"),
            (tags::outcome(Unsupported), "the library lacks an API"),
            (tags::outcome(Crashed), "the process ended"),
            (tags::outcome(TimedOut), "no answer in time"),
            (tags::outcome(HarnessError), "our fault or the protocol’s"),
            (tags::outcome(NotRun), "could not run here"),
        ],
        topics,
        missing: super::machine::missing(digest),
        simulation: digest.simulates().then(words::simulation),
        verdicts: [V::Right, V::PartlyRight, V::Wrong, V::Open, V::NotTestable].map(tags::verdict).into(),
    };
    let description = "Every claim on every subject, grouped by topic.";
    let frame = Frame::new(digest, "matrix.html".into(), "matrix", "Claims × subjects".into(), description.into());
    engine.page("matrix.html", &frame, &view)
}

fn row(digest: &Digest, claim: &Claim, tally: &mut Tally) -> Row {
    let mut seen: Vec<&str> = Vec::new();
    let cells: Vec<Option<Cell>> = digest
        .columns
        .iter()
        .map(|column| {
            let outcomes = digest.cell(&claim.id, column);
            let worst = outcomes.iter().copied().max_by_key(|outcome| tags::loudness(outcome.outcome))?;
            tally.count(column, worst.outcome);
            let tag = tags::outcome(worst.outcome);
            if !seen.contains(&tag.word) {
                seen.push(tag.word);
            }
            Some(cell(column, worst, &outcomes))
        })
        .collect();
    let none = cells.iter().all(Option::is_none).then(|| match claim.reason() {
        Some(reason) => format!("no case: {}", words::reason(reason)),
        None if claim.workloads().is_some() => "judged by its effects".into(),
        None => "no case in this run".into(),
    });
    Row {
        id: claim.id.clone(),
        short: claim.id.clone(),
        href: claim_path(&claim.id),
        statement: claim.statement.clone(),
        verdict: digest.verdict_tag(&claim.id),
        simulated: digest.rests_on_simulation(&claim.id),
        seen: seen.join(" "),
        cells,
        none,
    }
}

fn cell(column: &Column, worst: &Outcome, outcomes: &[&Outcome]) -> Cell {
    let unexpected = column.subject == JUDGED && worst.outcome == OutcomeKind::Differs;
    let same = outcomes.iter().filter(|outcome| outcome.outcome == worst.outcome).count();
    let remark = match (same, outcomes.len()) {
        (same, all) if same < all => format!("{same} of {all}: {}", words::short(&facts::remark(worst), REMARK)),
        _ => words::short(&facts::remark(worst), REMARK),
    };
    let simulated = outcomes.iter().filter(|outcome| digest::simulated(outcome)).count();
    Cell {
        tag: if unexpected { tags::UNEXPECTED } else { tags::outcome(worst.outcome) },
        remark,
        simulated: (simulated > 0).then(|| words::on_simulation(simulated, outcomes.len())),
    }
}
