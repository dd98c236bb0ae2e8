//! Snapshots that were altered: as if recording had begun late, with several devices or private pools, in other layouts; and
//! false ones.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

#[path = "support/pickled.rs"]
mod pickled;
mod support;

use kernels::memory::{Action, TorchVersion};
use pickled::{Layout, NEW, pickled};
use replay::snapshot::{Event, Segment, Snapshot};
use replay::{Failure, Options, Report, replay};
use std::io::{Cursor, Write};
use support::packed;

const CHECK: Options = Options { settings: None, device_memory: None, torch: None, check: true };

fn snapshot(name: &str) -> Snapshot {
    let bytes = packed(&format!("snapshots/{name}.pickle.gz"));
    Snapshot::read(|| Ok(Cursor::new(&bytes))).unwrap()
}

fn run_in(snapshot: &Snapshot, layout: Layout, options: &Options) -> Result<Report, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&pickled(snapshot, layout)).unwrap();
    replay(file.path(), options, &|_, _, _| {}).map_err(|failure| failure.to_string())
}

fn run(snapshot: &Snapshot) -> Result<Report, String> {
    run_in(snapshot, NEW, &CHECK)
}

fn agrees(what: &str, report: &Report) {
    if let Some(difference) = &report.difference {
        panic!("{what}: {} differences\n{difference}", report.summary.differences);
    }
}

#[test]
fn a_recording_that_began_late_agrees_from_its_first_entry_on() {
    for name in ["gpt", "gpt_amp_var", "gpt_amp_var_split64_div4", "gen", "mlp"] {
        let whole = snapshot(name);
        let events = whole.traces[0].len();
        for eighths in [1, 4, 7] {
            let mut late = whole.clone();
            late.traces[0].drain(..events * eighths / 8);
            let report = run(&late).unwrap();
            agrees(&format!("{name} from {eighths} eighths on"), &report);
            assert!(report.parts[0].held_before > 0);
        }
    }
}

#[test]
fn what_was_expandable_before_the_recording_is_said() {
    let mut late = snapshot("gpt_amp_var_expandable");
    late.traces[0].drain(..1000);
    assert!(run(&late).unwrap_err().contains("expandable segments already held memory"));
}

#[test]
fn several_devices_are_replayed_one_by_one() {
    let mut two = snapshot("mlp");
    let one = run(&two).unwrap().summary;
    two.traces.insert(0, Vec::new());
    two.traces.push(two.traces[1].clone());
    two.segments.iter_mut().for_each(|segment| segment.device = 1);
    let again: Vec<Segment> = two.segments.iter().map(|segment| Segment { device: 2, ..segment.clone() }).collect();
    two.segments.extend(again);
    let report = run(&two).unwrap();
    agrees("two devices", &report);
    assert_eq!(report.parts.iter().map(|part| part.device).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(report.parts[0].summary, one);
    assert_eq!(report.summary.peak_held, 2 * one.peak_held);
    assert_eq!(report.summary.events, 2 * one.events);
}

#[test]
fn private_pools_are_left_out_and_said() {
    let mut graphs = snapshot("mlp");
    let one = run(&graphs).unwrap().summary;
    let address = 0x6fff_0000_0000;
    let private = |action| Event { action, address, bytes: 2 << 20, stream: 0, private: true };
    graphs.traces[0].insert(0, private(Action::Alloc));
    graphs.traces[0].insert(0, private(Action::SegmentAlloc));
    let first = graphs.segments[0].clone();
    graphs.segments.push(Segment { address, private: true, blocks: at(&first, address), ..first });
    let report = run(&graphs).unwrap();
    agrees("private pools", &report);
    assert_eq!(report.summary, one);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("private pools such as those of captured graphs: 2 entries and 1 segment"))
    );
}

fn at(segment: &Segment, address: u64) -> Vec<replay::snapshot::Block> {
    let moved = |block: &replay::snapshot::Block| {
        let address = block.address - segment.address + address;
        replay::snapshot::Block { address, ..*block }
    };
    segment.blocks.iter().map(moved).collect()
}

#[test]
fn old_layouts_and_the_writer_of_c_are_read() {
    let whole = snapshot("gpt");
    for layout in [Layout { batch: 1000, new: false }, Layout { batch: usize::MAX, new: true }] {
        let report = run_in(&whole, layout, &CHECK).unwrap();
        agrees("another layout", &report);
        // Files that do not name pools are old, and their rules are taken.
        assert_eq!(report.torch == TorchVersion { major: 2, minor: 10 }, !layout.new);
    }
}

#[test]
fn a_false_address_is_found_where_it_stands() {
    let mut false_one = snapshot("gpt");
    let events = &mut false_one.traces[0];
    let at = (500..).find(|at| events[*at].action == Action::Alloc).unwrap();
    let right = events[at].address;
    let again = events[at..].iter_mut().filter(|event| event.address == right);
    again.for_each(|event| event.address += 512);
    for block in false_one.segments.iter_mut().flat_map(|segment| &mut segment.blocks) {
        assert!(block.address != right, "the block is given back in this trace");
    }
    let report = run(&false_one).unwrap();
    let difference = report.difference.unwrap();
    assert_eq!(difference.event, at as u64);
    assert_eq!((difference.expected, difference.got), (format!("{:#x}", right + 512), format!("{right:#x}")));
    assert_eq!(difference.before.len(), 5);
}

