//! One opcode after the other, with its argument.

use std::fmt;
use std::io::{self, BufRead, ErrorKind, Read};

/// Why a pickle was not read, and where.
#[derive(Debug)]
pub struct BadPickle {
    /// Bytes before the opcode at fault.
    pub offset: u64,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for BadPickle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} of the pickle: {}", self.offset, self.what)
    }
}

impl std::error::Error for BadPickle {}

/// A value that holds no other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar<'a> {
    /// None.
    None,
    /// True or False.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// Text. A lone surrogate, which Python allows in a file name, is read as U+FFFD.
    Str(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// An opcode with its argument.
#[derive(Debug)]
pub(super) enum Op<'a> {
    Proto(u8),
    Frame,
    Stop,
    Mark,
    Pop,
    PopMark,
    Dup,
    Scalar(Scalar<'a>),
    /// A tuple of so many values, or of all above the mark.
    Tuple(Option<usize>),
    EmptyList,
    EmptyDict,
    Append,
    Appends,
    SetItem,
    SetItems,
    Put(u64),
    Memoize,
    Get(u64),
}

/// Takes opcodes off a stream.
pub(super) struct Decoder<R> {
    from: R,
    /// Bytes taken so far.
    read: u64,
    /// Bytes before the present opcode.
    pub(super) offset: u64,
    /// Whether texts and bytes are wanted; where not, they are read as empty.
    texts: bool,
    bytes: Vec<u8>,
    text: String,
}

impl<R: BufRead> Decoder<R> {
    pub(super) fn new(from: R, texts: bool) -> Self {
        Decoder { from, read: 0, offset: 0, texts, bytes: Vec::new(), text: String::new() }
    }

    pub(super) fn bad(&self, what: impl Into<String>) -> BadPickle {
        BadPickle { offset: self.offset, what: what.into() }
    }

    pub(super) fn next(&mut self) -> Result<Op<'_>, BadPickle> {
        self.offset = self.read;
        let [code] = self.array()?;
        Ok(match code {
            0x80 => Op::Proto(self.array::<1>()?[0]),
            0x95 => {
                self.array::<8>()?;
                Op::Frame
            }
            b'.' => Op::Stop,
            b'(' => Op::Mark,
            b'0' => Op::Pop,
            b'1' => Op::PopMark,
            b'2' => Op::Dup,
            b'N' => Op::Scalar(Scalar::None),
            0x88 => Op::Scalar(Scalar::Bool(true)),
            0x89 => Op::Scalar(Scalar::Bool(false)),
            b'J' => Op::Scalar(Scalar::Int(i32::from_le_bytes(self.array()?).into())),
            b'K' => Op::Scalar(Scalar::Int(self.byte()?.into())),
            b'M' => Op::Scalar(Scalar::Int(u16::from_le_bytes(self.array()?).into())),
            0x8a => {
                let length = self.byte()?;
                self.long(length.into())?
            }
            0x8b => {
                let length = self.signed("LONG4")?;
                self.long(length)?
            }
            b'G' => Op::Scalar(Scalar::Float(f64::from_be_bytes(self.array()?))),
            0x8c | b'U' => {
                let length = self.byte()?;
                self.text(length.into())?
            }
            b'X' => {
                let length = self.word()?;
                self.text(length)?
            }
            b'T' => {
                let length = self.signed("BINSTRING")?;
                self.text(length)?
            }
            0x8d => {
                let length = u64::from_le_bytes(self.array()?);
                self.text(length)?
            }
            b'C' => {
                let length = self.byte()?;
                self.blob(length.into())?
            }
            b'B' => {
                let length = self.word()?;
                self.blob(length)?
            }
            0x8e | 0x96 => {
                let length = u64::from_le_bytes(self.array()?);
                self.blob(length)?
            }
            b')' => Op::Tuple(Some(0)),
            0x85 => Op::Tuple(Some(1)),
            0x86 => Op::Tuple(Some(2)),
            0x87 => Op::Tuple(Some(3)),
            b't' => Op::Tuple(None),
            b']' => Op::EmptyList,
            b'}' => Op::EmptyDict,
            b'a' => Op::Append,
            b'e' => Op::Appends,
            b's' => Op::SetItem,
            b'u' => Op::SetItems,
            b'q' => Op::Put(self.byte()?.into()),
            b'r' => Op::Put(self.word()?),
            0x94 => Op::Memoize,
            b'h' => Op::Get(self.byte()?.into()),
            b'j' => Op::Get(self.word()?),
            other => return Err(self.bad(refused(other))),
        })
    }

    fn byte(&mut self) -> Result<u8, BadPickle> {
        Ok(self.array::<1>()?[0])
    }

    fn word(&mut self) -> Result<u64, BadPickle> {
        Ok(u32::from_le_bytes(self.array()?).into())
    }

    /// A length of four bytes that has a sign, for whatever reason.
    fn signed(&mut self, opcode: &str) -> Result<u64, BadPickle> {
        let length = i32::from_le_bytes(self.array()?);
        u64::try_from(length).map_err(|_| self.bad(format!("{opcode} of {length} bytes")))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadPickle> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| self.stopped(&error))?;
        self.read += N as u64;
        Ok(bytes)
    }

    fn long(&mut self, length: u64) -> Result<Op<'_>, BadPickle> {
        if length > 16 {
            return Err(self.bad(format!("a whole number of {length} bytes; 16 are the most that is read")));
        }
        let mut bytes = [0; 16];
        let used = &mut bytes[..length as usize];
        self.from.read_exact(used).map_err(|error| self.stopped(&error))?;
        self.read += length;
        // Two's complement: the highest bit of the last byte fills what is not there.
        let negative = bytes[..length as usize].last().is_some_and(|last| last & 0x80 != 0);
        if negative {
            bytes[length as usize..].fill(0xff);
        }
        Ok(Op::Scalar(Scalar::Int(i128::from_le_bytes(bytes))))
    }

    fn text(&mut self, length: u64) -> Result<Op<'_>, BadPickle> {
        self.take(length)?;
        self.text.clear();
        self.text.push_str(&String::from_utf8_lossy(&self.bytes));
        Ok(Op::Scalar(Scalar::Str(&self.text)))
    }

    fn blob(&mut self, length: u64) -> Result<Op<'_>, BadPickle> {
        self.take(length)?;
        Ok(Op::Scalar(Scalar::Bytes(&self.bytes)))
    }

    /// Takes `length` bytes, and room only for those that are there.
    fn take(&mut self, length: u64) -> Result<(), BadPickle> {
        self.bytes.clear();
        let mut part = self.from.by_ref().take(length);
        let taken = if self.texts {
            part.read_to_end(&mut self.bytes).map(|n| n as u64)
        } else {
            io::copy(&mut part, &mut io::sink())
        };
        let taken = taken.map_err(|error| self.stopped(&error))?;
        if taken < length {
            return Err(self.bad(format!("{length} bytes are announced and {taken} are there: the file is cut short")));
        }
        self.read += length;
        Ok(())
    }

    fn stopped(&self, error: &io::Error) -> BadPickle {
        if error.kind() == ErrorKind::UnexpectedEof {
            self.bad("the file is cut short")
        } else {
            self.bad(error.to_string())
        }
    }
}

/// Why an opcode is not followed.
fn refused(code: u8) -> String {
    let calls = match code {
        b'c' => "GLOBAL",
        0x93 => "STACK_GLOBAL",
        b'R' => "REDUCE",
        b'b' => "BUILD",
        b'i' => "INST",
        b'o' => "OBJ",
        0x81 => "NEWOBJ",
        0x92 => "NEWOBJ_EX",
        0x82 => "EXT1",
        0x83 => "EXT2",
        0x84 => "EXT4",
        b'P' => "PERSID",
        b'Q' => "BINPERSID",
        0x8f..=0x91 => return format!("opcode {code:#04x} makes a set; a memory snapshot holds none"),
        0x97 | 0x98 => return format!("opcode {code:#04x} wants data from outside the file"),
        b'I' | b'L' | b'F' | b'S' | b'V' | b'p' | b'g' | b'd' | b'l' => {
            return format!("opcode {:?} belongs to protocol 0; protocols 2 to 5 are read", char::from(code));
        }
        _ => return format!("{code:#04x} is no opcode"),
    };
    format!("opcode {calls} imports or calls code; only data is read")
}
