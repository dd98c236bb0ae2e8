//! Files that tests read.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The place of a file of test data.
pub fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The bytes of a gzipped file of test data, unpacked.
pub fn packed(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(File::open(place(name)).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}
