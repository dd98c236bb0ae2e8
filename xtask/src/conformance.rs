//! `cargo xtask conformance`: runs cases and prints what came of them.

use crate::console::{Console, Failure, put, put_json};
use crate::options::{Only, Which, claims};
use suites::case::Case;
use suites::judge;
use suites::progress::Progress;
use suites::record::{CPU, Fact, Outcome, OutcomeKind, Record, VerdictKind};
use suites::run::Conformance;

/// Run conformance cases and print outcomes, facts that do not agree, and the verdicts of the claims touched
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    cargo xtask conformance --subject reference\n  \
    cargo xtask conformance --only t000.inplace --subject pytorch,numpy\n  \
    cargo xtask conformance --json | head -1")]
pub struct Args {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    only: Only,
    /// Print one JSON record a line, as in the run log
    #[arg(long)]
    json: bool,
    /// Print every fact and the transcript of each case
    #[arg(long)]
    verbose: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let cases = args.only.cases()?;
    let (places, launches) = args.which.launches(None, &cases, &[])?;
    let console = Console::default();
    let mut records = Vec::new();
    for launch in &launches {
        let mut conformance = Conformance::start(launch, &places.target);
        let cases: Vec<&Case> = cases.iter().filter(|case| conformance.runs(case)).collect();
        let title = format!("conformance of {} on {}", launch.subject.id, launch.device);
        console.phase(&title, cases.len() as u64);
        if let Some(missing) = &conformance.record().missing {
            console.say(&format!("{}: not-run, {missing}", launch.subject.id));
        }
        for case in cases {
            console.now(&case.name);
            let outcome = conformance.run(case);
            // Of a subject that is missing it was said once.
            let known = conformance.record().missing.is_some() && outcome.outcome == OutcomeKind::NotRun;
            if !args.json && (args.verbose || !known) {
                print(&console, &outcome, args.verbose);
            }
            records.push(Record::Outcome(outcome));
            records.extend(conformance.take_memory());
            console.step();
        }
    }
    console.end_phase();
    let mut verdicts = judge::verdicts(claims()?, &records, &[], suites::record::JUDGED);
    judge::leave_open(&mut verdicts, &cases);
    let touched = verdicts.into_iter().filter(|verdict| {
        cases.iter().any(|case| case.claims.contains(&verdict.claim)) && verdict.verdict != VerdictKind::NotTestable
    });
    let touched: Vec<_> = touched.collect();
    if args.json {
        for record in records.iter().cloned().chain(touched.into_iter().map(Record::Verdict)) {
            put_json(&record)?;
        }
        return Ok(());
    }
    if launches.iter().any(|launch| launch.subject.id == suites::record::JUDGED) {
        for verdict in touched {
            let reason = verdict.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            let simulated = if judge::rests_on_simulation(&verdict.claim, &records) { " (simulated)" } else { "" };
            put(&format!("{:12} {}{simulated}{reason}", verdict.verdict.to_string(), verdict.claim));
        }
    }
    Ok(())
}

fn print(console: &Console, outcome: &Outcome, verbose: bool) {
    let reason = outcome.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let subject = if outcome.device == CPU {
        outcome.subject.clone()
    } else {
        format!("{} on {}", outcome.subject, outcome.device)
    };
    let line = format!("{subject:10} {:13} {}{reason}", outcome.outcome.to_string(), outcome.case);
    console.say(&line);
    for fact in outcome.facts.iter().filter(|fact| verbose || !fact.agrees()) {
        console.say(&describe(fact));
    }
    if verbose {
        for line in &outcome.transcript {
            console.say(&format!("    > {}", line.replace('\n', "\n      ")));
        }
    }
}

fn describe(fact: &Fact) -> String {
    let known = fact.known.as_ref().map(|known| format!(", PyTorch {known}")).unwrap_or_default();
    let claimed = fact.claimed.iter().map(|claimed| {
        let fits = if fact.fits(claimed) { "fits" } else { "does not fit" };
        format!("\n        {fits} {}: {}", claimed.claim, claimed.value)
    });
    format!("    {}: {}{known}{}", fact.what, fact.seen, claimed.collect::<String>())
}
