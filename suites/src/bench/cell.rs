//! One workload at one size: what is counted, priced and timed.

use crate::record::Params;
use crate::workloads::{self, Purpose};
use subject::{DType, Program};

/// One workload at one size.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The workload's name.
    pub workload: &'static str,
    /// Its parameters.
    pub params: Params,
}

impl Cell {
    /// Its program.
    pub fn program(&self, purpose: Purpose) -> Result<Program, String> {
        let workload = workloads::find(self.workload).ok_or_else(|| format!("no workload {}", self.workload))?;
        let dtype = DType::from_name(&self.params.dtype).ok_or_else(|| format!("no dtype {}", self.params.dtype))?;
        workload.program(self.params.elements, dtype, purpose).map_err(|fail| format!("{}: {fail:?}", self.workload))
    }
}
