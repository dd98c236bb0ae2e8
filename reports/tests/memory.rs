//! Pages of device memory: every point of a timeline and every byte of a map is read back, and what came from a simulated
//! device says so.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod support;

use reports::{errata_markdown, read, render};
use scraper::{ElementRef, Html, Selector};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use suites::record::*;
use support::memory::{FAILURES, MAPS, STEPS, SUBJECTS, TIMELINE, bytes};

const MIB: f64 = (1u64 << 20) as f64;

struct Rendered {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

fn rendered(records: &[Record]) -> Rendered {
    let folder = tempfile::tempdir().unwrap();
    let log = read(&support::write(folder.path(), records)).unwrap();
    let root = folder.path().join("site");
    render(&log, &[], support::claims(), &root).unwrap();
    Rendered { root, _folder: folder }
}

impl Rendered {
    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    fn page(&self, path: &str) -> Html {
        Html::parse_document(&self.text(path))
    }
}

fn path(case: &str) -> String {
    format!("memory/{}.html", case.replace(':', "~3a"))
}

fn all<'a>(element: ElementRef<'a>, selector: &str) -> Vec<ElementRef<'a>> {
    element.select(&Selector::parse(selector).unwrap()).collect()
}

fn text(element: &ElementRef) -> String {
    element.text().collect::<String>().replace('\u{202f}', " ")
}

fn number(text: &str) -> f64 {
    text.replace(',', "").parse().unwrap()
}

/// The corners of a path.
fn corners(path: &ElementRef) -> Vec<(f64, f64)> {
    let corners = path.attr("d").unwrap().trim_start_matches('M').split('L');
    corners.map(|at| at.split_once(' ').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap()).collect()
}

#[test]
fn every_point_of_a_timeline_lies_where_its_bytes_say() {
    let rendered = rendered(&support::records("finished"));
    let html = rendered.page(&path(TIMELINE));
    let mut seen = BTreeSet::new();
    for svg in all(html.root_element(), "svg[role=img]") {
        // Hairlines end the rows.
        let rows: Vec<f64> = all(svg, "svg > path.grid").iter().map(|line| corners(line)[0].1).collect();
        assert_eq!(rows.len(), STEPS.len());
        let height = rows[1] - rows[0];
        let code: Vec<String> = all(svg, ".code").iter().map(text).collect();
        for (i, (line, ..)) in STEPS.iter().enumerate() {
            let shown = code[i].trim_end_matches('…');
            assert!(format!("{} {line}", i + 1).starts_with(shown) && shown.len() > 6, "{}", code[i]);
        }
        for panel in all(svg, "g") {
            let subject = panel.attr("class").unwrap().trim_start_matches("s-");
            let ticks: Vec<(f64, f64)> = all(panel, "text[text-anchor=middle]:not([class])")
                .iter()
                .map(|tick| (tick.attr("x").unwrap().parse().unwrap(), number(&text(tick))))
                .collect();
            let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
            let per_pixel = (last.1 - first.1) / (last.0 - first.0);
            assert!(ticks.len() > 1 && first.1 == 0.0, "{ticks:?}");
            let axis = all(panel, "text:not([class]):not([text-anchor])");
            assert!(axis.iter().any(|name| text(name).ends_with(", MiB")), "an axis says its unit");
            for quantity in ["live", "held", "process", "host"] {
                let lines = all(panel, &format!("path.{quantity}"));
                let names = all(panel, ".name");
                assert_eq!(!lines.is_empty(), names.iter().any(|name| text(name) == quantity), "{quantity} has a name");
                for (x, y) in lines.iter().flat_map(corners) {
                    let mib = first.1 + (x - first.0) * per_pixel;
                    let matches = |step: &usize| {
                        // A step begins where the one above ends, and holds until its own row ends.
                        let top = rows[*step] - height;
                        let near = bytes(subject, quantity, *step)
                            .is_some_and(|bytes| (bytes as f64 / MIB - mib).abs() <= 0.1 * per_pixel);
                        near && (y - top).abs().min((y - rows[*step]).abs()) < 0.1
                    };
                    let steps: Vec<usize> = (0..STEPS.len()).filter(matches).collect();
                    assert!(!steps.is_empty(), "{subject} {quantity}: {mib} MiB at {y}");
                }
                // Two corners for each step that was read: nothing is left out.
                let read = (0..STEPS.len()).filter(|step| bytes(subject, quantity, *step).is_some()).count();
                if !lines.is_empty() {
                    assert_eq!(lines.iter().flat_map(corners).count(), 2 * read, "{subject} {quantity}");
                    seen.insert((svg.attr("class").unwrap().to_string(), subject.to_string(), quantity));
                }
            }
            if let [cached, ..] = all(panel, "path.cached")[..] {
                let d = cached.attr("d").unwrap();
                assert!(d.ends_with('Z'), "{d}");
                let gaps = STEPS.iter().filter(|(_, live, held)| held > live).count();
                assert_eq!(all(panel, "path.cached").len(), gaps);
            }
        }
    }
    // The reference's process is what it holds, and its host memory is not read.
    let drawn = [("pytorch", "live"), ("pytorch", "held"), ("pytorch", "process"), ("pytorch", "host")];
    let drawn = drawn.into_iter().chain([("reference", "live"), ("reference", "held")]);
    let expected = drawn.flat_map(|(s, q)| ["wide", "narrow"].map(|size| (size.to_string(), s.to_string(), q)));
    assert_eq!(seen, expected.collect());
    assert!(rendered.text(&path(TIMELINE)).contains("Process is the same as held on reference"));
}

