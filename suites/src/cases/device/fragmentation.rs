//! When what is held outgrows what is live, and what settings do about it.

use super::{CUDA, MIB};
use crate::case::Case;
use crate::cases::figures::in_units;
use crate::probe::{Probe, Stop};
use subject::{Calls, DType};

const VARYING: &str = "t001.fragmentation.varying-sizes";
const SPLIT: &str = "t001.fragmentation.split-limit-helps";

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("device.varying-sizes-strand-bytes", &[VARYING], varying),
        Case::new("device.a-split-limit-can-cost", &[SPLIT], split_limit_costs),
        Case::new("device.expandable-segments-grow", &[], expandable),
    ]
}

/// The most that was held over the most that was live, for steps with one tensor of these sizes in MiB.
fn held_over_live(p: &Probe, sizes: &[i64]) -> Result<f64, Stop> {
    p.empty_cache()?;
    p.reset_peak_memory_stats()?;
    for size in sizes {
        let tensor = p.empty_on([size * MIB], DType::U8, CUDA)?;
        p.release(tensor)?;
    }
    Ok(in_units(p.max_memory_reserved()?, p.max_memory_allocated()?))
}

/// One tensor at a time: of one size it is always the same block, of growing sizes a new segment each.
fn varying(p: &Probe) -> Result<(), Stop> {
    let one = held_over_live(p, &[40; 8])?;
    let growing = held_over_live(p, &[12, 16, 20, 24, 28, 32, 36, 40])?;
    p.fact("sizes that do not vary: held over live", one).known(1.0).claimed(VARYING, 1.0);
    p.fact("sizes that grow: held over live", growing).known(5.2);
    p.fact("sizes that grow strand bytes", growing > 1.0).known(true).claimed(VARYING, true);
    let shrinking = held_over_live(p, &[40, 36, 32, 28, 24, 20, 16, 12])?;
    p.fact("sizes that shrink: held over live", shrinking).known(1.0);
    Ok(())
}

/// A block beyond the limit serves no small request: where it could have, more is held.
fn split_limit_costs(p: &Probe) -> Result<(), Stop> {
    let mut held = [0; 2];
    for (settings, held) in ["", "max_split_size_mb:128"].into_iter().zip(&mut held) {
        p.empty_cache()?;
        p.set_allocator_settings(settings)?;
        let large = p.empty_on([200 * MIB], DType::U8, CUDA)?;
        p.release(large)?;
        let tensors = [p.empty_on([100 * MIB], DType::U8, CUDA)?, p.empty_on([100 * MIB], DType::U8, CUDA)?];
        *held = p.memory_reserved()? / MIB;
        let title = if settings.is_empty() { "without a split limit" } else { "with max_split_size_mb:128" };
        p.segment_map(
            &format!("200 MiB freed, then twice 100 MiB, {title}"),
            &[("first", &tensors[0]), ("second", &tensors[1])],
        )?;
        for tensor in tensors {
            p.release(tensor)?;
        }
    }
    p.fact("held without a split limit, in MiB", held[0]).known(200);
    p.fact("held with max_split_size_mb:128, in MiB", held[1]).known(400);
    p.fact("the limit lowers what is held", held[1] < held[0]).known(false).claimed(SPLIT, true);
    Ok(())
}

/// A segment that grows serves growing sizes without a new one each.
fn expandable(p: &Probe) -> Result<(), Stop> {
    p.set_allocator_settings("expandable_segments:True")?;
    let growing = held_over_live(p, &[12, 16, 20, 24, 28, 32, 36, 40])?;
    p.fact("sizes that grow, with expandable segments: held over live", growing).known(1.0);
    p.fact("segments counted", p.memory_stat("segment.all.current")?).known(0);
    p.empty_cache()?;
    p.fact("held after empty_cache()", p.memory_reserved()?).known(0);
    Ok(())
}
