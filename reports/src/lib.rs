//! Run logs in, static HTML out.
//!
//! [`read`] reads one run log, [`render`] writes the site that shows it, and [`errata_markdown`] and [`errata_text`]
//! give the corrections of one tutorial to send to its author. The pages need no script and no network, and show no
//! number that cannot be computed from the run log, which lies beside them as `run.jsonl`.

mod digest;
mod errata;
mod log;
mod memory;
mod numbers;
mod pages;
mod plot;
mod site;
mod stats;
mod subjects;
mod tags;
mod transfers;
mod words;

pub use errata::{UnknownTutorial, errata_markdown, errata_text};
pub use log::{ReadError, RunLog, imported, read};
pub use site::{Page, RenderError, Site, check_place, render};
