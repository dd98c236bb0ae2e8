//! The handle.

use crate::backend::Operand;
use crate::device::Device;
use crate::dtype::{DType, Rank};
use crate::error::Result;
use crate::layout::Layout;
use crate::storage::Storage;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// A tensor: a counted handle of one machine word to a layout on a shared storage.
///
/// It is neither `Send` nor `Sync`, so a write through one of several handles needs no lock. There is no `Clone`,
/// because the word means two things: [`Tensor::share`] gives another handle, [`Tensor::clone_data`] copies elements.
pub struct Tensor(Rc<Node>);

struct Node {
    storage: Rc<Storage>,
    layout: Layout,
    dtype: DType,
    counter: Counter,
}

/// Where the writes of a tensor are counted.
#[derive(Clone)]
enum Counter {
    OfStorage,
    Own(Rc<Cell<u64>>),
}

impl Tensor {
    /// A tensor on a storage of its own in host memory, not written.
    pub(crate) fn allocate(layout: Layout, dtype: DType) -> Result<Tensor> {
        let storage = Storage::empty(layout.numel(), dtype)?;
        Tensor::on(storage, layout, dtype)
    }

    /// A tensor on a storage of its own, on the device of this one, not written.
    pub(crate) fn allocate_beside(&self, layout: Layout, dtype: DType) -> Result<Tensor> {
        match self.storage().cuda() {
            None => Tensor::allocate(layout, dtype),
            Some(cuda) => Tensor::allocate_on(&Device::Cuda(cuda.clone()), layout, dtype),
        }
    }

    /// A tensor on a storage of its own, on a device, not written.
    pub(crate) fn allocate_on(device: &Device, layout: Layout, dtype: DType) -> Result<Tensor> {
        let storage = Storage::empty_on(device, layout.numel(), dtype)?;
        Tensor::on(storage, layout, dtype)
    }

    /// A tensor on a storage that is its own.
    pub(crate) fn on(storage: Storage, layout: Layout, dtype: DType) -> Result<Tensor> {
        storage.check_holds(&layout, dtype)?;
        Ok(Tensor(Rc::new(Node { storage: Rc::new(storage), layout, dtype, counter: Counter::OfStorage })))
    }

    /// Another handle to the same tensor: nothing is copied, and nothing tells the two apart.
    pub fn share(&self) -> Tensor {
        Tensor(Rc::clone(&self.0))
    }

    /// A new tensor on the same storage with another layout; it shares the version counter.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`](crate::ErrorKind::Shape) when the layout reaches outside the storage.
    pub fn with_layout(&self, layout: Layout) -> Result<Tensor> {
        self.0.storage.check_holds(&layout, self.dtype())?;
        Ok(self.sibling(layout, self.0.counter.clone()))
    }

    /// A new tensor with the same layout on the same storage; it shares the version counter (PyTorch's `detach`).
    pub fn detach(&self) -> Tensor {
        self.sibling(self.layout().clone(), self.0.counter.clone())
    }

    /// A new tensor with the same layout on the same storage, whose writes are counted apart, from 0 (PyTorch's `.data`).
    pub fn data(&self) -> Tensor {
        self.sibling(self.layout().clone(), Counter::Own(Rc::new(Cell::new(0))))
    }

    fn sibling(&self, layout: Layout, counter: Counter) -> Tensor {
        Tensor(Rc::new(Node { storage: Rc::clone(&self.0.storage), layout, dtype: self.dtype(), counter }))
    }

    /// Where the elements lie in the storage.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The block that holds the elements.
    pub fn storage(&self) -> &Storage {
        &self.0.storage
    }

    /// Whether two handles name the same tensor.
    pub fn is_same(&self, other: &Tensor) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Whether two tensors have one storage.
    pub fn shares_storage(&self, other: &Tensor) -> bool {
        Rc::ptr_eq(&self.0.storage, &other.0.storage)
    }

    /// In-place writes counted so far, by all tensors that share the counter.
    pub fn version(&self) -> u64 {
        self.counter().get()
    }

    /// Counts one in-place write.
    pub(crate) fn bump_version(&self) {
        let counter = self.counter();
        counter.set(counter.get() + 1);
    }

    fn counter(&self) -> &Cell<u64> {
        match &self.0.counter {
            Counter::OfStorage => self.0.storage.version(),
            Counter::Own(counter) => counter,
        }
    }

    /// The dtype and its rank in promotion.
    pub(crate) fn ranked(&self) -> (DType, Rank) {
        (self.dtype(), if self.layout().ndim() == 0 { Rank::ZeroDim } else { Rank::Dimensioned })
    }

    /// The elements as a backend sees them.
    pub(crate) fn operand(&self) -> Result<Operand<'_>> {
        self.operand_as(self.layout())
    }

    /// The elements of another layout on the same storage, as a backend sees them.
    pub(crate) fn operand_as<'a>(&'a self, layout: &'a Layout) -> Result<Operand<'a>> {
        self.0.storage.operand(layout, self.dtype())
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("dtype", &self.dtype())
            .field("layout", self.layout())
            .field("storage", &self.0.storage)
            .finish()
    }
}
