//! What NVIDIA's management library tells of the GPU: what it is, its clocks, and what holds them down.

use crate::record::{Gpu, GpuState};
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use std::ffi::OsStr;

/// The management library, where there is one.
pub struct Watch(Nvml);

/// One look at a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    processor_mhz: u32,
    memory_mhz: u32,
    celsius: u32,
    held_down_by: ThrottleReasons,
}

/// What heat or a fault of the supply does to clocks: such a sample says nothing of the program. A limit of power is not
/// among them, since cards reach it in ordinary work.
const THROTTLED: ThrottleReasons = ThrottleReasons::HW_SLOWDOWN
    .union(ThrottleReasons::SW_THERMAL_SLOWDOWN)
    .union(ThrottleReasons::HW_THERMAL_SLOWDOWN)
    .union(ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN);

/// What the clocks are not held down by: a GPU that has nothing to do runs slowly of itself.
const NO_REASON: ThrottleReasons = ThrottleReasons::GPU_IDLE;

impl Watch {
    /// Loads the library; nothing where there is none.
    pub fn open() -> Option<Watch> {
        Nvml::builder().lib_path(OsStr::new("libnvidia-ml.so.1")).init().ok().map(Watch)
    }

    /// The GPU that CUDA calls device 0: of a machine with several, the one that `CUDA_VISIBLE_DEVICES` names first.
    fn device(&self) -> Result<Device<'_>, NvmlError> {
        let visible = std::env::var("CUDA_VISIBLE_DEVICES").unwrap_or_default();
        let first = visible.split(',').next().unwrap_or_default().trim();
        match first.parse() {
            Ok(index) => self.0.device_by_index(index),
            Err(_) if first.is_empty() => self.0.device_by_index(0),
            Err(_) => self.0.device_by_uuid(first),
        }
    }

    /// What the GPU is.
    pub fn gpu(&self) -> Option<Gpu> {
        let told = || -> Result<Gpu, NvmlError> {
            let device = self.device()?;
            Ok(Gpu {
                name: device.name()?,
                memory_bytes: device.memory_info()?.total,
                driver: self.0.sys_driver_version()?,
                processor_mhz: device.max_clock_info(Clock::SM)?,
                memory_mhz: device.max_clock_info(Clock::Memory)?,
                link: [device.max_pcie_link_gen()?, device.max_pcie_link_width()?],
            })
        };
        told().ok()
    }

    /// What it does now.
    pub fn reading(&self) -> Option<Reading> {
        let told = || -> Result<Reading, NvmlError> {
            let device = self.device()?;
            Ok(Reading {
                processor_mhz: device.clock_info(Clock::SM)?,
                memory_mhz: device.clock_info(Clock::Memory)?,
                celsius: device.temperature(TemperatureSensor::Gpu)?,
                held_down_by: device.current_throttle_reasons()?,
            })
        };
        told().ok()
    }
}

/// What the readings of all samples, in their order, come to; nothing where no reading was had.
pub fn state(readings: &[Option<Reading>]) -> Option<GpuState> {
    let had = || readings.iter().flatten();
    let range = |of: fn(&Reading) -> u32| Some([had().map(of).min()?, had().map(of).max()?]);
    let reasons = had().fold(ThrottleReasons::empty(), |all, reading| all | reading.held_down_by) - NO_REASON;
    let throttled =
        |reading: &Option<Reading>| reading.is_some_and(|reading| reading.held_down_by.intersects(THROTTLED));
    Some(GpuState {
        processor_mhz: range(|reading| reading.processor_mhz)?,
        memory_mhz: range(|reading| reading.memory_mhz)?,
        celsius: had().map(|reading| reading.celsius).max()?,
        held_down_by: reasons.iter_names().map(|(name, _)| name.to_lowercase().replace('_', "-")).collect(),
        throttled: (0..readings.len()).filter(|at| throttled(&readings[*at])).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(processor_mhz: u32, held_down_by: ThrottleReasons) -> Option<Reading> {
        Some(Reading { processor_mhz, memory_mhz: 3201, celsius: processor_mhz / 40, held_down_by })
    }

    #[test]
    fn heat_throttles_a_sample_and_a_limit_of_power_does_not() {
        let power = reading(1800, ThrottleReasons::SW_POWER_CAP);
        let heat = reading(900, ThrottleReasons::SW_THERMAL_SLOWDOWN | ThrottleReasons::SW_POWER_CAP);
        let idle = reading(1980, ThrottleReasons::GPU_IDLE);
        let state = state(&[idle, power, None, heat]).unwrap();
        assert_eq!(state.processor_mhz, [900, 1980]);
        assert_eq!((state.memory_mhz, state.celsius), ([3201, 3201], 49));
        assert_eq!(state.held_down_by, ["sw-power-cap", "sw-thermal-slowdown"]);
        assert_eq!(state.throttled, [3]);
    }

    #[test]
    fn no_reading_is_no_state() {
        assert_eq!(state(&[]), None);
        assert_eq!(state(&[None, None]), None);
    }
}
