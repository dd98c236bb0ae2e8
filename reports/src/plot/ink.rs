//! What an element of a plot is, carried through plotters as a colour.
//!
//! Plotters hands a backend colours and widths and nothing else. An [`Ink`] is therefore a colour whose red channel says
//! what an element is and whose green and blue channels say which series it belongs to; the backend turns it back.

use plotters::style::Color;
use plotters_backend::BackendColor;

/// What an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A line of the mesh.
    Grid,
    /// An axis or its tick.
    Axis,
    /// A number at a tick, or an axis's name.
    Text,
    /// The interval of a series.
    Band,
    /// The curve of a series.
    Line,
    /// One measured point of a series.
    Point,
    /// The name of a series.
    Label,
    /// What the machine itself can do.
    Limit,
    /// The line of code of a timeline's step.
    Code,
    /// Bytes of tensors in use, step by step.
    Live,
    /// Bytes that the allocator has.
    Held,
    /// What the driver shows.
    Process,
    /// What the operating system shows of main memory.
    Host,
    /// What is held and not live.
    Cached,
    /// The name of a quantity.
    Name,
}

const ROLES: [Role; 15] = [
    Role::Grid,
    Role::Axis,
    Role::Text,
    Role::Band,
    Role::Line,
    Role::Point,
    Role::Label,
    Role::Limit,
    Role::Code,
    Role::Live,
    Role::Held,
    Role::Process,
    Role::Host,
    Role::Cached,
    Role::Name,
];

impl Role {
    /// Its class in the style sheet; plain text needs none.
    pub fn class(self) -> &'static str {
        match self {
            Role::Grid => "grid",
            Role::Axis => "axis",
            Role::Text => "",
            Role::Band => "band",
            Role::Line => "line",
            Role::Point => "pt",
            Role::Label => "lab",
            Role::Limit => "limit",
            Role::Code => "code",
            Role::Live => "live",
            Role::Held => "held",
            Role::Process => "process",
            Role::Host => "host",
            Role::Cached => "cached",
            Role::Name => "name",
        }
    }
}

/// A role and, for the roles that have one, a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink {
    /// What the element is.
    pub role: Role,
    /// The series, counted from 0.
    pub series: Option<u16>,
}

impl Ink {
    /// The ink of what belongs to no series.
    pub fn plain(role: Role) -> Self {
        Ink { role, series: None }
    }

    /// The ink of a series' element.
    pub fn of(role: Role, series: usize) -> Self {
        Ink { role, series: u16::try_from(series).ok().filter(|series| *series < u16::MAX) }
    }

    /// The ink that a colour carries; `None` for a colour that is none, such as plotters' transparent.
    pub fn decode(color: BackendColor) -> Option<Self> {
        let (role, high, low) = color.rgb;
        let role = *ROLES.get(usize::from(role)).filter(|_| color.alpha > 0.0)?;
        let series = u16::from_be_bytes([high, low]);
        Some(Ink { role, series: series.checked_sub(1) })
    }
}

impl Color for Ink {
    fn to_backend_color(&self) -> BackendColor {
        let [high, low] = self.series.map_or(0, |series| series + 1).to_be_bytes();
        BackendColor { alpha: 1.0, rgb: (self.role as u8, high, low) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::style::TRANSPARENT;

    #[test]
    fn every_role_and_series_comes_back() {
        for role in ROLES {
            for ink in [Ink::plain(role), Ink::of(role, 0), Ink::of(role, 300)] {
                assert_eq!(Ink::decode(ink.to_backend_color()), Some(ink));
            }
        }
        assert_eq!(Ink::decode(TRANSPARENT.to_backend_color()), None);
    }
}
