//! Writes snapshots as pickles, in the layouts that PyTorch has had.

use kernels::memory::Action;
use replay::snapshot::{Block, Event, Segment, Snapshot};

/// How a snapshot is written.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Entries in one batch, as Python's writer has them; the C++ one writes a list in one piece.
    pub batch: usize,
    /// Whether blocks have their address and entries their pool, as in new versions.
    pub new: bool,
}

pub const NEW: Layout = Layout { batch: 1000, new: true };

enum Tree {
    Int(u64),
    Text(String),
    Bool(bool),
    Pair(u64, u64),
    List(Vec<Tree>),
    Dict(Vec<(&'static str, Tree)>),
}

/// The bytes of a file.
pub fn pickled(snapshot: &Snapshot, layout: Layout) -> Vec<u8> {
    let segments = snapshot.segments.iter().map(|one| segment(one, layout)).collect();
    let trace = |events: &Vec<Event>| Tree::List(events.iter().map(|one| event(one, layout)).collect());
    let mut whole = vec![
        ("segments", Tree::List(segments)),
        ("device_traces", Tree::List(snapshot.traces.iter().map(trace).collect())),
    ];
    if let Some(text) = &snapshot.settings {
        whole.push(("allocator_settings", Tree::Dict(vec![("PYTORCH_CUDA_ALLOC_CONF", Tree::Text(text.clone()))])));
    }
    let mut bytes = b"\x80\x02".to_vec();
    write(&Tree::Dict(whole), layout.batch, &mut bytes);
    bytes.push(b'.');
    bytes
}

fn event(event: &Event, layout: Layout) -> Tree {
    let address = if event.action == Action::Oom { "device_free" } else { "addr" };
    let frame = Tree::Dict(vec![("name", Tree::Text("forward".to_owned())), ("line", Tree::Int(7))]);
    let mut fields = vec![
        ("action", Tree::Text(event.action.name().to_owned())),
        (address, Tree::Int(event.address)),
        ("size", Tree::Int(event.bytes)),
        ("stream", Tree::Int(event.stream)),
        ("frames", Tree::List(vec![frame])),
    ];
    if layout.new {
        fields.push(("pool_id", Tree::Pair(0, event.private.into())));
    }
    Tree::Dict(fields)
}

fn segment(segment: &Segment, layout: Layout) -> Tree {
    let kind = if segment.small { "small" } else { "large" };
    Tree::Dict(vec![
        ("device", Tree::Int(segment.device)),
        ("address", Tree::Int(segment.address)),
        ("total_size", Tree::Int(segment.bytes)),
        ("stream", Tree::Int(segment.stream)),
        ("segment_type", Tree::Text(kind.to_owned())),
        ("segment_pool_id", Tree::Pair(0, segment.private.into())),
        ("is_expandable", Tree::Bool(segment.expandable)),
        ("blocks", Tree::List(segment.blocks.iter().map(|one| block(one, layout)).collect())),
    ])
}

fn block(block: &Block, layout: Layout) -> Tree {
    let mut fields = vec![
        ("size", Tree::Int(block.bytes)),
        ("requested_size", Tree::Int(block.requested)),
        ("state", Tree::Text(block.state.name().to_owned())),
    ];
    if layout.new {
        fields.push(("address", Tree::Int(block.address)));
    } else {
        fields.push(("history", Tree::List(vec![Tree::Dict(vec![("addr", Tree::Int(block.address))])])));
    }
    Tree::Dict(fields)
}

fn write(tree: &Tree, batch: usize, out: &mut Vec<u8>) {
    match tree {
        Tree::Int(n) => {
            out.extend([0x8a, 9]);
            out.extend(n.to_le_bytes());
            out.push(0);
        }
        Tree::Text(text) => {
            out.push(b'X');
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.as_bytes());
        }
        Tree::Bool(on) => out.push(if *on { 0x88 } else { 0x89 }),
        Tree::Pair(first, second) => {
            write(&Tree::Int(*first), batch, out);
            write(&Tree::Int(*second), batch, out);
            out.push(0x86);
        }
        Tree::List(items) => {
            out.push(b']');
            for items in items.chunks(batch) {
                out.push(b'(');
                items.iter().for_each(|item| write(item, batch, out));
                out.push(b'e');
            }
        }
        Tree::Dict(fields) => {
            out.extend([b'}', b'(']);
            for (key, value) in fields {
                write(&Tree::Text((*key).to_owned()), batch, out);
                write(value, batch, out);
            }
            out.push(b'u');
        }
    }
}
