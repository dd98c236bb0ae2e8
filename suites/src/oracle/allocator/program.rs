//! Random requests, carried out on both sides and compared.

use super::figures::Figures;
use super::{Mode, Tally};
use crate::oracle::Side;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use subject::{DType, Fail, Handle, Op, Value};

const MIB: i64 = 1 << 20;
/// Events of one program.
pub const EVENTS: usize = 500;
/// How often all segments are compared, in events.
const SEGMENTS: usize = 50;
/// The lines that are shown before a difference.
const SHOWN: usize = 8;

/// Why a program ended before its last event.
pub(super) enum Stop {
    /// The sides differ: what each answered.
    Unequal([String; 2]),
    /// A side cannot go on.
    Broken(String),
}

/// A block as each side numbers it.
struct Block {
    name: u64,
    handles: [Handle; 2],
}

/// A program as it is written, carried out and compared.
pub(super) struct Program<'a> {
    sides: [&'a mut dyn Side; 2],
    mode: &'a Mode,
    rng: StdRng,
    live: Vec<Block>,
    next_name: u64,
    pub lines: VecDeque<String>,
    figures: Figures,
    last: Vec<i64>,
    pub tally: Tally,
}

type Done = Result<(), Stop>;

impl<'a> Program<'a> {
    pub fn new(sides: [&'a mut dyn Side; 2], mode: &'a Mode, seed: u64) -> Program<'a> {
        Program {
            sides,
            mode,
            rng: StdRng::seed_from_u64(seed),
            live: Vec::new(),
            next_name: 0,
            lines: VecDeque::new(),
            figures: Figures::places(),
            last: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Carries out all events.
    pub fn run(&mut self) -> Done {
        self.wake()?;
        let settings = *self.pick(self.mode.settings);
        self.both(Op::SetAllocatorSettings { settings: settings.into() })?;
        if !self.mode.fractions.is_empty() {
            self.fraction()?;
        }
        self.last = self.statistics()?;
        for event in 1..=EVENTS {
            let kind = self.event()?;
            let now = self.statistics()?;
            self.count(kind, &now);
            self.last = now;
            if event.is_multiple_of(SEGMENTS) {
                self.segments()?;
            }
        }
        Ok(())
    }

    /// PyTorch makes its allocator when the device is first used, and takes some settings from then for good.
    fn wake(&mut self) -> Done {
        self.allocate()?;
        while !self.live.is_empty() {
            self.free()?;
        }
        self.both(Op::EmptyCache {})?;
        self.both(Op::ResetPeakMemoryStats {})?;
        self.both(Op::ResetAccumulatedMemoryStats {}).map(drop)
    }

    fn pick<T>(&mut self, from: &'static [T]) -> &'static T {
        from.choose(&mut self.rng).unwrap_or(&from[0])
    }

    /// One event; what it was, for the tally.
    fn event(&mut self) -> Result<Kind, Stop> {
        let draw = self.rng.random_range(0..1000);
        match draw {
            0..500 => self.allocate().map(|()| Kind::Allocate),
            _ if self.live.is_empty() => self.allocate().map(|()| Kind::Allocate),
            500..900 => self.free().map(|()| Kind::Free),
            900..940 => self.record().map(|()| Kind::Other),
            940..950 => self.both(Op::HoldEvents { on: true }).map(|_| Kind::Other),
            950..965 => {
                self.both(Op::HoldEvents { on: false })?;
                self.both(Op::CompleteEvents {}).map(|_| Kind::Other)
            }
            965..975 => self.both(Op::EmptyCache {}).map(|_| Kind::Other),
            975..983 if self.mode.changes => {
                let settings = *self.pick(self.mode.settings);
                self.both(Op::SetAllocatorSettings { settings: settings.into() }).map(|_| Kind::Other)
            }
            983..990 if !self.mode.fractions.is_empty() => self.fraction().map(|()| Kind::Other),
            975..995 => self.both(Op::ResetPeakMemoryStats {}).map(|_| Kind::Other),
            _ => {
                self.both(Op::ResetAccumulatedMemoryStats {})?;
                self.last = self.statistics()?;
                Ok(Kind::Other)
            }
        }
    }

    fn fraction(&mut self) -> Done {
        let fraction = *self.pick(self.mode.fractions);
        self.both(Op::SetMemoryFraction { fraction: fraction.into() }).map(drop)
    }

    fn size(&mut self) -> i64 {
        match self.rng.random_range(0..100) {
            0..15 => *self.pick(&[1024, 4096, 300_000, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 12 * MIB, 20 * MIB, 64 * MIB]),
            15..40 => self.rng.random_range(1..64 << 10),
            40..57 => self.rng.random_range(64 << 10..MIB + 5000),
            57..80 => self.rng.random_range(MIB..12 * MIB),
            80..95 => self.rng.random_range(10 * MIB..200 * MIB),
            _ => self.rng.random_range(100 * MIB..900 * MIB),
        }
    }

    fn allocate(&mut self) -> Done {
        let stream = if self.rng.random_ratio(3, 4) { 0 } else { self.rng.random_range(1..self.mode.streams) };
        self.both(Op::SetStream { stream })?;
        let op = Op::EmptyOn { shape: vec![self.size()], dtype: DType::U8, device: "cuda".into() };
        self.line(format!("t{} = {}", self.next_name, op.torch()));
        let answers = self.sides.each_mut().map(|side| side.call(&op));
        let [Ok(Value::Tensor(left)), Ok(Value::Tensor(right))] = answers else { return self.agree(answers).map(drop) };
        let block = Block { name: self.next_name, handles: [left, right] };
        self.next_name += 1;
        let place = |side: &mut &mut dyn Side, a: &Handle| side.call(&Op::DataPtr { a: a.clone() });
        let [left, right] = &mut self.sides;
        let places = [place(left, &block.handles[0]), place(right, &block.handles[1])];
        self.live.push(block);
        self.agree(places).map(drop)
    }

    fn free(&mut self) -> Done {
        let block = self.live.swap_remove(self.rng.random_range(0..self.live.len()));
        self.line(format!("del t{}", block.name));
        for (side, handle) in self.sides.iter_mut().zip(&block.handles) {
            side.release(handle).map_err(Stop::Broken)?;
        }
        Ok(())
    }

    fn record(&mut self) -> Done {
        let block = &self.live[self.rng.random_range(0..self.live.len())];
        // With two streams to allocate on, a third alone is recorded.
        let stream = if self.mode.streams > 2 { self.rng.random_range(0..self.mode.streams) } else { 2 };
        let (name, [left, right]) = (block.name, block.handles.clone());
        self.line(Op::RecordStream { a: Handle(name), stream }.torch());
        let answers = [left, right].map(|a| Op::RecordStream { a, stream });
        let [one, other] = &mut self.sides;
        let answers = [one.call(&answers[0]), other.call(&answers[1])];
        self.agree(answers).map(drop)
    }

    /// Carries an op without tensors out on both sides.
    fn both(&mut self, op: Op) -> Result<Value, Stop> {
        self.line(op.torch());
        self.asked(&op)
    }

    fn asked(&mut self, op: &Op) -> Result<Value, Stop> {
        let answers = self.sides.each_mut().map(|side| side.call(op));
        self.agree(answers)
    }

    fn line(&mut self, line: String) {
        if self.lines.len() == SHOWN {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The answer, where both gave the same; nothing where both refused in the same words.
    fn agree(&self, answers: [Result<Value, Fail>; 2]) -> Result<Value, Stop> {
        if let Some(Err(Fail::Error { kind, message })) = answers.iter().find(|answer| is_broken(answer)) {
            return Err(Stop::Broken(format!("{kind}: {message}")));
        }
        match answers {
            [Ok(one), Ok(other)] if one == other => Ok(one),
            [Err(one), Err(other)] if one == other => Ok(Value::None),
            answers => Err(Stop::Unequal(answers.map(told))),
        }
    }

    fn statistics(&mut self) -> Result<Vec<i64>, Stop> {
        let op = Op::MemoryStats {};
        let answers = self.sides.each_mut().map(|side| side.call(&op));
        let [one, other] = &answers;
        if let (Ok(Value::List(one)), Ok(Value::List(other))) = (one, other)
            && one.len() == other.len()
        {
            let numbers = |list: &[Value]| -> Vec<i64> {
                list.iter().map(|value| if let Value::Int(number) = value { *number } else { i64::MIN }).collect()
            };
            let differs = |place: usize| one[place] != other[place] && !self.is_left_out(place);
            let differing = (0..one.len()).find(|place| differs(*place));
            return match differing {
                None => Ok(numbers(one)),
                Some(place) => {
                    let name = self.figures.names.get(place).map_or("a statistic", String::as_str);
                    Err(Stop::Unequal([format!("{name} = {}", one[place]), format!("{name} = {}", other[place])]))
                }
            };
        }
        Err(self.agree(answers).err().unwrap_or_else(|| Stop::Broken("memory_stats gave no list".into())))
    }

    /// Where several streams are waited for, the order in which PyTorch looks at them is an accident of its hash table.
    /// What is free afterwards is not, but how often neighbours merged on the way is.
    fn is_left_out(&self, place: usize) -> bool {
        let name = self.figures.names.get(place).map_or("", String::as_str);
        self.mode.streams > 2 && name.starts_with("inactive_split") && !name.ends_with(".current")
    }

    fn segments(&mut self) -> Done {
        let op = Op::MemorySegments {};
        let answers = self.sides.each_mut().map(|side| side.call(&op));
        self.agree(answers.map(|answer| answer.map(without_stale_requests))).map(drop)
    }

    /// Sees in the statistics what the event did inside.
    fn count(&mut self, kind: Kind, now: &[i64]) {
        let changed = |figure: usize| now[figure] - self.last[figure];
        let places = &self.figures;
        let tally = &mut self.tally;
        tally.events += 1;
        let (retries, ooms) = (changed(places.retries), changed(places.ooms));
        tally.retries += retries.max(0).unsigned_abs();
        tally.ooms += ooms.max(0).unsigned_abs();
        match kind {
            Kind::Allocate => {
                let whole_was_split = changed(places.parts_made) > 0;
                let part_was_split = changed(places.bytes_taken) > 0 && changed(places.parts_taken) == 0;
                tally.splits += u64::from(whole_was_split || part_was_split);
                if retries == 0 && self.mode.name == "fraction-with-gc" {
                    tally.collected += changed(places.returned).max(0).unsigned_abs();
                }
            }
            Kind::Free => {
                let merged = changed(places.parts) <= 0 && changed(places.bytes) != 0;
                tally.merges += u64::from(merged);
            }
            Kind::Other => {}
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Allocate,
    Free,
    Other,
}

fn is_broken(answer: &Result<Value, Fail>) -> bool {
    matches!(answer, Err(Fail::Error { kind, .. }) if kind == "protocol")
}

fn told(answer: Result<Value, Fail>) -> String {
    match answer {
        Ok(Value::Int(number)) => format!("{number} ({number:#x})"),
        Ok(value) => value.to_string(),
        Err(Fail::Unsupported(what)) => format!("unsupported: {what}"),
        Err(Fail::Error { kind, message }) => format!("{kind}: {message}"),
    }
}

/// What a free block was last asked for is an accident where streams are many.
fn without_stale_requests(mut segments: Value) -> Value {
    let Value::List(numbers) = &mut segments else { return segments };
    let mut at = 4;
    while let Some(Value::Int(blocks)) = numbers.get(at) {
        let end = at + 3 * usize::try_from(*blocks).unwrap_or(0);
        while at < end {
            if numbers.get(at + 3) == Some(&Value::Int(0)) {
                numbers[at + 2] = Value::Int(0);
            }
            at += 3;
        }
        at += 5;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_requests_of_free_blocks_alone_are_left_out() {
        let segments = |stale: i64| -> Value { vec![4096, 1024, 1, 0, 2, 512, stale, 0, 512, 7, 2].into() };
        assert_eq!(without_stale_requests(segments(9)), without_stale_requests(segments(0)));
        assert_eq!(without_stale_requests(segments(0)), segments(0));
    }
}
