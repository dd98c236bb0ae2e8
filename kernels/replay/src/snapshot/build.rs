//! Makes a snapshot out of the values of its pickle as they are finished.
//!
//! Lists of the pickle become lists of records at once: a dictionary is one of an entry, a segment or a block by the
//! keys it has, and is nothing otherwise. A list or dictionary that stands in another one can no longer change, which
//! keeps values from nesting without end, or in themselves.

use super::{Block, Event, Segment, Snapshot};
use crate::pickle::{Build, Scalar};
use kernels::memory::{Action, BlockState};
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

#[derive(Default)]
pub(super) struct Builder {
    names_pools: bool,
}

/// A value of the pickle, as far as it is of use.
#[derive(Clone)]
pub(super) enum Value {
    Other,
    Bool(bool),
    Int(u64),
    Text(Rc<str>),
    /// The name of a pool: whether it is a private one.
    Pool(bool),
    /// The settings string and whether segments were expandable at the end.
    Settings(Rc<str>, bool),
    List(Rc<RefCell<List>>),
    Dict(Rc<RefCell<Dict>>),
}

/// A list and whether it stands in another value.
#[derive(Default)]
pub(super) struct List {
    placed: bool,
    items: Items,
    /// Entries so far, with those that are not kept.
    entries: u64,
    /// The first entry whose action is not known, and the action.
    unknown: Option<(u64, Rc<str>)>,
}

#[derive(Default)]
enum Items {
    /// Nothing of use, up to now.
    #[default]
    None,
    Events(Vec<Event>),
    Blocks(Vec<Block>),
    Segments(Vec<Segment>),
    Traces(Vec<Vec<Event>>),
}

/// The useful part of a dictionary and whether it stands in another value.
#[derive(Default)]
pub(super) struct Dict {
    placed: bool,
    fields: Vec<(Rc<str>, Value)>,
}

/// What errors call a dictionary with an action.
const ENTRY: &str = "a trace entry";
/// Actions that move no memory.
const STILL: [&str; 2] = ["snapshot", "user_defined"];

/// Keys whose values are kept.
fn wanted(key: &str) -> bool {
    matches!(
        key,
        "action" | "addr" | "device_free" | "size" | "stream" | "pool_id" // an entry
        | "address" | "requested_size" | "state" // a block
        | "device" | "total_size" | "segment_type" | "segment_pool_id" | "is_expandable" | "blocks" // a segment
        | "segments" | "device_traces" | "allocator_settings" // the whole
        | "PYTORCH_CUDA_ALLOC_CONF" | "expandable_segments" // the settings
    )
}

impl Build for Builder {
    type Value = Value;

    fn scalar(&mut self, scalar: Scalar<'_>) -> Value {
        match scalar {
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) => u64::try_from(value).map_or(Value::Other, Value::Int),
            Scalar::Str(text) => Value::Text(text.into()),
            Scalar::None | Scalar::Float(_) | Scalar::Bytes(_) => Value::Other,
        }
    }

    fn tuple(&mut self, items: &mut dyn Iterator<Item = Value>) -> Result<Value, String> {
        Ok(match (items.next(), items.next(), items.next()) {
            (Some(Value::Int(first)), Some(Value::Int(second)), None) => Value::Pool((first, second) != (0, 0)),
            _ => Value::Other,
        })
    }

    fn list(&mut self) -> Value {
        Value::List(Rc::default())
    }

    fn append(&mut self, list: &Value, items: &mut dyn Iterator<Item = Value>) -> Result<(), String> {
        let Value::List(list) = list else { return Err("values are added to what is no list".to_owned()) };
        for item in items {
            match item {
                Value::Dict(dict) => self.append_dict(&mut *open_list(list)?, &dict)?,
                Value::List(inner) => {
                    // The inner one first: a list in itself is found to be placed.
                    let mut inner = inner.try_borrow_mut().map_err(|_| cyclic())?;
                    if let Some(events) = inner.place_events()? {
                        push_trace(&mut open_list(list)?.items, events, inner.unknown.take())?;
                    }
                }
                _ => {}
            }
        }
        open_list(list).map(drop)
    }

    fn dict(&mut self) -> Value {
        Value::Dict(Rc::default())
    }

    fn set(&mut self, dict: &Value, key: Value, value: Value) -> Result<(), String> {
        let Value::Dict(dict) = dict else { return Err("keys are added to what is no dictionary".to_owned()) };
        let Value::Text(key) = key else { return Ok(()) };
        if !wanted(&key) {
            return Ok(());
        }
        let value = match value {
            Value::Dict(inner) if &*key == "allocator_settings" => inner.borrow().settings()?,
            Value::Dict(_) => return Err(format!("{key:?} is a dictionary")),
            Value::List(inner) => {
                inner.borrow_mut().place()?;
                Value::List(inner)
            }
            plain => plain,
        };
        let mut dict = dict.borrow_mut();
        if dict.placed {
            return Err(cyclic());
        }
        dict.fields.push((key, value));
        Ok(())
    }
}

