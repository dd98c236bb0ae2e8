//! Programs whose printed lines are compared with those that a tutorial shows.

use crate::case::Case;
use crate::probe::Stop;
use crate::record::Value;

/// A case that runs a piece of Python, whose answer is the lines that it printed, and compares each with the line that
/// the claim beside it shows. All come from one run, and all are what PyTorch prints.
pub fn listing(name: &str, source: &'static str, lines: &'static [(&'static str, &'static str)]) -> Case {
    let claims: Vec<&str> = lines.iter().map(|(claim, _)| *claim).collect();
    Case::pytorch(name, &claims, move |p| {
        let printed = match p.python(source, &[])? {
            Value::List(printed) if printed.len() == lines.len() => printed,
            other => return Err(Stop::Harness(format!("expected {} printed lines, got {other}", lines.len()))),
        };
        for ((claim, line), seen) in lines.iter().zip(printed) {
            p.fact(format!("printed: {claim}"), seen).known(*line).claimed(claim, *line).example();
        }
        Ok(())
    })
}
