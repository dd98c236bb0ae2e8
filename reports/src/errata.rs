//! The corrections of one tutorial, most harmful first: for its page, as Markdown and as plain text, in the same order
//! and the same words.

use crate::RunLog;
use crate::digest::{Digest, harm};
use crate::tags::{self, Tag};
use crate::words;
use std::fmt::{self, Write};
use suites::claims::{Catalogue, Claim, Tutorial};
use suites::record::{Verdict, VerdictKind, Weight};

/// A tutorial id that the catalogue does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTutorial {
    /// The id asked for.
    pub asked: String,
    /// The ids that there are.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownTutorial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no tutorial `{}`: the catalogue has {}", self.asked, self.known.join(", "))
    }
}

impl std::error::Error for UnknownTutorial {}

/// Everything that a run says about one tutorial.
pub struct Errata<'a> {
    /// The tutorial.
    pub tutorial: &'a Tutorial,
    /// What it comes to, in two sentences.
    pub lead: String,
    /// Corrections by weight, then what is open, then what is right; no group is empty.
    pub groups: Vec<Group<'a>>,
}

/// Claims with one weight or one verdict.
pub struct Group<'a> {
    /// Its anchor.
    pub key: &'static str,
    /// Its tag; none for corrections without a weight and for editorial claims.
    pub tag: Option<Tag>,
    /// Its heading.
    pub title: &'static str,
    /// What the group means.
    pub gloss: &'static str,
    /// The claims, by line.
    pub entries: Vec<Entry<'a>>,
}

/// One claim.
pub struct Entry<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// What the judge says of it.
    pub verdict: &'a Verdict,
    /// Whether the verdict rests on a simulated device.
    pub simulated: bool,
}

impl Entry<'_> {
    /// The lines of the tutorial.
    pub fn lines(&self) -> String {
        words::lines(&self.claim.lines)
    }

    /// What [`Entry::right`] is.
    pub fn label(&self) -> &'static str {
        match self.verdict.verdict {
            VerdictKind::Open => "Reason",
            VerdictKind::NotTestable => "What we found",
            _ => "Right is",
        }
    }

    /// What is right, what we found, or why the claim is open.
    pub fn right(&self) -> Option<String> {
        match self.verdict.verdict {
            VerdictKind::Right => None,
            VerdictKind::Open => self.verdict.reason.as_deref().map(words::reason),
            _ => self.verdict.correction.clone(),
        }
    }
}

const GROUPS: [(&str, &str, &str); 7] = [
    ("breaks", "Breaks", "Code fails or results change."),
    ("misleads", "Misleads", "Bytes or time are other than told."),
    ("wording", "Wording", "Units and formatting."),
    ("unweighted", "Without a weight", "Not right, and the catalogue states no weight yet."),
    ("editorial", "About the text itself", "No program can decide these; what we found stands beside them."),
    ("open", "Open", "Not decided in this run, with the reason."),
    ("right", "Right as written", "Nothing to change."),
];

fn group(verdict: &Verdict) -> usize {
    match (verdict.verdict, harm(verdict)) {
        (VerdictKind::Right, _) => 6,
        (VerdictKind::Open, _) => 5,
        (_, Some(Weight::Breaks)) => 0,
        (_, Some(Weight::Misleads)) => 1,
        (_, Some(Weight::Wording)) => 2,
        (VerdictKind::NotTestable, None) => 4,
        (_, None) => 3,
    }
}

