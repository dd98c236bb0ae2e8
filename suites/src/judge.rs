//! Turns records into effects and verdicts. A pure function of the claims and the records: it reads what was seen and
//! what was claimed, never what is known of PyTorch.

use crate::case::Case;
use crate::cases;
use crate::claims::{Catalogue, Claim, Kind, NEEDS_GPU, Need};
use crate::record::{
    Cells, Control, DEFAULT_DTYPE, Effect, EffectKind, Measurement, Outcome, OutcomeKind, Params, Record, SIMULATED,
    Slope, Verdict, VerdictKind, cells,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;

/// The reference's second launch, for the A/A control.
pub const AGAIN: &str = "reference (again)";
/// The reference's id.
pub const REFERENCE: &str = "reference";
/// A higher share of false alarms than this, and no effect is believed.
pub const FALSE_ALARMS: f64 = 0.05;
const RESAMPLES: usize = 1000;

/// Effects of every performance claim on every subject at every size, and the A/A control, where the reference was
/// measured twice.
pub fn effects(catalogue: &Catalogue, records: &[Record]) -> (Vec<Effect>, Option<Control>) {
    let cells = cells(records);
    let mut control = Control { pairs: 0, different: 0 };
    for ((subject, workload, params), first) in &cells {
        if *subject == REFERENCE
            && let Some(again) = cells.get(&(AGAIN, *workload, *params))
            && let Some(comparison) = compare(first, again)
        {
            control.pairs += 1;
            control.different += u32::from(matches!(comparison.kind(), EffectKind::Holds | EffectKind::Reversed));
        }
    }
    let noisy = failed(&control);
    let mut effects = Vec::new();
    for claim in &catalogue.claims {
        let Some((slower, faster)) = claim.workloads() else { continue };
        for ((subject, workload, params), slow) in &cells {
            if *workload != slower || *subject == AGAIN {
                continue;
            }
            let Some(fast) = partner(&cells, subject, faster, params) else { continue };
            let Some(comparison) = compare(slow, fast) else { continue };
            effects.push(Effect {
                claim: claim.id.clone(),
                subject: (*subject).to_owned(),
                params: (*params).clone(),
                effect: if noisy { EffectKind::Ambiguous } else { comparison.kind() },
                ratio: comparison.ratio,
                interval: comparison.interval,
                smallest_visible_change: (comparison.interval[1] - comparison.interval[0]) / 2.0 / comparison.ratio,
            });
        }
    }
    (effects, (control.pairs > 0).then_some(control))
}

/// The cell of the same size and dtype, or of the same size in another dtype, where that is what is compared.
fn partner<'c, 'r>(
    cells: &'c Cells<'r>,
    subject: &str,
    workload: &str,
    params: &Params,
) -> Option<&'c Vec<&'r Measurement>> {
    let own = |(cell, _): &(&(&str, &str, &Params), _)| {
        cell.0 == subject && cell.1 == workload && cell.2.elements == params.elements
    };
    let same = cells.iter().filter(own).find(|(cell, _)| cell.2.dtype == params.dtype);
    same.or_else(|| cells.iter().find(own)).map(|(_, rounds)| rounds)
}

/// Whether the control shows more false alarms than our rule may have: so many that, at a rate of [`FALSE_ALARMS`], as
/// many would come up by chance in less than one run of twenty.
pub fn failed(control: &Control) -> bool {
    let (n, p) = (f64::from(control.pairs), FALSE_ALARMS);
    let mut chance = (1.0 - p).powf(n);
    let mut fewer = 0.0;
    for k in 0..control.different {
        fewer += chance;
        chance *= (n - f64::from(k)) / f64::from(k + 1) * p / (1.0 - p);
    }
    1.0 - fewer < 0.05
}

struct Comparison {
    ratio: f64,
    interval: [f64; 2],
}

impl Comparison {
    fn kind(&self) -> EffectKind {
        let [low, high] = self.interval;
        if low > 1.05 {
            EffectKind::Holds
        } else if high < 0.95 {
            EffectKind::Reversed
        } else if low >= 0.95 && high <= 1.05 {
            EffectKind::NoDifference
        } else {
            EffectKind::Ambiguous
        }
    }
}

/// Compares two workloads round by round: the median over rounds of the ratio of medians, with the 95 % interval of a
/// bootstrap over rounds and samples. `None` when no round has both.
fn compare(slow: &[&Measurement], fast: &[&Measurement]) -> Option<Comparison> {
    let mut rounds = Vec::new();
    for slow in slow {
        if let Some(fast) = fast.iter().find(|fast| fast.round == slow.round) {
            let (slow, fast) = (slow.per_iteration(), fast.per_iteration());
            if !slow.is_empty() && !fast.is_empty() {
                rounds.push((slow, fast));
            }
        }
    }
    if rounds.is_empty() {
        return None;
    }
    let ratio = median(rounds.iter().map(|(slow, fast)| median(slow.clone()) / median(fast.clone())).collect());
    let mut rng = StdRng::seed_from_u64(0);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let ratios = (0..rounds.len()).map(|_| {
                let (slow, fast) = &rounds[rng.random_range(0..rounds.len())];
                median(draw(slow, &mut rng)) / median(draw(fast, &mut rng))
            });
            median(ratios.collect())
        })
        .collect();
    Some(Comparison { ratio, interval: middle(&mut resampled) })
}

