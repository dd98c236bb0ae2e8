//! Which PyTorch is followed: its rules changed from version to version.

use std::fmt;
use std::str::FromStr;

/// A version of PyTorch, as far as the rules of its allocators depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TorchVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl TorchVersion {
    /// The version that is followed where none is named.
    pub const DEFAULT: TorchVersion = TorchVersion { major: 2, minor: 13 };

    /// Whether it is 2.`minor` or newer.
    pub(crate) fn since(self, minor: u32) -> bool {
        self >= TorchVersion { major: 2, minor }
    }
}

impl FromStr for TorchVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut numbers = text.split(['.', '+', 'a', 'r']).map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(TorchVersion { major, minor }),
            _ => Err(format!("{text:?} is no version of PyTorch: expected one such as 2.13 or 2.13.0+cu130")),
        }
    }
}

impl fmt::Display for TorchVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
