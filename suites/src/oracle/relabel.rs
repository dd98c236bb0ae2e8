//! The handles inside an op, found by the types that the table of ops gives its arguments.

use serde_json::Value as Json;
use subject::{Handle, OPS, Op};

/// The tensors that an op names, in the order of its arguments.
pub(super) fn handles(op: &Op) -> Vec<Handle> {
    let mut found = Vec::new();
    relabel(op, |handle| {
        found.push(handle.clone());
        Some(handle)
    });
    found
}

/// The op with other handles; `None` where one of them has no other.
pub(super) fn relabel(op: &Op, mut other: impl FnMut(Handle) -> Option<Handle>) -> Option<Op> {
    let info = OPS.iter().find(|info| info.name == op.name())?;
    let mut json = serde_json::to_value(op).ok()?;
    let mut swap = |place: &mut Json| {
        *place = other(Handle(place.as_u64()?))?.0.into();
        Some(())
    };
    for (name, kind) in info.args {
        match *kind {
            "tensor" | "target" => swap(json.get_mut("args")?.get_mut(*name)?)?,
            "tensors" => json.get_mut("args")?.get_mut(*name)?.as_array_mut()?.iter_mut().try_for_each(&mut swap)?,
            _ => {}
        }
    }
    serde_json::from_value(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use subject::DType;

    #[test]
    fn every_handle_is_found_and_replaced() {
        let cat = Op::Cat { parts: vec![Handle(3), Handle(5)], dim: 1 };
        assert_eq!(handles(&cat), [Handle(3), Handle(5)]);
        let other = relabel(&cat, |handle| Some(Handle(handle.0 + 1))).unwrap();
        assert_eq!(other.torch(), "torch.cat([t4, t6], 1)");
        let write = Op::Copy_ { a: Handle(0), b: Handle(2) };
        assert_eq!(handles(&write), [Handle(0), Handle(2)]);
        assert!(relabel(&write, |handle| (handle.0 == 0).then_some(handle)).is_none());
        assert!(handles(&Op::Ones { shape: vec![1], dtype: DType::F32 }).is_empty());
    }
}