#[test]
fn the_table_of_a_timeline_has_every_number_and_its_change() {
    let html = rendered(&support::records("finished")).page(&path(TIMELINE));
    let rows = all(html.root_element(), ".steps tbody tr");
    assert_eq!(rows.len(), STEPS.len());
    let columns = [("reference", &["live", "held", "process"][..]), ("pytorch", &["live", "held", "process", "host"])];
    let columns: Vec<(&str, &str)> = columns.iter().flat_map(|(s, qs)| qs.iter().map(|q| (*s, *q))).collect();
    for (step, row) in rows.iter().enumerate() {
        assert_eq!(text(&all(*row, "code")[0]), STEPS[step].0);
        let cells = &all(*row, "td")[1..];
        assert_eq!(cells.len(), columns.len());
        for (cell, (subject, quantity)) in cells.iter().zip(&columns) {
            let at = |step: usize| bytes(subject, quantity, step).map(|bytes| bytes as f64 / MIB);
            let change = all(*cell, "small").first().map(text);
            let value = text(cell).trim_end_matches(change.as_deref().unwrap_or_default()).to_string();
            match at(step) {
                Some(mib) => assert_eq!(number(&value), mib),
                None => assert_eq!(value, "—"),
            }
            let expected = match (step.checked_sub(1).and_then(at), at(step)) {
                (Some(before), Some(now)) if before != now => Some(now - before),
                _ => None,
            };
            assert_eq!(change.map(|change| number(&change.replace('−', "-"))), expected, "{subject} {quantity} {step}");
        }
    }
    let lead = text(&all(html.root_element(), ".lead")[0]);
    assert_eq!(
        lead,
        "Up to 1,024 MiB are held that no tensor uses, first after line 3 on PyTorch 2.13.0, cuda (simulated). PyTorch and reference have the same live and held after each line."
    );
}

#[test]
fn subjects_that_part_say_where() {
    let mut records = support::records("finished");
    let step = |record: &&mut Record| matches!(record, Record::Memory(m) if m.subject == "reference" && m.step == 4);
    let Some(Record::Memory(step)) = records.iter_mut().find(step) else { unreachable!() };
    step.held = Some(0);
    let lead = rendered(&records).text(&path(TIMELINE));
    assert!(lead.contains("PyTorch and reference part in live or held, first after line 5."), "{lead}");
}

