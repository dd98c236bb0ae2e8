//! Plots drawn are plots read back: every point lies where its numbers say, by the ticks of its own axes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod support;

use reports::{read, render};
use scraper::{ElementRef, Html, Selector};
use std::collections::BTreeSet;

/// A number at a tick: `0.03`, `10⁴`, `1.6 × 10⁷`.
fn number(text: &str) -> f64 {
    let text = text.replace(['\u{202f}', ','], "");
    let (lead, power) = match text.split_once("×10") {
        Some((lead, power)) => (lead, power),
        None => match text.strip_prefix("10") {
            Some(power) if power.starts_with(|c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c)) => ("1", power),
            _ => return text.parse().unwrap(),
        },
    };
    let digits: String = power
        .chars()
        .map(|c| char::from_digit("⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|d| d == c).unwrap() as u32, 10).unwrap())
        .collect();
    lead.parse::<f64>().unwrap() * 10f64.powi(digits.parse().unwrap())
}

/// A line through two ticks: the logarithm of a value at a place, and the logarithm of one pixel.
fn axis(ticks: &[(f64, f64)]) -> (impl Fn(f64) -> f64 + use<>, f64) {
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    let slope = (last.1.ln() - first.1.ln()) / (last.0 - first.0);
    (move |at: f64| first.1.ln() + (at - first.0) * slope, slope.abs())
}

fn select<'a>(svg: ElementRef<'a>, selector: &str) -> Vec<ElementRef<'a>> {
    svg.select(&Selector::parse(selector).unwrap()).collect()
}

fn attr(element: &ElementRef, name: &str) -> f64 {
    element.attr(name).unwrap().parse().unwrap()
}

#[test]
fn every_point_lies_where_its_numbers_say() {
    let folder = tempfile::tempdir().unwrap();
    let log = read(&support::write(folder.path(), &support::records("finished"))).unwrap();
    render(&log, &[], support::claims(), &folder.path().join("site")).unwrap();
    let mut seen = BTreeSet::new();
    for claim in &support::claims().claims {
        let Some((slower, _)) = claim.workloads() else { continue };
        let family = slower.split('.').next().unwrap();
        let html = std::fs::read_to_string(folder.path().join(format!("site/workload/{family}.html"))).unwrap();
        let html = Html::parse_document(&html);
        for svg in html.select(&Selector::parse("svg[role=img]").unwrap()) {
            let title = select(svg, "title")[0].text().collect::<String>();
            let workload = title.split(", ").next().unwrap();
            let ticks = |anchor: &str, at: &str| -> Vec<(f64, f64)> {
                select(svg, &format!("text[text-anchor={anchor}]:not([class])"))
                    .iter()
                    .map(|text| (attr(text, at), text.text().collect::<String>()))
                    .filter(|(_, text)| text != "elements")
                    .map(|(at, text)| (at, number(&text)))
                    .collect()
            };
            // The baseline of a number lies 4 px below its tick.
            let ys: Vec<_> = ticks("end", "y").into_iter().map(|(y, value)| (y - 4.0, value)).collect();
            let ((x_at, x_pixel), (y_at, y_pixel)) = (axis(&ticks("middle", "x")), axis(&ys));
            for point in select(svg, ".pt") {
                let place = point.attr("transform").unwrap().trim_start_matches("translate(").trim_end_matches(')');
                let (x, y) = place.split_once(' ').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                let title = point.text().collect::<String>();
                let (subject, rest) = title.split_once(", ").unwrap();
                let elements: u64 = rest.split(' ').next().unwrap().replace(',', "").parse().unwrap();
                let value = support::median(subject, workload, elements) / elements as f64;
                assert!((x_at(x) - (elements as f64).ln()).abs() < x_pixel, "{title}: {} elements", x_at(x).exp());
                assert!((y_at(y) - value.ln()).abs() < y_pixel, "{title}: {} for {value}", y_at(y).exp());
                let said: f64 =
                    rest.split(": ").nth(1).unwrap().split(' ').next().unwrap().replace(',', "").parse().unwrap();
                assert!((said / value - 1.0).abs() < 0.006, "{title}: {value}");
                seen.insert((
                    svg.attr("class").unwrap().to_string(),
                    workload.to_string(),
                    subject.to_string(),
                    elements,
                ));
            }
        }
    }
    // tinygrad has an error instead of its largest size.
    let cells = support::SUBJECTS.len() * support::SIZES.len() - 1;
    let pairs = support::claims().claims.iter().filter_map(|claim| claim.workloads());
    let workloads: BTreeSet<&str> = pairs.flat_map(|(slower, faster)| [slower, faster]).collect();
    assert_eq!(seen.len(), 2 * workloads.len() * cells);
}
