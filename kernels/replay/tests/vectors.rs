//! Random scripts, run on the allocators of PyTorch 2.10, 2.12 and 2.15 over a device that was not there: this
//! allocator gives the same calls of the device, addresses, figures, segments, blocks and history.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod support;

use kernels::memory::{
    AllocError, BlockState, CachingAllocator, DeviceError, DeviceMemory, Figure, Settings, Stat, Stream, TorchVersion,
};
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use support::{packed, place};

const TOTAL: u64 = 2 << 30;
const GRANULE: u64 = 2 << 20;
/// The handle of the first stream that is made, and the step to the next.
const STREAMS: [Stream; 2] = [0x5000, 0x40];

/// A device that never hands out an address twice.
#[derive(Debug)]
struct Device {
    used: u64,
    next: u64,
    next_range: u64,
    memory: HashMap<u64, u64>,
    pages: HashMap<u64, u64>,
    pages_made: u64,
    events: u64,
    /// Whether events are done.
    ready: bool,
    log: String,
}

impl Device {
    fn log(&mut self, name: &str, address: u64, bytes: u64, code: u32) {
        writeln!(self.log, "[dev] {name} {} {bytes} -> {code}", hex(address)).unwrap();
    }

    fn take(&mut self, bytes: u64) -> Result<(), DeviceError> {
        if self.used + bytes > TOTAL {
            return Err(DeviceError::OutOfMemory);
        }
        self.used += bytes;
        Ok(())
    }
}

impl DeviceMemory for Device {
    fn total(&self) -> u64 {
        TOTAL
    }
    fn free_bytes(&self) -> Result<u64, DeviceError> {
        Ok(TOTAL - self.used)
    }
    fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let whole = bytes.next_multiple_of(GRANULE);
        let taken = self.take(whole);
        let address = if taken.is_ok() { self.next } else { 0 };
        self.log("cudaMalloc", address, bytes, if taken.is_ok() { 0 } else { 2 });
        taken?;
        self.next += whole;
        self.memory.insert(address, whole);
        Ok(address)
    }
    fn free(&mut self, address: u64) -> Result<(), DeviceError> {
        let whole = self.memory.remove(&address).unwrap();
        self.used -= whole;
        self.log("cudaFree", address, whole, 0);
        Ok(())
    }
    fn reserve(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let address = self.next_range;
        self.next_range += bytes.next_multiple_of(1 << 30);
        self.log("cuMemAddressReserve", address, bytes, 0);
        Ok(address)
    }
    fn release_range(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.log("cuMemAddressFree", address, bytes, 0);
        Ok(())
    }
    fn create_page(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let taken = self.take(bytes);
        if taken.is_ok() {
            self.pages_made += 1;
            self.pages.insert(self.pages_made, bytes);
        }
        let page = if taken.is_ok() { self.pages_made } else { 0 };
        self.log("cuMemCreate", page, bytes, if taken.is_ok() { 0 } else { 2 });
        taken.map(|()| page)
    }
    fn release_page(&mut self, page: u64) -> Result<(), DeviceError> {
        let bytes = self.pages.remove(&page).unwrap();
        self.used -= bytes;
        self.log("cuMemRelease", page, bytes, 0);
        Ok(())
    }
    fn map(&mut self, address: u64, bytes: u64, _page: u64) -> Result<(), DeviceError> {
        self.log("cuMemMap", address, bytes, 0);
        Ok(())
    }
    fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.log("cuMemUnmap", address, bytes, 0);
        Ok(())
    }
    fn record_event(&mut self, stream: Stream) -> Result<u64, DeviceError> {
        self.events += 1;
        self.log("eventRecord", 0, stream, 0);
        Ok(self.events)
    }
    fn event_done(&mut self, _event: u64) -> Result<bool, DeviceError> {
        self.log("eventQuery", 0, 0, if self.ready { 0 } else { 600 });
        Ok(self.ready)
    }
    fn wait_for(&mut self, _event: u64) -> Result<(), DeviceError> {
        self.log("eventSync", 0, 0, 0);
        Ok(())
    }
    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError> {
        self.log("streamSync", stream, 0, 0);
        Ok(())
    }
}

