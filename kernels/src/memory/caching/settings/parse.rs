//! The grammar: `key:value,key:value`, where a value may be a list in brackets.
//!
//! PyTorch's tokenizer knows `,` `:` `[` `]` and drops white space; its parser skips the token after a key and the one
//! after a value without looking at them, so that `a:1;b:2` is one unknown value and `a,1` is accepted. So does this one.

use super::{MIB, Reserve, Settings, SettingsError, SettingsErrorKind};

type Parsed<T> = Result<T, SettingsError>;

const POOL_CLASSES: [&str; 2] = ["small", "large"];

fn refused<T>(message: impl Into<String>) -> Parsed<T> {
    Err(SettingsError { kind: SettingsErrorKind::Value, message: message.into() })
}

impl Settings {
    /// Puts a new string into force, as PyTorch does at run time: some settings go back to their defaults where the
    /// string does not name them, others stay until they are named again.
    pub fn apply(&mut self, text: &str) -> Parsed<()> {
        self.text = text.to_owned();
        self.warnings.clear();
        let tokens = tokens(text);
        // The size of large segments bounds others, so its place in the string does not matter.
        if self.version.since(11) {
            self.large_segment_first(&tokens)?;
        }
        self.max_split_size = u64::MAX;
        self.max_non_split_rounding = self.large_segment;
        self.roundup_power2_divisions = [0; 16];
        self.garbage_collection_threshold = 0.0;
        let mut at = Cursor { tokens: &tokens, at: 0 };
        while let Some(key) = at.next() {
            at.separator(self.version, ":")?;
            self.set(&key, &mut at)?;
            if !at.ended() {
                at.separator(self.version, ",")?;
            }
        }
        if self.pinned.max_round_threshold > self.pinned.max_cached_size {
            self.warnings.push("pinned_max_round_threshold_mb is above pinned_max_cached_size_mb, which wins".into());
        }
        Ok(())
    }

    fn large_segment_first(&mut self, tokens: &[String]) -> Parsed<()> {
        let Some(place) = tokens.iter().position(|token| token == "large_segment_size_mb") else { return Ok(()) };
        let mut at = Cursor { tokens, at: place + 1 };
        at.skip();
        match at.whole()? {
            size @ 11.. => self.large_segment = size.saturating_mul(MIB),
            _ => return refused("CachingAllocator option large_segment_size_mb must be > 10 MB"),
        }
        Ok(())
    }

    fn set(&mut self, key: &str, at: &mut Cursor) -> Parsed<()> {
        let version = self.version;
        match key {
            "backend" => match at.word()?.as_str() {
                "native" => {}
                "cudaMallocAsync" => {
                    return Err(SettingsError {
                        kind: SettingsErrorKind::Internal,
                        message: "backend:cudaMallocAsync is chosen when a process starts, and its memory is the \
                            driver's own: only the native allocator is followed"
                            .into(),
                    });
                }
                _ => return refused("Unknown allocator backend, options are native and cudaMallocAsync"),
            },
            "max_split_size_mb" => self.max_split_size = self.at_least_a_large_segment(key, at)?,
            "max_non_split_rounding_mb" => self.max_non_split_rounding = self.at_least_a_large_segment(key, at)?,
            // Done before all others.
            "large_segment_size_mb" if version.since(11) => drop(at.word()?),
            "garbage_collection_threshold" => {
                let threshold = at.number()?;
                if !(threshold > 0.0 && threshold < 1.0) {
                    return refused(threshold_refusal(threshold, version.since(10)));
                }
                self.garbage_collection_threshold = threshold;
            }
            "roundup_power2_divisions" => self.roundup_power2_divisions = divisions(at)?,
            "expandable_segments" => self.expandable_segments = at.boolean()?,
            "expandable_segments_reserve" if version.since(15) => {
                let word = at.word()?;
                match reserve(&word) {
                    Some(reserve) => self.expandable_segments_reserve = Some(reserve),
                    None => self.warnings.push(format!("{key}:{word} is no fraction and no size: the default stays")),
                }
            }
            "expandable_segments_reserve_by_class" if version.since(15) => self.reserve_by_class(key, at)?,
            "release_lock_on_cudamalloc" | "release_lock_on_hipmalloc" => {
                self.release_lock_on_cudamalloc = at.boolean()?;
            }
            "graph_capture_record_stream_reuse" if version.since(10) => {
                self.graph_capture_record_stream_reuse = at.boolean()?;
            }
            "per_process_memory_fraction" if version.since(10) => {
                let fraction = at.number()?;
                if !(0.0..=1.0).contains(&fraction) {
                    return refused("per_process_memory_fraction is invalid, set it in [0.0, 1.0]");
                }
                self.per_process_memory_fraction = fraction;
            }
            "throw_on_cudamalloc_oom" if version.since(11) => self.throw_on_cudamalloc_oom = at.boolean()?,
            _ if key.starts_with("pinned_") => self.set_pinned(key, at)?,
            _ => return self.unknown(key),
        }
        Ok(())
    }

