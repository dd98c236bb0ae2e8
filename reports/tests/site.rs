//! What a reader of the site relies on: links that lead somewhere, headings in order, tables and figures with names,
//! pages that stay small.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod support;

use reports::{RunLog, Site, read, render};
use scraper::{ElementRef, Html, Selector};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use suites::record::*;

struct Rendered {
    _folder: tempfile::TempDir,
    root: PathBuf,
    site: Site,
}

fn rendered(records: &[Record]) -> Rendered {
    let folder = tempfile::tempdir().unwrap();
    let log = read(&support::write(folder.path(), records)).unwrap();
    let root = folder.path().join("site");
    let site = render(&log, &[], support::claims(), &root).unwrap();
    Rendered { root, site, _folder: folder }
}

/// The site of the finished run, for tests that only read it.
fn finished() -> &'static Rendered {
    static FINISHED: OnceLock<Rendered> = OnceLock::new();
    FINISHED.get_or_init(|| rendered(&support::records("finished")))
}

/// The site of a run on a machine with a GPU.
fn on_a_device() -> &'static Rendered {
    static ON_A_DEVICE: OnceLock<Rendered> = OnceLock::new();
    ON_A_DEVICE.get_or_init(|| rendered(&support::device::records()))
}

impl Rendered {
    fn html(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    fn pages(&self) -> BTreeMap<String, Html> {
        self.site.pages.iter().map(|page| (page.path.clone(), Html::parse_document(&self.html(&page.path)))).collect()
    }
}

fn all<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    html.select(&Selector::parse(selector).unwrap()).collect()
}

fn ids(html: &Html) -> Vec<&str> {
    all(html, "[id]").iter().map(|element| element.attr("id").unwrap()).collect()
}