/// Runs a script and writes down what PyTorch's output would have.
struct Script {
    allocator: CachingAllocator<Device>,
    live: HashMap<String, u64>,
    /// Handles by the script's numbers, given at first use.
    streams: HashMap<String, Stream>,
    out: String,
}

impl Script {
    fn new(version: TorchVersion) -> Script {
        let device = Device {
            used: 0,
            next: 0x7f00_0000_0000,
            next_range: 0x1000_0000_0000,
            memory: HashMap::new(),
            pages: HashMap::new(),
            pages_made: 0,
            events: 0,
            ready: true,
            log: String::new(),
        };
        let allocator = CachingAllocator::new(device, Settings::new(version));
        let streams = HashMap::from([("0".to_owned(), 0)]);
        Script { allocator, live: HashMap::new(), streams, out: String::new() }
    }

    fn stream(&mut self, number: &str) -> Stream {
        let made = self.streams.len() as u64 - 1;
        *self.streams.entry(number.to_owned()).or_insert(STREAMS[0] + made * STREAMS[1])
    }

    fn line(&mut self, line: &str) {
        writeln!(self.out, "> {line}").unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut result = String::new();
        match *words {
            ["a", name, size, ref stream @ ..] => {
                let stream = self.stream(stream.first().unwrap_or(&"0"));
                match self.allocator.allocate(size.parse().unwrap(), stream) {
                    Ok(address) => {
                        self.live.insert(name.to_owned(), address);
                        result = format!("{name} = {address:#x}\n");
                    }
                    Err(error @ AllocError::OutOfMemory(_)) => {
                        result = format!("EXC N3c1016OutOfMemoryErrorE: {error}\n");
                    }
                    Err(error) => panic!("{line}: {error}"),
                }
            }
            ["f", name] => {
                if let Some(address) = self.live.remove(name) {
                    self.allocator.free(address).unwrap();
                }
            }
            ["rs", name, stream] => {
                if let Some(address) = self.live.get(name).copied() {
                    let stream = self.stream(stream);
                    self.allocator.record_stream(address, stream).unwrap();
                }
            }
            ["ready", on] => self.allocator.device_mut().ready = on == "1",
            ["empty"] => self.allocator.empty_cache().unwrap(),
            ["conf"] => self.allocator.apply_settings("").unwrap(),
            ["conf", text] => self.allocator.apply_settings(text).unwrap(),
            ["frac", fraction] => self.allocator.set_fraction(fraction.parse().unwrap()).unwrap(),
            ["hist", on] => self.allocator.record_history(on == "1"),
            ["reset_peak"] => self.allocator.reset_peak(),
            ["reset_acc"] => self.allocator.reset_accumulated(),
            ["stats"] => result = self.statistics(),
            ["snap"] => result = self.segments(),
            ["trace"] => result = self.history(),
            _ => panic!("unknown line {line:?}"),
        }
        self.out += &std::mem::take(&mut self.allocator.device_mut().log);
        self.out += &result;
    }

    fn statistics(&self) -> String {
        let stat = |stat: Stat| format!("c{} p{} a{} f{}", stat.current, stat.peak, stat.allocated, stat.freed);
        let all = self.allocator.statistics();
        let mut out = String::new();
        for figure in Figure::ALL {
            let by_pool = all[figure];
            let (all, small, large) = (stat(by_pool.all()), stat(by_pool.small_pool()), stat(by_pool.large_pool()));
            writeln!(out, "{} all{{{all}}} small{{{small}}} large{{{large}}}", figure.name()).unwrap();
        }
        writeln!(
            out,
            "retries={} ooms={} sync={} dalloc={} dfree={} rej={} mss={} osA{{{}}} osS{{{}}}",
            all.num_alloc_retries,
            all.num_ooms,
            all.num_sync_all_streams,
            all.num_device_alloc,
            all.num_device_free,
            all.num_oom_rejections,
            all.max_split_size,
            stat(all.oversize_allocations),
            stat(all.oversize_segments)
        )
        .unwrap();
        out
    }

