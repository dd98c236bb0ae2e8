//! Time per element against size, on two logarithmic axes.

use super::ink::{Ink, Role};
use super::svg::{Escaped, SCALE, SeriesStyle, Svg, TEXT};
use super::unit::Unit;
use crate::numbers;
use crate::subjects;
use plotters::coord::Shift;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange};
use plotters::prelude::*;
use plotters::style::TRANSPARENT;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// One measured cell.
#[derive(Debug, Clone)]
pub struct Point {
    /// Number of elements.
    pub elements: u64,
    /// Nanoseconds per element.
    pub value: f64,
    /// The interval of `value`.
    pub interval: [f64; 2],
}

/// The cells of one subject, by size.
#[derive(Debug, Clone)]
pub struct Series {
    /// The subject's id.
    pub subject: String,
    /// At least one point, by rising size.
    pub points: Vec<Point>,
}

impl Series {
    fn title(&self, point: &Point, unit: Unit) -> String {
        let [a, b] = point.interval.map(numbers::three);
        let size = unit.said(point.elements);
        format!("{}, {size}: {} ns per element [{a}, {b}]", self.subject, numbers::three(point.value))
    }
}

/// One small multiple.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Begins the ids inside; must be unique on the page.
    pub id: String,
    /// What it is.
    pub title: String,
    /// What it shows, in words and numbers.
    pub desc: String,
    /// The curves, in the subjects' order.
    pub series: Vec<Series>,
    /// Nanoseconds per element of the plain loop that bounds the workload, by rising size; empty where none does.
    pub limit: Vec<(u64, f64)>,
    /// How sizes are told.
    pub unit: Unit,
    /// Smallest and largest number of elements of all small multiples.
    pub sizes: [u64; 2],
    /// Smallest and largest time per element of all small multiples.
    pub range: [f64; 2],
}

/// The rendering: plots are drawn once for each width instead of being scaled, so that their text keeps its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// For a desktop, two in a row.
    Wide,
    /// For a phone.
    Narrow,
}

impl Size {
    /// Its class in the style sheet, of which one is shown.
    fn class(self) -> &'static str {
        if self == Size::Wide { "wide" } else { "narrow" }
    }

    /// The opening tag of a rendering of so many pixels, with the plot's title and description.
    pub(super) fn opening(self, id: &str, (width, height): (u32, u32), title: &str, desc: &str) -> String {
        let class = self.class();
        let (t, d) = (format!("{id}-{class}-t"), format!("{id}-{class}-d"));
        format!(
            "<svg class=\"{class}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{t} {d}\"><title id=\"{t}\">{}</title><desc id=\"{d}\">{}</desc>",
            Escaped(title),
            Escaped(desc)
        )
    }

    fn pixels(self) -> (u32, u32) {
        if self == Size::Wide { (540, 350) } else { (356, 320) }
    }
}

const LEFT: i32 = 42;
const BOTTOM: i32 = 40;
const TOP: i32 = 22;
const RIGHT: i32 = 32;
/// Room at the left of the first points for the subjects' names.
const GUTTER: i32 = 80;
/// Names closer than this are pushed apart.
const APART: i32 = 13;

/// Draws one rendering of a plot.
pub fn draw(plot: &Plot, size: Size) -> Result<String, String> {
    let (width, height) = size.pixels();
    let mut out = size.opening(&plot.id, (width, height), &plot.title, &plot.desc);
    let series = plot.series.iter().map(|series| SeriesStyle {
        style: subjects::style(&series.subject),
        titles: series.points.iter().map(|point| series.title(point, plot.unit)).collect(),
    });
    let root = Svg::new(&mut out, (width, height), series.collect()).into_drawing_area();
    chart(&root, plot, width as i32).map_err(|error| format!("plot {}: {error}", plot.id))?;
    root.present().map_err(|error| format!("plot {}: {error}", plot.id))?;
    drop(root);
    out.push_str("</svg>");
    Ok(out)
}

