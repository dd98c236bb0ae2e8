//! The tensors that a run refers to by handle.

use crate::{Fail, Handle};
use std::cell::{Ref, RefCell, RefMut};

/// Tensors by handle. A write op borrows its target exclusively, the others share.
pub struct Table<T> {
    slots: Vec<RefCell<Option<T>>>,
    free: Vec<usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Table<T> {
    /// A tensor to read; an error when the handle is empty or is being written by the same op.
    pub fn read(&self, handle: &Handle) -> Result<Ref<'_, T>, Fail> {
        let slot = self.slot(handle)?.try_borrow().map_err(|_| same_tensor(handle))?;
        Ref::filter_map(slot, Option::as_ref).map_err(|_| no_tensor(handle))
    }

    /// A tensor to write; an error when the handle is empty or is an operand of the same op.
    pub fn write(&self, handle: &Handle) -> Result<RefMut<'_, T>, Fail> {
        let slot = self.slot(handle)?.try_borrow_mut().map_err(|_| same_tensor(handle))?;
        RefMut::filter_map(slot, Option::as_mut).map_err(|_| no_tensor(handle))
    }

    /// Keeps a tensor and answers its handle.
    pub fn insert(&mut self, tensor: T) -> Handle {
        let cell = RefCell::new(Some(tensor));
        if let Some(at) = self.free.pop() {
            self.slots[at] = cell;
            Handle(at as u64)
        } else {
            self.slots.push(cell);
            Handle(self.slots.len() as u64 - 1)
        }
    }

    /// Puts a tensor at a chosen place, as programs do with their slots.
    pub fn put(&mut self, handle: &Handle, tensor: T) {
        let at = handle.0 as usize;
        while self.slots.len() <= at {
            self.slots.push(RefCell::new(None));
        }
        self.slots[at] = RefCell::new(Some(tensor));
    }

    /// Forgets a tensor; `true` if there was one.
    pub fn remove(&mut self, handle: &Handle) -> bool {
        let found = self.clear(handle);
        if found {
            self.free.push(handle.0 as usize);
        }
        found
    }

    /// Empties a slot and keeps its place; `true` if it held a tensor.
    pub fn clear(&mut self, handle: &Handle) -> bool {
        self.slots.get_mut(handle.0 as usize).is_some_and(|slot| slot.get_mut().take().is_some())
    }

    fn slot(&self, handle: &Handle) -> Result<&RefCell<Option<T>>, Fail> {
        self.slots.get(handle.0 as usize).ok_or_else(|| no_tensor(handle))
    }
}

fn no_tensor(handle: &Handle) -> Fail {
    Fail::error("protocol", format!("no tensor {} is kept here: it was never made, or it was dropped", handle.0))
}

fn same_tensor(handle: &Handle) -> Fail {
    Fail::unsupported(format!("tensor {} as target and operand of one op: pass a view of it as the operand", handle.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_reused_and_checked() {
        let mut table = Table::default();
        let a = table.insert("a");
        let b = table.insert("b");
        assert!(table.remove(&a));
        assert!(!table.remove(&a));
        assert!(table.read(&a).is_err());
        assert_eq!(table.insert("c"), a);
        assert_eq!(*table.read(&b).unwrap(), "b");
        let _writing = table.write(&b).unwrap();
        assert!(matches!(table.read(&b), Err(Fail::Unsupported(_))));
    }
}
