//! How numbers are written: three digits, a narrow space before the unit, exact bytes up to 1 MiB.

/// A narrow space that does not break.
pub const THIN: char = '\u{202f}';

/// A whole number with commas between thousands.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Three significant digits, no trailing zeros after the point.
pub fn three(x: f64) -> String {
    if !x.is_finite() {
        return "no number".into();
    }
    if x == 0.0 {
        return "0".into();
    }
    // Rounding first, because 999.6 has one digit more than it seems.
    let rounded: f64 = format!("{x:.2e}").parse().unwrap_or(x);
    let exponent = rounded.abs().log10().floor() as i32;
    if exponent >= 3 {
        let sign = if rounded < 0.0 { "−" } else { "" };
        return format!("{sign}{}", count(x.abs().round() as u64));
    }
    let text = format!("{rounded:.*}", (2 - exponent).max(0) as usize);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

/// Nanoseconds in the unit that keeps the number short.
pub fn time(nanoseconds: f64) -> String {
    let (scale, unit) = time_unit(nanoseconds);
    format!("{}{THIN}{unit}", three(nanoseconds / scale))
}

/// Two times in one unit, the larger one's.
pub fn times([a, b]: [f64; 2]) -> String {
    let (scale, unit) = time_unit(b);
    format!("{}–{}{THIN}{unit}", three(a / scale), three(b / scale))
}

fn time_unit(nanoseconds: f64) -> (f64, &'static str) {
    match nanoseconds {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// How long something took, in minutes from two minutes on.
pub fn duration(nanoseconds: u64) -> String {
    let seconds = nanoseconds as f64 / 1e9;
    if seconds >= 120.0 { format!("{}{THIN}min", three(seconds / 60.0)) } else { time(nanoseconds as f64) }
}

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Bytes as a number of MiB, without the unit: for tables and plots that have one unit.
pub fn mebibytes(n: u64) -> String {
    three(n as f64 / MIB as f64)
}

/// What a quantity came to from one step to the next, in MiB: `+1,024`. `None` where it stayed.
pub fn change(from: u64, to: u64) -> Option<String> {
    match from.cmp(&to) {
        std::cmp::Ordering::Less => Some(format!("+{}", mebibytes(to - from))),
        std::cmp::Ordering::Greater => Some(format!("−{}", mebibytes(from - to))),
        std::cmp::Ordering::Equal => None,
    }
}

/// Bytes: exact up to 1 MiB, MiB above, GiB from 10 GiB on.
pub fn bytes(n: u64) -> String {
    if n <= MIB {
        format!("{}{THIN}B", count(n))
    } else if n < 10 * GIB {
        format!("{}{THIN}MiB", three(n as f64 / MIB as f64))
    } else {
        format!("{}{THIN}GiB", three(n as f64 / GIB as f64))
    }
}

/// Bytes of one tensor: in the largest unit of which there is at least one.
pub fn size(n: u64) -> String {
    let (unit, name) = match n {
        0..1024 => (1, "B"),
        1024..MIB => (1 << 10, "KiB"),
        MIB..GIB => (MIB, "MiB"),
        GIB.. => (GIB, "GiB"),
    };
    format!("{}{THIN}{name}", three(n as f64 / unit as f64))
}

/// GB in a second.
pub fn bandwidth(gigabytes: f64) -> String {
    format!("{}{THIN}GB/s", three(gigabytes))
}

/// A clock, or the lowest and the highest that it had.
pub fn megahertz([low, high]: [u32; 2]) -> String {
    let from = if low < high { format!("{}–", count(low.into())) } else { String::new() };
    format!("{from}{}{THIN}MHz", count(high.into()))
}

/// Bytes that may be fewer than before.
pub fn signed_bytes(n: i64) -> String {
    let sign = if n < 0 { "−" } else { "" };
    format!("{sign}{}", bytes(n.unsigned_abs()))
}

/// A number of elements: a power of ten where it is one.
pub fn elements(n: u64) -> String {
    let power = n.checked_ilog10().unwrap_or(0);
    let lead = n as f64 / 10f64.powi(power as i32);
    if power < 3 || (lead * 10.0).fract() != 0.0 {
        return count(n);
    }
    let exponent: String = power.to_string().bytes().map(superscript).collect();
    if lead == 1.0 { format!("10{exponent}") } else { format!("{lead}{THIN}×{THIN}10{exponent}") }
}

fn superscript(digit: u8) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    DIGITS[usize::from(digit - b'0')]
}

/// How many times as much.
pub fn factor(x: f64) -> String {
    format!("{}{THIN}×", three(x))
}

/// The two ends of an interval of factors.
pub fn factors([a, b]: [f64; 2]) -> String {
    format!("{}–{}{THIN}×", three(a), three(b))
}

/// A share in percent, two digits.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let rounded: f64 = format!("{percent:.1e}").parse().unwrap_or(percent);
    format!("{}{THIN}%", three(rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: String) -> String {
        text.replace(THIN, " ")
    }

    #[test]
    fn numbers_have_three_digits() {
        let seen: Vec<_> = [0.0, 3.06, 2.9, 0.031_24, 12.34, 123.4, 999.6, 1234.5, 40.0, -0.5].map(three).into();
        assert_eq!(seen, ["0", "3.06", "2.9", "0.0312", "12.3", "123", "1,000", "1,235", "40", "−0.5"]);
        assert_eq!(three(f64::NAN), "no number");
    }

    #[test]
    fn times_change_their_unit() {
        let seen: Vec<_> = [3.06, 6_940.0, 257e6, 1.2e9].map(|ns| plain(time(ns))).into();
        assert_eq!(seen, ["3.06 ns", "6.94 µs", "257 ms", "1.2 s"]);
        assert_eq!(plain(times([950.0, 1_200.0])), "0.95–1.2 µs");
        assert_eq!(plain(duration(90_000_000_000)), "90 s");
        assert_eq!(plain(duration(600_000_000_000)), "10 min");
    }

    #[test]
    fn bytes_are_exact_up_to_one_mebibyte() {
        let seen: Vec<_> = [0, 4_000, 1 << 20, 513 << 20, 24 << 30].map(|n| plain(bytes(n))).into();
        assert_eq!(seen, ["0 B", "4,000 B", "1,048,576 B", "513 MiB", "24 GiB"]);
        assert_eq!(plain(signed_bytes(-4096)), "−4,096 B");
        assert_eq!([0, 512 << 10, 80 << 30].map(mebibytes), ["0", "0.5", "81,920"]);
        assert_eq!(change(1 << 30, 2 << 30).as_deref(), Some("+1,024"));
        assert_eq!(change(2 << 30, 1 << 30).as_deref(), Some("−1,024"));
        assert_eq!(change(1 << 30, 1 << 30), None);
    }

    #[test]
    fn sizes_have_the_largest_unit_that_fits() {
        let seen: Vec<_> = [4, 4 << 10, 40_000, 64 << 20, 256_000_000, 1 << 30].map(|n| plain(size(n))).into();
        assert_eq!(seen, ["4 B", "4 KiB", "39.1 KiB", "64 MiB", "244 MiB", "1 GiB"]);
    }

    #[test]
    fn clocks_that_did_not_change_are_one_number() {
        assert_eq!(plain(megahertz([345, 1_980])), "345–1,980 MHz");
        assert_eq!(plain(megahertz([3_201; 2])), "3,201 MHz");
    }

    #[test]
    fn elements_are_powers_of_ten_where_they_are() {
        let seen: Vec<_> = [1, 100, 1_000, 64_000_000, 1_048_576].map(|n| plain(elements(n))).into();
        assert_eq!(seen, ["1", "100", "10³", "6.4 × 10⁷", "1,048,576"]);
    }

    #[test]
    fn factors_and_shares_carry_their_sign() {
        assert_eq!(plain(factors([1.6, 2.3])), "1.6–2.3 ×");
        assert_eq!(plain(factor(1.873)), "1.87 ×");
        assert_eq!(plain(percent(0.0416)), "4.2 %");
    }
}
