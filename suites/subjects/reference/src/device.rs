//! The engine's CUDA device and its allocators, opened when they are first asked for and closed at the end.

use crate::convert::Answer;
use kernels::Device;
use kernels::cuda::Cuda;
use kernels::memory::{AllocError, PinnedSettings, Settings, Stat, TorchVersion};
use subject::Fail;

type Result<T> = std::result::Result<T, Fail>;

/// The variable with the settings of the caching allocator.
const SETTINGS: &str = "PYTORCH_CUDA_ALLOC_CONF";

/// The device, or why it could not be opened, once it was asked for.
#[derive(Default)]
pub struct Gpu {
    opened: Option<Result<Cuda>>,
}

impl Gpu {
    /// The open device. It is opened once: a refusal stays, and is told to everyone who asks, not to `hello` alone.
    pub fn open(&mut self) -> Result<&Cuda> {
        self.opened.get_or_insert_with(open).as_ref().map_err(Fail::clone)
    }

    /// Gives the device back; the error is what the driver refused and nobody was told before.
    pub fn close(self) -> Result<()> {
        match self.opened {
            None | Some(Err(Fail::Unsupported(_))) => Ok(()),
            Some(opened) => opened?.close().answer(),
        }
    }

    /// The device of this name.
    pub fn device(&mut self, name: &str) -> Result<Device> {
        match name {
            "cpu" => Ok(Device::Cpu),
            "cuda" | "cuda:0" => Ok(Device::Cuda(self.open()?.clone())),
            other => Err(Fail::unsupported(format!("device {other:?}: this engine has cpu and cuda:0"))),
        }
    }

    /// What a case may have changed becomes what a new process has. Addresses that expandable segments reserved in vain
    /// stay reserved: PyTorch, too, keeps them for good. The error is the first refusal.
    pub fn restore(&mut self) -> Result<()> {
        let Some(Ok(cuda)) = &self.opened else { return Ok(()) };
        // A real device holds no events.
        let _ = hold_events(false);
        let restored = cuda.synchronize().and(cuda.set_stream(0)).and(cuda.empty_caches());
        let mut caching = cuda.caching();
        let _ = caching.apply_settings("expandable_segments:False,large_segment_size_mb:20");
        let _ = caching.set_fraction(1.0);
        caching.reset_peak();
        caching.reset_accumulated();
        let mut pinned = cuda.pinned();
        pinned.apply_settings(PinnedSettings::default());
        pinned.reset_peak();
        pinned.reset_accumulated();
        restored.answer()
    }

    /// One statistic of the caching allocator.
    pub fn memory_stat(&mut self, name: &str) -> Result<i64> {
        let entries = self.open()?.caching().statistics().entries();
        entries.into_iter().find(|(known, _)| known == name).map(|(_, value)| value).ok_or_else(|| no_statistic(name))
    }

    /// All statistics, in the order of their names.
    pub fn memory_stats(&mut self) -> Result<Vec<i64>> {
        let mut entries = self.open()?.caching().statistics().entries();
        entries.sort_unstable();
        Ok(entries.into_iter().map(|(_, value)| value).collect())
    }

    /// Segments and blocks, as the op of this name describes them.
    pub fn memory_segments(&mut self) -> Result<Vec<i64>> {
        let mut numbers = Vec::new();
        for segment in self.open()?.caching().snapshot() {
            let (address, size) = (segment.address as i64, segment.size as i64);
            let (large, expandable) = (i64::from(!segment.small), i64::from(segment.expandable));
            numbers.extend([address, size, large, expandable, segment.blocks.len() as i64]);
            for block in segment.blocks {
                numbers.extend([block.size as i64, block.requested as i64, block.state as i64]);
            }
        }
        Ok(numbers)
    }

    /// Puts settings of both allocators into force.
    pub fn apply_settings(&mut self, settings: &str) -> Result<()> {
        let cuda = self.open()?;
        let mut caching = cuda.caching();
        let applied = caching.apply_settings(settings);
        cuda.pinned().apply_settings(caching.settings().pinned.clone());
        applied.map_err(|error| Fail::error("other", error.message))
    }

    /// One statistic of the pinned allocator.
    pub fn pinned_stat(&mut self, name: &str) -> Result<i64> {
        let statistics = self.open()?.pinned().statistics();
        let (figure, part) = name.split_once('.').ok_or_else(|| no_statistic(name))?;
        let stat = match figure {
            "allocations" => statistics.allocations,
            "allocated_bytes" => statistics.allocated_bytes,
            "active_requests" => statistics.active_requests,
            "active_bytes" => statistics.active_bytes,
            _ => return Err(no_statistic(name)),
        };
        part_of(stat, part).ok_or_else(|| no_statistic(name))
    }
}

fn open() -> Result<Cuda> {
    let text = std::env::var(SETTINGS).unwrap_or_default();
    let settings = Settings::parse(&text, TorchVersion::DEFAULT)
        .map_err(|error| Fail::error("other", format!("{SETTINGS}: {error}")))?;
    Cuda::open(0, settings).answer()
}

/// A number that counts, such as that of a stream.
pub fn number(number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| Fail::error("other", format!("{number} is no stream")))
}

/// The reply to what an allocator refused.
pub fn refused(error: AllocError) -> Fail {
    let kind = match error {
        AllocError::OutOfMemory(_) | AllocError::Absurd(_) | AllocError::Rejected(_) => "out-of-memory",
        _ => "device",
    };
    Fail::error(kind, error.to_string())
}

/// Holds events pending, or no more, where the driver is a simulated one.
pub fn hold_events(on: bool) -> Result<()> {
    simulation(c"simulated_cuda_hold_events", |function| {
        // SAFETY: the function of this name takes one int.
        let hold: extern "C" fn(i32) = unsafe { std::mem::transmute(function) };
        hold(i32::from(on));
    })
}

/// Lets every event be done, where the driver is a simulated one.
pub fn complete_events() -> Result<()> {
    simulation(c"simulated_cuda_complete_events", |function| {
        // SAFETY: the function of this name takes nothing.
        let complete: extern "C" fn() = unsafe { std::mem::transmute(function) };
        complete();
    })
}

fn simulation(name: &std::ffi::CStr, call: impl FnOnce(*mut std::ffi::c_void)) -> Result<()> {
    let lacks = || Fail::unsupported("only a simulated device can hold events");
    // SAFETY: the driver is loaded already, or is not there; its initialisers have run.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.map_err(|_| lacks())?;
    // SAFETY: the symbol is only looked for here.
    let function = unsafe { library.get::<*mut std::ffi::c_void>(name.to_bytes()) }.map_err(|_| lacks())?;
    // SAFETY: the pointer stays good: the engine holds the library for as long as the process lives.
    call(unsafe { function.try_as_raw_ptr() }.ok_or_else(lacks)?);
    Ok(())
}

fn part_of(stat: Stat, part: &str) -> Option<i64> {
    match part {
        "current" => Some(stat.current),
        "peak" => Some(stat.peak),
        "allocated" => Some(stat.allocated),
        "freed" => Some(stat.freed),
        _ => None,
    }
}

fn no_statistic(name: &str) -> Fail {
    Fail::error("index", format!("there is no statistic {name:?}"))
}