impl Builder {
    /// Adds the record that a dictionary makes, if it makes one.
    fn append_dict(&mut self, list: &mut List, dict: &RefCell<Dict>) -> Result<(), String> {
        let List { items, entries, unknown, .. } = list;
        let mut dict = dict.borrow_mut();
        let placed_before = std::mem::replace(&mut dict.placed, true);
        if dict.has("action") {
            *entries += 1;
            let name = dict.text("action", ENTRY)?;
            let Some(action) = Action::ALL.into_iter().find(|action| action.name() == &*name) else {
                if !STILL.contains(&&*name) {
                    unknown.get_or_insert((*entries - 1, name));
                }
                return Ok(());
            };
            let event = dict.event(action)?;
            self.names_pools |= dict.has("pool_id");
            match items {
                Items::None => *items = Items::Events(vec![event]),
                Items::Events(events) => events.push(event),
                _ => return Err("a trace entry stands in a list of something else".to_owned()),
            }
        } else if dict.has("total_size") {
            if placed_before {
                return Err("a segment stands in two lists".to_owned());
            }
            let segment = dict.segment()?;
            match items {
                Items::None => *items = Items::Segments(vec![segment]),
                Items::Segments(segments) => segments.push(segment),
                _ => return Err("a segment stands in a list of something else".to_owned()),
            }
        } else if dict.has("state") {
            match items {
                Items::None => *items = Items::Blocks(vec![dict.block(0)?]),
                Items::Blocks(blocks) => {
                    let end = blocks.last().map_or(0, |last| last.address + last.bytes);
                    blocks.push(dict.block(end)?);
                }
                _ => return Err("a block stands in a list of something else".to_owned()),
            }
        }
        Ok(())
    }

    /// The snapshot that the whole pickle makes.
    pub(super) fn finish(&self, value: Value) -> Result<Snapshot, String> {
        let mut snapshot = Snapshot { names_pools: self.names_pools, ..Snapshot::default() };
        match value {
            Value::List(list) => match std::mem::take(&mut list.borrow_mut().items) {
                Items::Segments(segments) => snapshot.segments = segments,
                Items::None => {}
                _ => return Err(strange()),
            },
            Value::Dict(dict) => {
                let dict = dict.borrow();
                match dict.list("segments")? {
                    Some(Items::Segments(segments)) => snapshot.segments = segments,
                    Some(Items::None) => {}
                    _ => return Err(strange()),
                }
                match dict.list("device_traces")? {
                    Some(Items::Traces(traces)) => snapshot.traces = traces,
                    Some(Items::None) | None => {}
                    _ => return Err(strange()),
                }
                snapshot.settings = dict.get("allocator_settings").and_then(|value| match value {
                    // The string in force last need not name what an earlier one switched on.
                    Value::Settings(text, true) if !text.contains("expandable_segments") => {
                        let comma = if text.is_empty() { "" } else { "," };
                        Some(format!("expandable_segments:True{comma}{text}"))
                    }
                    Value::Settings(text, _) => Some(text.to_string()),
                    _ => None,
                });
            }
            _ => return Err(strange()),
        }
        Ok(snapshot)
    }
}

fn strange() -> String {
    "this is no memory snapshot: expected a dictionary with `segments`, or a list of segments".to_owned()
}

fn cyclic() -> String {
    "a list or dictionary is changed after it was put into another: the data are cyclic".to_owned()
}

/// A list that may still change.
fn open_list(list: &RefCell<List>) -> Result<RefMut<'_, List>, String> {
    let list = list.try_borrow_mut().map_err(|_| cyclic())?;
    if list.placed { Err(cyclic()) } else { Ok(list) }
}

/// Adds the trace of one more device. That of a device where nothing happened is empty; one with an action that is not
/// known may have moved memory unseen.
fn push_trace(items: &mut Items, events: Vec<Event>, unknown: Option<(u64, Rc<str>)>) -> Result<(), String> {
    if let Some((entry, action)) = unknown {
        let device = if let Items::Traces(traces) = items { traces.len() } else { 0 };
        return Err(format!("entry {entry} of device {device} has the action {action:?}, which is not known"));
    }
    match items {
        Items::None => *items = Items::Traces(vec![events]),
        Items::Traces(traces) => traces.push(events),
        _ => return Err("a list stands in a list of records".to_owned()),
    }
    Ok(())
}

impl List {
    /// Says that the list stands in another value from now on. A list of records can do so once.
    fn place(&mut self) -> Result<(), String> {
        let before = std::mem::replace(&mut self.placed, true);
        if before && !matches!(self.items, Items::None) {
            return Err("a list of records stands in two places".to_owned());
        }
        Ok(())
    }

