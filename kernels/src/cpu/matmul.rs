//! The matrix product.

use super::run::Base;
use super::{not_defined, parallel};
use crate::backend::Operand;
use crate::element::{Arithmetic, Element, convert, with_number};
use crate::error::Result;
use rayon::prelude::*;

/// Rows of the result that are built up together; with [`COLUMNS`], as much as registers hold.
const ROWS: usize = 4;

/// Columns of the result that are built up together, from a panel of as many columns of the second matrix.
const COLUMNS: usize = 8;

pub(super) fn matmul(out: Operand<'_>, first: Operand<'_>, second: Operand<'_>) -> Result<()> {
    with_number!(out.dtype(), T => product::<T>(out, first, second),
        else return Err(not_defined("matmul", out.dtype())));
    Ok(())
}

/// Every panel writes columns of its own, which no other reads, so that panels may be made at once.
fn product<T: Element>(out: Operand<'_>, first: Operand<'_>, second: Operand<'_>) {
    let (rows, depth, columns) = (out.layout().shape()[0], first.layout().shape()[1], out.layout().shape()[1]);
    let (to, a, b) = (Matrix::<T>::of(out), Matrix::<T>::of(first), Matrix::<T>::of(second));
    let make = |panel: &mut Vec<[T::Compute; COLUMNS]>, left: usize| {
        let width = COLUMNS.min(columns - left);
        panel.clear();
        panel.extend((0..depth).map(|k| {
            let mut row = [T::Compute::from_i64(0); COLUMNS];
            for (j, own) in row[..width].iter_mut().enumerate() {
                // SAFETY: `k` and `left + j` are a row and a column of the second matrix.
                *own = convert(unsafe { b.at(k, left + j).read() });
            }
            row
        }));
        for top in (0..rows).step_by(ROWS) {
            let height = ROWS.min(rows - top);
            let mut sums = [[T::Compute::from_i64(0); COLUMNS]; ROWS];
            for (k, row) in panel.iter().enumerate() {
                for (i, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: the row is one of the first matrix (beyond the last, the last one again), `k` a column of it.
                    let factor: T::Compute = convert(unsafe { a.at(top + i.min(height - 1), k).read() });
                    sums.iter_mut().zip(row).for_each(|(sum, own)| *sum = sum.add(factor.mul(*own)));
                }
            }
            for (i, sums) in sums.iter().enumerate().take(height) {
                for (j, sum) in sums.iter().enumerate().take(width) {
                    // SAFETY: a row and a column of the output, which nothing else refers to.
                    unsafe { to.at(top + i, left + j).write(convert(*sum)) }
                }
            }
        }
    };
    let panels = (0..columns.div_ceil(COLUMNS)).map(|panel| panel * COLUMNS);
    if parallel::pays(rows.saturating_mul(depth).saturating_mul(columns)) {
        let panels: Vec<usize> = panels.collect();
        panels.into_par_iter().for_each_init(Vec::new, make);
    } else {
        let mut panel = Vec::new();
        panels.for_each(|left| make(&mut panel, left));
    }
}

/// A matrix by its rows and columns.
struct Matrix<T> {
    base: Base<T>,
    offset: usize,
    strides: [usize; 2],
}

impl<T> Matrix<T> {
    fn of(operand: Operand<'_>) -> Matrix<T> {
        let layout = operand.layout();
        Matrix {
            base: Base::of(operand),
            offset: layout.offset(),
            strides: std::array::from_fn(|dim| layout.strides()[dim]),
        }
    }

    fn at(&self, row: usize, column: usize) -> *mut T {
        self.base.at(self.offset + row * self.strides[0] + column * self.strides[1])
    }
}
