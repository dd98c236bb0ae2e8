//! What several topics need to state a fact: bytes in units of a tensor, and printed lines beside a listing's.

use crate::probe::{Probe, Stop};

/// Bytes in units of `unit` bytes, rounded to two decimals.
pub(super) fn in_units(bytes: i64, unit: i64) -> f64 {
    (bytes as f64 / unit as f64 * 100.0).round() / 100.0
}

/// How much more anonymous memory the process shows than the `before` bytes of an earlier reading, in units.
pub(super) fn grown(p: &Probe, before: u64, unit: i64) -> Result<f64, Stop> {
    Ok(in_units(p.resident_bytes()? as i64 - before as i64, unit))
}

/// What `work` gives, and how far it took the process's memory above what it was before, in units.
pub(super) fn process_peak<T>(p: &Probe, unit: i64, work: impl FnOnce() -> Result<T, Stop>) -> Result<(T, f64), Stop> {
    p.reset_peak()?;
    let before = p.total_resident_bytes()?;
    let done = work()?;
    Ok((done, in_units(p.peak_resident_bytes()? as i64 - before as i64, unit)))
}

/// One line of a listing: its number, what the tutorial shows there, and what PyTorch prints.
pub(super) type ListedLine = (u32, &'static str, &'static str);

/// States what a program printed beside what a listing shows, line by line: as it stands, and with its blanks left
/// out, for a listing may have lost the alignment alone.
pub(super) fn printed_lines(p: &Probe, claim: &str, printed: &str, listing: &[ListedLine]) {
    let mut lines = printed.lines();
    for (number, shown, known) in listing {
        let line = lines.next();
        p.fact(format!("line {number} as printed"), line).known(*known).claimed(claim, *shown);
        p.fact(format!("line {number} without blanks"), line.map(without_blanks))
            .known(without_blanks(known))
            .claimed(claim, without_blanks(shown));
    }
}

fn without_blanks(line: &str) -> String {
    line.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_units_of_two_decimals() {
        assert_eq!(in_units(1024, 512), 2.0);
        assert_eq!(in_units(-1, 3), -0.33);
        assert_eq!(in_units(2, 3), 0.67);
    }

    #[test]
    fn only_blanks_are_left_out() {
        assert_eq!(without_blanks("[  1.,   1.]"), "[1.,1.]");
    }
}
