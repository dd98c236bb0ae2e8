//! Maps of segments: how each is cut into blocks, and what keeps it from going back.

use crate::digest::Digest;
use crate::{numbers, words};
use serde::Serialize;
use suites::record::{BlockRecord, BlockState, JUDGED, SegmentMap, SegmentRecord};

/// Most blocks of a segment that are listed in words.
const LISTED: usize = 12;

/// The segments of one allocator at one moment.
#[derive(Debug, Serialize)]
pub struct Map {
    title: String,
    /// The launches that have this map.
    launches: Vec<String>,
    /// Large segments and small ones, each to a scale of their own; no group is empty.
    groups: Vec<Group>,
    sums: Vec<(&'static str, String)>,
}

#[derive(Debug, Serialize)]
struct Group {
    title: &'static str,
    /// The bytes that the longest bar stands for.
    longest: String,
    rows: Vec<Row>,
}

/// One segment, or neighbours that are cut alike.
#[derive(Debug, Serialize)]
struct Row {
    /// Its place in the order of addresses, from 1.
    place: String,
    bytes: String,
    expandable: bool,
    /// Share of the longest bar, in percent.
    width: f64,
    pieces: Vec<Piece>,
    blocks: String,
    fate: String,
}

/// Neighbouring blocks that are alike.
#[derive(Debug, Serialize)]
struct Piece {
    class: &'static str,
    bytes: u64,
    name: Option<String>,
}

/// Where the bytes of a map are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// In use.
    pub live: u64,
    /// Given back and waiting for a stream.
    pub pending: u64,
    /// Free, in a segment that cannot go back because another part of it is in use.
    pub stranded: u64,
    /// Free in a segment that goes back whole, or page by page where it is expandable.
    pub returnable: u64,
}

impl Sums {
    /// The sums over segments.
    pub fn over(segments: &[SegmentRecord]) -> Self {
        let mut sums = Sums::default();
        for segment in segments {
            let [live, pending, free] = states(segment);
            sums.live += live;
            sums.pending += pending;
            if segment.expandable || live + pending == 0 { sums.returnable += free } else { sums.stranded += free }
        }
        sums
    }

    /// What the allocator has.
    pub fn held(&self) -> u64 {
        self.live + self.pending + self.stranded + self.returnable
    }
}

/// Bytes that are live, pending and free.
fn states(segment: &SegmentRecord) -> [u64; 3] {
    let of = |state| segment.blocks.iter().filter(|block| block.state == state).map(|block| block.bytes).sum();
    [BlockState::Live, BlockState::Pending, BlockState::Free].map(of)
}

fn size(segment: &SegmentRecord) -> u64 {
    segment.blocks.iter().map(|block| block.bytes).sum()
}

impl Map {
    /// The maps of a case, moment by moment; launches whose segments are the same share one.
    pub fn all(digest: &Digest, maps: &[&SegmentMap]) -> Vec<Self> {
        let mut alike: Vec<(&SegmentMap, Vec<String>)> = Vec::new();
        for &map in maps {
            let launch = digest.launch(&map.subject, &map.device);
            let of_the_moment = |other: &(&SegmentMap, Vec<String>)| other.0.title == map.title;
            let same = |other: &&mut (&SegmentMap, Vec<String>)| {
                of_the_moment(other) && other.0.segments == map.segments && !other.1.contains(&launch)
            };
            if let Some((_, launches)) = alike.iter_mut().find(same) {
                launches.push(launch);
            } else {
                let at = alike.iter().rposition(of_the_moment).map_or(alike.len(), |last| last + 1);
                alike.insert(at, (map, vec![launch]));
            }
        }
        alike.into_iter().map(|(map, launches)| Map::new(map, launches)).collect()
    }

    fn new(map: &SegmentMap, launches: Vec<String>) -> Self {
        let sums = Sums::over(&map.segments);
        let mut shown = vec![("live", numbers::bytes(sums.live))];
        if sums.pending > 0 {
            shown.push(("pending", numbers::bytes(sums.pending)));
        }
        shown.push(("stranded", numbers::bytes(sums.stranded)));
        shown.push(("can go back", numbers::bytes(sums.returnable)));
        shown.push(("held, all together", numbers::bytes(sums.held())));
        let groups =
            [(false, "Large segments, for requests above 1 MiB"), (true, "Small segments, for requests up to 1 MiB")];
        Map {
            title: map.title.clone(),
            launches,
            groups: groups.into_iter().filter_map(|(small, title)| group(&map.segments, small, title)).collect(),
            sums: shown,
        }
    }
}