impl<'a> Errata<'a> {
    /// Collects what a run says about a tutorial.
    pub fn new(digest: &Digest<'a>, tutorial: &'a Tutorial) -> Self {
        let counts = digest.counts(digest.claims(&tutorial.id));
        let mut groups: Vec<Group> = GROUPS
            .iter()
            .map(|&(key, title, gloss)| Group { key, tag: tag(key), title, gloss, entries: Vec::new() })
            .collect();
        for claim in digest.claims(&tutorial.id) {
            if let Some(&verdict) = digest.verdicts.get(claim.id.as_str()) {
                groups[group(verdict)].entries.push(Entry {
                    claim,
                    verdict,
                    simulated: digest.rests_on_simulation(&claim.id),
                });
            }
        }
        groups.retain(|group| !group.entries.is_empty());
        for group in &mut groups {
            group.entries.sort_by_key(|entry| first_line(&entry.claim.lines));
        }
        let counted = words::errata(counts.breaks, counts.misleads, counts.wording, counts.right, counts.verdicts);
        let lead = digest.lead(counted);
        Errata { tutorial, lead, groups }
    }
}

fn tag(key: &str) -> Option<Tag> {
    match key {
        "breaks" => Some(tags::weight(Weight::Breaks)),
        "misleads" => Some(tags::weight(Weight::Misleads)),
        "wording" => Some(tags::weight(Weight::Wording)),
        "open" => Some(tags::verdict(VerdictKind::Open)),
        "right" => Some(tags::verdict(VerdictKind::Right)),
        _ => None,
    }
}

/// The number of the first line in `L7-34`.
fn first_line(lines: &str) -> u32 {
    let digits: String = lines.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u32::MAX)
}

/// The corrections of a tutorial as Markdown, to send to its author.
pub fn errata_markdown(log: &RunLog, catalogue: &Catalogue, tutorial: &str) -> Result<String, UnknownTutorial> {
    write(log, catalogue, tutorial, &Form { h1: "# ", h2: "## ", item: "- **", end: "**", code: "`" })
}

/// The corrections of a tutorial as plain text, for a terminal.
pub fn errata_text(log: &RunLog, catalogue: &Catalogue, tutorial: &str) -> Result<String, UnknownTutorial> {
    write(log, catalogue, tutorial, &Form { h1: "", h2: "", item: "  ", end: "", code: "" })
}

/// How headings and items are marked.
struct Form {
    h1: &'static str,
    h2: &'static str,
    item: &'static str,
    end: &'static str,
    code: &'static str,
}

fn write(log: &RunLog, catalogue: &Catalogue, asked: &str, form: &Form) -> Result<String, UnknownTutorial> {
    let Some(tutorial) = catalogue.tutorials.iter().find(|tutorial| tutorial.id == asked) else {
        let known = catalogue.tutorials.iter().map(|tutorial| tutorial.id.clone()).collect();
        return Err(UnknownTutorial { asked: asked.into(), known });
    };
    let digest = Digest::new(log, catalogue);
    let errata = Errata::new(&digest, tutorial);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = body(&mut out, &digest, &errata, form);
    Ok(out)
}

fn body(out: &mut String, digest: &Digest, errata: &Errata, form: &Form) -> fmt::Result {
    let Form { h1, h2, item, end, code } = form;
    writeln!(out, "{h1}Errata of {}: {}\n\n{}\n", errata.tutorial.id, errata.tutorial.title, errata.lead)?;
    writeln!(out, "Judged by: {}. Run of {}.", words::judged(digest.judged_version()), digest.header.started)?;
    if let Some(note) = crate::pages::interrupted(digest) {
        writeln!(out, "\n{note}")?;
    }
    if errata.groups.iter().flat_map(|group| &group.entries).any(|entry| entry.simulated) {
        writeln!(out, "\n{}", words::simulation())?;
    }
    for group in &errata.groups {
        writeln!(out, "\n{h2}{} ({})\n\n{}\n", group.title, group.entries.len(), group.gloss)?;
        for entry in &group.entries {
            let Entry { claim, verdict, simulated } = entry;
            let simulated = if *simulated { ", simulated" } else { "" };
            writeln!(
                out,
                "{item}{}{end} {} ({code}{}{code}, {}{simulated})",
                entry.lines(),
                claim.statement,
                claim.id,
                verdict.verdict
            )?;
            if let Some(right) = entry.right() {
                writeln!(out, "  {}: {right}", entry.label())?;
            }
        }
    }
    Ok(())
}
