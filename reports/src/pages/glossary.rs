//! The words of the report, one meaning each.

use super::engine::Engine;
use super::frame::Frame;
use crate::digest::Digest;
use serde::Serialize;

#[derive(Serialize)]
struct View {
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    id: &'static str,
    title: &'static str,
    words: Vec<Word>,
}

#[derive(Serialize)]
struct Word {
    anchor: String,
    word: &'static str,
    meaning: &'static str,
}

type Words = &'static [(&'static str, &'static str)];

const GROUPS: [(&str, &str, Words); 5] = [
    (
        "asked",
        "What is asked",
        &[
            (
                "claim",
                "One statement of a tutorial that can be checked. It has an id, the lines it stands in, and a kind; the report states it in its own words.",
            ),
            (
                "kind",
                "What sort of statement a claim makes: exact (a value, an identity, an error), accounting (bytes and counts), performance (one thing takes longer than another), process (what the operating system shows), editorial (the text itself).",
            ),
            (
                "case",
                "A small program that runs on a subject and establishes facts. One case may bear on several claims, or on none.",
            ),
            (
                "fact",
                "One thing that a case looked at: the value seen in this run, the value known of PyTorch, and the value that a claim claimed. Times and addresses are never facts.",
            ),
            (
                "workload",
                "A program that is measured: what comes before the clock, what runs under it, the element type and the number of elements.",
            ),
        ],
    ),
    (
        "where",
        "Where it runs",
        &[
            ("subject", "A tensor library under test, run in a process of its own."),
            ("launch", "How a subject's process is started: device, threads, environment."),
            ("round", "One pass over all launches, each in a fresh process."),
            ("run log", "The file that a run writes, one record a line. Everything in the report is computed from it."),
        ],
    ),
    (
        "judged",
        "How it is judged",
        &[
            (
                "verdict",
                "Whether the tutorial is right, asked of PyTorch alone. Right: every fact fits the claim. Wrong: no fact fits, or the tutorial's own example does not. Partly-right: some do. Open: not decided in this run. Not-testable: about the text itself.",
            ),
            (
                "weight",
                "How much a correction matters. Breaks: code fails or results change. Misleads: bytes or time are other than told. Wording: units and formatting.",
            ),
            ("correction", "The right statement in one sentence, for a claim that is not right."),
            (
                "outcome",
                "Whether a subject behaves as PyTorch is known to: agrees, differs, unsupported (the library lacks an API), not-run (could not run here), crashed, timed-out, or harness-error (our fault, and never counted against the subject).",
            ),
            (
                "effect",
                "How many times as long the workload that a claim calls slower takes as the one it calls faster. Holds: the whole interval lies above 1.05. Reversed: below 0.95. No-difference: between the two. Ambiguous: none of these.",
            ),
        ],
    ),
    (
        "memory",
        "Memory",
        &[
            ("live", "Bytes of tensors in use."),
            ("held", "Bytes that an allocator has from the device or the system, in use or not."),
            ("process", "What the operating system or the driver shows for the whole process."),
            ("host", "What the operating system shows of a process's main memory, beside the memory of a device."),
            ("segment", "Memory that an allocator got from the device in one piece. It can go back only as a whole."),
            (
                "expandable segment",
                "A segment that grows and shrinks at its end, and whose free pages can go back one by one.",
            ),
            ("block", "A piece of a segment: live, pending or free."),
            ("pending", "Of a block: given back by the program, and not yet free because a stream may still use it."),
            ("pool", "The segments that serve one range of sizes: small for requests up to 1 MiB, large above."),
            ("split", "To cut a free block in two, of which one serves a request. The rest stays in the segment."),
            (
                "stranded",
                "Bytes that are held and not live, in a segment that cannot go back because another part of it is live.",
            ),
            (
                "fragmentation",
                "Free bytes that lie in pieces, each too small for a request that all of them together could serve.",
            ),
            (
                "pageable",
                "Ordinary main memory, which the system may move: the driver copies it to a device in pieces, through memory of its own.",
            ),
            (
                "pinned",
                "Main memory that was taken from the driver with its pages locked, so that a device reads and writes it directly.",
            ),
            ("registered", "Ordinary main memory whose pages were locked later, where they are."),
            (
                "simulated device",
                "A stand-in for the CUDA driver on a machine without a GPU. A library's own allocator runs over it and its bytes are counted; no time is taken on it.",
            ),
        ],
    ),
    (
        "measured",
        "How it is measured",
        &[
            ("interval", "Where the true value lies with 95 % as far as the samples of this run can tell."),
            (
                "smallest visible change",
                "Half the width of an interval, relative to its value. A smaller change could not have been seen in this run.",
            ),
            (
                "weather",
                "How steady the machine was, from a fixed piece of work repeated through the run: quiet (within 5 %), usable (within 25 %) or do-not-compare.",
            ),
            ("latency", "Of a transfer: the time at the smallest size, nearly all of it the cost of asking."),
            ("bandwidth", "Of a transfer: bytes moved over the time that it took. GB/s are 10⁹ bytes a second."),
            (
                "throttled",
                "A sample during which heat or a fault of the power supply slowed the GPU. It is in the run log, and no number comes from it.",
            ),
            (
                "A/A control",
                "The reference measured as if it were two subjects. Whatever our rule calls different here is a false alarm.",
            ),
            (
                "accounting",
                "Exact counts of one run of a workload: blocks taken from the heap, the most bytes live at once, and the bytes still live after it. No statistics are needed.",
            ),
        ],
    ),
];

/// The anchor of a word.
fn anchor(word: &str) -> String {
    word.to_lowercase().replace([' ', '/'], "-")
}

/// Builds the page.
pub fn page(engine: &Engine, digest: &Digest) -> Result<(String, String), String> {
    let groups = GROUPS.map(|(id, title, words)| {
        let words = words.iter().map(|&(word, meaning)| Word { anchor: anchor(word), word, meaning });
        Group { id, title, words: words.collect() }
    });
    let description = "The words of the report and what they mean.";
    let frame = Frame::new(digest, "glossary.html".into(), "glossary", "Glossary".into(), description.into());
    engine.page("glossary.html", &frame, &View { groups: groups.into() })
}
