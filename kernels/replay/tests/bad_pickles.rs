//! What the reader of snapshots says to files that are broken, or want more than to be read.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod support;

use proptest::prelude::*;
use replay::snapshot::Snapshot;
use std::io::Cursor;
use support::packed;

fn read(bytes: &[u8]) -> Result<Snapshot, String> {
    Snapshot::read(|| Ok(Cursor::new(bytes))).map_err(|error| error.to_string())
}

fn refused(bytes: &[u8], words: &str) {
    let error = read(bytes).unwrap_err();
    assert!(error.contains(words), "{bytes:x?} is refused with {error:?}, without {words:?}");
}

/// A dictionary with an empty list of segments, and `inside` before its end.
fn around(inside: &[u8]) -> Vec<u8> {
    [b"\x80\x04}(X\x08\0\0\0segments]", inside, b"u."].concat()
}

#[test]
fn an_empty_snapshot_is_read() {
    assert_eq!(read(&around(b"")).unwrap(), Snapshot::default());
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let whole = packed("snapshots/mlp.pickle.gz");
    assert!(!read(&whole).unwrap().segments.is_empty());
    for length in (0..2000).chain((2000..whole.len()).step_by(7)) {
        assert!(read(&whole[..length]).is_err(), "the first {length} bytes are taken for a snapshot");
    }
}

#[test]
fn what_would_call_code_is_named_with_its_place() {
    let calls: [(&[u8], &str); 13] = [
        (b"cos\nsystem\n", "GLOBAL"),
        (b"\x93", "STACK_GLOBAL"),
        (b"R", "REDUCE"),
        (b"b", "BUILD"),
        (b"ios\nsystem\n", "INST"),
        (b"o", "OBJ"),
        (b"\x81", "NEWOBJ"),
        (b"\x92", "NEWOBJ_EX"),
        (b"\x82\x01", "EXT1"),
        (b"\x83\x01\0", "EXT2"),
        (b"\x84\x01\0\0\0", "EXT4"),
        (b"Pid\n", "PERSID"),
        (b"Q", "BINPERSID"),
    ];
    for (code, name) in calls {
        refused(&around(code), &format!("byte 18 of the pickle: opcode {name} "));
    }
}

#[test]
fn what_is_no_data_of_protocols_2_to_5_is_refused() {
    refused(b"(dp0\n.", "no pickle of protocol 2 to 5");
    refused(b"\x80\x01}.", "protocol 1");
    refused(b"\x80\x06}.", "protocol 6");
    refused(&around(b"I1\n"), "protocol 0");
    refused(&around(b"\x8f"), "makes a set");
    refused(&around(b"\x97"), "outside the file");
    refused(&around(b"\xff"), "0xff is no opcode");
}

#[test]
fn a_length_that_is_only_claimed_takes_no_room() {
    refused(b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc.", "4 are there");
    refused(b"\x80\x04X\xff\xff\xff\xffabc.", "4294967295 bytes are announced");
    refused(b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xffabc.", "4 are there");
    refused(b"\x80\x04B\xff\xff\xff\xff.", "cut short");
    refused(b"\x80\x04\x8b\xff\xff\xff\x7f.", "16 are the most");
    refused(b"\x80\x04\x8b\xff\xff\xff\xff.", "LONG4 of -1 bytes");
    refused(b"\x80\x04Nr\xff\xff\xff\xff.", "memo number 4294967295");
    refused(b"\x80\x04j\xff\xff\xff\xff.", "memo number 4294967295");
}

#[test]
fn a_stack_that_does_not_fit_is_refused() {
    refused(b"\x80\x04.", "too few values");
    refused(b"\x80\x040.", "too few values");
    refused(b"\x80\x04e.", "no mark");
    refused(b"\x80\x04(e.", "nothing below");
    refused(b"\x80\x04](Na.", "nothing below");
    refused(b"\x80\x04Na.", "nothing below");
    refused(b"\x80\x04}(Nu.", "a key has no value");
    refused(b"\x80\x04N(Ne.", "no list");
    refused(b"\x80\x04N(NNu.", "no dictionary");
    refused(b"\x80\x04NN.", "left over");
    refused(b"\x80\x04Nh\x00.", "memo number 0");
}

#[test]
fn nesting_has_an_end() {
    refused(&[b"\x80\x04".as_slice(), &[b'('; 5000], b"."].concat(), "nested");
    // Lists in lists, from the inside and from the outside, are dropped without recursion.
    let depth = 200_000;
    refused(&[b"\x80\x04".as_slice(), &vec![b']'; depth], &vec![b'a'; depth - 1], b"."].concat(), "no memory snapshot");
    // From the outside: the list in the middle is changed after it was put into another.
    refused(b"\x80\x04]]\x94ah\0]a0.", "cyclic");
}

#[test]
fn cyclic_data_are_refused() {
    refused(b"\x80\x04]\x94h\0a.", "cyclic");
    refused(b"\x80\x04]\x94]\x94h\0ah\0h\x01a.", "cyclic");
    refused(b"\x80\x04]\x94(]\x94h\0ae.", "cyclic");
    refused(b"\x80\x04}\x94X\x08\0\0\0segmentsh\0s.", "dictionary");
}

#[test]
fn what_is_no_snapshot_is_said() {
    refused(b"\x80\x04N.", "no memory snapshot");
    refused(b"\x80\x04}.", "no memory snapshot");
    // An entry without its size, and one of a negative size.
    refused(b"\x80\x04](}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x01ue.", "no \"size\"");
    refused(
        b"\x80\x04](}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x01\x8c\x04sizeJ\xff\xff\xff\xffue.",
        "\"size\" of a trace entry",
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&[b"\x80\x04".as_slice(), &bytes].concat());
    }

    /// Bytes that are mostly opcodes which are followed get further than arbitrary ones.
    #[test]
    fn arbitrary_opcodes_never_panic(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            b"(".as_slice(), b"0", b"1", b"2", b"N", b"K\x05", b"]", b"}", b"a", b"e", b"s", b"u", b"t", b"\x86", b"\x94",
            b"h\0", b"h\x01", b"h\x02", b"\x8c\x06action", b"\x8c\x05alloc", b"\x8c\x04addr", b"\x8c\x04size",
            b"\x8c\x06stream", b"\x8c\x0atotal_size", b"\x8c\x05state", b"\x8c\x08inactive", b"\x8c\x06blocks",
            b"\x8c\x07address", b"\x8c\x08segments", b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0", b".",
        ]), 0..60)
    ) {
        let _ = read(&[b"\x80\x04".as_slice(), &parts.concat()].concat());
    }

    #[test]
    fn a_changed_byte_never_panics(at in 2_usize..16_000, byte: u8) {
        let mut bytes = packed("snapshots/mlp.pickle.gz");
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}