#[test]
fn false_segments_are_found() {
    let whole = snapshot("gpt");
    let first = whole.traces[0].iter().rposition(|event| event.action == Action::SegmentAlloc).unwrap();
    let mut larger = whole.clone();
    larger.traces[0][first].bytes *= 2;
    let difference = run(&larger).unwrap().difference.unwrap();
    assert!(difference.expected.starts_with("segment_alloc") && difference.event >= first as u64, "{difference}");

    let mut requested = whole.clone();
    requested.segments[3].blocks[0].requested += 1;
    let difference = run(&requested).unwrap().difference.unwrap();
    assert_eq!(difference.event, whole.traces[0].len() as u64);
    assert!(difference.expected.contains("for a request of"), "{difference}");
}

#[test]
fn recordings_that_contradict_themselves_are_refused() {
    let whole = snapshot("mlp");
    let mut nowhere = whole.clone();
    let last = nowhere.traces[0].iter().rposition(|event| event.action == Action::SegmentAlloc).unwrap();
    nowhere.traces[0][last].address += 2 << 20;
    assert!(run(&nowhere).unwrap_err().contains("takes a segment at"));

    let mut twice = whole.clone();
    let free = *twice.traces[0].iter().find(|event| event.action == Action::FreeCompleted).unwrap();
    twice.traces[0].push(free);
    assert!(run(&twice).unwrap_err().contains("frees a block"));

    let mut empty = whole.clone();
    empty.traces[0].clear();
    assert!(run(&empty).unwrap_err().contains("_record_memory_history"));
}

#[test]
fn an_entry_with_an_unknown_action_is_named() {
    let mut two = snapshot("mlp");
    let at = two.traces[0].iter().position(|event| event.action == Action::FreeRequested).unwrap();
    two.traces.insert(0, Vec::new());
    let mut bytes = pickled(&two, NEW);
    let alter = |bytes: &mut [u8], action: &[u8]| {
        let place = bytes.windows(14).position(|window| window == b"free_requested").unwrap();
        bytes[place..][..14].copy_from_slice(action);
    };
    alter(&mut bytes, b"free_forgotten");
    // Only the first is told.
    alter(&mut bytes, b"free_elsewhere");
    let error = Snapshot::read(|| Ok(Cursor::new(&bytes))).unwrap_err().to_string();
    assert!(
        error.ends_with(&format!("entry {at} of device 1 has the action \"free_forgotten\", which is not known")),
        "{error}"
    );
}

#[test]
fn options_that_make_no_sense_for_the_recording_are_refused_as_such() {
    let whole = snapshot("mlp");
    let refused = |snapshot: &Snapshot, options: Options, words: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&pickled(snapshot, NEW)).unwrap();
        let Err(Failure::Usage(what)) = replay(file.path(), &options, &|_, _, _| {}) else {
            panic!("accepted: {words}")
        };
        assert!(what.contains(words), "{what}");
    };
    let free = Options { check: false, ..CHECK };
    let settings = |text: &str, options: &Options| Options { settings: Some(text.to_owned()), ..options.clone() };
    let memory = |bytes, options: &Options| Options { device_memory: Some(bytes), ..options.clone() };

    refused(&whole, settings("max_split_size_mb:64", &CHECK), "under those of the recording, default settings");
    refused(&whole, settings("max_split:64", &free), "max_split:64: PyTorch refuses it: Unrecognized key 'max_split'");
    refused(&whole, memory(u64::MAX, &free), "18446744073709551615 bytes of device memory");
    for few in [0, 80, (2 << 20) - 1] {
        refused(&whole, memory(few, &free), "the least are 2097152, the smallest segment");
    }
    let old = Options { torch: Some(TorchVersion { major: 1, minor: 13 }), ..free.clone() };
    refused(&whole, old, "the rules of PyTorch 1.13 are not known: 2.0 to 2.15 are followed");

    let half = settings("per_process_memory_fraction:0.5", &free);
    refused(&whole, half.clone(), "--device-memory has to tell it");
    assert!(run_in(&whole, NEW, &memory(1 << 30, &half)).is_ok());

    // Nothing shows the memory of this device, but what it held.
    let held = run(&whole).unwrap().summary.peak_held;
    refused(&whole, memory(held - 1, &CHECK), &format!("at least the {held} bytes that it held"));
    agrees("with as much as it held", &run_in(&whole, NEW, &memory(held, &CHECK)).unwrap());
    refused(&snapshot("gpt_amp_var_oom"), memory(2 << 30, &CHECK), "device 0, 1400000000 bytes");
}

#[test]
fn what_has_no_effect_is_said() {
    let mut half = snapshot("mlp");
    half.settings = Some("per_process_memory_fraction:0.5".to_owned());
    let report = run(&half).unwrap();
    agrees("with a fraction", &report);
    assert!(report.notes.iter().any(|note| note.contains("--device-memory has to tell it")));

    let newer = Options { torch: Some(TorchVersion { major: 2, minor: 16 }), ..CHECK };
    let report = run_in(&snapshot("mlp"), NEW, &newer).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("2.16 are not known: those of 2.15 are taken")));
}