type Root<'a> = DrawingArea<Svg<'a>, Shift>;

fn chart(root: &Root, plot: &Plot, width: i32) -> Result<(), Box<dyn std::error::Error>> {
    let inner = width - LEFT - RIGHT;
    let [small, large] = plot.sizes.map(|size| size.max(1) as f64);
    let large = large.max(small * 3.0);
    let start = small / (large / small).powf(f64::from(GUTTER) / f64::from(inner - GUTTER));
    let per_pixel = (large / small).ln() / f64::from(inner - GUTTER);
    let [low, high] = [plot.range[0] / 1.2, plot.range[1] * 1.2];
    let text = |role| ("sans-serif", TEXT * f64::from(SCALE)).into_font().color(&Ink::plain(role));
    let mut chart = ChartBuilder::on(root)
        .margin_top(TOP * SCALE)
        .margin_right(RIGHT * SCALE)
        .x_label_area_size(BOTTOM * SCALE)
        .y_label_area_size(LEFT * SCALE)
        .build_cartesian_2d(
            (start..large).log_scale().with_key_points(size_ticks(plot.unit, plot.sizes, 46.0 * per_pixel)),
            (low..high).log_scale().with_key_points(time_ticks(low, high)),
        )?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(Ink::plain(Role::Grid))
        .light_line_style(TRANSPARENT)
        .axis_style(Ink::plain(Role::Axis))
        .label_style(text(Role::Text))
        .set_all_tick_mark_size(4 * SCALE)
        .x_label_formatter(&|x| plot.unit.tick(x.round() as u64))
        .y_label_formatter(&|y| numbers::three(*y))
        .draw()?;
    let name = |text: &str, at, h| {
        let style = ("sans-serif", TEXT * f64::from(SCALE)).into_font().color(&Ink::plain(Role::Text));
        root.draw(&Text::new(text.to_string(), at, style.pos(Pos::new(h, VPos::Bottom))))
    };
    let (_, height) = root.dim_in_pixel();
    name("ns per element", (0, 13 * SCALE), HPos::Left)?;
    name(plot.unit.name(), ((width - 2) * SCALE, height as i32 - SCALE), HPos::Right)?;

    if let Some((elements, each)) = plot.limit.last() {
        let line = plot.limit.iter().map(|(elements, each)| (*elements as f64, *each));
        chart.draw_series([PathElement::new(line.collect::<Vec<_>>(), Ink::plain(Role::Limit))])?;
        let style = ("sans-serif", TEXT * f64::from(SCALE)).into_font().color(&Ink::plain(Role::Text));
        let (x, y) = chart.backend_coord(&(*elements as f64, *each));
        let style = style.pos(Pos::new(HPos::Right, VPos::Top));
        root.draw(&Text::new("limit", (x, y + 4 * SCALE), style))?;
    }
    let firsts = plot.series.iter().map(|s| chart.backend_coord(&(s.points[0].elements as f64, s.points[0].value)));
    let labels = pushed_apart(firsts.collect());
    for (i, series) in plot.series.iter().enumerate() {
        let at = |value: fn(&Point) -> f64| series.points.iter().map(move |p| (p.elements as f64, value(p)));
        let band: Vec<_> = at(|p| p.interval[1]).chain(at(|p| p.interval[0]).rev()).collect();
        chart.draw_series([Polygon::new(band, Ink::of(Role::Band, i))])?;
        chart.draw_series([PathElement::new(at(|p| p.value).collect::<Vec<_>>(), Ink::of(Role::Line, i))])?;
        chart.draw_series(at(|p| p.value).map(|point| Circle::new(point, 3, Ink::of(Role::Point, i))))?;
        let style = ("sans-serif", TEXT * f64::from(SCALE)).into_font().color(&Ink::of(Role::Label, i));
        let (x, y) = labels[i];
        let style = style.pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new(subjects::name(&series.subject).to_string(), (x - 8 * SCALE, y), style))?;
    }
    Ok(())
}

