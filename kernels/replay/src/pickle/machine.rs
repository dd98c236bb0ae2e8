//! The stack machine that a pickle is written for.

use super::decode::{BadPickle, Decoder, Op, Scalar};
use std::collections::HashMap;
use std::io::BufRead;

/// More values than this on the stack are refused: a list of so many entries written in one piece is the most that a
/// real file needs.
const MOST_VALUES: usize = 1 << 24;
/// More open marks than this are refused; Python's own writer stops near a thousand.
const MOST_MARKS: usize = 1 << 12;

/// Makes values out of what a pickle says. Errors are words about the value; the reader adds where it stands.
pub trait Build {
    /// A value; copies of a list or a dictionary are the same list or dictionary.
    type Value: Clone;
    /// A value that holds no other.
    fn scalar(&mut self, scalar: Scalar<'_>) -> Self::Value;
    /// A tuple of finished values.
    fn tuple(&mut self, items: &mut dyn Iterator<Item = Self::Value>) -> Result<Self::Value, String>;
    /// A new list.
    fn list(&mut self) -> Self::Value;
    /// Adds finished values at the end of `list`.
    fn append(&mut self, list: &Self::Value, items: &mut dyn Iterator<Item = Self::Value>) -> Result<(), String>;
    /// A new dictionary.
    fn dict(&mut self) -> Self::Value;
    /// Adds a key with its finished value to `dict`.
    fn set(&mut self, dict: &Self::Value, key: Self::Value, value: Self::Value) -> Result<(), String>;
}

/// Reads a pickle of protocol 2 to 5 and gives its one value. `open` is called twice: a first pass finds out which
/// memo numbers are ever asked for, so that the second need not keep the others.
pub fn read<R: BufRead, B: Build>(
    mut open: impl FnMut() -> std::io::Result<R>,
    build: &mut B,
) -> Result<B::Value, BadPickle> {
    let mut begin = |texts| match open() {
        Ok(from) => Ok(Decoder::new(from, texts)),
        Err(error) => Err(BadPickle { offset: 0, what: error.to_string() }),
    };
    let fetched = fetched(begin(false)?)?;
    Machine { from: begin(true)?, build, fetched, stack: Vec::new(), marks: Vec::new(), memo: Memo::default() }.run()
}

/// Which memo numbers a pickle asks for.
fn fetched<R: BufRead>(mut from: Decoder<R>) -> Result<Bits, BadPickle> {
    let mut bits = Bits::default();
    let mut first = true;
    loop {
        let op = from.next()?;
        let protocol = if let Op::Proto(version) = op { Some(version) } else { None };
        match op {
            Op::Stop => return Ok(bits),
            Op::Get(number) => {
                // Each number takes a byte to make: a larger one was never made, and must not size anything.
                if number >= from.offset {
                    return Err(from.bad(missing(number)));
                }
                bits.set(number);
            }
            _ => {}
        }
        match protocol {
            Some(2..=5) => {}
            Some(other) => return Err(from.bad(format!("protocol {other}; protocols 2 to 5 are read"))),
            None if first => return Err(from.bad("no pickle of protocol 2 to 5 begins here")),
            None => {}
        }
        first = false;
    }
}

fn missing(number: u64) -> String {
    format!("memo number {number} is asked for and was never given")
}

/// A set of small numbers.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn has(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn set(&mut self, number: u64) {
        let word = (number / 64) as usize;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }
}

/// What was put aside, as far as it is asked for.
struct Memo<V> {
    kept: HashMap<u64, V>,
    /// The numbers given, kept or not: the next `MEMOIZE` takes their count.
    given: Bits,
    count: u64,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Memo { kept: HashMap::new(), given: Bits::default(), count: 0 }
    }
}

struct Machine<'b, R, B: Build> {
    from: Decoder<R>,
    build: &'b mut B,
    fetched: Bits,
    stack: Vec<B::Value>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: Memo<B::Value>,
}

