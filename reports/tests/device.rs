//! What the pages of a machine with a GPU say: costs of transfers, shares of the link, clocks, and what was left out.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod support;

use reports::{read, render};
use scraper::{ElementRef, Html, Selector};
use suites::record::*;

/// One page of the site of these records.
fn page(records: &[Record], path: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let log = read(&support::write(folder.path(), records)).unwrap();
    let root = folder.path().join("site");
    render(&log, &[], support::claims(), &root).unwrap();
    std::fs::read_to_string(root.join(path)).unwrap()
}

fn select<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

/// The cells of the rows of tables, with spaces that break.
fn rows(html: &str, tables: &str) -> Vec<Vec<String>> {
    let html = Html::parse_document(html);
    let cell = Selector::parse("th, td").unwrap();
    let text = |cell: ElementRef| cell.text().collect::<String>().replace('\u{202f}', " ");
    let rows = select(&html, &format!("{tables} tbody tr"));
    rows.into_iter().map(|row| row.select(&cell).map(text).collect()).collect()
}

/// The rows of the table under this heading, without those of groups.
fn numbers(html: &str, id: &str) -> Vec<Vec<String>> {
    rows(html, &format!("h3[id='{id}'] + .scroll")).into_iter().filter(|row| row.len() > 1).collect()
}

fn plain(html: &str) -> String {
    html.replace('\u{202f}', " ")
}

#[test]
fn a_transfer_has_a_latency_a_bandwidth_and_a_size_from_which_it_pays() {
    let html = page(&support::device::records(), "workload/upload.html");
    assert_eq!(
        rows(&html, "table.costs")[6..],
        [
            vec!["PyTorch"],
            vec!["locking-inside", "95.2 µs at 4 KiB", "23.9 GB/s at 1 GiB", "43 %", "4 MiB"],
            vec!["pageable", "9.37 µs at 4 KiB", "11 GB/s at 1 GiB", "20 %", "—"],
            vec!["pinned", "6.58 µs at 4 KiB", "52 GB/s at 1 GiB", "94 %", "4 KiB"],
            vec!["pinning-inside", "14.5 µs at 4 KiB", "8.5 GB/s at 1 GiB", "15 %", "never here"],
            vec!["registered", "6.88 µs at 4 KiB", "51 GB/s at 1 GiB", "92 %", "4 KiB"],
        ]
    );
    assert!(html.contains("<a class=\"id\" href=\"../workload/device-copy.html\">device-copy.up</a>"));
    assert!(page(&support::device::records(), "workload/download.html").contains("device-copy.down</a>"));
    for other in ["device-copy", "device-add", "device-loop"] {
        let html = page(&support::device::records(), &format!("workload/{other}.html"));
        assert!(!html.contains("What a transfer costs"), "{other} moves nothing out of pageable memory");
    }
}

#[test]
fn a_share_is_one_of_the_same_subjects_copy_at_the_same_size() {
    let html = page(&support::device::records(), "workload/upload.html");
    let shares: Vec<String> = numbers(&html, "table-upload.pageable-f32")
        .into_iter()
        .map(|row| [&row[0], &row[6], &row[7]].map(String::as_str).join(", "))
        .collect();
    assert_eq!(shares.len(), 8);
    assert_eq!(shares[4..], ["4 KiB, 0.437, 17 %", "64 KiB, 4.38, 18 %", "4 MiB, 10.7, 20 %", "1 GiB, 11, 20 %"]);
    assert_eq!(shares[3], "1 GiB, 11.6, 21 %", "the reference has its own");
    assert!(html.contains("The limit is device-copy.up on the same subject at the same size"));
    assert!(!html.contains("class=\"limit\""), "a limit a subject is no line");
}

#[test]
fn a_limit_that_was_not_measured_gives_no_share() {
    let mut records = support::device::records();
    for record in &mut records {
        if let Record::Workload(info) = record
            && info.workload.starts_with("upload.")
        {
            info.bound_by = Some("device-copy.sideways".into());
        }
    }
    let html = page(&records, "workload/upload.html");
    assert!(rows(&html, "table.costs").iter().filter(|row| row.len() > 1).all(|row| row[3] == "—"));
    assert!(numbers(&html, "table-upload.pinned-f32").iter().all(|row| row[7].is_empty()));
    assert!(html.contains("The limit, device-copy.sideways, was not measured here."));
}

#[test]
fn only_what_moves_one_tensor_has_a_bandwidth() {
    let html = |family: &str| page(&support::device::records(), &format!("workload/{family}.html"));
    let bandwidth = "<th scope=\"col\" class=\"n\">GB/s</th>";
    assert!(html("device-copy").contains(bandwidth) && html("device-add").contains(bandwidth));
    assert!(!html("device-loop").contains(bandwidth));
    let host = page(&support::records("finished"), "workload/add.html");
    assert!(!host.contains("GB/s") && !host.contains("Bytes</th>") && !host.contains("clock</span>"));
}

#[test]
fn every_variant_says_whose_clock_timed_it() {
    let html = page(&support::device::records(), "workload/device-copy.html");
    assert_eq!(html.matches("timed by the device’s own clock: launches are not in it").count(), 3);
    assert!(page(&support::device::records(), "workload/upload.html").contains("timed by the host’s clock"));
}

#[test]
fn what_the_gpu_did_is_said_and_what_it_spoiled_is_left_out() {
    let html = page(&support::device::records(), "workload/upload.html");
    assert!(plain(&html).contains(
        "NVIDIA H200 while it was sampled: processors at 1,200–1,980 MHz, memory at 3,201 MHz, at most 88 °C. What held its clocks down: hw-thermal-slowdown, sw-power-cap. 1 of 880 samples is left out: heat or a fault of the power supply slowed it."
    ));
    let pinned = numbers(&html, "table-upload.pinned-f32");
    assert_eq!(pinned[7][2..4], ["20.7 ms", "20.2–21.3 ms"], "the sample of a second is left out");
    let html = page(&support::device::records(), "workload/download.html");
    assert!(html.contains("Nothing held its clocks down. None of 704 samples was throttled."));
}

#[test]
fn the_gpu_stands_among_the_facts_of_the_machine() {
    let records = support::device::records();
    let machine = rows(&page(&records, "machine.html"), "section[aria-labelledby=machine] table");
    for row in [
        ["GPU", "NVIDIA H200"],
        ["Memory of the GPU", "141 GiB"],
        ["Driver of the GPU", "580.95.05"],
        ["Highest clocks of the GPU", "processors 1,980 MHz, memory 3,201 MHz"],
        ["Link to the GPU", "PCIe 5.0, 16 lanes"],
    ] {
        assert!(machine.contains(&row.map(String::from).to_vec()), "{row:?} not in {machine:?}");
    }
    assert!(page(&records, "index.html").contains("24\u{202f}GiB, NVIDIA H200"));
    assert!(!page(&support::records("finished"), "machine.html").contains("GPU</th>"));
}
