//! How sizes are told on a page: by elements, or by bytes where what counts is what moves.

use crate::numbers;

/// The unit of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Elements of a tensor.
    Elements,
    /// Bytes of a tensor whose elements have so many.
    Bytes(u64),
}

impl Unit {
    /// Its name at an axis.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Elements => "elements",
            Unit::Bytes(_) => "bytes",
        }
    }

    /// A size as the number at a tick.
    pub fn tick(self, elements: u64) -> String {
        match self {
            Unit::Elements => numbers::elements(elements),
            Unit::Bytes(each) => numbers::size(elements * each),
        }
    }

    /// A size in a sentence.
    pub fn said(self, elements: u64) -> String {
        match self {
            Unit::Elements => format!("{} elements", numbers::count(elements)),
            Unit::Bytes(each) => numbers::size(elements * each),
        }
    }

    /// Sizes that make good ticks, in elements: decades, or powers of 32, among which are 1 KiB, 1 MiB and 1 GiB.
    pub fn round(self) -> Vec<f64> {
        match self {
            Unit::Elements => (0..20).map(|power| 10f64.powi(power)).collect(),
            Unit::Bytes(each) => (0..12).map(|power| 32f64.powi(power) / each as f64).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_told_in_its_unit() {
        let plain = |text: String| text.replace(numbers::THIN, " ");
        assert_eq!([Unit::Elements, Unit::Bytes(4)].map(|unit| plain(unit.tick(10_000))), ["10⁴", "39.1 KiB"]);
        assert_eq!(
            [Unit::Elements, Unit::Bytes(4)].map(|unit| plain(unit.said(1 << 18))),
            ["262,144 elements", "1 MiB"]
        );
        assert_eq!(Unit::Bytes(4).round()[4..7], [2f64.powi(18), 2f64.powi(23), 2f64.powi(28)]);
    }
}
