//! `cargo xtask claims`: what is claimed, and what decides it.

use crate::console::{Failure, put, put_list};
use crate::options::claims;
use serde::Serialize;
use suites::claims::{Claim, Kind, Need};

/// List the claims with their cases and workloads
#[derive(clap::Args)]
pub struct Args {
    /// Only claims whose id or statement contains every word of QUERY
    #[arg(long, value_name = "QUERY")]
    only: Option<String>,
    /// Print a list of objects: id, tutorial, kind, needs, cases, workloads, reason
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    tutorial: &'a str,
    kind: Kind,
    needs: &'a [Need],
    cases: Vec<String>,
    workloads: Vec<&'a str>,
    /// Why this version decides the claim nowhere, or nothing.
    reason: Option<&'a str>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let catalogue = claims()?;
    let cases = suites::cases::all();
    let row = |claim: &'static Claim| Row {
        id: &claim.id,
        tutorial: claim.tutorial(),
        kind: claim.kind,
        needs: &claim.needs,
        cases: cases.iter().filter(|case| case.claims.contains(&claim.id)).map(|case| case.name.clone()).collect(),
        workloads: claim.workloads().map(|(slower, faster)| vec![slower, faster]).unwrap_or_default(),
        reason: claim.reason(),
    };
    let wanted = |claim: &&Claim| {
        args.only.iter().flat_map(|q| q.split_whitespace()).all(|w| claim.id.contains(w) || claim.statement.contains(w))
    };
    let chosen: Vec<&Claim> = catalogue.claims.iter().filter(wanted).collect();
    if let (true, Some(query)) = (chosen.is_empty(), &args.only) {
        let ids: Vec<&str> = catalogue.claims.iter().map(|claim| claim.id.as_str()).collect();
        return Err(Failure::Usage(suites::near::unknown("claim", query, &ids)));
    }
    if args.json {
        let rows: Vec<Row> = chosen.into_iter().map(row).collect();
        return put_list(&rows);
    }
    for claim in chosen {
        let row = row(claim);
        put(&format!("{}  {}  {}", row.id, claim.lines, row.kind));
        put(&format!("    {}", claim.statement));
        let decided: Vec<&str> = row.cases.iter().map(String::as_str).chain(row.workloads).collect();
        let decided = row.reason.map_or_else(|| decided.join(", "), |reason| format!("not decided here: {reason}"));
        put(&format!("    {decided}"));
    }
    Ok(())
}