/// Round sizes within the sizes, and both ends; an inner tick gives way to an end closer than `apart` (in natural logs).
fn size_ticks(unit: Unit, [small, large]: [u64; 2], apart: f64) -> Vec<f64> {
    let ends = if large > small { vec![small as f64, large as f64] } else { vec![small as f64] };
    let within = unit.round().into_iter().filter(|tick| *tick > small as f64 && *tick < large as f64);
    let inner: Vec<f64> = within.filter(|tick| ends.iter().all(|end| (tick / end).ln().abs() >= apart)).collect();
    let mut ticks = [ends, inner].concat();
    ticks.sort_by(f64::total_cmp);
    ticks
}

/// 1 and 3 a decade; more where the axis is short, fewer where it is long.
fn time_ticks(low: f64, high: f64) -> Vec<f64> {
    let within = |leads: &[f64]| -> Vec<f64> {
        (-9..12)
            .flat_map(|power| leads.iter().map(move |lead| lead * 10f64.powi(power)))
            .filter(|tick| *tick >= low && *tick <= high)
            .collect()
    };
    let choices = [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]];
    let usual = within(choices[1]);
    match usual.len() {
        0..2 => choices[2..].iter().map(|leads| within(leads)).find(|ticks| ticks.len() > 1).unwrap_or(vec![low, high]),
        2..10 => usual,
        _ => within(choices[0]),
    }
}

/// Moves places down until they are [`APART`], the higher ones first.
fn pushed_apart(mut places: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|i| places[*i].1);
    for pair in order.windows(2) {
        let floor = places[pair[0]].1 + APART * SCALE;
        let place = &mut places[pair[1]].1;
        *place = (*place).max(floor);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stand_one_and_three_a_decade() {
        assert_eq!(time_ticks(0.02, 4.0).len(), 5);
        assert_eq!(time_ticks(1.1, 1.9), [1.1, 1.9]);
        assert_eq!(time_ticks(1.1, 3.5), [1.5, 2.0, 3.0]);
        assert!(time_ticks(1e-3, 1e5).len() < 10);
        assert_eq!(size_ticks(Unit::Elements, [1_000, 64_000_000], 1.0), [1e3, 1e4, 1e5, 1e6, 1e7, 64e6]);
        assert_eq!(size_ticks(Unit::Elements, [1_000, 12_000_000], 1.0).last(), Some(&12e6));
        assert_eq!(size_ticks(Unit::Elements, [1_000, 1_000], 1.0), [1e3]);
        assert_eq!(size_ticks(Unit::Bytes(4), [1 << 10, 1 << 28], 2.0).len(), 5);
    }

    #[test]
    fn names_do_not_lie_on_each_other() {
        let places = pushed_apart(vec![(0, 100), (0, 90), (0, 500)]);
        assert_eq!(places, [(0, 90 + APART * SCALE), (0, 90), (0, 500)]);
    }

    #[test]
    fn a_small_plot() {
        let point = |elements, value: f64| Point { elements, value, interval: [value * 0.9, value * 1.1] };
        let plot = Plot {
            id: "add-in-place".into(),
            title: "add.in-place, f32".into(),
            desc: "Two subjects & two sizes.".into(),
            series: vec![
                Series { subject: "reference".into(), points: vec![point(1_000, 3.0), point(100_000, 0.3)] },
                Series { subject: "tinygrad".into(), points: vec![point(1_000, 30.0)] },
            ],
            limit: vec![(1_000, 0.5), (100_000, 0.28)],
            unit: Unit::Elements,
            sizes: [1_000, 100_000],
            range: [0.27, 33.0],
        };
        insta::assert_snapshot!(draw(&plot, Size::Narrow).unwrap().replace("><", ">\n<"));
    }
}
