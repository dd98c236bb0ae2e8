//! A recorded training loop: its requests in their order, played again under other settings.

use super::CUDA;
use crate::case::Case;
use crate::probe::{Probe, Stop};
use std::time::Duration;
use subject::{Calls, DType};

const SPLIT: &str = "t001.fragmentation.split-limit-helps";

/// The first 5,000 requests of a small transformer that learns from sequences of random lengths: a line is the bytes of
/// a request, or, with a minus, the number of the earlier request that is given back.
const TRAINING: &str = include_str!("training.txt");

/// The cases of this topic.
pub fn cases() -> Vec<Case> {
    let mut case = Case::new("device.recorded-training-loop", &[SPLIT], training);
    case.limit = Duration::from_secs(10);
    vec![case]
}

/// Plays the requests, and gives the most that was held and the most that was live.
fn played(p: &Probe, settings: &str) -> Result<[i64; 2], Stop> {
    p.empty_cache()?;
    p.set_allocator_settings(settings)?;
    p.reset_peak_memory_stats()?;
    let mut tensors = Vec::new();
    for line in TRAINING.lines() {
        let number: i64 = line.parse().map_err(|_| Stop::Harness(format!("{line:?} is no request")))?;
        if number > 0 {
            tensors.push(Some(p.unnoted(|p| p.empty_on([number], DType::U8, CUDA))?));
        } else {
            let place = usize::try_from(-number - 1).ok().and_then(|place| tensors.get_mut(place));
            let tensor = place.and_then(Option::take);
            let tensor = tensor.ok_or_else(|| Stop::Harness(format!("request {number} is not there")))?;
            p.unnoted(|p| p.release(tensor))?;
        }
    }
    let peaks = [p.max_memory_reserved()?, p.max_memory_allocated()?];
    for tensor in tensors.into_iter().flatten() {
        p.unnoted(|p| p.release(tensor))?;
    }
    Ok(peaks)
}

/// The split limit raises what is held at the most; expandable segments lower it.
fn training(p: &Probe) -> Result<(), Stop> {
    let mut held = Vec::new();
    const RUNS: [(&str, &str, [i64; 2]); 3] = [
        ("default settings", "", [3_191_865_344, 2_717_997_568]),
        ("max_split_size_mb:128", "max_split_size_mb:128", [4_087_349_248, 2_716_392_960]),
        ("expandable_segments:True", "expandable_segments:True", [2_791_309_312, 2_706_130_432]),
    ];
    for (title, settings, known) in RUNS {
        let [most_held, most_live] = played(p, settings)?;
        p.fact(format!("{title}: most held, in bytes"), most_held).known(known[0]);
        p.fact(format!("{title}: most live, in bytes"), most_live).known(known[1]);
        held.push(most_held);
    }
    p.fact("the split limit lowers what is held", held[1] < held[0]).known(false).claimed(SPLIT, true);
    p.fact("expandable segments lower it", held[2] < held[0]).known(true);
    Ok(())
}
