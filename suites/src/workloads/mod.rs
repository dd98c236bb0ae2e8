//! What is measured: programs of the same ops that cases use, written once for every subject.

mod add;
mod chunk;
mod loops;
mod reset;

use subject::{DType, Fail, Handle, Program, ProgramBuilder};

/// A measured program.
pub struct Workload {
    /// `what.variant`; the variants of one `what` are compared.
    pub name: &'static str,
    /// What the body does, for readers.
    pub about: &'static str,
    /// Whether the body goes through a loop, so that it takes many times as long as one op.
    pub is_loop: bool,
    write: Write,
}

type Write = fn(&ProgramBuilder, i64, DType, Purpose) -> Result<Handle, Fail>;

/// What a program is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Counting: once, with values that show that it computes.
    Account,
    /// Timing: many times over, with values that leave the input as it was, so that every sample has the same result.
    Measure,
}

/// Numbers of elements, each far enough from the next to fall into another cache.
pub const SIZES: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Every workload.
pub const WORKLOADS: [Workload; 8] = [
    add::ALLOCATING,
    add::IN_PLACE,
    loops::ALLOCATING,
    loops::REUSING,
    chunk::WHOLE,
    chunk::PIECES,
    reset::ALLOCATING,
    reset::IN_PLACE,
];

impl Workload {
    /// The program for this many elements.
    pub fn program(&self, elements: u64, dtype: DType, purpose: Purpose) -> Result<Program, Fail> {
        let builder = ProgramBuilder::default();
        let elements = i64::try_from(elements).map_err(|_| Fail::unsupported("more than 2^63 elements"))?;
        let result = (self.write)(&builder, elements, dtype, purpose)?;
        Ok(builder.finish(result))
    }
}

/// The workload with this name.
pub fn find(name: &str) -> Option<&'static Workload> {
    static ALL: [Workload; WORKLOADS.len()] = WORKLOADS;
    ALL.iter().find(|workload| workload.name == name)
}

/// An input between 0.5 and 1.5 whose every element differs from its neighbours.
fn input(b: &ProgramBuilder, elements: i64, dtype: DType) -> Result<Handle, Fail> {
    use subject::Calls;
    let mut a = b.arange(elements, dtype)?;
    b.mul_scalar_(&mut a, 1.0 / elements as f64)?;
    b.add_scalar_(&mut a, 0.5)?;
    Ok(a)
}
