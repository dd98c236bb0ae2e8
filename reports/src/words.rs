//! Sentences made from counts: a lead for every page, right for none, one and many.

use crate::numbers;
use suites::record::{Clock, SIMULATED};

/// `1 claim`, `2 claims`.
pub fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Joins parts with commas and an `and`.
pub fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What verdicts come to, for the overview.
pub fn overview(right: usize, verdicts: usize, tutorials: usize, harmful: usize, open: usize) -> String {
    if verdicts == 0 {
        return "This run log holds no verdict.".into();
    }
    let tutorials = plural(tutorials, "tutorial", "tutorials");
    let right = match (right, verdicts) {
        (1, 1) => format!("The one claim judged, in {tutorials}, is right as written."),
        (0, 1) => format!("The one claim judged, in {tutorials}, is not right as written."),
        (0, _) => format!("None of {verdicts} claims in {tutorials} is right as written."),
        (1, _) => format!("1 of {verdicts} claims in {tutorials} is right as written."),
        _ if right == verdicts => format!("All {verdicts} claims in {tutorials} are right as written."),
        _ => format!("{right} of {verdicts} claims in {tutorials} are right as written."),
    };
    let harmful = match harmful {
        0 => "None would break code or mislead about bytes or time".to_string(),
        n => format!("{n} would break code or mislead about bytes or time"),
    };
    let open = match open {
        0 => "none is open in this run".to_string(),
        1 => "1 is open in this run".to_string(),
        n => format!("{n} are open in this run"),
    };
    format!("{right} {harmful}; {open}.")
}

/// Why verdicts say little in a run that left something out; nothing where it left out nothing that they rest on.
pub fn selection(judged_ran: bool, only: Option<&str>) -> Option<String> {
    match (judged_ran, only) {
        (false, _) => Some("PyTorch did not run here, so no claim was judged by what it does.".into()),
        (true, Some(words)) => Some(format!("Only \"{words}\" was asked for: the other claims are open.")),
        (true, None) => None,
    }
}

/// Who was asked for a verdict.
pub fn judged(version: Option<&str>) -> String {
    version.map_or("PyTorch alone, which did not run here".into(), |version| format!("PyTorch {version} alone"))
}

/// What an author has to change.
pub fn errata(breaks: usize, misleads: usize, wording: usize, right: usize, verdicts: usize) -> String {
    if verdicts == 0 {
        return "This run log holds no verdict on this tutorial.".into();
    }
    let mut parts = Vec::new();
    if breaks > 0 {
        let verb = if breaks == 1 { "keeps" } else { "keep" };
        parts.push(format!(
            "{} {verb} code from failing or results from changing",
            plural(breaks, "correction", "corrections")
        ));
    }
    if misleads > 0 {
        let noun = if parts.is_empty() { format!(" {}", noun(misleads)) } else { String::new() };
        parts.push(format!("{misleads}{noun} {} bytes or time", if misleads == 1 { "concerns" } else { "concern" }));
    }
    if wording > 0 {
        let noun = if parts.is_empty() { format!(" {}", noun(wording)) } else { String::new() };
        parts.push(format!("{wording}{noun} {} wording", if wording == 1 { "is" } else { "are" }));
    }
    let changes =
        if parts.is_empty() { "Nothing judged here needs a correction".to_string() } else { parts.join(", ") };
    format!("{changes}. {}.", stands(right, verdicts))
}

fn noun(n: usize) -> &'static str {
    if n == 1 { "correction" } else { "corrections" }
}

fn stands(right: usize, verdicts: usize) -> String {
    match right {
        0 => format!("None of {} stands as it is", plural(verdicts, "claim", "claims")),
        1 => format!("1 of {} stands as it is", plural(verdicts, "claim", "claims")),
        n => format!("{n} of {} stand as they are", plural(verdicts, "claim", "claims")),
    }
}

