//! Memory after each line of code: time runs down like the listing, one row a step, one panel for each subject's device
//! memory and one for its host memory.

use super::curves::Size;
use super::ink::{Ink, Role};
use super::svg::{SCALE, SeriesStyle, Svg, TEXT};
use crate::memory::Quantity;
use crate::{numbers, subjects, words};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::VecDeque;

/// Panels on one set of rows.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Begins the ids inside; must be unique on the page.
    pub id: String,
    /// What it is.
    pub title: String,
    /// What it shows, in words and numbers.
    pub desc: String,
    /// The line of code of each step.
    pub code: Vec<String>,
    /// At least one panel.
    pub panels: Vec<Panel>,
}

/// Quantities of one subject on one axis.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The subject's id.
    pub subject: String,
    /// What the axis counts, with its unit.
    pub axis: String,
    /// The quantities; `held` before `live`, which is drawn over it.
    pub lines: Vec<Line>,
    /// The most on the axis, in bytes; the same in all panels that shall be compared.
    pub max: u64,
}

/// One quantity after each step.
#[derive(Debug, Clone)]
pub struct Line {
    /// Which.
    pub quantity: Quantity,
    /// Its bytes, where they were read.
    pub bytes: Vec<Option<u64>>,
}

/// Most panels side by side in one rendering.
pub fn panels(size: Size) -> usize {
    if size == Size::Wide { 4 } else { 1 }
}

const ROW: i32 = 28;
const TOP: i32 = 56;
const BOTTOM: i32 = 8;
/// Between panels.
const GAP: i32 = 20;
/// Room at the right of the largest value, for a name.
const RIGHT: i32 = 56;
/// Width of a character of code, in pixels; other text is narrower.
const CODE_CHARACTER: i32 = 7;
const CHARACTER: f64 = 6.3;
/// Between a line and its name.
const BESIDE: i32 = 7;

/// Draws one rendering.
pub fn draw(plot: &Timeline, size: Size) -> Result<String, String> {
    let (width, most) = if size == Size::Wide { (960, 252) } else { (356, 140) };
    let lines: Vec<String> = plot.code.iter().enumerate().map(|(i, line)| numbered(i, line)).collect();
    let longest = lines.iter().map(|line| line.chars().count() as i32).max().unwrap_or(0);
    let code = (longest * CODE_CHARACTER).min(most);
    let height = TOP + ROW * plot.code.len() as i32 + BOTTOM;
    let mut out = size.opening(&plot.id, (width as u32, height as u32), &plot.title, &plot.desc);
    let style = |panel: &Panel| SeriesStyle { style: subjects::style(&panel.subject), titles: VecDeque::new() };
    let series = plot.panels.iter().map(style).collect();
    let root = Svg::new(&mut out, (width as u32, height as u32), series).into_drawing_area();
    let count = plot.panels.len().max(1) as i32;
    let each = (width - code - GAP * count) / count;
    let drawn = rows(&root, &lines, code, width).and_then(|()| {
        plot.panels.iter().enumerate().try_for_each(|(i, panel)| {
            let left = code + GAP + i as i32 * (each + GAP);
            Frame { root: &root, index: i, left, width: each, rows: plot.code.len() }.panel(panel)
        })
    });
    drawn.and_then(|()| Ok(root.present()?)).map_err(|error| format!("timeline {}: {error}", plot.id))?;
    drop(root);
    out.push_str("</svg>");
    Ok(out)
}

type Root<'a> = DrawingArea<Svg<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The first line of a step's code after the number that the table has for it.
fn numbered(step: usize, code: &str) -> String {
    format!("{} {}", step + 1, code.lines().next().unwrap_or_default())
}

/// The lines of code, with hairlines between them.
fn rows(root: &Root, lines: &[String], code: i32, width: i32) -> Drawn {
    for (i, line) in lines.iter().enumerate() {
        let below = TOP + ROW * (i as i32 + 1);
        path(root, vec![(0, below), (width, below)], Ink::plain(Role::Grid))?;
        let text = words::short(line, (code / CODE_CHARACTER) as usize);
        write(root, &text, (0, below - ROW / 2), HPos::Left, Ink::plain(Role::Code))?;
    }
    Ok(())
}

