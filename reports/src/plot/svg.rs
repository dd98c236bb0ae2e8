//! A drawing backend for plotters that writes SVG with classes and titles, and no colour, width or font.
//!
//! Plotters counts in whole pixels. The backend therefore presents itself ten times as large as it is and writes
//! coordinates with one decimal.

use super::ink::{Ink, Role};
use crate::subjects::Style;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};
use std::collections::VecDeque;
use std::fmt::{self, Write};

/// Backend units in a pixel.
pub const SCALE: i32 = 10;
/// Height of the style sheet's text in plots, in pixels.
pub const TEXT: f64 = 12.0;

/// How the elements of one series are written.
pub struct SeriesStyle {
    /// Class and mark.
    pub style: Style,
    /// What each point says, in the order in which points are drawn.
    pub titles: VecDeque<String>,
}

/// Writes what plotters draws.
pub struct Svg<'a> {
    out: &'a mut String,
    size: (u32, u32),
    series: Vec<SeriesStyle>,
    open: Option<u16>,
}

type Drawn = Result<(), DrawingErrorKind<fmt::Error>>;

impl<'a> Svg<'a> {
    /// A backend of this size in pixels that appends to `out`.
    pub fn new(out: &'a mut String, size: (u32, u32), series: Vec<SeriesStyle>) -> Self {
        Svg { out, size, series, open: None }
    }

    /// Elements of one series stand in a group that carries its class.
    fn enter(&mut self, series: Option<u16>) -> fmt::Result {
        if self.open == series {
            return Ok(());
        }
        if self.open.is_some() {
            self.out.write_str("</g>")?;
        }
        self.open = series;
        match series.and_then(|series| self.series.get(usize::from(series))) {
            Some(series) => write!(self.out, "<g class=\"{}\">", series.style.class),
            None if series.is_some() => self.out.write_str("<g>"),
            None => Ok(()),
        }
    }

    fn path(
        &mut self,
        color: BackendColor,
        points: impl IntoIterator<Item = BackendCoord>,
        close: bool,
    ) -> fmt::Result {
        let Some(ink) = Ink::decode(color) else { return Ok(()) };
        self.enter(ink.series)?;
        write!(self.out, "<path class=\"{}\" d=\"", ink.role.class())?;
        for (i, (x, y)) in points.into_iter().enumerate() {
            write!(self.out, "{}{} {}", if i == 0 { "M" } else { "L" }, px(x), px(y))?;
        }
        self.out.write_str(if close { "Z\"/>" } else { "\"/>" })
    }

    fn mark(&mut self, color: BackendColor, (x, y): BackendCoord) -> fmt::Result {
        let Some(ink) = Ink::decode(color) else { return Ok(()) };
        self.enter(ink.series)?;
        let Some(series) = ink.series.and_then(|series| self.series.get_mut(usize::from(series))) else {
            return Ok(());
        };
        let (mark, title) = (series.style.mark, series.titles.pop_front().unwrap_or_default());
        let class = ink.role.class();
        write!(self.out, "<path class=\"{class}\" transform=\"translate({} {})\" d=\"{mark}\">", px(x), px(y))?;
        write!(self.out, "<title>{}</title></path>", Escaped(&title))
    }

    fn text(&mut self, text: &str, color: BackendColor, anchor: (HPos, VPos), (x, y): BackendCoord) -> fmt::Result {
        let Some(ink) = Ink::decode(color) else { return Ok(()) };
        self.enter(ink.series)?;
        self.out.write_str("<text")?;
        if ink.role != Role::Text {
            write!(self.out, " class=\"{}\"", ink.role.class())?;
        }
        // A baseline lies about a third of the letters' height below their middle.
        let down = match anchor.1 {
            VPos::Top => TEXT * 0.85,
            VPos::Center => TEXT / 3.0,
            VPos::Bottom => -TEXT * 0.2,
        };
        write!(self.out, " x=\"{}\" y=\"{}\"", px(x), px(y + (down * f64::from(SCALE)) as i32))?;
        match anchor.0 {
            HPos::Left => {}
            HPos::Center => self.out.write_str(" text-anchor=\"middle\"")?,
            HPos::Right => self.out.write_str(" text-anchor=\"end\"")?,
        }
        write!(self.out, ">{}</text>", Escaped(text))
    }
}

/// Backend units as pixels.
fn px(units: i32) -> f64 {
    f64::from(units) / f64::from(SCALE)
}

/// Text as SVG and HTML take it.
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = fmt::Error;

    fn get_size(&self) -> (u32, u32) {
        (self.size.0 * SCALE as u32, self.size.1 * SCALE as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        self.enter(None).map_err(DrawingErrorKind::DrawingError)
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.path(color, [(x, y), (x + 1, y)], false).map_err(DrawingErrorKind::DrawingError)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.path(style.color(), [from, to], false).map_err(DrawingErrorKind::DrawingError)
    }

    fn draw_rect<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S, _: bool) -> Drawn {
        let corners = [a, (b.0, a.1), b, (a.0, b.1)];
        self.path(style.color(), corners, true).map_err(DrawingErrorKind::DrawingError)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.path(style.color(), path, false).map_err(DrawingErrorKind::DrawingError)
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, _: u32, style: &S, _: bool) -> Drawn {
        self.mark(style.color(), center).map_err(DrawingErrorKind::DrawingError)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, points: I, style: &S) -> Drawn {
        self.path(style.color(), points, true).map_err(DrawingErrorKind::DrawingError)
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Drawn {
        let anchor = style.anchor();
        self.text(text, style.color(), (anchor.h_pos, anchor.v_pos), at).map_err(DrawingErrorKind::DrawingError)
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<fmt::Error>> {
        // Digits of system fonts are a little more than half as wide as high.
        let size = style.size();
        Ok(((text.chars().count() as f64 * size * 0.56) as u32, size as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(Escaped("a<b & \"c\">").to_string(), "a&lt;b &amp; &quot;c&quot;&gt;");
    }
}
