//! What the GPU did while a family was sampled: its clocks, its heat, and the samples that it spoiled.

use crate::numbers::{self, THIN};
use crate::words;
use std::collections::BTreeSet;
use suites::record::{GpuState, Measurement};

/// One line over all measurements that were watched; `None` where none was.
pub fn line<'a>(name: &str, measurements: impl Iterator<Item = &'a Measurement>) -> Option<String> {
    let watched: Vec<_> = measurements.filter_map(|m| Some((m, m.gpu.as_ref()?))).collect();
    let range = |clock: fn(&'a GpuState) -> [u32; 2]| {
        let clocks = watched.iter().map(|(_, gpu)| clock(gpu));
        clocks.reduce(|[a, b], [low, high]| [a.min(low), b.max(high)])
    };
    let [processor, memory] = [range(|gpu| gpu.processor_mhz)?, range(|gpu| gpu.memory_mhz)?];
    let celsius = watched.iter().map(|(_, gpu)| gpu.celsius).max()?;
    let held: BTreeSet<&str> = watched.iter().flat_map(|(_, gpu)| &gpu.held_down_by).map(String::as_str).collect();
    let held = match held.len() {
        0 => "Nothing held its clocks down.".to_string(),
        _ => format!("What held its clocks down: {}.", held.into_iter().collect::<Vec<_>>().join(", ")),
    };
    let samples = watched.iter().map(|(m, _)| m.nanoseconds.len()).sum();
    let left_out =
        watched.iter().map(|(m, gpu)| (0..m.nanoseconds.len()).filter(|at| gpu.throttled.contains(at)).count());
    Some(format!(
        "{name} while it was sampled: processors at {}, memory at {}, at most {celsius}{THIN}°C. {held} {}",
        numbers::megahertz(processor),
        numbers::megahertz(memory),
        words::throttled(left_out.sum(), samples)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use suites::record::Params;

    fn measurement(samples: usize, gpu: Option<GpuState>) -> Measurement {
        Measurement {
            subject: "pytorch".into(),
            device: "cpu".into(),
            workload: "upload.pinned".into(),
            params: Params { dtype: "f32".into(), elements: 1024 },
            round: 1,
            iterations: vec![1; samples],
            nanoseconds: vec![5_000; samples],
            accounting: None,
            gpu,
            error: None,
        }
    }

    fn said(measurements: &[Measurement]) -> Option<String> {
        line("The GPU", measurements.iter()).map(|said| said.replace(THIN, " "))
    }

    #[test]
    fn nothing_watched_is_nothing_said() {
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[measurement(3, None)]), None);
    }

    #[test]
    fn the_line_spans_all_that_was_watched() {
        let cool = GpuState { processor_mhz: [1_980; 2], memory_mhz: [3_201; 2], celsius: 31, ..GpuState::default() };
        let warm = GpuState {
            processor_mhz: [1_755, 1_980],
            celsius: 54,
            held_down_by: vec!["sw-power-cap".into()],
            throttled: vec![1, 99],
            ..cool.clone()
        };
        assert_eq!(
            said(&[measurement(3, Some(cool.clone()))]).unwrap(),
            "The GPU while it was sampled: processors at 1,980 MHz, memory at 3,201 MHz, at most 31 °C. Nothing held its clocks down. None of 3 samples was throttled."
        );
        assert_eq!(
            said(&[measurement(3, Some(cool)), measurement(4, None), measurement(4, Some(warm))]).unwrap(),
            "The GPU while it was sampled: processors at 1,755–1,980 MHz, memory at 3,201 MHz, at most 54 °C. What held its clocks down: sw-power-cap. 1 of 7 samples is left out: heat or a fault of the power supply slowed it."
        );
    }
}
