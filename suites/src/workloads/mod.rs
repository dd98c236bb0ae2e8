//! What is measured: programs of the same ops that cases use, written once for every subject.

mod add;
mod chunk;
mod device;
mod loops;
mod matmul;
mod no_grad;
mod rebind;
mod reset;
mod share;
mod transfer;
mod twin;

use crate::record::{CPU, CUDA, Loop, WorkloadInfo};
use subject::{Calls, Clock, DType, Fail, Handle, Program, ProgramBuilder};

pub use twin::on_the_host;

/// A measured program.
pub struct Workload {
    /// `what.variant`; the variants of one `what` are compared.
    pub name: &'static str,
    /// What the body does, for readers.
    pub about: &'static str,
    /// The plain loop over memory that it cannot be faster than.
    pub bound: Option<Loop>,
    /// How it uses a CUDA device, where it needs one beside the CPU.
    pub device: Option<OnDevice>,
    /// The numbers of elements that it is run with.
    pub sizes: &'static [u64],
    /// The element types that it is run with; the first is the one that every plan keeps.
    pub dtypes: &'static [DType],
    write: Write,
}

/// How a workload uses a CUDA device.
#[derive(Debug, Clone, Copy)]
pub struct OnDevice {
    /// Whose clock times it.
    pub clock: Clock,
    /// The workload of the same subject that it cannot be faster than.
    pub bound_by: Option<&'static str>,
}

type Write = fn(&ProgramBuilder, i64, DType, Purpose) -> Result<Handle, Fail>;

/// What a program is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Counting: once, with values that show that it computes.
    Account,
    /// Timing: many times over, with values that leave the input as it was, so that every sample has the same result.
    Measure,
}

/// One op: from a single element to far beyond every cache.
const SINGLE: &[u64] = &[1, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 64_000_000];
/// What goes through memory several times, or is cut into chunks.
const SEVERAL: &[u64] = &[1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// What computes far more than it touches.
const COMPUTING: &[u64] = &[1_000, 10_000, 100_000, 1_000_000];
/// What moves between the host and the device or within it: 4 KiB to 1 GiB of f32, each size four times the one before.
pub(crate) const TRANSFERS: &[u64] =
    &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28];

const F32: &[DType] = &[DType::F32];
/// The element types that tutorial 000 compares.
const FLOATS: &[DType] = &[DType::F32, DType::F64, DType::F16, DType::Bf16];

/// Every workload.
pub const WORKLOADS: [Workload; 42] = [
    add::ADD_ALLOCATING,
    add::ADD_IN_PLACE,
    add::MUL_ALLOCATING,
    add::MUL_IN_PLACE,
    loops::ALLOCATING,
    loops::REUSING,
    chunk::WHOLE,
    chunk::PIECES,
    reset::ALLOCATING,
    reset::IN_PLACE,
    share::CLONE,
    share::VIEW,
    rebind::OVER_LIVE,
    rebind::DELETE_FIRST,
    no_grad::FORWARD_RECORDED,
    no_grad::FORWARD_NO_GRAD,
    no_grad::EVALUATION_RECORDED,
    no_grad::EVALUATION_NO_GRAD,
    no_grad::BLOCK_EACH_OP,
    no_grad::BLOCK_ROUND_LOOP,
    transfer::UPLOAD_PAGEABLE,
    transfer::UPLOAD_PINNED,
    transfer::UPLOAD_REGISTERED,
    transfer::UPLOAD_PINNING_INSIDE,
    transfer::UPLOAD_LOCKING_INSIDE,
    transfer::DOWNLOAD_PAGEABLE,
    transfer::DOWNLOAD_FRESH,
    transfer::DOWNLOAD_PINNED,
    transfer::DOWNLOAD_REGISTERED,
    transfer::COPY_UP,
    transfer::COPY_DOWN,
    device::COPY_WITHIN,
    device::ADD_ALLOCATING,
    device::ADD_IN_PLACE,
    device::LOOP_ALLOCATING,
    device::LOOP_REUSING,
    device::CACHE_KEPT,
    device::CACHE_EMPTIED,
    device::CACHE_NONE,
    matmul::F32,
    matmul::F16,
    matmul::BF16,
];

impl Workload {
    /// The program for this many elements.
    pub fn program(&self, elements: u64, dtype: DType, purpose: Purpose) -> Result<Program, Fail> {
        let builder = ProgramBuilder::default();
        let elements = i64::try_from(elements).map_err(|_| Fail::unsupported("more than 2^63 elements"))?;
        let result = (self.write)(&builder, elements, dtype, purpose)?;
        let clock = self.device.map_or(Clock::Host, |device| device.clock);
        Ok(builder.finish(result, clock))
    }

    /// The workload of the same subject that it cannot be faster than.
    pub fn bound_by(&self) -> Option<&'static str> {
        self.device?.bound_by
    }

    /// What the run log says of it.
    pub fn info(&self) -> WorkloadInfo {
        WorkloadInfo {
            workload: self.name.into(),
            about: self.about.into(),
            bound: self.bound,
            bound_by: self.bound_by().map(str::to_owned),
            device: self.device.map(|_| CUDA.to_owned()),
            clock: self.device.map_or(Clock::Host, |device| device.clock),
        }
    }
}

/// The workload with this name.
pub fn find(name: &str) -> Option<&'static Workload> {
    static ALL: [Workload; WORKLOADS.len()] = WORKLOADS;
    ALL.iter().find(|workload| workload.name == name)
}

/// Whether the workload with this name needs a device beside the CPU.
pub fn needs_device(name: &str) -> bool {
    find(name).is_some_and(|workload| workload.device.is_some())
}

/// Whether a launch on this device times the workload with this name: one on the CPU times every one, because it finds a
/// GPU by itself, one on the GPU those that need it, and one on a simulated device none.
pub fn timed_on(device: &str, name: &str) -> bool {
    device == CPU || device == CUDA && needs_device(name)
}

/// A body that does nothing: what is left is the harness.
pub fn nothing() -> Result<Program, Fail> {
    let builder = ProgramBuilder::default();
    let result = builder.ones([1], DType::F32)?;
    builder.begin_body();
    Ok(builder.finish(result, Clock::Host))
}

/// An input between 0.5 and 1.5 whose elements differ from their neighbours, as far as the dtype can tell them apart.
///
/// It is computed in 64 bits, so that it is the same in every library, and converted once.
fn input(b: &ProgramBuilder, elements: i64, dtype: DType) -> Result<Handle, Fail> {
    let mut a = b.arange(elements, DType::F64)?;
    b.mul_scalar_(&mut a, 1.0 / elements as f64)?;
    b.add_scalar_(&mut a, 0.5)?;
    let converted = b.to(&a, dtype)?;
    b.drop_tensor(a);
    Ok(converted)
}
