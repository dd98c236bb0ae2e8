//! Many elements brought together, in new storage.

use super::backend;
use crate::backend::Reduction;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::tensor::Tensor;

impl Tensor {
    /// The sum of all elements, a tensor of no dimensions.
    ///
    /// # Errors
    /// As of [`Tensor::sum_over`].
    pub fn sum(&self) -> Result<Tensor> {
        let all: Vec<i64> = (0..self.layout().ndim() as i64).collect();
        self.sum_over(&all)
    }

    /// The sums over some dimensions, which go away. Integers and bools add up in i64 and wrap; floats add up in f64 and
    /// are rounded once to their dtype.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] when a dimension is out of range or named twice.
    pub fn sum_over(&self, dims: &[i64]) -> Result<Tensor> {
        let over = self.dims(dims)?;
        let out =
            self.allocate_beside(Layout::contiguous(self.layout().without(&over).shape())?, self.dtype().of_sum())?;
        backend(&[self])?.reduce(Reduction::Sum, out.operand()?, self.operand()?, &over)?;
        Ok(out)
    }

    /// Dimensions as they are counted, each once.
    fn dims(&self, dims: &[i64]) -> Result<Vec<usize>> {
        let mut over = Vec::with_capacity(dims.len());
        for &dim in dims {
            let dim = self.layout().dim(dim)?;
            if over.contains(&dim) {
                return Err(Error::new(
                    ErrorKind::Index,
                    format!("dimension {dim} appears twice in {dims:?}; name it once"),
                ));
            }
            // Without dimensions, 0 and -1 name none.
            if dim < self.layout().ndim() {
                over.push(dim);
            }
        }
        over.sort_unstable();
        Ok(over)
    }

    /// The mean of all elements, a tensor of no dimensions; NaN of none. Added up in f64 and rounded once.
    ///
    /// # Errors
    /// [`ErrorKind::DType`] for integers and bools.
    pub fn mean(&self) -> Result<Tensor> {
        self.reduced(Reduction::Mean)
    }

    /// The least of all elements, a tensor of no dimensions; NaN where there is one.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] for a tensor without elements.
    pub fn min(&self) -> Result<Tensor> {
        self.check_some("least")?;
        self.reduced(Reduction::Min)
    }

    /// The greatest of all elements, a tensor of no dimensions; NaN where there is one.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] for a tensor without elements.
    pub fn max(&self) -> Result<Tensor> {
        self.check_some("greatest")?;
        self.reduced(Reduction::Max)
    }

    fn check_some(&self, which: &str) -> Result<()> {
        if self.numel() > 0 {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Shape,
            format!("the {which} of no elements asked, shape {:?}; give a tensor that has some", self.shape()),
        ))
    }

    fn reduced(&self, reduction: Reduction) -> Result<Tensor> {
        let all: Vec<usize> = (0..self.layout().ndim()).collect();
        let out = self.allocate_beside(Layout::contiguous(&[])?, self.dtype())?;
        backend(&[self])?.reduce(reduction, out.operand()?, self.operand()?, &all)?;
        Ok(out)
    }
}