/// Draws through pixels.
fn path(root: &Root, points: Vec<(i32, i32)>, ink: Ink) -> Drawn {
    let points: Vec<_> = points.into_iter().map(|(x, y)| (x * SCALE, y * SCALE)).collect();
    Ok(root.draw(&PathElement::new(points, ink))?)
}

fn write(root: &Root, text: &str, (x, y): (i32, i32), anchor: HPos, ink: Ink) -> Drawn {
    let style = ("sans-serif", TEXT * f64::from(SCALE)).into_font().color(&ink);
    let style = style.pos(Pos::new(anchor, VPos::Center));
    Ok(root.draw(&Text::new(text.to_string(), (x * SCALE, y * SCALE), style))?)
}

/// Where a name stands: its row, pixels from the panel's left, and the end that is there.
type Place = (usize, i32, HPos);

/// Where a panel lies, in pixels.
struct Frame<'r, 's> {
    root: &'r Root<'s>,
    index: usize,
    left: i32,
    width: i32,
    rows: usize,
}

impl Frame<'_, '_> {
    fn ink(&self, role: Role) -> Ink {
        Ink::of(role, self.index)
    }

    /// Tenths of a pixel from the panel's left.
    fn place(&self, bytes: u64, max: u64) -> i32 {
        let share = bytes as f64 / max.max(1) as f64;
        (share * f64::from((self.width - RIGHT) * SCALE)).round() as i32
    }

    fn panel(&self, panel: &Panel) -> Drawn {
        let bottom = TOP + ROW * self.rows as i32;
        write(self.root, subjects::name(&panel.subject), (self.left, 8), HPos::Left, self.ink(Role::Label))?;
        write(self.root, &panel.axis, (self.left, 23), HPos::Left, self.ink(Role::Text))?;
        for tick in ticks(panel.max, self.width - RIGHT) {
            let x = self.left * SCALE + self.place(tick, panel.max);
            let line = PathElement::new(vec![(x, (TOP - 5) * SCALE), (x, bottom * SCALE)], self.ink(Role::Grid));
            self.root.draw(&line)?;
            let style = ("sans-serif", TEXT * f64::from(SCALE)).into_font().color(&self.ink(Role::Text));
            let style = style.pos(Pos::new(HPos::Center, VPos::Center));
            self.root.draw(&Text::new(numbers::mebibytes(tick), (x, (TOP - 13) * SCALE), style))?;
        }
        path(self.root, vec![(self.left, TOP - 5), (self.left, bottom)], self.ink(Role::Axis))?;
        self.cached(panel)?;
        for line in &panel.lines {
            for piece in self.pieces(line, panel.max) {
                self.root.draw(&PathElement::new(piece, self.ink(role(line.quantity))))?;
            }
        }
        for (line, (row, x, anchor)) in panel.lines.iter().zip(self.names(panel)) {
            let y = TOP + ROW * row as i32 + ROW / 2;
            write(self.root, line.quantity.word(), (self.left + x, y), anchor, self.ink(Role::Name))?;
        }
        Ok(())
    }

    /// What is held and not live, row by row.
    fn cached(&self, panel: &Panel) -> Drawn {
        let of = |quantity| panel.lines.iter().find(|line| line.quantity == quantity);
        let (Some(live), Some(held)) = (of(Quantity::Live), of(Quantity::Held)) else { return Ok(()) };
        for (row, (live, held)) in live.bytes.iter().zip(&held.bytes).enumerate() {
            if let (Some(live), Some(held)) = (live, held)
                && held > live
            {
                let [from, to] = [*live, *held].map(|bytes| self.left * SCALE + self.place(bytes, panel.max));
                let [above, below] = [row, row + 1].map(|row| (TOP + ROW * row as i32) * SCALE);
                self.root.draw(&Rectangle::new([(from, above), (to, below)], self.ink(Role::Cached).filled()))?;
            }
        }
        Ok(())
    }

