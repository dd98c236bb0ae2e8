//! Requests that ran out of memory: the library's words, and whether less fragmentation could have helped.

use crate::digest::Digest;
use crate::memory::Seen;
use crate::{numbers, words};
use serde::Serialize;
use suites::record::{Cause, OutOfMemory};

/// One request, explained.
#[derive(Debug, Serialize)]
pub struct Failure {
    request: String,
    launch: String,
    message: String,
    /// What, in MiB and in bytes.
    sizes: Vec<(&'static str, String, String)>,
    /// The verdict in words.
    verdict: String,
    /// The comparison that it rests on, in words and in numbers.
    rule: [String; 2],
}

impl Failure {
    /// Explains the requests of a case: the first of every launch, then the second.
    pub fn all(digest: &Digest, failures: &[&OutOfMemory]) -> Vec<Self> {
        let same_launch = |a: &OutOfMemory, b: &OutOfMemory| (&a.subject, &a.device) == (&b.subject, &b.device);
        let ordinal = |i: usize| failures[..i].iter().filter(|earlier| same_launch(earlier, failures[i])).count();
        let mut order: Vec<usize> = (0..failures.len()).collect();
        order.sort_by_key(|i| ordinal(*i));
        order.into_iter().map(|i| Failure::new(digest, failures[i])).collect()
    }

    fn new(digest: &Digest, failure: &OutOfMemory) -> Self {
        let cached = failure.held.saturating_sub(failure.live);
        let sizes = [
            ("request", failure.request),
            ("free", failure.free),
            ("held", failure.held),
            ("live", failure.live),
            ("held − live", cached),
            ("free + held − live", failure.free.saturating_add(cached)),
        ];
        Failure {
            request: numbers::bytes(failure.request),
            launch: digest.launch(&failure.subject, &failure.device),
            message: failure.message.clone(),
            sizes: sizes.map(|(what, bytes)| (what, numbers::mebibytes(bytes), numbers::count(bytes))).into(),
            verdict: verdict(failure.cause()).into(),
            rule: rule(failure),
        }
    }
}

/// What a cause means.
fn verdict(cause: Cause) -> &'static str {
    match cause {
        Cause::Fragmentation => {
            "Less fragmentation can help: what is free and what is held without being live would do together, but lies in pieces."
        }
        Cause::TooLittle => {
            "Less fragmentation cannot help: even with every byte that is held and not live, there is too little."
        }
        Cause::Other => "Another cause: what is free alone would do, so that something else refused.",
    }
}

/// The comparison, and the same with its numbers.
fn rule(failure: &OutOfMemory) -> [String; 2] {
    let [request, free, held, live] =
        [failure.request, failure.free, failure.held, failure.live].map(numbers::mebibytes);
    let all = numbers::mebibytes(failure.free.saturating_add(failure.held.saturating_sub(failure.live)));
    let sum = format!("{free} + {held} − {live} = {all}");
    match failure.cause() {
        Cause::Fragmentation => {
            ["free < request ≤ free + held − live".into(), format!("{free} < {request} ≤ {sum} MiB")]
        }
        Cause::TooLittle => ["request > free + held − live".into(), format!("{request} > {sum} MiB")],
        Cause::Other => ["request ≤ free".into(), format!("{request} ≤ {free} MiB")],
    }
}

/// What each request came to, in a sentence; nothing without a request.
pub fn lead(digest: &Digest, seen: &Seen) -> Option<String> {
    let mut alike: Vec<((u64, Cause), Vec<String>)> = Vec::new();
    for failure in &seen.failures {
        let (came_to, launch) = ((failure.request, failure.cause()), digest.launch(&failure.subject, &failure.device));
        match alike.iter_mut().find(|row| row.0 == came_to) {
            Some((_, launches)) if launches.contains(&launch) => {}
            Some((_, launches)) => launches.push(launch),
            None => alike.push((came_to, vec![launch])),
        }
    }
    let sentence = |((request, cause), launches): &((u64, Cause), Vec<String>)| {
        format!("A request of {} failed on {}: {cause}.", numbers::bytes(*request), words::list(launches))
    };
    (!alike.is_empty()).then(|| alike.iter().map(sentence).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn failure(request: u64, free: u64, held: u64, live: u64) -> OutOfMemory {
        OutOfMemory {
            subject: "pytorch".into(),
            device: suites::record::SIMULATED.into(),
            case: "oom::first".into(),
            request: request * MIB,
            free: free * MIB,
            held: held * MIB,
            live: live * MIB,
            message: "CUDA out of memory.".into(),
        }
    }

    #[test]
    fn the_rule_stands_with_its_numbers() {
        assert_eq!(
            rule(&failure(2048, 1024, 4096, 2560)),
            ["free < request ≤ free + held − live", "1,024 < 2,048 ≤ 1,024 + 4,096 − 2,560 = 2,560 MiB"]
        );
        assert_eq!(
            rule(&failure(4096, 1024, 4096, 4096)),
            ["request > free + held − live", "4,096 > 1,024 + 4,096 − 4,096 = 1,024 MiB"]
        );
        assert_eq!(rule(&failure(512, 1024, 4096, 4096)), ["request ≤ free", "512 ≤ 1,024 MiB"]);
    }

    #[test]
    fn every_cause_begins_with_its_word() {
        for cause in [Cause::Fragmentation, Cause::TooLittle, Cause::Other] {
            assert!(verdict(cause).to_lowercase().starts_with(&cause.to_string()));
        }
    }
}