#[test]
fn a_map_of_segments_is_to_scale_and_says_what_keeps_each() {
    let html = rendered(&support::records("finished")).page(&path(MAPS));
    // Both subjects have the same segments and share a map; the second moment has none.
    let titles: Vec<String> = all(html.root_element(), "h3").iter().map(text).collect();
    let launches = "reference 0.1.0, cuda (simulated); PyTorch 2.13.0, cuda (simulated)";
    assert_eq!(titles, [format!("A and B freed, C kept {launches}"), format!("C freed {launches}")]);
    let segments = support::memory::segments();
    // Large ones first, and the two small ones that are alike in one row.
    let order = [0, 1, 2, 5, 3];
    let rows = all(html.root_element(), ".segs li");
    assert_eq!(rows.len(), order.len());
    for (row, i) in rows.iter().zip(order) {
        let segment = &segments[i];
        let size = |segment: &SegmentRecord| segment.blocks.iter().map(|block| block.bytes).sum::<u64>();
        let longest = segments.iter().filter(|other| other.small == segment.small).map(size).max().unwrap();
        let bar = all(*row, ".seg")[0];
        let width = bar.attr("style").unwrap().trim_start_matches("width:").trim_end_matches('%').parse::<f64>();
        assert!((width.unwrap() - 100.0 * size(segment) as f64 / longest as f64).abs() < 0.06);
        let pieces: Vec<(u64, String, String)> = all(bar, "span")
            .iter()
            .map(|piece| {
                let bytes = piece.attr("style").unwrap().trim_start_matches("flex-grow:").parse().unwrap();
                (bytes, piece.attr("class").unwrap().to_string(), text(piece))
            })
            .collect();
        let state = |state| match state {
            BlockState::Live => "live",
            BlockState::Pending => "pending",
            BlockState::Free => "free",
        };
        let expected = segment.blocks.iter();
        let expected = expected.map(|b| (b.bytes, state(b.state).to_string(), b.name.clone().unwrap_or_default()));
        assert_eq!(pieces, expected.collect::<Vec<_>>());
    }
    let fates: Vec<String> = rows.iter().map(|row| text(&all(*row, "b")[0])).collect();
    assert_eq!(
        fates,
        [
            "all in use: weights <all>",
            "kept by 2 MiB of 48 MiB: C",
            "can go back",
            "whole free pages can go back; kept are 80 MiB of 120 MiB: D and 1 without a name, 20 MiB of it waiting for a stream",
            "kept by 786,432 B of 2 MiB: bias and 1 without a name",
        ]
    );
    let sums: Vec<String> = all(html.root_element(), "dl.strip")[0].child_elements().map(|sum| text(&sum)).collect();
    assert_eq!(
        sums,
        ["live1,088 MiB", "pending20 MiB", "stranded48.5 MiB", "can go back60 MiB", "held, all together1,216 MiB"]
            .map(String::from)
    );
}

#[test]
fn a_request_that_failed_is_explained_with_its_numbers() {
    let html = rendered(&support::records("finished")).page(&path(FAILURES));
    let sections = all(html.root_element(), ".two > section");
    assert_eq!(sections.len(), 4);
    for (i, section) in sections.iter().enumerate() {
        let launch = ["reference 0.1.0, cuda (simulated)", "PyTorch 2.13.0, cuda (simulated)"][i % 2];
        let request = ["2,048 MiB", "8,192 MiB"][i / 2];
        assert_eq!(text(&all(*section, "h3")[0]), format!("A request of {request} {launch}"));
        assert_eq!(text(&all(*section, "pre")[0]), support::memory::MESSAGE);
        let said = text(&all(*section, ".fix")[0]);
        let (verdict, rule) = [
            ("Less fragmentation can help", "1,024 < 2,048 ≤ 1,024 + 3,072 − 1,536 = 2,560 MiB"),
            ("Less fragmentation cannot help", "8,192 > 1,024 + 3,072 − 1,536 = 2,560 MiB"),
        ][i / 2];
        assert!(said.contains(verdict) && said.ends_with(rule), "{said}");
    }
}

