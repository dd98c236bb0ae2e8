//! What an allocator held before the first entry of a recording that began late: what it held at the end, with the
//! entries undone from the last to the first.
//!
//! A block that was given back meanwhile is known by its request alone. Its size follows from the rules: the rounded
//! request, and in a large pool up to 1 MiB more, which is too little to be kept apart. Where free memory follows the
//! block, the first allocation there shows its end, for allocations are cut from the front of what is free.

use crate::replay::count;
use crate::snapshot::{Event, Segment};
use kernels::memory::{Action, BlockStart, BlockState, SegmentStart, Settings};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
/// A segment of a small pool, which no segment of a large one is as small as.
const SMALL_SEGMENT: u64 = 2 * MIB;

/// The state before the first entry.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// The segments, by address.
    pub segments: Vec<SegmentStart>,
    /// Where live blocks begin.
    pub live: Vec<u64>,
    /// What is not certain about it, in words.
    pub notes: Vec<String>,
}

/// A block that was live before the first entry.
#[derive(Clone, Copy)]
struct Before {
    /// Bytes, where they are known.
    bytes: Option<u64>,
    requested: u64,
    /// Where an allocation shows that free memory behind it began.
    end: Option<u64>,
}

struct Place {
    bytes: u64,
    stream: u64,
    small: bool,
}

/// Undoes the entries of one device.
pub(crate) fn rebuild(events: &[Event], segments: &[&Segment], settings: &Settings) -> Result<Start, String> {
    let mut places = BTreeMap::new();
    let mut live = BTreeMap::new();
    let mut mapped = 0_i128;
    for segment in segments {
        if segment.expandable {
            mapped += i128::from(segment.bytes);
        } else {
            let Segment { bytes, stream, small, .. } = **segment;
            places.insert(segment.address, Place { bytes, stream, small });
        }
        let active = segment.blocks.iter().filter(|block| block.state != BlockState::Inactive);
        let before = |bytes, requested| Before { bytes: Some(bytes), requested, end: None };
        live.extend(active.map(|block| (block.address, before(block.bytes, block.requested))));
    }
    for (at, event) in events.iter().enumerate().rev() {
        let Event { action, address, bytes, stream, .. } = *event;
        let contradiction = |what: &str| format!("entry {at} {what} at {address:#x}, which does not fit what follows");
        match action {
            Action::Alloc => {
                live.remove(&address).ok_or_else(|| contradiction("hands out a block"))?;
                if let Some((_, before)) = live.range_mut(..address).next_back() {
                    before.end = Some(address);
                }
            }
            Action::SegmentAlloc if places.remove(&address).is_none() => return Err(contradiction("takes a segment")),
            Action::FreeCompleted => {
                let before = Before { bytes: None, requested: bytes, end: None };
                live.insert(address, before).map_or(Ok(()), |_| Err(contradiction("frees a block")))?;
            }
            Action::SegmentFree => {
                let place = Place { bytes, stream, small: bytes == SMALL_SEGMENT };
                places.insert(address, place).map_or(Ok(()), |_| Err(contradiction("returns a segment")))?;
            }
            Action::SegmentMap => mapped -= i128::from(bytes),
            Action::SegmentUnmap => mapped += i128::from(bytes),
            _ => {}
        }
    }
    if mapped != 0 {
        return Err(format!(
            "the recording began when expandable segments already held memory ({mapped} bytes by its entries): where \
             they began is not in the file, so what came before cannot be rebuilt. Record from the start of the program"
        ));
    }
    let mut start = Start::default();
    let mut sizes = Sizes { settings, uncertain: 0 };
    for (address, place) in places {
        start.segments.push(sizes.segment(address, &place, &mut live)?);
    }
    if let Some(address) = live.keys().next() {
        return Err(format!("a block was live at {address:#x} before the first entry, and no segment was there"));
    }
    start.live = start.segments.iter().flat_map(live_of).collect();
    if sizes.uncertain > 0 {
        start.notes.push(format!(
            "free memory follows {} from before the recording: taken to be no larger than the rounded request, where up \
             to 1 MiB more is possible",
            count(sizes.uncertain, "block", "blocks")
        ));
    }
    Ok(start)
}

fn live_of(segment: &SegmentStart) -> impl Iterator<Item = u64> + '_ {
    let mut at = segment.address;
    segment.blocks.iter().filter_map(move |block| {
        let address = at;
        at += block.size;
        block.live.map(|_| address)
    })
}

/// Finds the sizes of blocks.
struct Sizes<'a> {
    settings: &'a Settings,
    uncertain: usize,
}

impl Sizes<'_> {
    /// Lays the live blocks of a segment out, with free ones between them, and takes them off the list.
    fn segment(
        &mut self,
        address: u64,
        place: &Place,
        live: &mut BTreeMap<u64, Before>,
    ) -> Result<SegmentStart, String> {
        let end = address.saturating_add(place.bytes);
        let mut inside = live.split_off(&address);
        live.append(&mut inside.split_off(&end));
        let mut blocks = Vec::new();
        let mut at = address;
        let mut following = inside.keys().copied().skip(1).chain([end]);
        for (begins, block) in &inside {
            let next = following.next().unwrap_or(end);
            if *begins > at {
                blocks.push(BlockStart { size: begins - at, live: None });
            }
            let room = next - begins;
            let size = match block.bytes {
                Some(bytes) => bytes,
                // The first allocation behind the last block of a segment is in another one.
                None => match block.end.filter(|end| *end < next) {
                    Some(end) => end - begins,
                    None => self.size(block.requested, room, place.small),
                },
            };
            if size > room {
                return Err(format!(
                    "the block at {begins:#x} of {size} bytes does not fit into the {room} before the next one: the file \
                     was recorded under other settings, or its parts do not belong together"
                ));
            }
            blocks.push(BlockStart { size, live: Some(block.requested) });
            at = begins + size;
        }
        if at < end {
            blocks.push(BlockStart { size: end - at, live: None });
        }
        Ok(SegmentStart { address, stream: place.stream, small: place.small, blocks })
    }

    /// The size of a block that is known by its request, and by the bytes up to the next live one.
    fn size(&mut self, requested: u64, room: u64, small: bool) -> u64 {
        let rounded = self.settings.rounded(requested);
        let rest = room.saturating_sub(rounded);
        if small || rest == 0 {
            return rounded;
        }
        // Free blocks of a large pool exceed 1 MiB, and what is beyond the split limit is a segment by itself.
        if rest <= MIB || rounded >= self.settings.max_split_size {
            return room.max(rounded);
        }
        self.uncertain += 1;
        rounded
    }
}
