//! The subjects' order, names, classes and marks: the same on every page.

/// The second measurement of the reference, a control and no subject.
pub const CONTROL: &str = "reference (again)";

/// How a subject is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// The class that carries its colour.
    pub class: &'static str,
    /// Its mark in a plot, as a path round the origin.
    pub mark: &'static str,
}

const SQUARE: &str = "M-3-3h6v6h-6z";
const CIRCLE: &str = "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z";
const DIAMOND: &str = "M0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z";
const UP: &str = "M0-4l4 7h-8z";
const DOWN: &str = "M0 4l4-7h-8z";
const CROSS: &str = "M-3-3l6 6M-3 3l6-6";

/// Id, name, class and mark, in the order used everywhere.
const KNOWN: [(&str, &str, Style); 7] = [
    ("reference", "reference", Style { class: "s-reference", mark: CIRCLE }),
    ("pytorch", "PyTorch", Style { class: "s-pytorch", mark: SQUARE }),
    ("numpy", "NumPy", Style { class: "s-numpy", mark: UP }),
    ("jax", "JAX", Style { class: "s-jax", mark: DIAMOND }),
    ("candle", "candle", Style { class: "s-candle", mark: DOWN }),
    ("burn", "burn", Style { class: "s-burn", mark: DIAMOND }),
    ("ndarray", "ndarray", Style { class: "s-ndarray", mark: UP }),
];

const OTHER: Style = Style { class: "s-other", mark: CROSS };

/// Where the subject stands: known ones in the fixed order, others after them by name.
pub fn order(id: &str) -> (usize, &str) {
    (KNOWN.iter().position(|known| known.0 == id).unwrap_or(KNOWN.len()), id)
}

/// The name that readers know it by.
pub fn name(id: &str) -> &str {
    KNOWN.iter().find(|known| known.0 == id).map_or(id, |known| known.1)
}

/// How it is drawn; neutral for a subject that is not known.
pub fn style(id: &str) -> Style {
    KNOWN.iter().find(|known| known.0 == id).map_or(OTHER, |known| known.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_subjects_come_last_in_a_neutral_style() {
        let mut ids = ["tinygrad", "burn", "arrow", "pytorch", "reference"];
        ids.sort_by_key(|id| order(id));
        assert_eq!(ids, ["reference", "pytorch", "burn", "arrow", "tinygrad"]);
        assert_eq!((name("tinygrad"), style("tinygrad")), ("tinygrad", OTHER));
    }
}