/// Below this size the fixed cost of a call hides how the rest grows.
const GROWS_FROM: u64 = 10_000;

/// How time grows with size, for every subject and workload that was measured at three sizes or more.
pub fn slopes(records: &[Record]) -> Vec<Slope> {
    type Sizes = Vec<(f64, Vec<f64>)>;
    let mut series: BTreeMap<(&str, &str, &str), Sizes> = BTreeMap::new();
    for ((subject, workload, params), rounds) in cells(records) {
        if subject != AGAIN && params.elements >= GROWS_FROM {
            let samples: Vec<f64> = rounds.iter().flat_map(|round| round.per_iteration()).collect();
            let sizes = series.entry((subject, workload, &params.dtype)).or_default();
            sizes.push(((params.elements as f64).ln(), samples));
        }
    }
    let long_enough = series.into_iter().filter(|(_, sizes)| sizes.len() >= 3);
    long_enough
        .map(|((subject, workload, dtype), sizes)| {
            let points = |pick: &mut dyn FnMut(&[f64]) -> f64| -> Vec<(f64, f64)> {
                sizes.iter().map(|(size, samples)| (*size, pick(samples).ln())).collect()
            };
            let mut rng = StdRng::seed_from_u64(0);
            let mut resampled: Vec<f64> =
                (0..RESAMPLES).map(|_| line(&points(&mut |samples| median(draw(samples, &mut rng))))).collect();
            Slope {
                subject: subject.into(),
                workload: workload.into(),
                dtype: dtype.into(),
                slope: line(&points(&mut |samples| median(samples.to_vec()))),
                interval: middle(&mut resampled),
            }
        })
        .collect()
}

/// The slope of the line of least squares through some points.
fn line(points: &[(f64, f64)]) -> f64 {
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let (mut both, mut own) = (0.0, 0.0);
    for point in points {
        both += (point.0 - x) * (point.1 - y);
        own += (point.0 - x) * (point.0 - x);
    }
    both / own
}

/// The 95 % in the middle of resampled values.
fn middle(resampled: &mut [f64]) -> [f64; 2] {
    resampled.sort_by(f64::total_cmp);
    let at = |share: f64| resampled[((resampled.len() - 1) as f64 * share).round() as usize];
    [at(0.025), at(0.975)]
}

fn draw(samples: &[f64], rng: &mut StdRng) -> Vec<f64> {
    (0..samples.len()).map(|_| samples[rng.random_range(0..samples.len())]).collect()
}

/// The middle value, or the mean of the two middle ones; NaN of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// A verdict for every claim, in the order of the catalogue, from what the judged subject did.
pub fn verdicts(catalogue: &Catalogue, records: &[Record], effects: &[Effect], judged: &str) -> Vec<Verdict> {
    let outcomes: Vec<&Outcome> = records
        .iter()
        .filter_map(|record| if let Record::Outcome(outcome) = record { Some(outcome) } else { None })
        .filter(|outcome| outcome.subject == judged)
        .collect();
    let control = records.iter().find_map(|r| if let Record::Control(c) = r { Some(c) } else { None });
    let control = control.filter(|control| failed(control));
    let judge = |claim: &Claim| {
        let (verdict, reason) = match (claim.kind, claim.reason()) {
            (Kind::Editorial, _) => (VerdictKind::NotTestable, None),
            (_, Some(reason)) => (VerdictKind::Open, Some(reason.into())),
            (Kind::Performance, None) => performance(claim, effects, judged, control),
            _ => conformance(claim, &outcomes),
        };
        let stands = matches!(verdict, VerdictKind::PartlyRight | VerdictKind::Wrong);
        let correction = if stands { claim.correction.clone() } else { claim.finding.clone() };
        Verdict { claim: claim.id.clone(), verdict, weight: claim.weight.filter(|_| stands), correction, reason }
    };
    catalogue.claims.iter().map(judge).collect()
}

