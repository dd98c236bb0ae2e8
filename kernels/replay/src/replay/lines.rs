//! Replays a trace of JSON lines.

use super::{Failed, MOST_DEVICE, Options, Part, Plan, Report, Stop, Summary};
use crate::check::{Checker, Lines, Outcome};
use crate::trace::{BadLine, Line, Op, Reader};
use kernels::memory::{BareAddresses, CachingAllocator, TorchVersion};
use std::collections::HashMap;
use std::io::BufRead;

impl From<BadLine> for Stop {
    fn from(bad: BadLine) -> Stop {
        Stop::Words(bad.to_string())
    }
}

/// Addresses come from [`BareAddresses`], whose policy is that of the device that traces are recorded on.
pub(super) fn replay(from: impl BufRead, options: &Options) -> Result<Report, Stop> {
    let (header, lines) = Reader::new(from)?;
    let torch = match options.torch {
        Some(torch) => torch,
        None => header.meta.torch.parse::<TorchVersion>().map_err(|error| Stop::Words(format!("line 1: {error}")))?,
    };
    let recorded_total = header.meta.device_total;
    if recorded_total > MOST_DEVICE {
        return Err(Stop::Words(format!("line 1: a device of {recorded_total} bytes; {MOST_DEVICE} are the most")));
    }
    let total = options.device_memory.unwrap_or(recorded_total);
    let plan = Plan::new(options, &header.settings, torch)?;
    if options.check && total != recorded_total {
        return Err(Stop::Usage(format!(
            "a check is only possible with as much device memory as the recording had, {recorded_total} bytes"
        )));
    }
    let mut device = BareAddresses::new(total);
    device.tell_process_bytes();
    let mut replay = LineReplay {
        allocator: CachingAllocator::new(device, plan.settings.clone()),
        streams: header.stream_order.iter().enumerate().map(|(handle, number)| (*number, handle as u64)).collect(),
        live: HashMap::new(),
        failed: Failed::default(),
    };
    if plan.check {
        replay.allocator.device_mut().note_calls();
        replay.allocator.record_history(true);
    }
    let mut checker = Checker::default();
    let mut compared = Lines::new(header.stream_order);
    let mut events = 0;
    for line in lines {
        let line = line?;
        let answer = replay.line(&line).map_err(|what| Stop::Words(format!("line {}: {what}", line.number)))?;
        events += 1;
        if plan.check {
            let calls = replay.allocator.device_mut().take_calls();
            let entries = replay.allocator.take_history();
            let snapshot = matches!(line.op, Op::Snapshot(_)).then(|| replay.allocator.snapshot());
            let (statistics, segments) = (replay.allocator.statistics(), snapshot.unwrap_or_default());
            compared.compare(&mut checker, &line, Outcome { answer, calls, entries, statistics, segments });
        }
    }
    if events == 0 {
        return Err(Stop::Words("no line follows the header, so there is nothing to replay".to_owned()));
    }
    let summary = Summary::of(events, replay.allocator.statistics());
    let part = Part { device: 0, device_memory: Some(total), held_before: 0, summary, failed: replay.failed };
    let recording = format!("a trace named {:?}, recorded with PyTorch {}", header.meta.name, header.meta.torch);
    Ok(plan.report(recording, &header.settings, vec![part], checker, Vec::new()))
}

struct LineReplay {
    allocator: CachingAllocator<BareAddresses>,
    /// The handle of each stream, by its number: handles are counted in their order.
    streams: HashMap<u64, u64>,
    /// Where the blocks are, by name.
    live: HashMap<u64, u64>,
    failed: Failed,
}

impl LineReplay {
    /// Does what a line says, and gives the answer of a malloc.
    fn line(&mut self, line: &Line) -> Result<Option<Result<u64, String>>, String> {
        let done = match &line.op {
            Op::Malloc { id, bytes, stream, answer } => {
                let stream = self.stream(*stream)?;
                return self.malloc(line.number, *id, *bytes, stream, answer.is_err()).map(Some);
            }
            // A block that is not here was not to be had under these settings.
            Op::Free { id } => self.live.remove(id).map_or(Ok(()), |address| self.allocator.free(address)),
            Op::RecordStream { id, stream } => match self.live.get(id).copied() {
                Some(address) => {
                    let stream = self.stream(*stream)?;
                    self.allocator.record_stream(address, stream)
                }
                None => Ok(()),
            },
            Op::Async => {
                self.allocator.device_mut().hold_events(true);
                Ok(())
            }
            Op::CompleteAll => {
                self.allocator.device_mut().complete_events();
                Ok(())
            }
            Op::SetFraction(fraction) => self.allocator.set_fraction(*fraction),
            Op::EmptyCache => self.allocator.empty_cache(),
            Op::Skipped | Op::Snapshot(_) | Op::Stats(_) => Ok(()),
        };
        done.map(|()| None).map_err(|error| error.to_string())
    }

    fn malloc(
        &mut self,
        line: u64,
        id: u64,
        bytes: u64,
        stream: u64,
        failed: bool,
    ) -> Result<Result<u64, String>, String> {
        match self.allocator.allocate(bytes, stream) {
            Ok(address) => {
                if failed {
                    // The program went on without the block.
                    self.allocator.free(address).map_err(|error| error.to_string())?;
                } else {
                    self.live.insert(id, address);
                }
                Ok(Ok(address))
            }
            Err(error) => {
                let noted = self.failed.note(line, failed, &error, self.allocator.statistics());
                noted.map(|()| Err(error.to_string())).map_err(|error| error.to_string())
            }
        }
    }

    fn stream(&self, number: u64) -> Result<u64, String> {
        let handle = self.streams.get(&number).copied();
        handle.ok_or_else(|| format!("stream {number} is not among the streams of the header"))
    }
}
