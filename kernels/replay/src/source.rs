//! Opening a recording, and finding out what it is.

use flate2::bufread::MultiGzDecoder;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// What a file holds, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pickled memory snapshot.
    Snapshot,
    /// A trace of JSON lines.
    Trace,
}

/// Why a file was not read.
#[derive(Debug)]
pub struct BadFile {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

impl std::error::Error for BadFile {}

/// Bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// Opens a file, unpacking it on the way if it is gzipped. `tell` is told of every so many bytes read of it.
pub fn open<'a>(path: &Path, tell: &'a dyn Fn(u64)) -> io::Result<BufReader<Box<dyn Read + 'a>>> {
    let mut file = BufReader::with_capacity(BUFFER, Told { file: File::open(path)?, tell });
    let unpacked: Box<dyn Read> = match file.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        true => Box::new(Unpacked(MultiGzDecoder::new(file))),
        false => Box::new(file),
    };
    Ok(BufReader::with_capacity(BUFFER, unpacked))
}

/// A file that tells how it is read.
struct Told<'a> {
    file: File,
    tell: &'a dyn Fn(u64),
}

impl Read for Told<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        (self.tell)(read as u64);
        Ok(read)
    }
}

/// A gzipped file, unpacked. One that is cut short says so itself: what is in it would be blamed else.
struct Unpacked<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => io::Error::new(ErrorKind::InvalidData, "the gzip stream ends early"),
            _ => error,
        })
    }
}

/// Finds out what a file holds.
pub fn kind(path: &Path) -> Result<Kind, BadFile> {
    let bad = |what: String| BadFile { path: path.to_owned(), what };
    let mut first = Vec::new();
    open(path, &|_| {})
        .and_then(|file| file.take(64).read_to_end(&mut first))
        .map_err(|error| bad(error.to_string()))?;
    match first.trim_ascii_start() {
        [0x80, ..] => Ok(Kind::Snapshot),
        [b'{', ..] => Ok(Kind::Trace),
        [] => Err(bad("the file is empty".to_owned())),
        [b'P', b'K', ..] => {
            Err(bad("a zip archive, such as torch.save writes; a memory snapshot is a bare pickle".to_owned()))
        }
        _ => {
            Err(bad("neither a pickled memory snapshot nor a trace of JSON lines (nor one of them gzipped)".to_owned()))
        }
    }
}