    /// Moves the entries out, into the list of traces; `None` where the list holds something else.
    fn place_events(&mut self) -> Result<Option<Vec<Event>>, String> {
        self.place()?;
        match &mut self.items {
            Items::Events(events) => Ok(Some(std::mem::take(events))),
            Items::None => Ok(Some(Vec::new())),
            _ => Ok(None),
        }
    }
}

impl Dict {
    fn get(&self, key: &str) -> Option<&Value> {
        // As in Python, the last value of a key counts.
        self.fields.iter().rev().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn int(&self, key: &str, of: &str) -> Result<u64, String> {
        self.int_or_none(key, of)?.ok_or_else(|| format!("{of} has no {key:?}"))
    }

    fn int_or_none(&self, key: &str, of: &str) -> Result<Option<u64>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Int(value)) => Ok(Some(*value)),
            Some(_) => Err(format!("{key:?} of {of} is no whole number from 0 to 2^64 - 1")),
        }
    }

    fn text(&self, key: &str, of: &str) -> Result<Rc<str>, String> {
        match self.get(key) {
            Some(Value::Text(text)) => Ok(Rc::clone(text)),
            _ => Err(format!("{key:?} of {of} is no text")),
        }
    }

    fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Value::Bool(true) | Value::Pool(true)))
    }

    /// Moves the records of the list under `key` out.
    fn list(&self, key: &str) -> Result<Option<Items>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::List(list)) => Ok(Some(std::mem::take(&mut list.borrow_mut().items))),
            Some(_) => Err(format!("{key:?} is no list")),
        }
    }

    /// An entry with this action.
    fn event(&self, action: Action) -> Result<Event, String> {
        let of = ENTRY;
        let address = if action == Action::Oom && self.has("device_free") { "device_free" } else { "addr" };
        Ok(Event {
            action,
            address: self.int(address, of)?,
            bytes: self.int("size", of)?,
            stream: self.int("stream", of)?,
            private: self.flag("pool_id"),
        })
    }

    /// A block; `next` is its address where it names none, as files of early versions do.
    fn block(&self, next: u64) -> Result<Block, String> {
        let of = "a block";
        let bytes = self.int("size", of)?;
        let address = self.int_or_none("address", of)?.unwrap_or(next);
        address.checked_add(bytes).ok_or("a block ends beyond the last address")?;
        Ok(Block {
            address,
            bytes,
            requested: self.int_or_none("requested_size", of)?.unwrap_or(bytes),
            state: match &*self.text("state", of)? {
                "active_allocated" => BlockState::Allocated,
                "active_pending_free" | "active_awaiting_free" => BlockState::PendingFree,
                "inactive" => BlockState::Inactive,
                other => return Err(format!("\"state\" of a block is {other:?}")),
            },
        })
    }

    fn segment(&self) -> Result<Segment, String> {
        let of = "a segment";
        let address = self.int("address", of)?;
        let bytes = self.int("total_size", of)?;
        let end = address.checked_add(bytes).ok_or("a segment ends beyond the last address")?;
        let mut blocks = match self.list("blocks")? {
            Some(Items::Blocks(blocks)) => blocks,
            _ => return Err("a segment has no blocks".to_owned()),
        };
        if blocks[0].address == 0 {
            blocks.iter_mut().for_each(|block| block.address = block.address.saturating_add(address));
        }
        let mut at = address;
        for block in &blocks {
            if block.address != at {
                return Err(format!("the blocks of the segment at {address:#x} leave a gap, or overlap, at {at:#x}"));
            }
            at = at.saturating_add(block.bytes);
        }
        if at != end {
            return Err(format!("the blocks of the segment at {address:#x} end at {at:#x}, the segment at {end:#x}"));
        }
        Ok(Segment {
            device: self.int_or_none("device", of)?.unwrap_or(0),
            address,
            bytes,
            stream: self.int_or_none("stream", of)?.unwrap_or(0),
            small: match &*self.text("segment_type", of)? {
                "small" => true,
                "large" => false,
                other => return Err(format!("\"segment_type\" of a segment is {other:?}")),
            },
            expandable: self.flag("is_expandable"),
            private: self.flag("segment_pool_id"),
            blocks,
        })
    }

    fn settings(&self) -> Result<Value, String> {
        let text = match self.get("PYTORCH_CUDA_ALLOC_CONF") {
            Some(Value::Text(text)) => Rc::clone(text),
            None => Rc::from(""),
            Some(_) => return Err("\"PYTORCH_CUDA_ALLOC_CONF\" is no text".to_owned()),
        };
        Ok(Value::Settings(text, self.flag("expandable_segments")))
    }
}
