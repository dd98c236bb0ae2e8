//! Timelines: memory after each line of code, as a table and as a plot.

use crate::digest::Digest;
use crate::memory::{Quantity, Seen, Timeline};
use crate::plot::Size;
use crate::plot::timeline::{self as plot, Line, Panel};
use crate::{numbers, subjects, words};
use serde::Serialize;
use suites::record::JUDGED;

/// Changes of main memory below this are left out, in bytes.
const HOST_NOISE: u64 = 1 << 19;

/// Launches that follow the same lines of code.
#[derive(Debug, Serialize)]
pub struct Group {
    launches: Vec<Launch>,
    rows: Vec<Row>,
    /// Whether main memory was read on any launch.
    host: bool,
    wide: Vec<String>,
    narrow: Vec<String>,
    /// What the plot leaves out because it is the same as another line.
    same: Option<String>,
}

#[derive(Debug, Serialize)]
struct Launch {
    name: String,
    quantities: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Row {
    step: usize,
    code: String,
    cells: Vec<Cell>,
}

/// A quantity after a step, in MiB.
#[derive(Debug, Serialize, Default)]
struct Cell {
    value: Option<String>,
    change: Option<String>,
}

/// The timelines of a case; launches with the same lines of code stand beside each other.
pub fn groups(digest: &Digest, seen: &Seen) -> Result<Vec<Group>, String> {
    let mut alike: Vec<Vec<&Timeline>> = Vec::new();
    for timeline in &seen.timelines {
        match alike.iter_mut().find(|group| group.iter().all(|other| timeline.follows(other))) {
            Some(group) => group.push(timeline),
            None => alike.push(vec![timeline]),
        }
    }
    alike.iter().enumerate().map(|(i, timelines)| group(digest, i, timelines)).collect()
}

fn quantities(timeline: &Timeline) -> impl Iterator<Item = Quantity> {
    Quantity::ALL.into_iter().filter(|quantity| timeline.has(*quantity))
}

fn code(timelines: &[&Timeline]) -> Vec<String> {
    let longest = timelines.iter().max_by_key(|timeline| timeline.steps.len());
    longest.map(|timeline| timeline.steps.iter().map(|step| step.code.clone()).collect()).unwrap_or_default()
}

fn group(digest: &Digest, index: usize, timelines: &[&Timeline]) -> Result<Group, String> {
    let code = code(timelines);
    let rows = code.iter().enumerate().map(|(i, code)| Row {
        step: i + 1,
        code: code.clone(),
        cells: timelines.iter().flat_map(|t| quantities(t).map(move |quantity| cell(t, quantity, i))).collect(),
    });
    let launches = timelines.iter().map(|timeline| Launch {
        name: digest.launch(timeline.subject, timeline.device),
        quantities: quantities(timeline).map(Quantity::word).collect(),
    });
    Ok(Group {
        launches: launches.collect(),
        rows: rows.collect(),
        host: timelines.iter().any(|timeline| timeline.has(Quantity::Host)),
        wide: draw(digest, index, timelines, &code, Size::Wide)?,
        narrow: draw(digest, index, timelines, &code, Size::Narrow)?,
        same: same(timelines),
    })
}

fn cell(timeline: &Timeline, quantity: Quantity, step: usize) -> Cell {
    let at = |step: usize| timeline.steps.get(step).and_then(|step| quantity.of(step));
    let (Some(now), before) = (at(step), step.checked_sub(1).and_then(at)) else { return Cell::default() };
    // The system shows pages of the process as a whole, which come and go without the program.
    let steady = |before: &u64| quantity == Quantity::Host && before.abs_diff(now) < HOST_NOISE;
    let before = before.filter(|before| !steady(before));
    Cell { value: Some(numbers::mebibytes(now)), change: before.and_then(|before| numbers::change(before, now)) }
}

/// Whether the driver shows what the allocator holds after every step: one line then stands for both.
fn process_is_held(timeline: &Timeline) -> bool {
    timeline.has(Quantity::Process) && timeline.bytes(Quantity::Process) == timeline.bytes(Quantity::Held)
}

fn same(timelines: &[&Timeline]) -> Option<String> {
    let same = timelines.iter().filter(|t| process_is_held(t)).map(|t| subjects::name(t.subject).to_string());
    let names = words::list(&same.collect::<Vec<_>>());
    (!names.is_empty()).then(|| format!("Process is the same as held on {names}, and not drawn."))
}

fn draw(
    digest: &Digest,
    index: usize,
    timelines: &[&Timeline],
    code: &[String],
    size: Size,
) -> Result<Vec<String>, String> {
    let panels = panels(timelines);
    let parts = panels.chunks(plot::panels(size)).enumerate().map(|(part, panels)| {
        let of = |panel: &(&Timeline, Panel)| digest.launch(panel.0.subject, panel.0.device);
        let mut launches: Vec<String> = panels.iter().map(of).collect();
        launches.dedup();
        let drawn = plot::Timeline {
            id: format!("timeline{index}-{part}"),
            title: format!("Memory after each line of code, {}", launches.join("; ")),
            desc: panels
                .iter()
                .map(|(timeline, panel)| describe(digest, timeline, panel))
                .collect::<Vec<_>>()
                .join(" "),
            code: code.to_vec(),
            panels: panels.iter().map(|(_, panel)| panel.clone()).collect(),
        };
        plot::draw(&drawn, size)
    });
    parts.collect()
}

/// Device memory of every launch, then host memory where it was read; each of the two has one axis.
fn panels<'a>(timelines: &[&'a Timeline<'a>]) -> Vec<(&'a Timeline<'a>, Panel)> {
    let on_device = |timeline: &&'a Timeline<'a>| {
        let process = (!process_is_held(timeline)).then_some(Quantity::Process);
        let quantities: Vec<_> = [Quantity::Held, Quantity::Live].into_iter().chain(process).collect();
        panel(timeline, format!("{}, MiB", timeline.device), &quantities)
    };
    let on_host = |timeline: &&'a Timeline<'a>| panel(timeline, "main memory, MiB".into(), &[Quantity::Host]);
    let device: Vec<_> = timelines.iter().filter_map(on_device).collect();
    let host: Vec<_> = timelines.iter().filter_map(on_host).collect();
    [shared(device), shared(host)].concat()
}