    fn segments(&self) -> String {
        let mut out = String::new();
        for segment in self.allocator.snapshot() {
            writeln!(
                out,
                "seg {:#x} total={} req={} alloc={} active={} stream={} large={} exp={} pool=(0,0) reg={}",
                segment.address,
                segment.size,
                segment.requested,
                segment.allocated,
                segment.active,
                handle(segment.stream),
                u8::from(!segment.small),
                u8::from(segment.expandable),
                segment.order as i64 - 1
            )
            .unwrap();
            for block in &segment.blocks {
                let state = match block.state {
                    BlockState::PendingFree => "active_pending_free",
                    other => other.name(),
                };
                let offset = block.address - segment.address;
                writeln!(out, "+{offset} size={} req={} {state}", block.size, block.requested).unwrap();
            }
        }
        out
    }

    fn history(&mut self) -> String {
        let mut out = String::new();
        for entry in self.allocator.take_history() {
            let (name, stream) = (entry.action.name(), handle(entry.stream));
            writeln!(out, "{name} addr={} size={} stream={stream}", hex(entry.address), entry.size).unwrap();
        }
        out
    }
}

/// As C writes it: a zero has no prefix.
fn hex(n: u64) -> String {
    if n == 0 { "0".to_owned() } else { format!("{n:#x}") }
}

fn handle(stream: Stream) -> String {
    if stream == 0 { "(nil)".to_owned() } else { format!("{stream:#x}") }
}

/// What was recorded, in the words of this test: without what an allocator does not decide, such as the handles of
/// events, and with no numbers of segments where the version has none that mean the same.
fn expected(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words {
            [] | ["[dev]", "cuMemSetAccess", ..] | ["snapshot", ..] => continue,
            ["[dev]", event @ ("eventRecord" | "eventQuery" | "eventSync"), _, ref rest @ ..] => {
                writeln!(out, "[dev] {event} 0 {}", rest.join(" ")).unwrap();
            }
            [action, address, size, stream, ..] if address.starts_with("addr=") => {
                writeln!(out, "{action} {address} {size} {stream}").unwrap();
            }
            [first, ..] if first.starts_with("last=") => continue,
            ["EXC", ..] => writeln!(out, "{}", line.trim_start()).unwrap(),
            [">", ref command @ ..] => writeln!(out, "> {}", command.join(" ")).unwrap(),
            _ => writeln!(out, "{}", words.join(" ")).unwrap(),
        }
    }
    out
}

/// Lines without the number of the segment, which no version up to 2.10 has.
fn unnumbered(text: &str) -> String {
    let cut = |line: &str| format!("{}\n", line.split(" reg=").next().unwrap_or(line));
    text.lines().map(cut).collect()
}

#[test]
fn every_script_gives_what_pytorch_gave() {
    let mut run = 0;
    for entry in fs::read_dir(place("vectors")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(base) = name.strip_suffix(".in.gz") else { continue };
        let minor: u32 = name["torch2".len()..][..2].parse().unwrap();
        let text = |kind: &str| String::from_utf8(packed(&format!("vectors/{base}.{kind}.gz"))).unwrap();
        let mut script = Script::new(TorchVersion { major: 2, minor });
        text("in").lines().filter(|line| !line.trim().is_empty()).for_each(|line| script.line(line.trim()));
        let (mut recorded, mut replayed) = (expected(&text("out")), script.out);
        if minor < 11 {
            (recorded, replayed) = (unnumbered(&recorded), unnumbered(&replayed));
        }
        for (number, (recorded, replayed)) in recorded.lines().zip(replayed.lines()).enumerate() {
            assert_eq!(recorded, replayed, "{base}, line {number} of its output");
        }
        assert_eq!(recorded.lines().count(), replayed.lines().count(), "{base}");
        run += 1;
    }
    assert_eq!(run, 30);
}