    fn set_pinned(&mut self, key: &str, at: &mut Cursor) -> Parsed<()> {
        let version = self.version;
        match key {
            "pinned_use_cuda_host_register" | "pinned_use_hip_host_register" => {
                self.pinned.use_cuda_host_register = at.boolean()?;
            }
            "pinned_num_register_threads" => {
                let threads = at.whole()?;
                if !threads.is_power_of_two() {
                    return refused(format!("Number of register threads has to be power of 2, got {threads}"));
                }
                if threads > 128 {
                    return refused(format!(
                        "Number of register threads should be less than or equal to 128, got {threads}"
                    ));
                }
                self.pinned.num_register_threads = threads;
            }
            "pinned_use_background_threads" => self.pinned.use_background_threads = at.boolean()?,
            "pinned_reserve_segment_size_mb" if version.since(10) => match at.whole()? {
                0 => return refused("Pinned reserve segment size has to be greater than 0"),
                size => self.pinned.reserve_segment = size.saturating_mul(MIB),
            },
            "pinned_max_round_threshold_mb" if version.since(13) => {
                self.pinned.max_round_threshold = at.whole()?.saturating_mul(MIB);
            }
            "pinned_max_cached_size_mb" if version.since(13) => {
                self.pinned.max_cached_size = at.whole()?.saturating_mul(MIB);
            }
            "pinned_free_catch_all" if version.since(11) => self.pinned.free_catch_all = at.boolean()?,
            _ => return self.unknown(key),
        }
        Ok(())
    }

    fn unknown(&self, key: &str) -> Parsed<()> {
        refused(if self.version.since(10) {
            format!("Unrecognized key '{key}' in Accelerator allocator config.")
        } else {
            format!("Unrecognized CachingAllocator option: {key}")
        })
    }

    fn at_least_a_large_segment(&self, key: &str, at: &mut Cursor) -> Parsed<u64> {
        let size = at.whole()?;
        let least = self.large_segment / MIB;
        match (self.version.since(10), size) {
            (true, size) if size < least => {
                refused(format!("CachingAllocator option {key} too small, must be >= {least}"))
            }
            (false, size) if size <= least => {
                refused(format!("CachingAllocator option {key} too small, must be > {least}"))
            }
            (_, size) => Ok(size.saturating_mul(MIB)),
        }
    }

    fn reserve_by_class(&mut self, key: &str, at: &mut Cursor) -> Parsed<()> {
        for (class, word) in at.pairs()? {
            match (POOL_CLASSES.iter().position(|known| *known == class), reserve(&word)) {
                (Some(class), Some(reserve)) => self.expandable_segments_reserve_by_class[class] = Some(reserve),
                _ => self.warnings.push(format!("{key}: {class}:{word} says no class with a fraction or a size")),
            }
        }
        Ok(())
    }
}

fn threshold_refusal(threshold: f64, shared_parser: bool) -> &'static str {
    match (shared_parser, threshold > 0.0) {
        (true, _) => "garbage_collect_threshold is invalid, set it in (0.0, 1.0)",
        (false, false) => "garbage_collect_threshold too small, set it 0.0~1.0",
        (false, true) => "garbage_collect_threshold too big, set it 0.0~1.0",
    }
}