#[test]
fn a_limit_of_the_process_is_told_apart_from_the_device() {
    let mut records = support::records("finished");
    for record in &mut records {
        let Record::OutOfMemory(failure) = record else { continue };
        failure.message =
            "GPU 0 has a total capacity of 80.00 GiB of which 76.97 GiB is free. 4.00 GiB allowed; Of the rest".into();
    }
    let rendered = rendered(&records);
    let html = rendered.page(&path(FAILURES));
    let section = all(html.root_element(), ".two > section")[0];
    let said = text(&all(section, ".fix")[0]);
    for part in
        ["allowed − held = 4,096 − 3,072 = 1,024 MiB", "What the message calls free, 76.97 GiB, is free on the device"]
    {
        assert!(said.contains(part), "{said}");
    }
    let names: Vec<String> = all(section, ".sizes th[scope=row]").iter().map(text).collect();
    assert_eq!(names[1], "free under the limit");
    assert!(rendered.text("memory.html").contains("what a limit leaves"));
}

#[test]
fn the_page_of_all_cases_counts_those_without_pictures() {
    let mut records = support::records("finished");
    let claim = support::on_device_memory();
    let on_device = |outcome: &Outcome| outcome.device == SIMULATED && outcome.outcome != OutcomeKind::NotRun;
    let ran = |records: &[Record]| -> BTreeSet<String> {
        let outcomes = records.iter().filter_map(|r| if let Record::Outcome(o) = r { Some(o) } else { None });
        outcomes.filter(|outcome| on_device(outcome)).map(|outcome| outcome.case.clone()).collect()
    };
    let html = rendered(&records).page("memory.html");
    let lead = |html: &Html| text(&all(html.root_element(), ".lead")[0]);
    let all_cases = ran(&records).len();
    assert!(all_cases > 3);
    assert_eq!(
        lead(&html),
        format!(
            "{all_cases} cases ran on device memory, of which 3 have pictures here. All 3 show bytes that are held and that no tensor uses: at most 1,536 MiB, in {FAILURES}."
        )
    );
    let tutorial = format!("tutorial {}", claim.tutorial());
    let rows = all(html.root_element(), "th.case");
    assert!(!rows.is_empty() && rows.iter().all(|row| text(&all(*row, "small")[0]) == tutorial));

    // A map counts where no line and no request shows what is held and not live.
    records.retain(|record| !matches!(record, Record::Memory(_) | Record::OutOfMemory(_)));
    let html = rendered(&records).page("memory.html");
    assert!(lead(&html).ends_with("It shows bytes that are held and that no tensor uses: at most 128 MiB."));
}

#[test]
fn facts_and_transcript_are_on_the_pages_of_claims_or_here() {
    let mut records = support::records("finished");
    let claim = support::on_device_memory();
    let html = rendered(&records).page(&path(MAPS));
    let judges = all(html.root_element(), ".judges a");
    assert_eq!(judges.iter().map(text).collect::<Vec<_>>(), [claim.id.as_str()]);
    assert!(all(html.root_element(), "#facts, details").is_empty());

    for record in &mut records {
        match record {
            Record::Outcome(outcome) if outcome.case == MAPS => outcome.claims.clear(),
            _ => {}
        }
    }
    let html = rendered(&records).page(&path(MAPS));
    assert!(all(html.root_element(), ".judges").is_empty());
    assert_eq!(text(&all(html.root_element(), "#facts")[0]), "Facts on PyTorch 2.13.0");
    let transcript = text(&all(html.root_element(), "details pre")[0]);
    assert!(transcript.contains("torch.cuda.memory_allocated()  # 0"), "{transcript}");

    // The page of a claim has nothing of a case that PyTorch did not run.
    let mut records = support::records("finished");
    records.retain(|record| !matches!(record, Record::Outcome(o) if o.case == MAPS && o.subject == "pytorch"));
    let html = rendered(&records).page(&path(MAPS));
    assert_eq!(all(html.root_element(), ".judges a").len(), 1);
    assert_eq!(text(&all(html.root_element(), "#facts")[0]), "Facts on reference 0.1.0");
}

#[test]
fn small_changes_of_main_memory_are_left_out() {
    let mut records = support::records("finished");
    for record in &mut records {
        match record {
            Record::Memory(step) if step.subject == "pytorch" => {
                step.host = Some((100 << 20) + if step.step == 3 { (1 << 19) - 1 } else { 0 });
                step.live = Some((1 << 20) + if step.step == 3 { 512 } else { 0 });
            }
            _ => {}
        }
    }
    let html = rendered(&records).page(&path(TIMELINE));
    let row = all(html.root_element(), ".steps tbody tr")[3];
    let changes: Vec<Option<String>> =
        all(row, "td")[4..].iter().map(|cell| all(*cell, "small").first().map(text)).collect();
    assert!(changes[0].is_some(), "512 bytes of a tensor count");
    assert_eq!(changes[3], None);
}

