//! What every page has round its content.

use crate::digest::Digest;
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Head, navigation and foot of one page.
#[derive(Debug, Serialize)]
pub struct Frame {
    /// Where it lies, from the site's root.
    pub path: String,
    /// The way from it to the root.
    pub root: &'static str,
    /// The kind of page, a class on the body.
    pub kind: &'static str,
    /// Its title.
    pub title: String,
    /// Its description for search engines.
    pub description: String,
    nav: Vec<Nav>,
    started: String,
    date: String,
    interrupted: Option<String>,
    tensormark: String,
    commit: Option<String>,
}

#[derive(Debug, Serialize)]
struct Nav {
    href: String,
    label: &'static str,
    current: bool,
}

impl Frame {
    /// The frame of the page at `path`.
    pub fn new(digest: &Digest, path: String, kind: &'static str, title: String, description: String) -> Self {
        Frame {
            root: if path.contains('/') { "../" } else { "" },
            kind,
            title,
            description,
            nav: nav(digest, kind),
            started: digest.header.started.clone(),
            date: date(&digest.header.started),
            interrupted: interrupted(digest),
            tensormark: digest.header.tensormark.clone(),
            commit: digest.header.commit.clone(),
            path,
        }
    }
}

fn nav(digest: &Digest, kind: &str) -> Vec<Nav> {
    let item = |label, href: String, kinds: &[&str]| Nav { href, label, current: kinds.contains(&kind) };
    let mut nav = vec![
        item("Overview", "index.html".into(), &["index"]),
        item("Matrix", "matrix.html".into(), &["matrix", "claim"]),
    ];
    if let Some(tutorial) = digest.catalogue.tutorials.first() {
        nav.push(item("Errata", errata_path(&tutorial.id), &["errata"]));
    }
    if let Some(family) = digest.workload_pages().first() {
        nav.push(item("Workloads", workload_path(family), &["workload"]));
    }
    if !digest.memory.is_empty() {
        nav.push(item("Device memory", MEMORY_PATH.into(), &["memory"]));
    }
    nav.push(item("Machine", "machine.html".into(), &["machine"]));
    nav
}

/// A sentence for a run that did not do everything planned; none for one that did.
pub fn interrupted(digest: &Digest) -> Option<String> {
    match (digest.footer.reason.as_str(), digest.footer.complete) {
        ("interrupted", _) => Some("This run was interrupted: what stands here is what it had done by then.".into()),
        (_, false) => Some("This run did not do everything that it had planned.".into()),
        _ => None,
    }
}

/// A point in time as people read it: `29 Nov 2026, 20:15 UTC`.
pub fn date(rfc3339: &str) -> String {
    match OffsetDateTime::parse(rfc3339, &Rfc3339) {
        Ok(at) => {
            let at = at.to_offset(time::UtcOffset::UTC);
            let month = &at.month().to_string()[..3];
            format!("{} {month} {}, {:02}:{:02} UTC", at.day(), at.year(), at.hour(), at.minute())
        }
        Err(_) => rfc3339.into(),
    }
}

/// Where the errata of a tutorial lie.
pub fn errata_path(tutorial: &str) -> String {
    format!("errata-{}.html", file_name(tutorial))
}

/// Where the page of a claim lies.
pub fn claim_path(claim: &str) -> String {
    format!("claim/{}.html", file_name(claim))
}

/// Where the page of a family of workloads lies.
pub fn workload_path(family: &str) -> String {
    format!("workload/{}.html", file_name(family))
}

/// Where the page of all that was seen of device memory lies.
pub const MEMORY_PATH: &str = "memory.html";

/// Where the page of what a case saw of device memory lies.
pub fn memory_path(case: &str) -> String {
    format!("memory/{}.html", file_name(case))
}

/// A name from a run log as a file name: whatever is not a letter, a digit, a dash, a dot or an underscore is spelled as
/// its bytes, so that no two names meet and none leaves the folder.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            other => out.push_str(&format!("~{other:02x}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_reads_well_and_a_strange_one_stands_as_it_is() {
        assert_eq!(date("2026-11-29T21:15:03+01:00"), "29 Nov 2026, 20:15 UTC");
        assert_eq!(date("yesterday"), "yesterday");
    }

    #[test]
    fn names_from_a_run_log_stay_in_their_folder() {
        assert_eq!(workload_path("../../etc"), "workload/..~2f..~2fetc.html");
        assert_eq!(claim_path("t000.chunk.saves-peak"), "claim/t000.chunk.saves-peak.html");
    }
}
