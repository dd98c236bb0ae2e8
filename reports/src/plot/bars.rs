//! Effect bars: the interval of a factor on a logarithmic axis that a whole table shares.

use serde::Serialize;

/// Width of the axis in pixels.
const WIDTH: f64 = 288.0;

/// An axis from 0.5 to 20, wider by octaves where an interval asks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
}

/// One bar, in pixels from the left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bar {
    /// Where the interval begins.
    pub from: f64,
    /// Where it ends, at least two pixels on.
    pub to: f64,
    /// Where the band of no difference begins.
    pub null: f64,
    /// How wide that band is.
    pub null_width: f64,
    /// Where no difference lies.
    pub one: f64,
}

/// A number on the axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tick {
    /// Pixels from the left.
    pub at: f64,
    /// The factor.
    pub label: String,
}

impl Axis {
    /// The axis for all these intervals.
    pub fn over(intervals: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let mut axis = Axis { low: 0.5, high: 20.0 };
        for [a, b] in intervals {
            // A factor of zero or infinity would widen it without end.
            while a > 0.0 && a < axis.low && axis.low > 1e-6 {
                axis.low /= 2.0;
            }
            while b.is_finite() && b > axis.high && axis.high < 1e6 {
                axis.high *= 2.0;
            }
        }
        axis
    }

    fn place(&self, x: f64) -> f64 {
        let share = (x.clamp(self.low, self.high) / self.low).ln() / (self.high / self.low).ln();
        tenth(share * WIDTH)
    }

    /// The bar of one interval.
    pub fn bar(&self, [a, b]: [f64; 2]) -> Bar {
        let (from, null) = (self.place(a), self.place(0.95));
        Bar {
            from,
            to: self.place(b).max(from + 2.0),
            null,
            null_width: tenth(self.place(1.05) - null),
            one: self.place(1.0),
        }
    }

    /// Its ticks.
    pub fn ticks(&self) -> Vec<Tick> {
        const FACTORS: [(f64, &str); 8] = [
            (0.1, "0.1"),
            (0.5, "0.5"),
            (1.0, "1"),
            (2.0, "2"),
            (5.0, "5"),
            (10.0, "10"),
            (20.0, "20"),
            (100.0, "100"),
        ];
        let within = FACTORS.iter().filter(|(x, _)| (self.low..=self.high).contains(x));
        within.map(|(x, label)| Tick { at: self.place(*x), label: (*label).into() }).collect()
    }
}

fn tenth(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_widens_by_octaves() {
        assert_eq!(Axis::over([[0.9, 3.0]]), Axis { low: 0.5, high: 20.0 });
        assert_eq!(Axis::over([[0.2, 30.0]]), Axis { low: 0.125, high: 40.0 });
        assert_eq!(Axis::over([[0.0, f64::INFINITY]]), Axis { low: 0.5, high: 20.0 });
    }

    #[test]
    fn a_bar_lies_where_its_interval_does() {
        let axis = Axis::over([]);
        let bar = axis.bar([0.5, 20.0]);
        assert_eq!((bar.from, bar.to), (0.0, WIDTH));
        let point = axis.bar([1.0, 1.0]);
        assert_eq!((point.from, point.to), (bar.one, bar.one + 2.0));
        assert!(bar.null < bar.one && bar.null + bar.null_width > bar.one);
    }
}
