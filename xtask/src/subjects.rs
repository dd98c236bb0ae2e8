//! `cargo xtask subjects`: who can be tested here.

use crate::console::{Failure, put, put_list};
use crate::options::Which;
use suites::run::Conformance;

/// List the subjects, start each, and show its version or what is missing
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Print a list of objects: subject, device, threads, version, language, build, missing
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (places, launches) = args.which.launches(None, &suites::cases::all(), &[])?;
    let records: Vec<_> =
        launches.iter().map(|launch| Conformance::start(launch, &places.target).record().clone()).collect();
    if args.json {
        return put_list(&records);
    }
    for record in records {
        let state = match (&record.version, &record.language, &record.missing) {
            (Some(version), Some(language), _) => format!("{version} ({language})"),
            (_, _, Some(missing)) => format!("not here: {missing}"),
            _ => "said nothing about itself".into(),
        };
        put(&format!("{:12} {:16} {state}", record.subject, record.device));
    }
    Ok(())
}
