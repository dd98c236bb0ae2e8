//! The claims: data in `suites/claims/*.toml`, compiled in.

use crate::record::Weight;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;

/// Where a set of claims comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tutorial {
    /// Short id, the first part of its claims' ids.
    pub id: String,
    /// Our title for it.
    pub title: String,
    /// The language of the text, BCP 47.
    pub language: String,
    /// Lines of the text.
    pub lines: u32,
}

/// What kind of statement a claim makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A value, an identity, an error.
    Exact,
    /// Bytes, counts.
    Accounting,
    /// An effect with a direction.
    Performance,
    /// What the operating system shows.
    Process,
    /// About the text itself.
    Editorial,
}

/// Why a claim about a real GPU is open where none was used.
pub const NEEDS_GPU: &str = "needs-gpu";

/// What a claim's cases need before they can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// A subject that runs Python.
    Python,
    /// The operating system's figures of the subject's process.
    ProcessMemory,
    /// A real GPU.
    Gpu,
    /// Device memory; a simulated device will do.
    GpuMemory,
}

/// One checkable statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `tutorial.topic.name`.
    pub id: String,
    /// The topic.
    pub topic: String,
    /// The lines of the tutorial, such as `L5` or `L7-34`.
    pub lines: String,
    /// The statement in our words.
    pub statement: String,
    /// What kind of statement it is.
    pub kind: Kind,
    /// What its cases need.
    pub needs: Vec<Need>,
    /// How much it matters that it is not right.
    pub weight: Option<Weight>,
    /// What is right instead, in one sentence.
    pub correction: Option<String>,
    /// What we found, for an editorial claim.
    pub finding: Option<String>,
    /// The workload that a performance claim calls slower.
    pub slower: Option<String>,
    /// The workload that it calls faster.
    pub faster: Option<String>,
}

impl Claim {
    /// The id of the tutorial.
    pub fn tutorial(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// The two workloads of a performance claim, slower as claimed first.
    pub fn workloads(&self) -> Option<(&str, &str)> {
        Some((self.slower.as_deref()?, self.faster.as_deref()?))
    }

    /// Why this version cannot decide the claim anywhere, if so.
    pub fn reason(&self) -> Option<&'static str> {
        if self.kind == Kind::Editorial {
            Some("editorial")
        } else if self.needs.contains(&Need::Gpu) && self.workloads().is_none() {
            Some(NEEDS_GPU)
        } else if self.kind == Kind::Performance && self.workloads().is_none() {
            Some("needs-workload")
        } else {
            None
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Exact => "exact",
            Kind::Accounting => "accounting",
            Kind::Performance => "performance",
            Kind::Process => "process",
            Kind::Editorial => "editorial",
        })
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::Python => "python",
            Need::ProcessMemory => "process-memory",
            Need::Gpu => "gpu",
            Need::GpuMemory => "gpu-memory",
        })
    }
}

/// All tutorials with their claims, in the order of the texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    /// The tutorials.
    pub tutorials: Vec<Tutorial>,
    /// Their claims, tutorial by tutorial.
    pub claims: Vec<Claim>,
}

impl Catalogue {
    /// The workloads that claims compare, pair by pair.
    pub fn compared(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().filter_map(Claim::workloads).flat_map(|(slower, faster)| [slower, faster])
    }

    /// The claim with this id.
    pub fn claim(&self, id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.id == id)
    }
}

const FILES: [(&str, &str); 4] = [
    ("t000.toml", include_str!("../claims/t000.toml")),
    ("t001.toml", include_str!("../claims/t001.toml")),
    ("t002.toml", include_str!("../claims/t002.toml")),
    ("t004.toml", include_str!("../claims/t004.toml")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tutorial: Tutorial,
    claim: Vec<Claim>,
}

/// The catalogue; an error names the file and the line that cannot be read.
pub fn catalogue() -> Result<&'static Catalogue, String> {
    static CATALOGUE: OnceLock<Result<Catalogue, String>> = OnceLock::new();
    CATALOGUE.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Catalogue, String> {
    let mut catalogue = Catalogue { tutorials: Vec::new(), claims: Vec::new() };
    for (name, text) in FILES {
        let file: File = toml::from_str(text).map_err(|error| format!("suites/claims/{name}: {error}"))?;
        catalogue.tutorials.push(file.tutorial);
        catalogue.claims.extend(file.claim);
    }
    Ok(catalogue)
}
