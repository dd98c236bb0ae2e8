//! The errata as Markdown and text: the page's order and the page's words.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod support;

use reports::{RunLog, errata_markdown, errata_text, read, render};
use scraper::{Html, Selector};
use suites::record::*;

fn log(records: &[Record]) -> RunLog {
    let folder = tempfile::tempdir().unwrap();
    read(&support::write(folder.path(), records)).unwrap()
}

#[test]
fn the_markdown_of_a_short_tutorial() {
    insta::assert_snapshot!(errata_markdown(&log(&support::records("finished")), support::claims(), "t002").unwrap());
}

#[test]
fn the_page_has_the_same_words_in_the_same_order() {
    let log = log(&support::records("finished"));
    let folder = tempfile::tempdir().unwrap();
    render(&log, &[], support::claims(), &folder.path().join("site")).unwrap();
    for tutorial in &support::claims().tutorials {
        let markdown = errata_markdown(&log, support::claims(), &tutorial.id).unwrap();
        let html = std::fs::read_to_string(folder.path().join(format!("site/errata-{}.html", tutorial.id))).unwrap();
        let html = Html::parse_document(&html);
        let mut rest = markdown.as_str();
        let mut entries = 0;
        for element in
            html.select(&Selector::parse(".lead, h2, .err .ln, .err .says, .err li > p:nth-child(3)").unwrap())
        {
            let text = element.text().collect::<String>();
            let text = text.trim_start_matches("Says: ").trim_start_matches(['■', '◧', '□', '○', '✓', ' ']);
            let text = if element.value().name() == "h2" { text.rsplit_once(' ').unwrap().0 } else { text };
            let at = rest.find(text).unwrap_or_else(|| panic!("{}: {text} is not next in the Markdown", tutorial.id));
            rest = &rest[at + text.len()..];
            entries += 1;
        }
        assert!(entries > 50, "{entries}");
    }
}

#[test]
fn the_text_is_the_markdown_without_marks() {
    let log = log(&support::records("finished"));
    let markdown = errata_markdown(&log, support::claims(), "t000").unwrap();
    let text = errata_text(&log, support::claims(), "t000").unwrap();
    let plain = |line: &str| line.trim_start_matches(['#', ' ', '-']).replace("**", "").replace('`', "");
    assert_eq!(markdown.lines().map(plain).collect::<Vec<_>>(), text.lines().map(plain).collect::<Vec<_>>());
    assert!(!text.contains("**") && !text.contains("# "));
}

#[test]
fn an_interrupted_run_says_so() {
    let text = errata_text(&log(&support::records("interrupted")), support::claims(), "t000").unwrap();
    assert!(text.contains("This run was interrupted"));
}

#[test]
fn an_unknown_tutorial_names_those_there_are() {
    let error = errata_markdown(&log(&support::records("finished")), support::claims(), "t003").unwrap_err();
    assert_eq!(error.to_string(), "no tutorial `t003`: the catalogue has t000, t001, t002, t004");
}
