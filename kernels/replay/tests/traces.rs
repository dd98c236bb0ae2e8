//! Every trace of JSON lines replays as it was recorded, to the last address, call, entry and figure.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod support;

use replay::{Failure, Options, Report, Why, replay};
use std::fs;
use std::io::Write;
use std::path::Path;
use support::{packed, place};

const CHECK: Options = Options { settings: None, device_memory: None, torch: None, check: true };

fn run(path: &Path, options: &Options) -> Result<Report, Failure> {
    replay(path, options, &|_, _, _| {})
}

fn check(path: &Path) -> Report {
    run(path, &CHECK).unwrap()
}

fn run_bytes(bytes: &[u8]) -> Result<Report, Failure> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    run(file.path(), &CHECK)
}

#[test]
fn every_trace_agrees() {
    let folders = ["traces", "traces/torch-2.9.1"].map(place);
    let mut seen = 0;
    for path in folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            continue;
        }
        let report = check(&path);
        if let Some(difference) = report.difference {
            panic!("{}: {} differences\n{difference}", path.display(), report.summary.differences);
        }
        assert!(report.summary.events > 0);
        seen += 1;
    }
    assert_eq!(seen, 27);
}

#[test]
fn what_was_altered_is_found_in_its_line() {
    let text = String::from_utf8(packed("traces/oom_4g.jsonl.gz")).unwrap();
    let alter = |op: &str, key: &str, value: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = lines.iter().rposition(|line| line.contains(op) && line.contains(key)).unwrap();
        let (before, after) = lines[at].split_once(key).unwrap();
        lines[at] = format!("{before}{value}{after}");
        let difference = run_bytes(lines.join("\n").as_bytes()).unwrap().difference.unwrap();
        assert_eq!(difference.event, at as u64 + 1, "{difference}");
        assert_eq!(difference.before.len(), 5);
        difference.op
    };
    assert!(
        alter("\"malloc\"", "\"cuda\":[[\"cudaMalloc\"", "\"cuda\":[[\"cudaFree\"").ends_with("calls of the device")
    );
    assert!(alter("\"free\"", "\"free_completed\"", "\"free_requested\"").ends_with("the history"));
    assert!(alter("\"free\"", "\"reserved\":", "\"reserved\":1").ends_with("what is counted"));
    assert!(alter("\"oom\":true", "GPU 0", "GPU 1").ends_with("the answer"));
    assert!(alter("\"snapshot\"", "\"reg\":", "\"reg\":1").contains("part 0"));
    assert!(alter("\"stats\"", "\"num_sync_all_streams\":", "\"num_sync_all_streams\":1").contains("part "));
}

#[test]
fn other_settings_and_less_memory_are_replayed_and_not_checked() {
    let path = place("traces/train_like.jsonl.gz");
    let own = check(&path).summary;
    let small = Options { device_memory: Some(own.peak_held / 2), check: false, ..CHECK };
    let summary = run(&path, &small).unwrap().summary;
    assert!(summary.peak_held <= own.peak_held / 2 && summary.retries > 0);
    let Err(Failure::Usage(what)) = run(&path, &Options { check: true, ..small }) else { panic!("it is checked") };
    assert!(what.contains("as much device memory as the recording had"));

    let other = Options { settings: Some("expandable_segments:True".to_owned()), check: false, ..CHECK };
    let report = run(&path, &other).unwrap();
    assert!(report.summary.peak_held < own.peak_held);
    assert_eq!((report.settings.as_str(), report.recorded_settings.as_str()), ("expandable_segments:True", ""));
    assert!(matches!(run(&path, &Options { check: true, ..other }), Err(Failure::Usage(_))));
}

#[test]
fn files_that_are_no_recordings_are_named() {
    let missing = run(Path::new("no/such/file"), &CHECK).unwrap_err().to_string();
    assert!(missing.starts_with("no/such/file: "), "{missing}");
    let said = |bytes: &[u8]| run_bytes(bytes).unwrap_err().to_string();
    assert!(said(b"").ends_with("the file is empty"));
    assert!(said(b"PK\x03\x04").contains("zip archive"));
    let whole = fs::read(place("traces/train_like.jsonl.gz")).unwrap();
    for bytes in [&whole[..5], &whole[..whole.len() / 2]] {
        assert!(said(bytes).ends_with("the gzip stream ends early"), "{}", said(bytes));
    }
    let snapshot = fs::read(place("snapshots/mlp.pickle.gz")).unwrap();
    assert!(said(&snapshot[..snapshot.len() / 2]).ends_with("the gzip stream ends early"));
    assert!(said(b"id,size\n").contains("neither a pickled memory snapshot nor a trace"));
}

const NOTHING: &str = r#""cuda":[],"trace":[],"allocated":0,"reserved":0,"active":0,"requested":0,"inactive_split":0,"nseg":0,"retries":0,"ooms":0}"#;

/// A trace of these ops, recorded with this version.
fn trace(torch: &str, ops: &[&str]) -> Vec<u8> {
    let header = format!(
        r#""op":"header","stream_order":[0],"config":"","meta":{{"name":"n","device_total":1073741824,"torch":"{torch}"}}"#
    );
    let lines = [header.as_str()].into_iter().chain(ops.iter().copied()).enumerate();
    lines.map(|(i, op)| format!("{{\"i\":{i},{op},{NOTHING}\n")).collect::<String>().into_bytes()
}

#[test]
fn a_trace_without_events_or_of_an_unknown_version_is_an_error() {
    let said = |torch: &str, ops: &[&str]| run_bytes(&trace(torch, ops)).unwrap_err().to_string();
    assert!(said("2.13.0", &[]).ends_with("no line follows the header, so there is nothing to replay"));
    assert!(said("1.13.1", &[r#""op":"empty_cache""#]).contains("the rules of PyTorch 1.13 are not known"));
    assert_eq!(run_bytes(&trace("2.13.0", &[r#""op":"empty_cache""#])).unwrap().summary.events, 1);
}

#[test]
fn an_absurd_request_is_told_as_refused() {
    let absurd = r#""op":"malloc","id":1,"size":18446744073709551615,"stream":0,"addr":512"#;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&trace("2.13.0", &[absurd])).unwrap();
    let report = run(file.path(), &Options { check: false, ..CHECK }).unwrap();
    let failed = &report.parts[0].failed;
    assert_eq!((report.summary.ooms, failed.count, failed.recorded), (0, 1, 0));
    assert_eq!((failed.first[0].event, failed.first[0].asked, failed.first[0].why), (2, u64::MAX, Why::Absurd));
}

#[test]
fn requests_that_failed_in_the_recording_are_told_as_such() {
    let report = check(&place("traces/oom_4g.jsonl.gz"));
    let failed = &report.parts[0].failed;
    assert_eq!((failed.count, failed.recorded), (report.summary.ooms, report.summary.ooms));
    assert!(failed.first.iter().all(|request| request.recorded && matches!(request.why, Why::OutOfMemory { .. })));
}