fn panel<'a>(timeline: &'a Timeline<'a>, axis: String, quantities: &[Quantity]) -> Option<(&'a Timeline<'a>, Panel)> {
    let lines = quantities.iter().filter(|quantity| timeline.has(**quantity));
    let lines: Vec<Line> = lines.map(|&quantity| Line { quantity, bytes: timeline.bytes(quantity) }).collect();
    let max = lines.iter().flat_map(|line| &line.bytes).flatten().copied().max()?;
    Some((timeline, Panel { subject: timeline.subject.into(), axis, lines, max }))
}

/// Panels with one axis, so that a look across them compares.
fn shared<'a>(mut panels: Vec<(&'a Timeline<'a>, Panel)>) -> Vec<(&'a Timeline<'a>, Panel)> {
    let max = panels.iter().map(|(_, panel)| panel.max).max().unwrap_or(0);
    panels.iter_mut().for_each(|(_, panel)| panel.max = max);
    panels
}

fn describe(digest: &Digest, timeline: &Timeline, panel: &Panel) -> String {
    let line = |line: &Line| {
        let read = || line.bytes.iter().flatten();
        let (last, most) = (read().next_back().copied()?, read().max().copied()?);
        Some(format!(
            "{} ends at {} and is at most {} MiB",
            line.quantity.word(),
            numbers::mebibytes(last),
            numbers::mebibytes(most)
        ))
    };
    let lines: Vec<String> = panel.lines.iter().filter_map(line).collect();
    format!("{}: {}.", digest.launch(timeline.subject, timeline.device), lines.join("; "))
}

/// The most that was held and not live, and the first step after which it was.
pub fn most_cached(timeline: &Timeline) -> Option<(u64, usize)> {
    let cached = timeline.steps.iter().enumerate().filter_map(|(i, s)| Some((s.held?.saturating_sub(s.live?), i)));
    cached.min_by_key(|&(bytes, step)| (std::cmp::Reverse(bytes), step))
}

/// The timeline of PyTorch, or the first where it has none.
pub fn main<'t, 'a>(timelines: &'t [Timeline<'a>]) -> Option<&'t Timeline<'a>> {
    timelines.iter().find(|timeline| timeline.subject == JUDGED).or(timelines.first())
}

/// What stays held, and whether subjects part; nothing without a timeline.
pub fn lead(digest: &Digest, seen: &Seen) -> Option<String> {
    let main = main(&seen.timelines)?;
    let on = digest.launch(main.subject, main.device);
    let cached = match most_cached(main) {
        Some((0, _)) => format!("After every line, all that is held is live on {on}."),
        Some((bytes, step)) => format!(
            "Up to {} {} held that no tensor uses, first after line {} on {on}.",
            numbers::bytes(bytes),
            if bytes == 1 { "is" } else { "are" },
            step + 1
        ),
        None => format!("Live and held were not both read on {on}."),
    };
    let parts = seen.timelines.iter().filter(|other| other.subject != main.subject).map(|other| parting(main, other));
    Some(std::iter::once(cached).chain(parts).collect::<Vec<_>>().join(" "))
}

/// Whether two launches have the same live and held after each line, as far as both go.
fn parting(a: &Timeline, b: &Timeline) -> String {
    let names = format!("{} and {}", subjects::name(a.subject), subjects::name(b.subject));
    if !a.follows(b) {
        return format!("{names} ran other lines of code.");
    }
    let differs =
        |(a, b): (&&suites::record::MemoryStep, &&suites::record::MemoryStep)| (a.live, a.held) != (b.live, b.held);
    match a.steps.iter().zip(&b.steps).position(differs) {
        Some(step) => format!("{names} part in live or held, first after line {}.", step + 1),
        None if a.steps.len() != b.steps.len() => {
            format!("{names} have the same live and held after each line that both ran.")
        }
        None => format!("{names} have the same live and held after each line."),
    }
}
