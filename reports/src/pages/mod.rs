//! The pages: each module turns a digest into what one template shows.

mod claim;
mod effects;
mod engine;
mod errata;
mod facts;
mod frame;
mod glossary;
mod known;
mod machine;
mod matrix;
mod memory;
mod overview;
mod workload;

pub use frame::interrupted;

use crate::digest::Digest;
use engine::Engine;

/// Every page as path and content, the overview first. What needs a device is also shown from the first imported run that
/// has it. An error names the page.
pub fn all(digest: &Digest, imported: &[Digest]) -> Result<Vec<(String, String)>, String> {
    let engine = Engine::new()?;
    let mut pages = vec![overview::page(&engine, digest)?, matrix::page(&engine, digest)?];
    for tutorial in &digest.catalogue.tutorials {
        pages.push(errata::page(&engine, digest, tutorial)?);
    }
    for claim in &digest.catalogue.claims {
        pages.push(claim::page(&engine, digest, claim)?);
    }
    for family in digest.workload_pages() {
        pages.push(workload::page(&engine, digest, imported, family)?);
    }
    if memory::exists(digest) {
        pages.push(memory::index_page(&engine, digest)?);
    }
    for seen in &digest.memory {
        pages.push(memory::case_page(&engine, digest, seen)?);
    }
    pages.extend(known::page(&engine, digest)?);
    pages.push(machine::page(&engine, digest)?);
    pages.push(glossary::page(&engine, digest)?);
    Ok(pages)
}
