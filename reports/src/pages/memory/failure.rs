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
    /// What limited the process, where its free bytes are not the device's.
    limit: Option<String>,
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
        let limit = limit(failure);
        let sizes = [
            ("request", failure.request),
            (if limit.is_some() { "free under the limit" } else { "free" }, failure.free),
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
            limit,
            verdict: verdict(failure.cause()).into(),
            rule: rule(failure),
        }
    }
}

/// What PyTorch's words tell of a limit, where the limit is what binds: held and free together are then what is allowed,
/// while the message calls more free, as it speaks of the whole device. Nothing where the device itself is full.
pub fn limit(failure: &OutOfMemory) -> Option<String> {
    let allowed = failure.held.saturating_add(failure.free);
    let (said, _) = said_before(&failure.message, " allowed;")?;
    // The words are rounded to two decimals.
    if said.abs_diff(allowed) > allowed / 100 {
        return None;
    }
    let [allowed, held, free] = [allowed, failure.held, failure.free].map(numbers::mebibytes);
    let sum = format!(
        "The process was allowed only {allowed} MiB of the device. Free under this limit is allowed − held = {allowed} − {held} = {free} MiB."
    );
    Some(match said_before(&failure.message, " is free") {
        Some((said, words)) if said > failure.free.saturating_add(failure.free / 100) => {
            format!("{sum} What the message calls free, {words}, is free on the device, and out of reach.")
        }
        _ => sum,
    })
}

/// The bytes that stand before some words of a message, and as they stand there: `79.95 GiB`.
fn said_before<'m>(message: &'m str, words: &str) -> Option<(u64, &'m str)> {
    let before = &message[..message.find(words)?];
    let (rest, unit) = before.rsplit_once(' ')?;
    let start = rest.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let factor = match unit {
        "bytes" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let number: f64 = rest[start..].parse().ok()?;
    Some(((number * factor) as u64, &before[start..]))
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
    fn a_limit_is_told_where_it_is_what_binds() {
        let with =
            |free, held, message: &str| limit(&OutOfMemory { message: message.into(), ..failure(36, free, held, 26) });
        let message = "GPU 0 has a total capacity of 80.00 GiB of which 79.95 GiB is free. 80.00 MiB allowed; Of the";
        assert_eq!(
            with(32, 48, message).as_deref(),
            Some(
                "The process was allowed only 80 MiB of the device. Free under this limit is allowed − held = 80 − 48 = 32 MiB. What the message calls free, 79.95 GiB, is free on the device, and out of reach."
            )
        );
        let enough = with(32, 48, "of which 32.00 MiB is free. 80.00 MiB allowed; Of the").unwrap();
        assert!(enough.ends_with("80 − 48 = 32 MiB."), "{enough}");
        assert_eq!(with(32, 48, "of which 32.00 MiB is free. Of the"), None);
        assert_eq!(with(32, 48, "of which 32.00 MiB is free. 60.00 GiB allowed; Of the"), None, "the device is full");
        assert_eq!(with(32, 48, "some allowed; of which all is free"), None);
    }

    #[test]
    fn every_cause_begins_with_its_word() {
        for cause in [Cause::Fragmentation, Cause::TooLittle, Cause::Other] {
            assert!(verdict(cause).to_lowercase().starts_with(&cause.to_string()));
        }
    }
}