/// Where libraries part from PyTorch, and how often PyTorch is not as it is known.
pub fn matrix(differ: usize, crash: usize, time_out: usize, unexpected: usize, compared: usize) -> String {
    if compared == 0 {
        return "No case ran: this run log has nothing to compare.".into();
    }
    let mut parts = Vec::new();
    if differ > 0 {
        parts.push(plural(differ, "cell differs", "cells differ"));
    }
    if crash > 0 {
        parts.push(plural(crash, "crash", "crashes"));
    }
    if time_out > 0 {
        parts.push(plural(time_out, "time-out", "time-outs"));
    }
    let compared = plural(compared, "cell", "cells");
    let libraries = if parts.is_empty() {
        format!("Every library behaves as PyTorch is known to behave, in {compared} compared.")
    } else {
        format!("Where do libraries part from PyTorch? {} in {compared} compared.", list(&parts))
    };
    match unexpected {
        0 => libraries,
        1 => format!("{libraries} In 1 more, PyTorch itself is not as it is known."),
        n => format!("{libraries} In {n} more, PyTorch itself is not as it is known."),
    }
}

/// How far two workloads lie apart on PyTorch: sizes at which the claim holds, sizes compared, ratios' range.
pub fn pair(slower: &str, faster: &str, holds: usize, sizes: usize, range: &str) -> String {
    let verb = match (holds, sizes) {
        (_, 0) => return format!("No effect of {slower} against {faster} was measured on PyTorch in this run."),
        (0, _) => format!("the effect claimed holds at none of {}", plural(sizes, "size", "sizes")),
        (h, s) if h == s && s == 1 => "the effect claimed holds at the one size measured".to_string(),
        (h, s) if h == s => format!("the effect claimed holds at all {s} sizes"),
        (h, s) => format!("the effect claimed holds at {h} of {s} sizes"),
    };
    format!("On PyTorch, {slower} takes {range} the time of {faster}: {verb}.")
}

/// What was measured, where no claim compares workloads.
pub fn measured(variants: usize, subjects: usize, sizes: usize) -> String {
    if subjects == 0 {
        return "No time was measured in this run.".into();
    }
    format!(
        "{} measured on {} at {}.",
        plural(variants, "variant", "variants"),
        plural(subjects, "subject", "subjects"),
        plural(sizes, "size", "sizes")
    )
}

/// Whose clock timed a workload.
pub fn clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Host => "by the host’s clock",
        Clock::Device => "by the device’s own clock: launches are not in it",
    }
}

/// How many samples say nothing, because the GPU was slowed.
pub fn throttled(left_out: usize, samples: usize) -> String {
    let samples = format!("{} {}", numbers::count(samples as u64), if samples == 1 { "sample" } else { "samples" });
    match left_out {
        0 => format!("None of {samples} was throttled."),
        1 => format!("1 of {samples} is left out: heat or a fault of the power supply slowed it."),
        n => format!("{n} of {samples} are left out: heat or a fault of the power supply slowed them."),
    }
}

/// Cases without a claim.
pub fn known(cases: usize) -> String {
    match cases {
        1 => "1 case that no tutorial speaks of: it counts in no headline.".into(),
        n => format!("{n} cases that no tutorial speaks of: they count in no headline."),
    }
}

/// What the A/A control came to.
pub fn control(pairs: usize, different: usize) -> String {
    match (different, pairs) {
        (_, 0) => "no pair measured".into(),
        (0, n) => format!("none of {}", plural(n, "pair", "pairs")),
        (d, n) => format!("{d} of {}", plural(n, "pair", "pairs")),
    }
}

/// How many cases ran on device memory and have pictures, and in how many of these bytes were held that no tensor uses;
/// with the most of them and its case. There is at least one picture.
pub fn device_memory(ran: usize, shown: usize, cached: usize, most: Option<(String, &str)>) -> String {
    let cases = format!("{} ran on device memory", plural(ran, "case", "cases"));
    let shown_of = match (shown, ran) {
        (s, r) if s == r => "with pictures here".to_string(),
        (1, _) => "of which 1 has pictures here".to_string(),
        (s, _) => format!("of which {s} have pictures here"),
    };
    let held = match (cached, shown, most) {
        (_, 1, Some((bytes, _))) => format!("It shows bytes that are held and that no tensor uses: at most {bytes}"),
        (c, s, Some((bytes, case))) => {
            let which = if c == s { format!("All {s} show") } else { format!("{c} of these {s} {}", verb(c)) };
            format!("{which} bytes that are held and that no tensor uses: at most {bytes}, in {case}")
        }
        (_, 1, None) => "It shows no byte that is held and that no tensor uses".into(),
        (_, s, None) => format!("None of these {s} shows a byte that is held and that no tensor uses"),
    };
    format!("{cases}, {shown_of}. {held}.")
}

