//! The engine's allocators as a subject on a simulated device: blocks of bare addresses, which hold no values.

use kernels::memory::{
    AllocError, BareAddresses, BareHost, CachingAllocator, DeviceMemory, PinnedAllocator, PinnedSettings, Settings,
    Stat, TorchVersion,
};
use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use subject::{Checksum, DType, Fail, Library, Scalar};

type Result<T> = std::result::Result<T, Fail>;

/// The variable with the bytes of the simulated device.
const MEMORY: &str = "TENSORMARK_SIMULATED_CUDA_MEMORY";
/// The variable with the settings of the caching allocator.
const SETTINGS: &str = "PYTORCH_CUDA_ALLOC_CONF";

/// The two allocators, and the stream that requests are for.
struct Allocators {
    caching: CachingAllocator<BareAddresses>,
    pinned: PinnedAllocator<BareHost>,
    stream: u64,
}

/// A simulated device as a tensor library that only knows where tensors lie.
pub struct Device {
    allocators: Rc<RefCell<Allocators>>,
}

/// Where a block lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Device,
    Pinned,
    /// Ordinary host memory, which no allocator here looks after.
    Host,
}

/// A tensor without values: it gives its bytes back when it is dropped.
pub struct Block {
    place: Place,
    address: u64,
    shape: Vec<i64>,
    dtype: DType,
    allocators: Rc<RefCell<Allocators>>,
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut allocators = self.allocators.borrow_mut();
        // An address that was handed out is known, and bare addresses refuse nothing else.
        let _ = match self.place {
            Place::Device => allocators.caching.free(self.address),
            Place::Pinned => allocators.pinned.free(self.address),
            Place::Host => Ok(()),
        };
    }
}

impl Device {
    /// The device that the environment asks for; nothing where it asks for none.
    pub fn from_environment() -> std::result::Result<Option<Device>, String> {
        let Some(bytes) = std::env::var_os(MEMORY) else { return Ok(None) };
        let bytes: u64 = bytes
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| format!("{MEMORY} is {bytes:?}: it must be the bytes of the simulated device"))?;
        let text = std::env::var(SETTINGS).unwrap_or_default();
        let settings = Settings::parse(&text, TorchVersion::DEFAULT).map_err(|error| format!("{SETTINGS}: {error}"))?;
        Ok(Some(Device { allocators: Rc::new(RefCell::new(Allocators::new(bytes, &settings))) }))
    }

    fn now(&self) -> RefMut<'_, Allocators> {
        self.allocators.borrow_mut()
    }

    fn block(&self, shape: &[i64], dtype: DType, place: Place) -> Result<Block> {
        let wrong = || Fail::error("shape", format!("no tensor has the shape {shape:?}"));
        let bytes = shape.iter().try_fold(dtype.size(), |bytes, size| bytes.checked_mul(*size)).ok_or_else(wrong)?;
        let bytes = u64::try_from(bytes).map_err(|_| wrong())?;
        let mut allocators = self.now();
        let stream = allocators.stream;
        let address = match place {
            Place::Device => allocators.caching.allocate(bytes, stream),
            Place::Pinned => allocators.pinned.allocate(bytes),
            Place::Host => Ok(0),
        };
        let allocators = Rc::clone(&self.allocators);
        Ok(Block { place, address: address.map_err(refused)?, shape: shape.to_vec(), dtype, allocators })
    }

    fn place(device: &str) -> Result<Place> {
        match device {
            "cuda" | "cuda:0" => Ok(Place::Device),
            "cpu" => Ok(Place::Host),
            other => Err(Fail::unsupported(format!("device {other:?}: the simulated device is cuda:0"))),
        }
    }
}

impl Allocators {
    fn new(bytes: u64, settings: &Settings) -> Allocators {
        let mut device = BareAddresses::new(bytes);
        device.tell_process_bytes();
        Allocators {
            caching: CachingAllocator::new(device, settings.clone()),
            pinned: PinnedAllocator::new(BareHost::default(), settings.pinned.clone()),
            stream: 0,
        }
    }

    /// What a case may have changed becomes what a new process has. Addresses that expandable segments reserved in vain
    /// stay reserved: PyTorch, too, keeps them for good.
    fn restore(&mut self) {
        self.hold_events(false);
        self.complete_events();
        self.stream = 0;
        // What is free can be returned, and these settings are good: nothing here can be refused.
        let _ = self.caching.empty_cache();
        let _ = self.pinned.empty_cache();
        let _ = self.caching.apply_settings("expandable_segments:False,large_segment_size_mb:20");
        let _ = self.caching.set_fraction(1.0);
        self.caching.reset_peak();
        self.caching.reset_accumulated();
        self.pinned.apply_settings(PinnedSettings::default());
        self.pinned.reset_peak();
        self.pinned.reset_accumulated();
    }

    fn hold_events(&mut self, on: bool) {
        self.caching.device_mut().hold_events(on);
        self.pinned.host_mut().hold_events(on);
    }

    fn complete_events(&mut self) {
        self.caching.device_mut().complete_events();
        self.pinned.host_mut().complete_events();
    }
}

fn refused(error: AllocError) -> Fail {
    let kind = match error {
        AllocError::OutOfMemory(_) | AllocError::Absurd(_) | AllocError::Rejected(_) => "out-of-memory",
        _ => "other",
    };
    Fail::error(kind, error.to_string())
}