    /// The steps of a line; it is broken where it was not read.
    fn pieces(&self, line: &Line, max: u64) -> Vec<Vec<(i32, i32)>> {
        let mut pieces: Vec<Vec<(i32, i32)>> = vec![Vec::new()];
        for (row, bytes) in line.bytes.iter().enumerate() {
            match (bytes, pieces.last_mut()) {
                (Some(bytes), Some(piece)) => {
                    let x = self.left * SCALE + self.place(*bytes, max);
                    piece.extend([row, row + 1].map(|row| (x, (TOP + ROW * row as i32) * SCALE)));
                }
                _ => pieces.push(Vec::new()),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Where the names of the lines stand. Each has a row of its own, the
    /// one in which its line lies farthest from the others and has room beside it.
    fn names(&self, panel: &Panel) -> Vec<Place> {
        let at = |line: &Line, row: usize| Some(self.place((*line.bytes.get(row)?)?, panel.max) / SCALE);
        let mut names: Vec<Place> = Vec::new();
        for (i, line) in panel.lines.iter().enumerate() {
            let need = (CHARACTER * line.quantity.word().len() as f64) as i32 + 2 * BESIDE;
            let mut best: Option<((bool, i32, bool), Place)> = None;
            for row in (0..self.rows).filter(|row| names.iter().all(|name| name.0 != *row)) {
                let Some(x) = at(line, row) else { continue };
                let others: Vec<i32> =
                    panel.lines.iter().enumerate().filter(|(j, _)| *j != i).filter_map(|(_, l)| at(l, row)).collect();
                let apart = others.iter().map(|other| (other - x).abs()).min().unwrap_or(i32::MAX).min(60);
                let left = x - others.iter().copied().filter(|other| *other < x).max().unwrap_or(0);
                let right = others.iter().copied().filter(|other| *other > x).min().unwrap_or(self.width) - x;
                for (space, place) in [(right, (row, x + BESIDE, HPos::Left)), (left, (row, x - BESIDE, HPos::Right))] {
                    // Live is at the left of held, so that its name belongs there.
                    let own_side = matches!(place.2, HPos::Right) == (line.quantity == Quantity::Live);
                    let score = (space >= need, apart, own_side);
                    if best.as_ref().is_none_or(|(best, _)| score > *best) {
                        best = Some((score, place));
                    }
                }
            }
            names.push(best.map_or((0, 0, HPos::Left), |(_, place)| place));
        }
        names
    }
}

fn role(quantity: Quantity) -> Role {
    match quantity {
        Quantity::Live => Role::Live,
        Quantity::Held => Role::Held,
        Quantity::Process => Role::Process,
        Quantity::Host => Role::Host,
    }
}

/// Ticks at whole powers of two, as many as have room.
fn ticks(max: u64, width: i32) -> Vec<u64> {
    let room = |step: &u64| {
        let apart = *step as f64 / max.max(1) as f64 * f64::from(width);
        apart >= CHARACTER * numbers::mebibytes(max / step * step).chars().count() as f64 + 8.0
    };
    let step = (0..63).map(|power| 1u64 << power).find(room).unwrap_or(1 << 62);
    (0..=max / step).map(|tick| tick * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn ticks_are_powers_of_two_with_room_between_them() {
        assert_eq!(ticks(3072 * MIB, 200), [0, 1024, 2048, 3072].map(|mib| mib * MIB));
        assert_eq!(ticks(3072 * MIB, 100), [0, 2048].map(|mib| mib * MIB));
        assert_eq!(ticks(0, 200), [0]);
        assert!(ticks(80 << 30, 120).len() > 1);
    }

    #[test]
    fn a_small_timeline() {
        let line =
            |quantity, mib: [Option<u64>; 3]| Line { quantity, bytes: mib.map(|mib| mib.map(|n| n * MIB)).into() };
        let plot = Timeline {
            id: "t0".into(),
            title: "a < b".into(),
            desc: "Three steps.".into(),
            code: ["a = zeros(1 GiB)", "del a", "torch.cuda.empty_cache() and more"].map(String::from).into(),
            panels: vec![Panel {
                subject: "pytorch".into(),
                axis: "cuda (simulated), MiB".into(),
                lines: vec![
                    line(Quantity::Held, [Some(1024), Some(1024), Some(0)]),
                    line(Quantity::Live, [Some(1024), Some(0), Some(0)]),
                    line(Quantity::Process, [Some(1536), None, Some(512)]),
                ],
                max: 1536 * MIB,
            }],
        };
        insta::assert_snapshot!(draw(&plot, Size::Narrow).unwrap().replace("><", ">\n<"));
    }
}