/// One number for all intervals, or `[256:1,512:2,>:4]`: from 256 MiB on, from 512 MiB on, above.
fn divisions(at: &mut Cursor) -> Parsed<[u64; 16]> {
    if !at.list_follows() {
        let divisions = at.whole()?;
        return if divisions.is_power_of_two() {
            Ok([divisions; 16])
        } else {
            refused("For roundups, the divisions has to be power of 2 ")
        };
    }
    let mut table = [0; 16];
    let mut last = None;
    for (interval, divisions) in at.pairs()? {
        let divisions = whole(&divisions)?;
        if divisions != 0 && !divisions.is_power_of_two() {
            return refused("For roundups, the divisions has to be power of 2 or 0 to disable roundup ");
        }
        if interval == ">" {
            table[last.map_or(1, |last| last + 1)..].fill(divisions);
            continue;
        }
        let mebibytes = whole(&interval)?;
        if !mebibytes.is_power_of_two() {
            return refused("For roundups, the intervals have to be power of 2 ");
        }
        let place = (mebibytes.ilog2() as usize).min(15);
        if last.is_none() {
            table[..place].fill(divisions);
        }
        table[place] = divisions;
        last = Some(place);
    }
    Ok(table)
}

/// `0.5`, or `40G`.
fn reserve(word: &str) -> Option<Reserve> {
    match word.strip_suffix(['G', 'g']) {
        Some(size) => size.parse().ok().filter(|size| *size > 0).map(|size: u64| Reserve::Bytes(size << 30)),
        None => word.parse().ok().filter(|part| *part > 0.0).map(Reserve::Fraction),
    }
}

/// What `std::stoull` makes of it: trailing junk is ignored, and a minus wraps round.
fn whole(word: &str) -> Parsed<u64> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    match digits[..end].parse::<u64>() {
        Ok(number) if negative => Ok(number.wrapping_neg()),
        Ok(number) => Ok(number),
        Err(_) => refused("stoull"),
    }
}

/// What `std::stod` makes of it: trailing junk is ignored.
fn number(word: &str) -> Parsed<f64> {
    let longest = (1..=word.len()).rev().filter(|end| word.is_char_boundary(*end));
    longest.into_iter().find_map(|end| word[..end].parse().ok()).map_or_else(|| refused("stod"), Ok)
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        if matches!(c, ',' | ':' | '[' | ']') {
            tokens.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            tokens.push(c.to_string());
        } else {
            word.push(c);
        }
    }
    tokens.extend((!word.is_empty()).then_some(word));
    tokens
}

struct Cursor<'t> {
    tokens: &'t [String],
    at: usize,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<String> {
        let token = self.tokens.get(self.at).cloned();
        self.skip();
        token
    }

    fn skip(&mut self) {
        self.at += 1;
    }

    fn ended(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The token between key and value, or between pairs: looked at by the older parser alone.
    fn separator(&mut self, version: super::TorchVersion, expected: &str) -> Parsed<()> {
        let found = self.next();
        if version.since(10) || found.as_deref() == Some(expected) {
            return Ok(());
        }
        refused(format!("Error parsing CachingAllocator settings, expected {expected}"))
    }

    fn word(&mut self) -> Parsed<String> {
        self.next().ok_or_else(|| SettingsError {
            kind: SettingsErrorKind::Internal,
            message: "Index out of bounds in ConfigTokenizer".into(),
        })
    }

    fn whole(&mut self) -> Parsed<u64> {
        whole(&self.word()?)
    }

    fn number(&mut self) -> Parsed<f64> {
        number(&self.word()?)
    }

    fn boolean(&mut self) -> Parsed<bool> {
        let index = self.at;
        match self.word()?.as_str() {
            "True" => Ok(true),
            "False" => Ok(false),
            other => {
                refused(format!("Expected 'True' or 'False' at index {index} in ConfigTokenizer but got '{other}'"))
            }
        }
    }

    fn list_follows(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token == "[")
    }

    /// `[a:1,b:2]`.
    fn pairs(&mut self) -> Parsed<Vec<(String, String)>> {
        self.skip();
        let mut pairs = Vec::new();
        loop {
            let first = self.word()?;
            if first == "]" {
                return Ok(pairs);
            }
            self.skip();
            pairs.push((first, self.word()?));
            if self.word()? == "]" {
                return Ok(pairs);
            }
        }
    }
}