/// Whether facts that speak to the claim were seen on a simulated device.
pub fn rests_on_simulation(claim: &str, records: &[Record]) -> bool {
    let outcomes =
        records.iter().filter_map(|record| if let Record::Outcome(outcome) = record { Some(outcome) } else { None });
    let simulated = outcomes.filter(|outcome| outcome.device == SIMULATED);
    simulated.flat_map(|outcome| &outcome.facts).flat_map(|fact| &fact.claimed).any(|claimed| claimed.claim == claim)
}

/// Leaves open what a part of its cases decided: a choice of cases may have left out the one that tells otherwise.
pub fn leave_open(verdicts: &mut [Verdict], chosen: &[Case]) {
    let all = cases::all();
    let left_out: Vec<&Case> = all.iter().filter(|case| !chosen.iter().any(|one| one.name == case.name)).collect();
    for verdict in verdicts {
        let decided = !matches!(verdict.verdict, VerdictKind::Open | VerdictKind::NotTestable);
        let lacks = left_out.iter().filter(|case| case.claims.contains(&verdict.claim)).count();
        if decided && lacks > 0 {
            let cases = if lacks == 1 { "case".to_owned() } else { format!("{lacks} cases") };
            let reason = Some(format!("left out by --only: {cases} of it"));
            *verdict = Verdict {
                claim: verdict.claim.clone(),
                verdict: VerdictKind::Open,
                weight: None,
                correction: None,
                reason,
            };
        }
    }
}

fn conformance(claim: &Claim, outcomes: &[&Outcome]) -> (VerdictKind, Option<String>) {
    let (mut fit, mut miss, mut example_missed) = (0, 0, false);
    for fact in outcomes.iter().flat_map(|outcome| &outcome.facts) {
        for claimed in fact.claimed.iter().filter(|claimed| claimed.claim == claim.id) {
            if fact.fits(claimed) {
                fit += 1;
            } else {
                miss += 1;
                example_missed |= claimed.example;
            }
        }
    }
    let cases = outcomes.iter().filter(|outcome| outcome.claims.contains(&claim.id));
    let broken = cases.clone().find(|o| !matches!(o.outcome, OutcomeKind::Agrees | OutcomeKind::Differs));
    let stopped = broken.map(|o| format!("{}: {}, {}", o.case, o.outcome, o.reason.as_deref().unwrap_or("no reason")));
    match (fit, miss) {
        (0, 0) => {
            let nothing = if cases.count() == 0 { "no case of it ran" } else { "its cases established nothing" };
            (VerdictKind::Open, Some(stopped.unwrap_or_else(|| nothing.into())))
        }
        // A case that ended early may have kept back the fact that decides.
        _ if stopped.is_some() => (VerdictKind::Open, stopped),
        (_, 0) => (VerdictKind::Right, None),
        (0, _) => (VerdictKind::Wrong, None),
        _ if example_missed => (VerdictKind::Wrong, None),
        _ => (VerdictKind::PartlyRight, None),
    }
}

fn performance(
    claim: &Claim,
    effects: &[Effect],
    judged: &str,
    failed: Option<&Control>,
) -> (VerdictKind, Option<String>) {
    let own = |e: &&Effect| e.claim == claim.id && e.subject == judged && e.params.dtype == DEFAULT_DTYPE;
    let mut own: Vec<&Effect> = effects.iter().filter(own).collect();
    own.sort_by(|a, b| a.params.cmp(&b.params));
    let count = |kind| own.iter().filter(|effect| effect.effect == kind).count();
    let holds = count(EffectKind::Holds);
    let against = count(EffectKind::Reversed) + count(EffectKind::NoDifference);
    if let (Some(Control { pairs, different }), false) = (failed, own.is_empty()) {
        let why = format!("the control failed: {different} of {pairs} pairs of equal things seemed to differ");
        return (VerdictKind::Open, Some(why));
    }
    match (holds, against) {
        _ if own.is_empty() => {
            let why = if claim.needs.contains(&Need::Gpu) { NEEDS_GPU } else { "not measured here" };
            (VerdictKind::Open, Some(why.into()))
        }
        (holds, _) if holds == own.len() => (VerdictKind::Right, None),
        (0, 1..) => (VerdictKind::Wrong, None),
        (1.., 1..) => (VerdictKind::PartlyRight, Some(crossing(&own))),
        _ => (
            VerdictKind::Open,
            Some(format!("too noisy here: it holds at {holds} of {} sizes, the rest is ambiguous", own.len())),
        ),
    }
}

