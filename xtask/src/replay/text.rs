//! A replay in words.

use replay::{FailedRequest, Part, Report, Summary, Why};
use std::path::Path;
use suites::record::Cause;

/// All that is printed of a replay, line by line.
pub fn lines(file: &Path, report: &Report, check: bool) -> Vec<String> {
    let recorded = match report.settings == report.recorded_settings {
        true => String::new(),
        false => format!(" (recorded under {})", settings(&report.recorded_settings)),
    };
    let followed = settings(&report.settings);
    let mut lines = vec![
        format!("{}: {}", file.display(), report.recording),
        format!("replayed under {followed}{recorded}, by the rules of PyTorch {}", report.torch),
    ];
    for part in &report.parts {
        let memory = part.device_memory.map_or_else(|| "a memory that is not known".to_owned(), bytes);
        let before = match part.held_before {
            0 => "none held before".to_owned(),
            held => format!("{} held before", bytes(held)),
        };
        lines.push(format!("\ndevice {} with {memory}: {}, {before}", part.device, events(&part.summary)));
        lines.extend(figures(&part.summary));
        lines.extend(failed(part).iter().map(|line| format!("  {line}")));
    }
    if report.parts.len() > 1 {
        lines.push(format!("\nall devices together: {}", events(&report.summary)));
        lines.extend(figures(&report.summary));
    }
    lines.extend(report.notes.iter().map(|note| format!("\nnote: {note}")));
    if check && report.difference.is_none() {
        lines.push("\neverything agrees with the recording".to_owned());
    }
    lines
}

/// What a reader of the bare figures should know besides.
pub fn notes(report: &Report) -> Vec<String> {
    let of = |part: &Part| {
        let device = part.device;
        failed(part).into_iter().map(move |line| format!("device {device}: {line}"))
    };
    report.notes.iter().cloned().chain(report.parts.iter().flat_map(of)).collect()
}

fn figures(summary: &Summary) -> [String; 5] {
    [
        format!("  most live at once   {}", bytes(summary.peak_live)),
        format!("  most held at once   {}", bytes(summary.peak_held)),
        format!(
            "  asked of the device {}, {}",
            count(summary.device_mallocs, "allocation", "allocations"),
            count(summary.device_frees, "release", "releases")
        ),
        format!("  repeated requests   {}", grouped(summary.retries)),
        format!("  out of memory       {}", count(summary.ooms, "time", "times")),
    ]
}

/// The requests that got no memory: the first few, how many more, and what that makes of the figures.
fn failed(part: &Part) -> Vec<String> {
    let failed = &part.failed;
    let mut lines: Vec<String> = failed.first.iter().map(request).collect();
    let more = failed.count - failed.first.len() as u64;
    if more > 0 {
        lines.push(format!("and {} without memory", count(more, "more request", "more requests")));
    }
    if failed.count > failed.recorded {
        lines.push(
            "the replay went on without what it did not get: later figures are those of a program that would have died \
             there"
                .to_owned(),
        );
    }
    lines
}

fn request(failed: &FailedRequest) -> String {
    let FailedRequest { event, recorded, asked, held, live, why } = failed;
    let so_recorded = if *recorded { ", as in the recording" } else { "" };
    let begin = format!("event {}{so_recorded}", grouped(*event));
    let asked_for = bytes(*asked);
    match why {
        Why::OutOfMemory { segment, free, limit } => {
            let within =
                if segment == asked { String::new() } else { format!(", in a segment of {}", bytes(*segment)) };
            let limited = limit.map_or_else(String::new, |limit| format!(", allowed {}", bytes(limit)));
            let within_limit = limit.map_or(u64::MAX, |limit| limit.saturating_sub(*held));
            let reach = within_limit.min(*free);
            let cause = match Cause::of(*asked, reach, *held, *live) {
                Cause::Other if *segment > reach => {
                    "enough was free for the request, and not for its segment".to_owned()
                }
                cause => cause.to_string(),
            };
            format!(
                "{begin}: out of memory for {asked_for}{within}: free {}, held {}, live {}{limited}; {cause}",
                bytes(*free),
                bytes(*held),
                bytes(*live)
            )
        }
        Why::Absurd => format!("{begin}: {asked_for} refused: more than 1 EB"),
        Why::Rejected => format!(
            "{begin}: {asked_for} refused by throw_on_cudamalloc_oom before the device was asked: held {}, live {}",
            bytes(*held),
            bytes(*live)
        ),
    }
}

fn events(summary: &Summary) -> String {
    count(summary.events, "event", "events")
}

fn settings(text: &str) -> String {
    if text.is_empty() { "default settings".to_owned() } else { format!("{text:?}") }
}

fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// Bytes, also in MiB, and above 10 GiB in GiB.
fn bytes(n: u64) -> String {
    let in_units = |unit: u64| n as f64 / unit as f64;
    let gibibytes = if n > 10 << 30 { format!(", {:.1} GiB", in_units(1 << 30)) } else { String::new() };
    format!("{} bytes ({:.1} MiB{gibibytes})", grouped(n), in_units(1 << 20))
}

/// A number with a comma before every three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::memory::TorchVersion;
    use replay::Failed;

    const MIB: u64 = 1 << 20;

    fn out_of_memory(free: u64, held: u64, live: u64, limit: Option<u64>) -> FailedRequest {
        let why = Why::OutOfMemory { segment: 20 * MIB, free, limit };
        FailedRequest { event: 1234, recorded: false, asked: 8 * MIB, held, live, why }
    }

    fn report(failed: Failed) -> Report {
        let summary = Summary { events: 1, ..Summary::default() };
        Report {
            recording: "a trace".to_owned(),
            recorded_settings: String::new(),
            settings: String::new(),
            torch: TorchVersion::DEFAULT,
            parts: vec![Part { device: 0, device_memory: Some(80 << 30), held_before: 0, summary, failed }],
            summary,
            difference: None,
            notes: vec!["something is left out".to_owned()],
        }
    }

    #[test]
    fn a_request_that_ran_out_of_memory_is_told_with_what_was_there() {
        assert_eq!(
            request(&out_of_memory(4 * MIB, 60 * MIB, 50 * MIB, None)),
            "event 1,234: out of memory for 8,388,608 bytes (8.0 MiB), in a segment of 20,971,520 bytes (20.0 MiB): \
             free 4,194,304 bytes (4.0 MiB), held 62,914,560 bytes (60.0 MiB), live 52,428,800 bytes (50.0 MiB); \
             less fragmentation can help"
        );
        let full = request(&out_of_memory(4 * MIB, 60 * MIB, 59 * MIB, None));
        assert!(full.ends_with("; less fragmentation cannot help"), "{full}");
        let segment = request(&out_of_memory(10 * MIB, 60 * MIB, 50 * MIB, None));
        assert!(segment.ends_with("; enough was free for the request, and not for its segment"), "{segment}");
        // What is free beyond the limit is out of reach.
        let limited = request(&out_of_memory(900 * MIB, 60 * MIB, 50 * MIB, Some(61 * MIB)));
        assert!(limited.ends_with(", allowed 63,963,136 bytes (61.0 MiB); less fragmentation can help"), "{limited}");
    }

    #[test]
    fn refused_requests_are_told_as_what_they_are() {
        let refused = |why| request(&FailedRequest { why, asked: u64::MAX, ..out_of_memory(0, 0, 0, None) });
        assert!(refused(Why::Absurd).ends_with(" refused: more than 1 EB"));
        assert!(refused(Why::Rejected).contains("refused by throw_on_cudamalloc_oom"));
    }

    #[test]
    fn the_first_requests_without_memory_are_told_and_the_others_counted() {
        let first = vec![out_of_memory(0, 0, 0, None); 3];
        let told = lines(Path::new("a"), &report(Failed { count: 5, recorded: 0, first }), false);
        assert_eq!(told.iter().filter(|line| line.contains("out of memory for")).count(), 3);
        assert!(told.contains(&"  and 2 more requests without memory".to_owned()), "{told:?}");
        assert!(told.iter().any(|line| line.contains("the replay went on without")));
        let recorded = FailedRequest { recorded: true, ..out_of_memory(0, 0, 0, None) };
        let told = notes(&report(Failed { count: 1, recorded: 1, first: vec![recorded] }));
        assert!(told[1].starts_with("device 0: event 1,234, as in the recording: out of memory for"), "{told:?}");
        assert!(!told.iter().any(|line| line.contains("the replay went on without")), "{told:?}");
    }

    #[test]
    fn the_notes_of_bare_figures_are_those_of_the_text() {
        let report = report(Failed::default());
        assert_eq!(notes(&report), ["something is left out"]);
        assert!(lines(Path::new("a"), &report, false).contains(&"\nnote: something is left out".to_owned()));
    }

    #[test]
    fn numbers_and_sizes_are_written_to_be_read() {
        assert_eq!([0, 999, 1000, 3_001_024_512].map(grouped), ["0", "999", "1,000", "3,001,024,512"]);
        assert_eq!(bytes(10 << 30), "10,737,418,240 bytes (10240.0 MiB)");
        assert_eq!(bytes(80 << 30), "85,899,345,920 bytes (81920.0 MiB, 80.0 GiB)");
        let told = lines(Path::new("a"), &report(Failed::default()), true);
        assert_eq!(told[2], "\ndevice 0 with 85,899,345,920 bytes (81920.0 MiB, 80.0 GiB): 1 event, none held before");
        assert!(told[1].contains("under default settings"), "{told:?}");
    }
}