#[test]
fn maps_that_part_are_named_in_the_headline() {
    let html = rendered(&support::records("finished")).page(&path(MAPS));
    assert_eq!(
        text(&all(html.root_element(), ".lead")[0]),
        "Held on PyTorch 2.13.0, cuda (simulated): 1,216 MiB, of which 1,088 MiB live (“A and B freed, C kept”); 0 B, of which 0 B live (“C freed”). Of 1,216 MiB held, 48.5 MiB are stranded in segments that cannot go back on PyTorch 2.13.0, cuda (simulated)."
    );
}

#[test]
fn what_a_simulated_device_shows_says_so() {
    let records = support::records("finished");
    let rendered = rendered(&records);
    let claim = support::on_device_memory();
    let matrix = rendered.page("matrix.html");
    let row = all(matrix.root_element(), "tr[data-v]").into_iter().find(|row| text(row).contains(&claim.id)).unwrap();
    let marks: Vec<Option<String>> =
        all(row, "td").iter().map(|cell| Some(all(*cell, ".sim").first()?.attr("title")?.to_string())).collect();
    assert_eq!(marks[0].as_deref(), Some("rests on cuda (simulated)"));
    for mark in &marks[1..3] {
        assert!(mark.as_ref().unwrap().ends_with("ran on cuda (simulated)"), "{marks:?}");
    }
    assert_eq!(marks[3..], [None, None]);

    let page = rendered.text(&format!("claim/{}.html", claim.id));
    for part in [
        "rests on cuda (simulated)",
        "reference <span class=\"unit\">0.1.0, cuda (simulated)</span>",
        "ndarray <span class=\"unit\">0.17.2, cpu</span>",
        &format!("{TIMELINE}, cuda (simulated)</span>"),
    ] {
        assert!(page.contains(part), "{part}");
    }
    for case in [TIMELINE, MAPS, FAILURES] {
        assert!(page.contains(&format!("../{}", path(case))), "{case} is linked");
        assert!(rendered.text(&path(case)).contains("cuda (simulated) is no GPU"));
    }
    let index = rendered.text("index.html");
    assert!(index.contains("<td>cuda (simulated), 1 thread</td>") && index.contains("<td>cpu, 1 thread</td>"));
    assert!(index.contains("cuda (simulated) is no GPU") && index.contains("href=\"memory.html\""));
    let simulated = support::claims().claims.iter().filter(|claim| {
        records.iter().any(|r| {
            matches!(r, Record::Outcome(o) if o.subject == "pytorch" && o.device == SIMULATED
                && o.outcome != OutcomeKind::NotRun && o.claims.contains(&claim.id))
        })
    });
    assert!(index.contains(&format!("{} verdicts rest on a simulated device.", simulated.count())));
    let machine = rendered.page("machine.html");
    let launches = all(machine.root_element(), "table tr");
    let launches = launches.iter().filter(|row| text(row).contains(SIMULATED)).count();
    assert_eq!(launches, SUBJECTS.len());

    let log = read(&support::write(rendered.root.parent().unwrap(), &records)).unwrap();
    let markdown = errata_markdown(&log, support::claims(), claim.tutorial()).unwrap();
    assert!(markdown.contains("cuda (simulated) is no GPU"));
    let line = markdown.lines().find(|line| line.contains(&claim.id)).unwrap();
    assert!(line.ends_with(", simulated)"), "{line}");
}

#[test]
fn a_run_that_saw_no_device_memory_has_no_page_of_it() {
    let mut records = support::records("finished");
    records.retain(|record| !matches!(record, Record::Memory(_) | Record::Segments(_) | Record::OutOfMemory(_)));
    let rendered = rendered(&records);
    assert!(!rendered.root.join("memory.html").exists() && !rendered.root.join("memory").exists());
    assert!(!rendered.text("index.html").contains("memory.html"));
}