fn group(segments: &[SegmentRecord], small: bool, title: &'static str) -> Option<Group> {
    let mine = || segments.iter().enumerate().filter(|(_, segment)| segment.small == small);
    let longest = mine().map(|(_, segment)| size(segment)).max()?;
    let mut alike: Vec<(usize, usize, &SegmentRecord)> = Vec::new();
    for (i, segment) in mine() {
        match alike.last_mut() {
            Some((_, last, other)) if *last + 1 == i && *other == segment => *last = i,
            _ => alike.push((i, i, segment)),
        }
    }
    let rows = alike.into_iter().map(|(first, last, segment)| row(first, last, segment, longest));
    Some(Group { title, longest: numbers::bytes(longest), rows: rows.collect() })
}

fn row(first: usize, last: usize, segment: &SegmentRecord, longest: u64) -> Row {
    let bytes = size(segment);
    let (place, each) = match last - first {
        0 => (format!("Segment {}", first + 1), ""),
        _ => (format!("Segments {} to {}", first + 1, last + 1), " each"),
    };
    Row {
        place,
        bytes: format!("{}{each}", numbers::bytes(bytes)),
        expandable: segment.expandable,
        width: (bytes as f64 / longest.max(1) as f64 * 1000.0).round() / 10.0,
        pieces: pieces(&segment.blocks),
        blocks: blocks(&segment.blocks),
        fate: fate(segment),
    }
}

fn pieces(blocks: &[BlockRecord]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for block in blocks {
        let class = match block.state {
            BlockState::Live => "live",
            BlockState::Pending => "pending",
            BlockState::Free => "free",
        };
        match pieces.last_mut() {
            Some(piece) if piece.class == class && piece.name.is_none() && block.name.is_none() => {
                piece.bytes += block.bytes;
            }
            _ => pieces.push(Piece { class, bytes: block.bytes, name: block.name.clone() }),
        }
    }
    pieces
}

/// The blocks in words: `24 MiB free, 2 MiB live (c)`.
fn blocks(blocks: &[BlockRecord]) -> String {
    let word = |block: &BlockRecord| {
        let state = match block.state {
            BlockState::Live => "live",
            BlockState::Pending => "pending",
            BlockState::Free => "free",
        };
        match &block.name {
            Some(name) => format!("{} {state} ({name})", numbers::bytes(block.bytes)),
            None => format!("{} {state}", numbers::bytes(block.bytes)),
        }
    };
    let mut parts: Vec<String> = blocks.iter().take(LISTED).map(word).collect();
    if blocks.len() > LISTED {
        parts.push(format!("and {} more", words::plural(blocks.len() - LISTED, "block", "blocks")));
    }
    parts.join(" · ")
}

/// What keeps a segment, or that nothing does.
fn fate(segment: &SegmentRecord) -> String {
    let [live, pending, free] = states(segment);
    let bytes = numbers::bytes(size(segment));
    let used: Vec<_> = segment.blocks.iter().filter(|block| block.state != BlockState::Free).collect();
    let mut names: Vec<String> = used.iter().filter_map(|block| block.name.clone()).collect();
    if !names.is_empty() && names.len() < used.len() {
        names.push(format!("{} without a name", used.len() - names.len()));
    }
    let by = if names.is_empty() { String::new() } else { format!(": {}", words::short(&words::list(&names), 60)) };
    let waits =
        if pending > 0 { format!(", {} of it waiting for a stream", numbers::bytes(pending)) } else { String::new() };
    match (live + pending, free) {
        (0, _) => "can go back".into(),
        (_, 0) => format!("all in use{by}{waits}"),
        (used, _) if segment.expandable => {
            format!("whole free pages can go back; kept are {} of {bytes}{by}{waits}", numbers::bytes(used))
        }
        (used, _) => format!("kept by {} of {bytes}{by}{waits}", numbers::bytes(used)),
    }
}

