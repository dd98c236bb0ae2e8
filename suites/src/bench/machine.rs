//! What machine this is.

use super::gpu::Watch;
use crate::record::Machine;
use std::fs;
use std::path::Path;

/// Reads what the system tells of itself; what it does not tell stays empty.
pub fn machine() -> Machine {
    let uname = rustix::system::uname();
    Machine {
        processor: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
        processors: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        memory_bytes: field("/proc/meminfo", "MemTotal").and_then(|text| kib(&text)).unwrap_or(0),
        last_cache_bytes: last_cache(),
        system: format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
        gpu: Watch::open().and_then(|watch| watch.gpu()),
    }
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn kib(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn last_cache() -> Option<u64> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let sizes = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| {
        let size = fs::read_to_string(entry.path().join("size")).ok()?;
        kib(size.trim())
    });
    sizes.max()
}