fn stream_of(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| Fail::error("other", format!("{number} is no stream")))
}

impl Library for Device {
    type Tensor = Block;

    fn reset(&mut self) {
        self.now().restore();
    }

    fn checksum(&mut self, _: &Block) -> Result<Checksum> {
        Err(Fail::unsupported("the simulated device holds no values"))
    }

    fn empty_on(&mut self, shape: &[i64], dtype: DType, device: &str) -> Result<Block> {
        self.block(shape, dtype, Device::place(device)?)
    }

    fn zeros_on(&mut self, shape: &[i64], dtype: DType, device: &str) -> Result<Block> {
        self.empty_on(shape, dtype, device)
    }

    fn empty_pinned(&mut self, shape: &[i64], dtype: DType) -> Result<Block> {
        self.block(shape, dtype, Place::Pinned)
    }

    fn data_ptr(&mut self, a: &Block) -> Result<i64> {
        Ok(a.address as i64)
    }

    fn device(&mut self, a: &Block) -> Result<String> {
        Ok(if a.place == Place::Device { "cuda:0" } else { "cpu" }.into())
    }

    fn to_device(&mut self, a: &Block, device: &str, _non_blocking: bool) -> Result<Block> {
        self.block(&a.shape, a.dtype, Device::place(device)?)
    }

    fn pin_memory(&mut self, a: &Block) -> Result<Block> {
        self.block(&a.shape, a.dtype, Place::Pinned)
    }

    fn is_pinned(&mut self, a: &Block) -> Result<bool> {
        Ok(a.place == Place::Pinned)
    }

    fn synchronize(&mut self) -> Result<()> {
        self.complete_events()
    }

    fn memory_allocated(&mut self) -> Result<i64> {
        Ok(self.now().caching.statistics().live() as i64)
    }

    fn max_memory_allocated(&mut self) -> Result<i64> {
        Ok(self.now().caching.statistics().peak_live() as i64)
    }

    fn memory_reserved(&mut self) -> Result<i64> {
        Ok(self.now().caching.statistics().held() as i64)
    }

    fn max_memory_reserved(&mut self) -> Result<i64> {
        Ok(self.now().caching.statistics().peak_held() as i64)
    }

    fn memory_used(&mut self) -> Result<i64> {
        let allocators = self.now();
        let device = allocators.caching.device();
        Ok((device.total() - device.free_bytes()) as i64)
    }

    fn memory_stat(&mut self, name: &str) -> Result<i64> {
        let entries = self.now().caching.statistics().entries();
        entries.into_iter().find(|(known, _)| known == name).map(|(_, value)| value).ok_or_else(|| no_statistic(name))
    }

    fn memory_stats(&mut self) -> Result<Vec<i64>> {
        let mut entries = self.now().caching.statistics().entries();
        entries.sort_unstable();
        Ok(entries.into_iter().map(|(_, value)| value).collect())
    }

    fn memory_segments(&mut self) -> Result<Vec<i64>> {
        let mut numbers = Vec::new();
        for segment in self.now().caching.snapshot() {
            let (address, size) = (segment.address as i64, segment.size as i64);
            let (large, expandable) = (i64::from(!segment.small), i64::from(segment.expandable));
            numbers.extend([address, size, large, expandable, segment.blocks.len() as i64]);
            for block in segment.blocks {
                numbers.extend([block.size as i64, block.requested as i64, block.state as i64]);
            }
        }
        Ok(numbers)
    }

    fn empty_cache(&mut self) -> Result<()> {
        self.now().caching.empty_cache().map_err(refused)
    }

    fn reset_peak_memory_stats(&mut self) -> Result<()> {
        self.now().caching.reset_peak();
        Ok(())
    }

    fn reset_accumulated_memory_stats(&mut self) -> Result<()> {
        self.now().caching.reset_accumulated();
        Ok(())
    }

    fn set_memory_fraction(&mut self, fraction: Scalar) -> Result<()> {
        self.now().caching.set_fraction(fraction.as_f64()).map_err(refused)
    }

    fn set_allocator_settings(&mut self, settings: &str) -> Result<()> {
        let mut allocators = self.now();
        let applied = allocators.caching.apply_settings(settings);
        let pinned = allocators.caching.settings().pinned.clone();
        allocators.pinned.apply_settings(pinned);
        applied.map_err(|error| Fail::error("other", error.message))
    }

    fn set_stream(&mut self, stream: i64) -> Result<()> {
        self.now().stream = stream_of(stream)?;
        Ok(())
    }

    fn record_stream(&mut self, a: &Block, stream: i64) -> Result<()> {
        let stream = stream_of(stream)?;
        match a.place {
            Place::Device => self.now().caching.record_stream(a.address, stream).map_err(refused),
            Place::Pinned => self.now().pinned.record_stream(a.address, stream).map_err(refused),
            Place::Host => Err(Fail::unsupported("record_stream of a tensor in ordinary host memory")),
        }
    }

    fn pinned_stat(&mut self, name: &str) -> Result<i64> {
        let statistics = self.now().pinned.statistics();
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

    fn empty_pinned_cache(&mut self) -> Result<()> {
        self.now().pinned.empty_cache().map_err(refused)
    }

    fn hold_events(&mut self, on: bool) -> Result<()> {
        self.now().hold_events(on);
        Ok(())
    }

    fn complete_events(&mut self) -> Result<()> {
        self.now().complete_events();
        Ok(())
    }
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