/// The most that is stranded in one map, PyTorch's where it has one, and what the maps of its launch hold where they part;
/// nothing without a map.
pub fn lead(digest: &Digest, maps: &[&SegmentMap]) -> Option<String> {
    let judged: Vec<_> = maps.iter().filter(|map| map.subject == JUDGED).collect();
    let maps: Vec<_> = if judged.is_empty() { maps.iter().collect() } else { judged };
    let most = maps.iter().max_by_key(|map| Sums::over(&map.segments).stranded)?;
    let launch = digest.launch(&most.subject, &most.device);
    let of_launch = maps.iter().filter(|map| (&map.subject, &map.device) == (&most.subject, &most.device));
    let parting = parting(of_launch.map(|map| (map.title.as_str(), Sums::over(&map.segments))).collect());
    let sums = Sums::over(&most.segments);
    let stranded = match sums.stranded {
        0 if parting.is_some() => None,
        0 => Some(format!("No byte is stranded in a segment on {launch}.")),
        stranded => Some(format!(
            "Of {} held, {} {} stranded in segments that cannot go back on {launch}.",
            numbers::bytes(sums.held()),
            numbers::bytes(stranded),
            if stranded == 1 { "is" } else { "are" }
        )),
    };
    let parting = parting.map(|parting| format!("Held on {launch}: {parting}."));
    Some([parting, stranded].into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// What each map holds and how much of it is live, where they do not all have the same of both.
fn parting(maps: Vec<(&str, Sums)>) -> Option<String> {
    let same = maps.windows(2).all(|pair| {
        let [a, b] = [pair[0].1, pair[1].1];
        (a.held(), a.live) == (b.held(), b.live)
    });
    let each = |(title, sums): &(&str, Sums)| {
        format!("{}, of which {} live (“{title}”)", numbers::bytes(sums.held()), numbers::bytes(sums.live))
    };
    (!same).then(|| maps.iter().map(each).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn segment(expandable: bool, blocks: &[(u64, BlockState, Option<&str>)]) -> SegmentRecord {
        let block = |&(mib, state, name): &(u64, BlockState, Option<&str>)| BlockRecord {
            bytes: mib * MIB,
            state,
            name: name.map(String::from),
        };
        SegmentRecord { small: false, expandable, blocks: blocks.iter().map(block).collect() }
    }

    fn plain(text: String) -> String {
        text.replace(numbers::THIN, " ")
    }

    #[test]
    fn a_segment_says_what_keeps_it() {
        use BlockState::{Free, Live, Pending};
        let said = |expandable, blocks: &[_]| plain(fate(&segment(expandable, blocks)));
        assert_eq!(
            said(false, &[(24, Free, None), (2, Live, Some("c")), (22, Free, None)]),
            "kept by 2 MiB of 48 MiB: c"
        );
        assert_eq!(said(false, &[(24, Free, None)]), "can go back");
        assert_eq!(said(false, &[(20, Live, Some("a")), (4, Live, None)]), "all in use: a and 1 without a name");
        assert_eq!(
            said(false, &[(20, Free, None), (4, Pending, None)]),
            "kept by 4 MiB of 24 MiB, 4 MiB of it waiting for a stream"
        );
        assert_eq!(
            said(true, &[(20, Free, None), (4, Live, Some("a"))]),
            "whole free pages can go back; kept are 4 MiB of 24 MiB: a"
        );
    }

    #[test]
    fn the_sums_are_all_that_is_held() {
        use BlockState::{Free, Live, Pending};
        let segments = [
            segment(false, &[(24, Free, None), (2, Live, None)]),
            segment(false, &[(20, Free, None)]),
            segment(true, &[(6, Free, None), (3, Pending, None)]),
        ];
        let sums = Sums::over(&segments);
        assert_eq!(sums, Sums { live: 2 * MIB, pending: 3 * MIB, stranded: 24 * MIB, returnable: 26 * MIB });
        assert_eq!(sums.held(), segments.iter().map(size).sum::<u64>());
    }

    #[test]
    fn maps_that_part_are_named_with_what_they_hold() {
        let sums = |live, returnable| Sums { live: live * MIB, returnable: returnable * MIB, ..Sums::default() };
        assert_eq!(
            parting(vec![("without a limit", sums(200, 0)), ("with one", sums(200, 200))]).map(plain).as_deref(),
            Some("200 MiB, of which 200 MiB live (“without a limit”); 400 MiB, of which 200 MiB live (“with one”)")
        );
        assert_eq!(parting(vec![("before", sums(2, 1)), ("after", sums(2, 1))]), None);
        assert_eq!(parting(vec![("the only one", sums(2, 1))]), None);
    }

    #[test]
    fn neighbours_that_are_cut_alike_share_a_row() {
        use BlockState::Live;
        let one = segment(false, &[(2, Live, None)]);
        let group = group(&[one.clone(), one.clone(), one], false, "large").unwrap();
        assert_eq!(group.rows.len(), 1);
        assert_eq!(
            (group.rows[0].place.as_str(), plain(group.rows[0].bytes.clone())),
            ("Segments 1 to 3", "2 MiB each".into())
        );
    }

    #[test]
    fn many_blocks_are_listed_in_part() {
        let many = segment(false, &[(1, BlockState::Live, None); 15]);
        assert!(blocks(&many.blocks).ends_with("and 3 blocks more"), "{}", blocks(&many.blocks));
        assert_eq!(pieces(&many.blocks).len(), 1);
    }
}
