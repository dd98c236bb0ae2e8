//! What a reader outside sees of a Python process that has the library loaded.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", target_endian = "little"))]
#![allow(clippy::unwrap_used, reason = "a test's helpers fail as its test does")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

/// Runs the statements it is sent, one line each, and is idle in between.
const SUBJECT: &str = "
import ctypes, mmap, os, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_size_t
def known(name, *arguments):
    function = getattr(libc, name)
    function.restype, function.argtypes = word, arguments
    return function
malloc, free, calloc = known('malloc', word), known('free', word), known('calloc', word, word)
realloc, reallocarray = known('realloc', word, word), known('reallocarray', word, word, word)
aligned_alloc, memalign = known('aligned_alloc', word, word), known('memalign', word, word)
posix_memalign = known('posix_memalign', ctypes.c_void_p, word, word)
valloc, pvalloc = known('valloc', word), known('pvalloc', word)
map_pages = known('mmap', word, word, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
unmap_pages = known('munmap', word, word)
remap_pages = known('mremap', word, word, word, ctypes.c_int)
READ, WRITE, PRIVATE, ANONYMOUS, FIXED = 1, 2, 2, 0x20, 0x10
def each(threads, body):
    threads = [threading.Thread(target=body) for _ in range(threads)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def in_child(body):
    child = os.fork()
    if child == 0:
        try: body()
        finally: os._exit(0)
    os.waitpid(child, 0)
place = word()
print('ready', flush=True)
for line in sys.stdin:
    exec(line)
    print('done', flush=True)
";

/// The words of a ledger from `pid` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words {
    pid: u64,
    calls: u64,
    frees: u64,
    big_calls: u64,
    big_frees: u64,
    big_bytes: u64,
    big_live: u64,
    big_peak: u64,
    maps: u64,
    mapped: u64,
    unmapped: u64,
    lost: u64,
}

/// What changed between two readings, in tensor-sized blocks: calls, frees, bytes asked for, live bytes.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    calls: u64,
    frees: u64,
    bytes: u64,
    live: i64,
}

struct Subject {
    process: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    ledger: File,
    _folder: tempfile::TempDir,
}

/// The library as programs load it. A test of a `cdylib` does not have it built: it links nothing of it.
fn library() -> &'static Path {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--target-dir"]);
        assert!(build.arg(target).status().unwrap().success());
        target.join("debug/libheap_ledger.so")
    });
    assert!(LIBRARY.is_file(), "{} is not there", LIBRARY.display());
    &LIBRARY
}

fn python() -> Command {
    let mut python = Command::new("python3");
    // Python's own allocator would map arenas of 1 MiB now and then.
    python.env("PYTHONMALLOC", "malloc").env("LD_PRELOAD", library()).env_remove("HEAP_LEDGER");
    python
}

impl Subject {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let mut process = python()
            .args(["-c", SUBJECT])
            .env("HEAP_LEDGER", &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let requests = process.stdin.take().unwrap();
        let mut replies = BufReader::new(process.stdout.take().unwrap());
        let mut ready = String::new();
        replies.read_line(&mut ready).unwrap();
        assert_eq!(ready, "ready\n");
        let ledger = File::options().read(true).write(true).open(path).unwrap();
        Self { process, requests, replies, ledger, _folder: folder }
    }

    fn run(&mut self, statements: &str) {
        writeln!(self.requests, "{statements}").unwrap();
        let mut reply = String::new();
        self.replies.read_line(&mut reply).unwrap();
        assert_eq!(reply, "done\n", "{statements}");
    }

    fn words(&self) -> Words {
        let mut bytes = [0; 13 * 8];
        self.ledger.read_exact_at(&mut bytes, 0).unwrap();
        let (format, rest) = bytes.split_at(8);
        assert_eq!(format, b"TMLEDGR\x01");
        let mut words = rest.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        let mut next = || words.next().unwrap();
        Words {
            pid: next(),
            calls: next(),
            frees: next(),
            big_calls: next(),
            big_frees: next(),
            big_bytes: next(),
            big_live: next(),
            big_peak: next(),
            maps: next(),
            mapped: next(),
            unmapped: next(),
            lost: next(),
        }
    }