fn verb(n: usize) -> &'static str {
    if n == 1 { "shows" } else { "show" }
}

/// What a simulated device is.
pub fn simulation() -> String {
    format!(
        "{SIMULATED} is no GPU: a library’s own allocator runs over a stand-in for the CUDA driver. It counts bytes, and no time is taken on it."
    )
}

/// How many of a cell's cases ran on a simulated device.
pub fn on_simulation(simulated: usize, cases: usize) -> String {
    match (simulated, cases) {
        (_, 1) => format!("its case ran on {SIMULATED}"),
        (s, all) if s == all => format!("its {all} cases ran on {SIMULATED}"),
        (s, all) => format!("{s} of its {all} cases ran on {SIMULATED}"),
    }
}

/// A reason as words: `needs-workload` reads `needs workload`.
pub fn reason(reason: &str) -> String {
    if reason.starts_with("needs-") { reason.replace('-', " ") } else { reason.into() }
}

/// At most `max` characters, cut with an ellipsis.
pub fn short(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.into();
    }
    let mut cut: String = text.chars().take(max.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Lines of a tutorial with a dash between numbers: `L7–34`.
pub fn lines(lines: &str) -> String {
    lines.replace('-', "–")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_speaks_of_none_one_and_many() {
        assert_eq!(overview(0, 0, 0, 0, 0), "This run log holds no verdict.");
        assert_eq!(
            overview(0, 1, 1, 1, 0),
            "The one claim judged, in 1 tutorial, is not right as written. 1 would break code or mislead about bytes or time; none is open in this run."
        );
        assert_eq!(
            overview(1, 2, 1, 0, 1),
            "1 of 2 claims in 1 tutorial is right as written. None would break code or mislead about bytes or time; 1 is open in this run."
        );
        assert_eq!(
            overview(97, 197, 4, 54, 19),
            "97 of 197 claims in 4 tutorials are right as written. 54 would break code or mislead about bytes or time; 19 are open in this run."
        );
        assert!(overview(3, 3, 1, 0, 0).starts_with("All 3 claims in 1 tutorial are right as written."));
        assert!(overview(0, 3, 1, 0, 0).starts_with("None of 3 claims"));
    }

    #[test]
    fn what_was_left_out_is_said() {
        assert_eq!(selection(true, None), None);
        assert!(selection(false, Some("add")).is_some_and(|said| said.starts_with("PyTorch did not run")));
        assert!(selection(true, Some("add")).is_some_and(|said| said.contains("\"add\"")));
    }

    #[test]
    fn errata_count_by_weight() {
        assert_eq!(errata(0, 0, 0, 0, 0), "This run log holds no verdict on this tutorial.");
        assert_eq!(errata(0, 0, 0, 2, 2), "Nothing judged here needs a correction. 2 of 2 claims stand as they are.");
        assert_eq!(
            errata(1, 1, 1, 1, 4),
            "1 correction keeps code from failing or results from changing, 1 concerns bytes or time, 1 is wording. 1 of 4 claims stands as it is."
        );
        assert_eq!(
            errata(5, 14, 14, 20, 61),
            "5 corrections keep code from failing or results from changing, 14 concern bytes or time, 14 are wording. 20 of 61 claims stand as they are."
        );
        assert_eq!(errata(0, 2, 0, 0, 2), "2 corrections concern bytes or time. None of 2 claims stands as it is.");
        assert_eq!(errata(0, 0, 1, 0, 1), "1 correction is wording. None of 1 claim stands as it is.");
    }

    #[test]
    fn the_matrix_counts_what_is_loud() {
        assert_eq!(matrix(0, 0, 0, 0, 0), "No case ran: this run log has nothing to compare.");
        assert_eq!(matrix(0, 0, 0, 0, 1), "Every library behaves as PyTorch is known to behave, in 1 cell compared.");
        assert_eq!(
            matrix(1, 0, 0, 1, 9),
            "Where do libraries part from PyTorch? 1 cell differs in 9 cells compared. In 1 more, PyTorch itself is not as it is known."
        );
        assert_eq!(
            matrix(11, 1, 2, 0, 99),
            "Where do libraries part from PyTorch? 11 cells differ, 1 crash and 2 time-outs in 99 cells compared."
        );
    }

    #[test]
    fn a_pair_of_workloads_says_at_how_many_sizes() {
        assert_eq!(pair("a", "b", 0, 0, ""), "No effect of a against b was measured on PyTorch in this run.");
        assert_eq!(
            pair("a", "b", 0, 2, "0.9–1 ×"),
            "On PyTorch, a takes 0.9–1 × the time of b: the effect claimed holds at none of 2 sizes."
        );
        assert!(pair("a", "b", 1, 1, "2 ×").ends_with("holds at the one size measured."));
        assert!(pair("a", "b", 3, 3, "2 ×").ends_with("holds at all 3 sizes."));
        assert!(pair("a", "b", 2, 3, "2 ×").ends_with("holds at 2 of 3 sizes."));
        assert_eq!(measured(1, 0, 0), "No time was measured in this run.");
        assert_eq!(measured(2, 1, 3), "2 variants measured on 1 subject at 3 sizes.");
    }

    #[test]
    fn device_memory_counts_cases_with_and_without_pictures() {
        let most = || Some(("22 MiB".into(), "a.b"));
        assert_eq!(
            device_memory(30, 5, 3, most()),
            "30 cases ran on device memory, of which 5 have pictures here. 3 of these 5 show bytes that are held and that no tensor uses: at most 22 MiB, in a.b."
        );
        assert!(device_memory(9, 2, 1, most()).contains("1 of these 2 shows bytes"));
        assert!(device_memory(9, 2, 2, most()).contains(". All 2 show bytes"));
        assert_eq!(
            device_memory(2, 1, 0, None),
            "2 cases ran on device memory, of which 1 has pictures here. It shows no byte that is held and that no tensor uses."
        );
        assert_eq!(
            device_memory(2, 2, 0, None),
            "2 cases ran on device memory, with pictures here. None of these 2 shows a byte that is held and that no tensor uses."
        );
        assert!(
            device_memory(1, 1, 1, most())
                .ends_with("It shows bytes that are held and that no tensor uses: at most 22 MiB.")
        );
    }

    #[test]
    fn small_words() {
        assert_eq!(control(0, 0), "no pair measured");
        assert_eq!(control(1, 0), "none of 1 pair");
        assert_eq!(control(48, 2), "2 of 48 pairs");
        assert_eq!(throttled(0, 1), "None of 1 sample was throttled.");
        assert!(throttled(2, 1_320).starts_with("2 of 1,320 samples are left out: "));
        assert_eq!(known(1), "1 case that no tutorial speaks of: it counts in no headline.");
        assert_eq!(known(2), "2 cases that no tutorial speaks of: they count in no headline.");
        assert_eq!(on_simulation(1, 1), "its case ran on cuda (simulated)");
        assert_eq!(on_simulation(2, 2), "its 2 cases ran on cuda (simulated)");
        assert_eq!(on_simulation(1, 2), "1 of its 2 cases ran on cuda (simulated)");
        assert_eq!(reason("needs-workload"), "needs workload");
        assert_eq!(reason("too noisy at f32 1000-10000"), "too noisy at f32 1000-10000");
        assert_eq!(short("abcdef", 4), "abc…");
        assert_eq!(short("ab cdef", 4), "ab…");
        assert_eq!(lines("L7-34"), "L7–34");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