impl<R: BufRead, B: Build> Machine<'_, R, B> {
    fn run(mut self) -> Result<B::Value, BadPickle> {
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(value)) => return Ok(value),
                Err(Stop::Bad(bad)) => return Err(bad),
                Err(Stop::Words(what)) => return Err(self.from.bad(what)),
            }
        }
    }

    /// Follows one opcode; the value when it was the last.
    fn step(&mut self) -> Result<Option<B::Value>, Stop> {
        match self.from.next()? {
            Op::Proto(_) | Op::Frame => {}
            Op::Stop => {
                let value = self.pop()?;
                if !self.stack.is_empty() || !self.marks.is_empty() {
                    return Err(Stop::Words(format!("{} values are left over at the end", self.stack.len())));
                }
                return Ok(Some(value));
            }
            Op::Mark => {
                if self.marks.len() == MOST_MARKS {
                    return Err(Stop::Words(format!("more than {MOST_MARKS} values are nested")));
                }
                self.marks.push(self.stack.len());
            }
            Op::Pop => {
                // As Python does: a POP right above a mark takes the mark.
                if self.marks.last() == Some(&self.stack.len()) {
                    self.marks.pop();
                } else {
                    self.pop()?;
                }
            }
            Op::PopMark => {
                let from = self.mark()?;
                self.stack.truncate(from);
            }
            Op::Dup => {
                let value = self.top()?.clone();
                self.push(value)?;
            }
            Op::Scalar(scalar) => {
                let value = self.build.scalar(scalar);
                self.push(value)?;
            }
            Op::Tuple(length) => {
                let from = match length {
                    Some(length) => self.below(length)?,
                    None => self.mark()?,
                };
                let value = self.build.tuple(&mut self.stack.drain(from..))?;
                self.push(value)?;
            }
            Op::EmptyList => {
                let value = self.build.list();
                self.push(value)?;
            }
            Op::EmptyDict => {
                let value = self.build.dict();
                self.push(value)?;
            }
            Op::Append => {
                let from = self.below(1)?;
                self.append(from)?;
            }
            Op::Appends => {
                let from = self.mark()?;
                self.append(from)?;
            }
            Op::SetItem => {
                let from = self.below(2)?;
                self.set(from)?;
            }
            Op::SetItems => {
                let from = self.mark()?;
                self.set(from)?;
            }
            Op::Put(number) => self.put(number)?,
            Op::Memoize => self.put(self.memo.count)?,
            Op::Get(number) => {
                let value = self.memo.kept.get(&number).ok_or_else(|| Stop::Words(missing(number)))?.clone();
                self.push(value)?;
            }
        }
        Ok(None)
    }

    fn append(&mut self, from: usize) -> Result<(), Stop> {
        let (below, items) = self.container(from, "a list")?;
        Ok(self.build.append(&below, &mut self.stack.drain(items..))?)
    }

    fn set(&mut self, from: usize) -> Result<(), Stop> {
        let (below, items) = self.container(from, "a dictionary")?;
        if (self.stack.len() - items) % 2 == 1 {
            return Err(Stop::Words("a key has no value".to_owned()));
        }
        let mut items = self.stack.drain(items..);
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            self.build.set(&below, key, value)?;
        }
        Ok(())
    }

    /// The list or dictionary that stands under the values from height `from` on.
    fn container(&self, from: usize, what: &str) -> Result<(B::Value, usize), Stop> {
        let at = from.checked_sub(1).filter(|at| self.marks.last().is_none_or(|mark| at >= mark));
        match at.and_then(|at| self.stack.get(at)) {
            Some(below) => Ok((below.clone(), from)),
            None => Err(Stop::Words(format!("there is nothing below the values that {what} shall take"))),
        }
    }

    fn put(&mut self, number: u64) -> Result<(), Stop> {
        if number > self.from.offset {
            return Err(Stop::Words(format!("memo number {number} is larger than the bytes before it")));
        }
        let value = self.top()?;
        if self.fetched.has(number) {
            self.memo.kept.insert(number, value.clone());
        }
        if !self.memo.given.has(number) {
            self.memo.given.set(number);
            self.memo.count += 1;
        }
        Ok(())
    }

    fn push(&mut self, value: B::Value) -> Result<(), Stop> {
        if self.stack.len() == MOST_VALUES {
            return Err(Stop::Words(format!("more than {MOST_VALUES} values are unfinished")));
        }
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<B::Value, Stop> {
        self.below(1)?;
        self.stack.pop().ok_or_else(empty)
    }

    fn top(&self) -> Result<&B::Value, Stop> {
        self.below(1)?;
        self.stack.last().ok_or_else(empty)
    }

    /// The height of the stack without its `count` topmost values, which must lie above the last mark.
    fn below(&self, count: usize) -> Result<usize, Stop> {
        let floor = self.marks.last().copied().unwrap_or(0);
        self.stack.len().checked_sub(count).filter(|height| *height >= floor).ok_or_else(empty)
    }

    fn mark(&mut self) -> Result<usize, Stop> {
        self.marks.pop().ok_or_else(|| Stop::Words("no mark is open".to_owned()))
    }
}

fn empty() -> Stop {
    Stop::Words("the stack holds too few values".to_owned())
}

/// Why the machine stopped: with the place, or before it is known.
enum Stop {
    Bad(BadPickle),
    Words(String),
}

impl From<BadPickle> for Stop {
    fn from(bad: BadPickle) -> Self {
        Stop::Bad(bad)
    }
}

impl From<String> for Stop {
    fn from(words: String) -> Self {
        Stop::Words(words)
    }
}
