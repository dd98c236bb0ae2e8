//! Tables of effects: word, factor, interval and bar.

use crate::plot::bars::{Axis, Bar, Tick};
use crate::tags::{self, Tag};
use crate::{numbers, subjects};
use serde::Serialize;
use suites::record::Effect;

/// A table of effects with one axis.
#[derive(Debug, Serialize)]
pub struct Effects {
    ticks: Vec<Tick>,
    /// The rows by heading.
    pub groups: Vec<Group>,
    /// The smallest visible changes in it.
    pub change: String,
}

/// The effects of one claim or one subject.
#[derive(Debug, Serialize)]
pub struct Group {
    /// What they belong to.
    pub head: String,
    /// Where more stands about it.
    pub href: Option<String>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    size: String,
    tag: Tag,
    ratio: String,
    interval: String,
    bar: Bar,
}

impl Effects {
    /// A table of these groups; `None` when there is no effect in them.
    pub fn new(groups: Vec<(String, Option<String>, Vec<&Effect>)>) -> Option<Self> {
        let all = || groups.iter().flat_map(|group| group.2.iter());
        all().next()?;
        let axis = Axis::over(all().map(|effect| effect.interval));
        let change = smallest_visible_change(all().copied());
        let groups = groups.into_iter().filter(|group| !group.2.is_empty()).map(|(head, href, effects)| Group {
            head,
            href,
            rows: effects.into_iter().map(|effect| row(effect, &axis)).collect(),
        });
        Some(Effects { ticks: axis.ticks(), groups: groups.collect(), change })
    }

    /// A table with one group a subject.
    pub fn by_subject(effects: &[&Effect]) -> Option<Self> {
        let mut groups: Vec<(String, Option<String>, Vec<&Effect>)> = Vec::new();
        for effect in effects {
            let name = subjects::name(&effect.subject);
            match groups.last_mut() {
                Some(group) if group.0 == name => group.2.push(effect),
                _ => groups.push((name.into(), None, vec![effect])),
            }
        }
        Effects::new(groups)
    }
}

fn row(effect: &Effect, axis: &Axis) -> Row {
    Row {
        size: format!("{} {}", effect.params.dtype, numbers::elements(effect.params.elements)),
        tag: tags::effect(effect.effect),
        ratio: numbers::factor(effect.ratio),
        interval: numbers::factors(effect.interval),
        bar: axis.bar(effect.interval),
    }
}

/// The range of smallest visible changes: `0.8–4 %`.
pub fn smallest_visible_change<'a>(effects: impl Iterator<Item = &'a Effect>) -> String {
    let changes: Vec<f64> = effects.map(|e| e.smallest_visible_change).filter(|change| change.is_finite()).collect();
    let low = changes.iter().copied().fold(f64::INFINITY, f64::min);
    let high = changes.iter().copied().fold(0.0, f64::max);
    let (low, high) = match changes.len() {
        0 => return "not measured".into(),
        _ => (numbers::percent(low), numbers::percent(high)),
    };
    if low == high { high } else { format!("{}–{high}", low.trim_end_matches(['%', numbers::THIN])) }
}