fn crossing(own: &[&Effect]) -> String {
    let list = |kind: EffectKind| {
        let sizes: Vec<Params> = own.iter().filter(|e| e.effect == kind).map(|e| e.params.clone()).collect();
        sizes.iter().map(Params::to_string).collect::<Vec<_>>().join(", ")
    };
    let parts = [EffectKind::Holds, EffectKind::NoDifference, EffectKind::Reversed, EffectKind::Ambiguous]
        .into_iter()
        .map(|kind| (kind, list(kind)))
        .filter(|(_, sizes)| !sizes.is_empty());
    parts.map(|(kind, sizes)| format!("{kind} at {sizes}")).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(workload: &str, round: u32, each: &[u64]) -> Record {
        Record::Measurement(Measurement {
            subject: "pytorch".into(),
            device: "cpu".into(),
            workload: workload.into(),
            params: Params { dtype: "f32".into(), elements: 1000 },
            round,
            iterations: vec![10; each.len()],
            nanoseconds: each.iter().map(|each| each * 10).collect(),
            accounting: None,
            gpu: None,
            error: None,
        })
    }

    fn effect_of(slow: u64, fast: u64, spread: u64) -> EffectKind {
        let mut records = Vec::new();
        for round in 1..=3 {
            let samples = |each: u64| (0..10).map(|i| each + i * spread).collect::<Vec<_>>();
            records.push(measurement("add.allocating", round, &samples(slow)));
            records.push(measurement("add.in-place", round, &samples(fast)));
        }
        let catalogue = crate::claims::catalogue().unwrap();
        let (effects, control) = effects(catalogue, &records);
        assert_eq!(control, None);
        effects.iter().find(|effect| effect.claim == "t001.inplace.efficient").unwrap().effect
    }

    #[test]
    fn effects_follow_the_interval() {
        assert_eq!(effect_of(2000, 1000, 1), EffectKind::Holds);
        assert_eq!(effect_of(1000, 2000, 1), EffectKind::Reversed);
        assert_eq!(effect_of(1000, 1000, 1), EffectKind::NoDifference);
        assert_eq!(effect_of(1100, 1000, 100), EffectKind::Ambiguous);
    }

    #[test]
    fn a_claim_about_a_gpu_is_open_until_one_was_measured() {
        let catalogue = crate::claims::catalogue().unwrap();
        let verdict = |records: &[Record]| {
            let verdicts = verdicts(catalogue, records, &effects(catalogue, records).0, "pytorch");
            let own = verdicts.into_iter().find(|verdict| verdict.claim == "t001.pinned.faster").unwrap();
            (own.verdict, own.reason)
        };
        assert_eq!(verdict(&[]), (VerdictKind::Open, Some("needs-gpu".into())));
        let samples = |workload, each| measurement(workload, 1, &[each; 10]);
        let measured = [samples("upload.pageable", 3000), samples("upload.pinned", 1000)];
        assert_eq!(verdict(&measured), (VerdictKind::Right, None));
    }

    #[test]
    fn slopes_tell_what_grows() {
        let mut records = Vec::new();
        for (elements, time) in [(10_000, 100), (100_000, 1_000), (1_000_000, 10_000)] {
            for (workload, each) in [("share.clone", time), ("share.view", 50)] {
                let Record::Measurement(mut record) = measurement(workload, 1, &[each; 10]) else { unreachable!() };
                record.params.elements = elements;
                records.push(Record::Measurement(record));
            }
        }
        let slopes = slopes(&records);
        let of = |workload| slopes.iter().find(|slope| slope.workload == workload).unwrap();
        assert!((of("share.clone").slope - 1.0).abs() < 1e-9);
        assert!(of("share.view").slope.abs() < 1e-9);
        assert_eq!(of("share.view").interval, [of("share.view").slope; 2]);
    }

    #[test]
    fn a_size_all_of_whose_samples_were_throttled_is_no_size() {
        let records = |throttled: u64| -> Vec<Record> {
            let sized = |elements: u64| {
                let Record::Measurement(mut record) = measurement("share.clone", 1, &[elements; 3]) else {
                    unreachable!()
                };
                record.params.elements = elements;
                let throttled = if elements == throttled { vec![0, 1, 2] } else { Vec::new() };
                record.gpu = Some(crate::record::GpuState { throttled, ..Default::default() });
                Record::Measurement(record)
            };
            [10_000, 100_000, 1_000_000].map(sized).into()
        };
        assert!((slopes(&records(0))[0].slope - 1.0).abs() < 1e-9);
        assert_eq!(slopes(&records(100_000)), []);
    }

    #[test]
    fn a_control_fails_beyond_chance_alone() {
        let failed = |pairs, different| failed(&Control { pairs, different });
        assert!(!failed(30, 0) && !failed(30, 3) && !failed(30, 4) && failed(30, 5));
        assert!(!failed(10, 1) && failed(10, 3));
    }

    #[test]
    fn the_median_of_few() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }
}
