//! Several views along one dimension, which together have every element once.

use super::Layout;
use crate::error::{Error, ErrorKind, Result};

impl Layout {
    /// At most `chunks` views along `dim`, each of `ceil(size / chunks)` slices and the last of what remains, so that
    /// there may be fewer than asked for.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] when `chunks` is not positive; [`ErrorKind::Index`] when the dimension is out of range.
    pub fn chunk(&self, chunks: i64, dim: i64) -> Result<Vec<Layout>> {
        let dim = self.dim_of_many(dim, "chunk")?;
        let wanted = usize::try_from(chunks).ok().filter(|wanted| *wanted > 0).ok_or_else(|| {
            Error::new(
                ErrorKind::Value,
                format!("chunk into {chunks} pieces asked; the number of pieces must be greater than 0"),
            )
        })?;
        let size = self.shape[dim];
        if size == 0 {
            // Nothing can be divided in any number of ways; the number asked for is kept.
            let mut views = views(wanted)?;
            views.resize(wanted, self.clone());
            return Ok(views);
        }
        let step = size.div_ceil(wanted);
        Ok((0..size).step_by(step).map(|first| self.range(dim, first, step.min(size - first))).collect())
    }

    /// Views of `size` slices along `dim` each, the last of what remains. Of a dimension without slices there is one view.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] when `size` is negative, or 0 where there are slices; [`ErrorKind::Index`] when the dimension
    /// is out of range.
    pub fn split(&self, size: i64, dim: i64) -> Result<Vec<Layout>> {
        let dim = self.dim_of_many(dim, "split")?;
        let whole = self.shape[dim];
        match usize::try_from(size) {
            Ok(0) | Err(_) if size < 0 || whole > 0 => Err(Error::new(
                ErrorKind::Value,
                format!(
                    "split into pieces of {size} of dimension {dim} of size {whole}; a piece must have at least one"
                ),
            )),
            Ok(step) if whole > 0 => {
                Ok((0..whole).step_by(step).map(|first| self.range(dim, first, step.min(whole - first))).collect())
            }
            _ => Ok(vec![self.clone()]),
        }
    }

    /// Exactly `sections` views along `dim`; where the size does not divide, the first ones have one slice more.
    ///
    /// # Errors
    /// [`ErrorKind::Value`] when `sections` is not positive; [`ErrorKind::Index`] when the dimension is out of range.
    pub fn tensor_split(&self, sections: i64, dim: i64) -> Result<Vec<Layout>> {
        let dim = self.dim_of_many(dim, "tensor_split")?;
        let wanted = usize::try_from(sections).ok().filter(|wanted| *wanted > 0).ok_or_else(|| {
            Error::new(
                ErrorKind::Value,
                format!("tensor_split into {sections} sections asked; the number of sections must be greater than 0"),
            )
        })?;
        let (least, longer) = (self.shape[dim] / wanted, self.shape[dim] % wanted);
        let first = |section: usize| section * least + section.min(longer);
        let mut views = views(wanted)?;
        views.extend((0..wanted).map(|section| self.range(dim, first(section), first(section + 1) - first(section))));
        Ok(views)
    }
}

/// Room for so many views; their number need not be bounded by the size of a dimension.
fn views(count: usize) -> Result<Vec<Layout>> {
    let mut views = Vec::new();
    views.try_reserve_exact(count).map_err(|_| {
        Error::new(ErrorKind::OutOfMemory, format!("{count} views asked, for which there is no room; ask for fewer"))
    })?;
    Ok(views)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Layout {
        Layout::contiguous(&[2, 3]).unwrap()
    }

    #[test]
    fn chunks_are_ceiled_and_may_be_fewer() {
        let sizes = |size: usize, chunks| {
            let layout = Layout::contiguous(&[size, 2]).unwrap();
            layout.chunk(chunks, 0).unwrap().iter().map(|chunk| chunk.shape()[0]).collect::<Vec<_>>()
        };
        assert_eq!(sizes(10, 3), [4, 4, 2]);
        assert_eq!(sizes(5, 4), [2, 2, 1]);
        assert_eq!(sizes(3, 7), [1, 1, 1]);
        assert_eq!(sizes(0, 3), [0, 0, 0]);
        assert_eq!(rows().chunk(0, 0).unwrap_err().kind, ErrorKind::Value);
        assert_eq!(Layout::contiguous(&[0]).unwrap().chunk(i64::MAX, 0).unwrap_err().kind, ErrorKind::OutOfMemory);
    }

    #[test]
    fn a_split_has_pieces_of_its_size_and_a_tensor_split_as_many_as_asked() {
        let layout = Layout::contiguous(&[5, 2]).unwrap();
        let sizes = |parts: Vec<Layout>| parts.iter().map(|part| (part.offset(), part.shape()[0])).collect::<Vec<_>>();
        assert_eq!(sizes(layout.split(2, 0).unwrap()), [(0, 2), (4, 2), (8, 1)]);
        assert_eq!(sizes(layout.split(9, 0).unwrap()), [(0, 5)]);
        assert_eq!(sizes(layout.tensor_split(3, 0).unwrap()), [(0, 2), (4, 2), (8, 1)]);
        assert_eq!(sizes(layout.tensor_split(7, 0).unwrap())[4..], [(8, 1), (10, 0), (10, 0)]);
        for size in [0, -1] {
            assert_eq!(layout.split(size, 0).unwrap_err().kind, ErrorKind::Value);
            assert_eq!(layout.tensor_split(size, 0).unwrap_err().kind, ErrorKind::Value);
        }
        assert_eq!(layout.tensor_split(i64::MAX, 0).unwrap_err().kind, ErrorKind::OutOfMemory);
        let none = Layout::contiguous(&[0, 2]).unwrap();
        assert_eq!(sizes(none.split(0, 0).unwrap()), [(0, 0)]);
        assert_eq!(sizes(none.split(3, 0).unwrap()), [(0, 0)]);
        assert_eq!(none.split(-1, 0).unwrap_err().kind, ErrorKind::Value);
    }
}