/// The path that a link on a page leads to.
fn resolve(page: &str, href: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in Path::new(page).parent().unwrap().join(href).components() {
        match part {
            Component::ParentDir => drop(parts.pop().expect("a link leaves the site")),
            Component::Normal(part) => parts.push(part.to_str().unwrap().into()),
            other => panic!("{page}: {href} has {other:?}"),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_and_anchor_resolves_within_the_site() {
    assert!(links(finished()) > 2_000);
    links(on_a_device());
}

/// How many links a site has; all of them resolve.
fn links(rendered: &Rendered) -> usize {
    let pages = rendered.pages();
    let mut links = 0;
    for (path, html) in &pages {
        for element in all(html, "a[href], link[href], script[src]") {
            let href = element.attr("href").or(element.attr("src")).unwrap();
            assert!(!href.contains("//"), "{path}: {href} leaves the site");
            let (file, anchor) = href.split_once('#').map_or((href, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { path.clone() } else { resolve(path, file) };
            assert!(rendered.root.join(&target).is_file(), "{path}: {href} leads nowhere");
            if let Some(anchor) = anchor {
                assert!(ids(&pages[&target]).contains(&anchor), "{path}: no {anchor} in {target}");
            }
            links += 1;
        }
        for element in all(html, "[aria-labelledby]") {
            for id in element.attr("aria-labelledby").unwrap().split(' ') {
                assert!(ids(html).contains(&id), "{path}: nothing is called {id}");
            }
        }
        let ids = ids(html);
        assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{path}: an id stands twice");
    }
    links
}

#[test]
fn headings_tables_and_figures_can_be_read_aloud() {
    for (path, html) in finished().pages().into_iter().chain(on_a_device().pages()) {
        assert_eq!(all(&html, "h1").len(), 1, "{path}");
        let mut level = 0;
        for heading in all(&html, "h1, h2, h3, h4, h5, h6") {
            let next = heading.value().name()[1..].parse::<usize>().unwrap();
            assert!(next <= level + 1, "{path}: a heading of level {next} after level {level}");
            level = next;
        }
        for cell in all(&html, "th") {
            assert!(
                matches!(cell.attr("scope"), Some("col" | "colgroup" | "row" | "rowgroup")),
                "{path}: {}",
                cell.html()
            );
        }
        for table in all(&html, "table") {
            assert!(
                table.select(&Selector::parse("caption").unwrap()).next().is_some(),
                "{path}: a table without caption"
            );
        }
        for svg in all(&html, "svg") {
            if svg.attr("class") == Some("ebar") {
                assert_eq!(svg.attr("aria-hidden"), Some("true"), "{path}: the numbers stand beside an effect bar");
                continue;
            }
            let own =
                |tag: &str| svg.children().filter_map(ElementRef::wrap).find(|e| e.value().name() == tag).unwrap();
            let names = [own("title"), own("desc")].map(|element| element.attr("id").unwrap());
            assert_eq!(svg.attr("role"), Some("img"));
            assert_eq!(svg.attr("aria-labelledby").unwrap(), names.join(" "), "{path}");
        }
        for glyph in all(&html, ".v i") {
            assert_eq!(glyph.attr("aria-hidden"), Some("true"), "{path}");
        }
        for region in all(&html, ".scroll, .matrix") {
            assert!(region.attr("tabindex") == Some("0") && region.attr("aria-label").is_some(), "{path}");
        }
        let lead = all(&html, ".lead, h1.statement");
        assert!(!lead[0].text().collect::<String>().trim().is_empty(), "{path}: no answer");
    }
}

#[test]
fn svg_carries_no_colour_width_or_font() {
    let timeline = format!("memory/{}.html", support::memory::TIMELINE.replace(':', "~3a"));
    let html = finished().html("workload/add.html") + &finished().html(&timeline);
    for word in ["fill=", "stroke=", "stroke-width", "font-", "style=", "#"] {
        for svg in html.split("<svg").skip(1) {
            let svg = svg.split("</svg>").next().unwrap();
            assert!(!svg.contains(word), "{word} in {}", &svg[..200]);
        }
    }
}

#[test]
fn pages_stay_small() {
    let rendered = finished();
    for page in rendered.site.pages.iter().chain(&on_a_device().site.pages) {
        let limit = match page.path.as_str() {
            "index.html" => 40,
            "matrix.html" => 250,
            path if path.starts_with("workload/") => 80,
            path if path.starts_with("claim/") => 30,
            _ => 60,
        };
        assert!(page.bytes <= limit << 10, "{} has {} bytes", page.path, page.bytes);
    }
    let size = |path: &str| fs::metadata(rendered.root.join(path)).unwrap().len();
    assert!(size("style.css") <= 16 << 10);
    assert!(size("filter.js") <= 4 << 10);
    for svg in rendered.html("workload/add.html").split("<svg class=\"wide\"").skip(1) {
        assert!(svg.find("</svg>").unwrap() <= 12 << 10);
    }
    let total: u64 = rendered.site.pages.iter().map(|page| page.bytes).sum::<u64>()
        + ["style.css", "filter.js", "run.jsonl"].map(size).iter().sum::<u64>();
    assert_eq!(rendered.site.bytes, total);
}

#[test]
fn numbers_come_from_the_run_log() {
    let records = support::records("finished");
    let rendered = finished();
    let catalogue = support::claims();
    let known = |verdict: &&Verdict| catalogue.claim(&verdict.claim).is_some();
    let verdicts: Vec<&Verdict> =
        records.iter().filter_map(|r| if let Record::Verdict(v) = r { Some(v) } else { None }).filter(known).collect();
    let count = |test: &dyn Fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| test(verdict)).count();
    let right = count(&|v| v.verdict == VerdictKind::Right);
    let harmful = count(&|v| matches!(v.weight, Some(Weight::Breaks | Weight::Misleads)));
    let open = count(&|v| v.verdict == VerdictKind::Open);
    let lead = format!(
        "{right} of {} claims in 4 tutorials are right as written. {harmful} would break code or mislead about bytes or time; {open} are open in this run.",
        verdicts.len()
    );
    let index = rendered.html("index.html");
    assert!(index.contains(&lead), "{lead}");
    assert!(index.contains("1 of 30 pairs"));
    assert!(index.contains("1 verdict names a claim"));
    assert_eq!(fs::read(rendered.root.join("run.jsonl")).unwrap().split(|b| *b == b'\n').count(), records.len() + 1);
}

#[test]
fn outcomes_reach_the_matrix_worst_first() {
    let rendered = finished();
    let html = Html::parse_document(&rendered.html("matrix.html"));
    let words: BTreeSet<String> =
        all(&html, ".matrix td .v").iter().map(|e| e.text().skip(1).collect::<String>()).collect();
    for word in ["agrees", "differs", "unsupported", "not-run", "crashed", "timed-out", "harness-error", "unexpected"] {
        assert!(words.contains(word), "{word} not in {words:?}");
    }
    // Every second claim has a second case that agrees everywhere.
    let text = |element: &ElementRef| element.text().collect::<String>();
    let heads: Vec<String> = all(&html, ".matrix thead th").iter().map(text).collect();
    assert_eq!(heads[2..], ["reference0.1.0", "PyTorch2.13.0", "ndarray0.17.2", "tinygrad0.9"]);
    assert!(all(&html, ".matrix td").iter().any(|cell| text(cell).starts_with("!crashed1 of 2: ")));
    assert!(
        rendered.html("matrix.html").contains("JAX cpu: not-run. no module named jax: pip install jax &lt;0.11&gt;")
    );
}

#[test]
fn a_claim_page_shows_facts_others_and_how_to_reproduce() {
    let rendered = finished();
    let claim = &support::claims().claims[3];
    let html = rendered.html(&format!("claim/{}.html", claim.id));
    let case = format!("{}::case_3_0", claim.topic.replace('-', "_"));
    for part in [
        "Facts on PyTorch 2.13.0",
        "bytes &amp; strides",
        "# 100 more in the run log",
        "no as_strided in this library &lt;yet&gt;",
        &format!("cargo xtask conformance --only {case} --subject pytorch"),
    ] {
        assert!(html.contains(part), "{part}");
    }
    let wrong = support::claims().claims.iter().enumerate().find(|(i, c)| i % 3 != 0 && c.weight.is_some()).unwrap().1;
    assert!(rendered.html(&format!("claim/{}.html", wrong.id)).contains("does not fit"));
}

#[test]
fn errors_of_measurements_are_shown_as_errors() {
    let html = finished().html("workload/add.html");
    assert!(html.contains("<b>error</b> wrong result: crc &lt;1&gt; for 2"));
    assert!(!html.contains("reference (again)"), "the control is no curve");
}

#[test]
fn an_interrupted_run_says_so_on_every_page() {
    let mut records = support::records("interrupted");
    records.retain(|record| !matches!(record, Record::Verdict(_) | Record::Effect(_) | Record::Control(_)));
    let rendered = rendered(&records);
    for page in &rendered.site.pages {
        assert!(rendered.html(&page.path).contains("This run was interrupted"), "{}", page.path);
    }
    assert!(rendered.html("index.html").contains("This run log holds no verdict."));
}

#[test]
fn a_run_log_with_nothing_in_it_still_gives_a_site() {
    let records = support::records("interrupted");
    let rendered = rendered(&[records[0].clone(), records[records.len() - 1].clone()]);
    assert!(rendered.html("matrix.html").contains("No case ran: this run log has nothing to compare."));
    assert!(!rendered.root.join("workload").exists());
}

#[test]
fn a_new_site_replaces_the_old_one_whole_and_nothing_else() {
    let rendered = rendered(&support::records("finished"));
    let log = read(&rendered.root.join("run.jsonl")).unwrap();
    fs::write(rendered.root.join("stale.html"), "old").unwrap();
    render(&log, &[], support::claims(), &rendered.root).unwrap();
    assert!(!rendered.root.join("stale.html").exists());

    let other = rendered.root.parent().unwrap().join("home");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.txt"), "mine").unwrap();
    let error = render(&log, &[], support::claims(), &other).unwrap_err().to_string();
    assert!(error.contains("home: is there and is no report of ours"), "{error}");
    assert_eq!(fs::read_to_string(other.join("thesis.txt")).unwrap(), "mine");

    let error = render(&log, &[], support::claims(), &rendered.root.join("index.html/site")).unwrap_err().to_string();
    assert!(error.contains("index.html") && error.contains("cannot be written"), "{error}");
    let left: Vec<_> = fs::read_dir(rendered.root.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.iter().filter(|name| name.to_string_lossy().starts_with(".report")).count(), 0, "{left:?}");
    assert!(rendered.root.join("index.html").is_file());
}

#[test]
fn what_needs_a_device_is_shown_from_the_newest_imported_run_that_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = support::records("finished");
    let on_device = support::device::records();
    records.splice(1..1, on_device.iter().filter(|r| matches!(r, Record::Workload(_))).cloned());
    for record in &mut records {
        if let Record::Measurement(m) = record
            && m.workload.starts_with("upload.")
        {
            m.iterations.clear();
            m.nanoseconds.clear();
            m.accounting = None;
            m.error = Some("not-run: there is no GPU".into());
        }
    }
    let own = read(&support::write(folder.path(), &records)).unwrap();
    let imported = folder.path().join("imported");
    assert!(reports::imported(&imported).0.is_empty());
    let mut other = on_device.clone();
    other.retain(|record| !matches!(record, Record::Measurement(m) if m.workload.starts_with("upload.")));
    for (name, started, records) in [
        ("old", "2026-01-01", &on_device),
        ("new", "2026-06-01", &on_device),
        ("other", "2026-08-01", &other),
        ("cpu", "2026-09-01", &records),
    ] {
        let mut records = records.clone();
        let Record::Header(header) = &mut records[0] else { unreachable!() };
        header.started = format!("{started}T00:00:00Z");
        header.machine.processor = format!("the {name} machine");
        let written = tempfile::tempdir().unwrap();
        fs::create_dir_all(&imported).unwrap();
        fs::copy(support::write(written.path(), &records), imported.join(format!("{name}.jsonl"))).unwrap();
    }
    fs::write(imported.join("bad.jsonl"), "nothing\n").unwrap();
    let (logs, left_out) = reports::imported(&imported);
    assert_eq!((logs.len(), left_out.len()), (3, 2));
    assert!(left_out[0].contains("bad.jsonl") && left_out[1].contains("cpu.jsonl"), "{left_out:?}");
    let site = folder.path().join("site");
    let page = |imported: &[RunLog]| {
        render(&own, imported, support::claims(), &site).unwrap();
        fs::read_to_string(site.join("workload/upload.html")).unwrap()
    };
    let own = page(&[]);
    for part in
        ["cargo xtask bench --setup --only upload", "No time was measured on this machine.", "not-run: there is no GPU"]
    {
        assert!(own.contains(part), "{part}");
    }
    let cells = own.matches("not-run: there is no GPU").count();
    assert_eq!(
        own.matches("<th scope=\"row\" class=\"n\">3.91\u{202f}KiB to ").count(),
        cells,
        "sizes that lack the same share a row"
    );
    assert!(!own.contains("On another machine") && !own.contains("What a transfer costs"));
    let imported = page(&logs);
    assert!(!imported.contains("cargo xtask bench --setup"), "what it asks for is there");
    for part in [
        "From an imported run log: the new machine with NVIDIA H200, 1 Jun 2026, 00:00 UTC",
        "<h3 id=\"imported-costs\">What a transfer costs</h3>",
        "NVIDIA H200 while it was sampled",
        "<h3 id=\"imported-curves\">Time against size</h3>",
        "not-run: there is no GPU",
    ] {
        assert!(imported.contains(part), "{part}");
    }
    let index = fs::read_to_string(site.join("index.html")).unwrap();
    assert!(
        index.contains(" workload sizes on ") && index.contains("not-run. there is no GPU"),
        "said on the overview"
    );
    assert!(imported.find("On another machine") < imported.find("not-run: there is no GPU"));
}