    /// Opens a window: from here on the peak is that of what follows.
    fn open_window(&self) -> Words {
        let words = self.words();
        self.ledger.write_all_at(&words.big_live.to_le_bytes(), 8 * 8).unwrap();
        words
    }

    fn change(&mut self, statements: &str) -> Change {
        let before = self.words();
        self.run(statements);
        let after = self.words();
        assert_eq!(after.lost, 0);
        Change {
            calls: after.big_calls - before.big_calls,
            frees: after.big_frees - before.big_frees,
            bytes: after.big_bytes - before.big_bytes,
            live: after.big_live as i64 - before.big_live as i64,
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // Whether it had ended before is no matter here: it must only not outlive the test.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn took(bytes: u64) -> Change {
    Change { calls: 1, frees: 0, bytes, live: bytes as i64 }
}

fn gave(bytes: i64) -> Change {
    Change { calls: 0, frees: 1, bytes: 0, live: -bytes }
}

const NOTHING: Change = Change { calls: 0, frees: 0, bytes: 0, live: 0 };

#[test]
fn the_bytes_are_those_asked_for() {
    let mut subject = Subject::start();
    for call in [
        "p = malloc(1_000_001)",
        "p = calloc(1, 1_000_001)",
        "p = calloc(1_000_001, 1)",
        "p = realloc(0, 1_000_001)",
        "p = reallocarray(0, 1, 1_000_001)",
        "p = memalign(64, 1_000_001)",
        "p = aligned_alloc(64, 1_000_001)",
        "posix_memalign(ctypes.addressof(place), 64, 1_000_001); p = place.value; assert p % 64 == 0",
        "p = valloc(1_000_001)",
        "p = pvalloc(1_000_001)",
    ] {
        assert_eq!(subject.change(call), took(1_000_001), "{call}");
        assert_eq!(subject.change("free(p)"), gave(1_000_001), "{call}");
    }
}

#[test]
fn a_block_is_tensor_sized_from_64_kib_on() {
    let mut subject = Subject::start();
    assert_eq!(subject.change("p = malloc(65_535)"), NOTHING);
    assert_eq!(subject.change("free(p)"), NOTHING);
    assert_eq!(subject.change("p = malloc(65_536)"), took(65_536));
    assert_eq!(subject.change("free(p)"), gave(65_536));
}

#[test]
fn every_block_counts_as_a_call_and_a_free() {
    let mut subject = Subject::start();
    let before = subject.words();
    subject.run("for _ in range(10_000): free(malloc(100))");
    let after = subject.words();
    assert!(after.calls >= before.calls + 10_000);
    assert!(after.frees >= before.frees + 10_000);
    assert_eq!(subject.change("free(0)"), NOTHING);
}

#[test]
fn a_realloc_is_a_free_and_a_call() {
    let mut subject = Subject::start();
    subject.run("p = malloc(100)");
    assert_eq!(subject.change("p = realloc(p, 100_000)"), took(100_000));
    let grown = Change { calls: 1, frees: 1, bytes: 3_000_000, live: 2_900_000 };
    assert_eq!(subject.change("p = realloc(p, 3_000_000)"), grown);
    assert_eq!(subject.change("p = realloc(p, 100)"), gave(3_000_000));
    assert_eq!(subject.change("p = realloc(p, 100_000); p = realloc(p, 0)").frees, 1);
}

#[test]
fn a_call_that_fails_changes_nothing() {
    let mut subject = Subject::start();
    subject.run("p = malloc(1_000_001)");
    assert_eq!(subject.change("assert malloc(1 << 60) == 0"), NOTHING);
    assert_eq!(subject.change("assert calloc(1 << 40, 1 << 40) == 0"), NOTHING);
    assert_eq!(subject.change("assert realloc(p, 1 << 60) == 0"), NOTHING);
    let overflow = "assert reallocarray(p, 1 << 40, 1 << 40) == 0 and ctypes.get_errno() == 12";
    assert_eq!(subject.change(overflow), NOTHING);
    let odd = "assert posix_memalign(ctypes.addressof(place), 24, 1_000_001) == 22";
    assert_eq!(subject.change(odd), NOTHING);
    assert_eq!(subject.change("free(p)"), gave(1_000_001));
}

#[test]
fn python_objects_are_counted_as_they_grow() {
    let mut subject = Subject::start();
    // One byte more than asked ends the text that a bytearray also is.
    assert_eq!(subject.change("b = bytearray(1_000_000)"), took(1_000_001));
    let grown = subject.change("b += bytes(3_000_000)");
    assert!((3_000_000..3_500_000).contains(&grown.live), "{grown:?}");
    assert_eq!(subject.change("del b").live, -1_000_001 - grown.live);
}

#[test]
fn anonymous_mappings_count_while_mapped() {
    let mut subject = Subject::start();
    let before = subject.words();
    assert_eq!(subject.change("m = mmap.mmap(-1, 1 << 20)"), took(1 << 20));
    assert_eq!(subject.change("m.close()"), gave(1 << 20));
    let after = subject.words();
    assert_eq!(after.maps, before.maps + 1);
    assert_eq!(after.mapped, before.mapped + (1 << 20));
    assert_eq!(after.unmapped, before.unmapped + (1 << 20));
    assert_eq!(subject.change("m = mmap.mmap(-1, 1 << 15)"), NOTHING);
}

#[test]
fn a_mapping_given_back_in_parts_counts_what_is_left() {
    let mut subject = Subject::start();
    let map = "a = map_pages(0, 1 << 20, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)";
    assert_eq!(subject.change(map), took(1 << 20));
    let part = Change { live: -(1 << 16), ..NOTHING };
    assert_eq!(subject.change("unmap_pages(a, 1 << 16)"), part);
    let decommit = "map_pages(a + (1 << 16), 1 << 16, 0, PRIVATE | ANONYMOUS | FIXED, -1, 0)";
    assert_eq!(subject.change(decommit), part);
    let commit = "map_pages(a + (1 << 16), 1 << 16, READ | WRITE, PRIVATE | ANONYMOUS | FIXED, -1, 0)";
    assert_eq!(subject.change(commit), took(1 << 16));
    assert_eq!(subject.change("unmap_pages(a, 1 << 20)").live, -(15 << 16));
}

#[test]
fn a_moved_mapping_counts_once() {
    let mut subject = Subject::start();
    subject.run("a = map_pages(0, 1 << 20, READ | WRITE, PRIVATE | ANONYMOUS, -1, 0)");
    let grown = Change { calls: 1, frees: 1, bytes: 1 << 24, live: (1 << 24) - (1 << 20) };
    assert_eq!(subject.change("a = remap_pages(a, 1 << 20, 1 << 24, 1)"), grown);
    assert_eq!(subject.change("assert remap_pages(a, 1 << 24, 1 << 60, 1) == 2**64 - 1"), NOTHING);
    assert_eq!(subject.change("unmap_pages(a, 1 << 24)"), gave(1 << 24));
}

#[test]
fn reserved_addresses_and_files_hold_no_live_bytes() {
    let mut subject = Subject::start();
    let reserve = "map_pages(0, 1 << 30, 0, PRIVATE | ANONYMOUS, -1, 0)";
    assert_eq!(subject.change(reserve), NOTHING);
    let file = "f = open(sys.executable, 'rb'); m = mmap.mmap(f.fileno(), 0, prot=READ)";
    assert_eq!(subject.change(file), NOTHING);
}

#[test]
fn glibcs_own_mappings_are_not_counted_as_mappings() {
    let mut subject = Subject::start();
    let before = subject.words();
    subject.run("p = malloc(1 << 25); each(8, lambda: None)");
    let after = subject.words();
    assert_eq!(after.maps, before.maps);
    assert_eq!(after.big_bytes, before.big_bytes + (1 << 25), "the block alone, and no thread stack");
}

#[test]
fn the_peak_is_that_of_the_window() {
    let mut subject = Subject::start();
    subject.run("free(malloc(50_000_000)); kept = malloc(1_000_000)");
    let opened = subject.open_window();
    assert!(opened.big_peak >= 50_000_000);
    assert_eq!(subject.words().big_peak, opened.big_live);
    subject.run("p = malloc(2_000_000); q = malloc(3_000_000); free(p); r = malloc(1_000_000)");
    let closed = subject.words();
    assert_eq!(closed.big_peak - opened.big_live, 5_000_000);
    assert_eq!(closed.big_live - opened.big_live, 4_000_000);
}

#[test]
fn threads_lose_nothing() {
    let mut subject = Subject::start();
    let churn = "each(8, lambda: [free(malloc(100_000)) for _ in range(10_000)])";
    let Change { calls, frees, live, .. } = subject.change(churn);
    // The lists of results are blocks too, and come and go.
    assert!(calls >= 80_000);
    assert_eq!(frees, calls);
    assert_eq!(live, 0);
}

#[test]
fn many_live_blocks_have_their_place() {
    let mut subject = Subject::start();
    subject.run("blocks = [0] * 20_000; kept = range(20_000)");
    let fill = "for i in kept: blocks[i] = malloc(70_000)";
    let all = Change { calls: 20_000, frees: 0, bytes: 1_400_000_000, live: 1_400_000_000 };
    assert_eq!(subject.change(fill), all);
    let empty = Change { calls: 0, frees: 20_000, bytes: 0, live: -1_400_000_000 };
    assert_eq!(subject.change("for i in kept: free(blocks[i])"), empty);
}

#[test]
fn children_are_not_counted() {
    let mut subject = Subject::start();
    subject.run("p = malloc(1_000_001)");
    let before = subject.words();
    assert_eq!(before.pid, u64::from(subject.process.id()));
    let forked = "in_child(lambda: (free(p), malloc(3_000_003)))";
    assert_eq!(subject.change(forked), NOTHING);
    let started = "subprocess.run([sys.executable, '-c', 'b = bytearray(3_000_003)'], check=True)";
    assert_eq!(subject.change(started).live, 0);
    assert_eq!(subject.words().pid, before.pid);
    assert_eq!(subject.change("free(p)"), gave(1_000_001));
}

#[test]
fn a_program_started_in_its_place_counts_from_zero() {
    let mut subject = Subject::start();
    subject.run("p = malloc(1 << 30)");
    let again = "script = sys.orig_argv; os.execv(sys.executable, [sys.executable, *script[1:]])";
    writeln!(subject.requests, "{again}").unwrap();
    let mut reply = String::new();
    subject.replies.read_line(&mut reply).unwrap();
    assert_eq!(reply, "ready\n");
    let words = subject.words();
    assert_eq!(words.pid, u64::from(subject.process.id()));
    assert!(words.calls > 0 && words.big_peak < 1 << 30, "{words:?}");
}

#[test]
fn without_a_ledger_the_program_runs_as_ever() {
    let output = python().args(["-c", "print(len(bytearray(1_000_000)))"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"1000000\n");
}

#[test]
fn a_file_that_is_no_ledger_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["somebody's notes".to_owned(), "x".repeat(4096)] {
        let path = folder.path().join("notes");
        std::fs::write(&path, &text).unwrap();
        let status = python().args(["-c", "pass"]).env("HEAP_LEDGER", &path).status().unwrap();
        assert!(status.success());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
