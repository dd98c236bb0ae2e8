//! The kernels of modules whose values are computed, known by their names.
//!
//! `RULE_TYPE` works on elements that lie side by side, `RULE_TYPE_strided` on those of a `Walk`. The arguments are the
//! addresses of the result and the inputs, the number of elements or the walk, and a number where the rule has one.

use crate::elements::Element;
use crate::errors::Error;
use crate::state::state;
use crate::walk::{OPERANDS, Walk};
use half::{bf16, f16};
use std::ffi::c_void;
use std::ptr::with_exposed_provenance_mut;

/// A kernel that is computed.
#[derive(Debug, PartialEq, Eq)]
pub struct Kernel {
    rule: Rule,
    kind: Kind,
    strided: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Rule {
    Fill,
    Add,
    Multiply,
    AddScalar,
    MultiplyScalar,
    Copy,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    F32,
    F16,
    Bf16,
    F64,
    I32,
    I64,
}

/// The kernel that spins for a number of nanoseconds.
pub const GATE: &str = "gate";

/// What a kernel computes, by its name; nothing where its values are not computed here.
pub fn recognise(name: &str) -> Option<Kernel> {
    let (name, strided) = name.strip_suffix("_strided").map_or((name, false), |name| (name, true));
    let (rule, kind_name) = name.rsplit_once('_')?;
    let kind = match kind_name {
        "f32" => Kind::F32,
        "f16" => Kind::F16,
        "bf16" => Kind::Bf16,
        "f64" => Kind::F64,
        "i32" => Kind::I32,
        "i64" => Kind::I64,
        _ => return None,
    };
    let rule = match rule {
        "fill" => Rule::Fill,
        "add" => Rule::Add,
        "mul" => Rule::Multiply,
        "add_scalar" => Rule::AddScalar,
        "mul_scalar" => Rule::MultiplyScalar,
        _ if rule.strip_prefix("convert_") == Some(kind_name) => Rule::Copy,
        _ => return None,
    };
    Some(Kernel { rule, kind, strided })
}

/// Computes a kernel. Memory that is not there and elements that are not aligned are errors, and nothing is written.
///
/// # Safety
/// `arguments` are those of the kernel.
pub unsafe fn compute(kernel: &Kernel, arguments: *const *const c_void) -> Result<(), Error> {
    // SAFETY: as the caller promised; the element is that of the kernel.
    unsafe {
        match kernel.kind {
            Kind::F32 => run::<f32>(kernel, arguments),
            Kind::F16 => run::<f16>(kernel, arguments),
            Kind::Bf16 => run::<bf16>(kernel, arguments),
            Kind::F64 => run::<f64>(kernel, arguments),
            Kind::I32 => run::<i32>(kernel, arguments),
            Kind::I64 => run::<i64>(kernel, arguments),
        }
    }
}

/// # Safety
/// As for `compute`, with operands of `T`.
unsafe fn run<T: Element>(kernel: &Kernel, arguments: *const *const c_void) -> Result<(), Error> {
    let operands = match kernel.rule {
        Rule::Fill => 1,
        Rule::AddScalar | Rule::MultiplyScalar | Rule::Copy => 2,
        Rule::Add | Rule::Multiply => 3,
    };
    let mut addresses = [0; OPERANDS];
    for (number, address) in addresses[..operands].iter_mut().enumerate() {
        // SAFETY: the kernel's first arguments are the addresses of its operands.
        *address = unsafe { *(*arguments.add(number)).cast::<u64>() };
    }
    // SAFETY: the argument after the operands is of this type.
    let walk = unsafe {
        let extent = *arguments.add(operands);
        if kernel.strided { *extent.cast::<Walk>() } else { Walk::contiguous(*extent.cast()) }
    };
    for (operand, address) in addresses[..operands].iter().enumerate() {
        let Some(bounds) = walk.bounds(operand)? else { return Ok(()) };
        check::<T>(*address, bounds)?;
    }
    let [out, a, b] = addresses.map(|address| with_exposed_provenance_mut::<T>(address as usize));
    // SAFETY: only rules that have a number as their last argument read it.
    let value = || unsafe { *(*arguments.add(operands + 1)).cast::<T::Value>() };
    // The result may be one of the inputs, so no slices are made of them.
    // SAFETY: all positions lie within the bounds that were checked, and rules read only operands that they have.
    let read = |operand: *mut T, at: i64| unsafe { operand.offset(at as isize).read() };
    // SAFETY: as above.
    let write = |at: i64, value: T| unsafe { out.offset(at as isize).write(value) };
    match kernel.rule {
        Rule::Fill => {
            let value = T::of(value());
            walk.each(|at| write(at[0], value));
        }
        Rule::Add => walk.each(|at| write(at[0], read(a, at[1]).plus(read(b, at[2])))),
        Rule::Multiply => walk.each(|at| write(at[0], read(a, at[1]).times(read(b, at[2])))),
        Rule::AddScalar => {
            let value = value();
            walk.each(|at| write(at[0], read(a, at[1]).plus_value(value)));
        }
        Rule::MultiplyScalar => {
            let value = value();
            walk.each(|at| write(at[0], read(a, at[1]).times_value(value)));
        }
        Rule::Copy => walk.each(|at| write(at[0], read(a, at[1]))),
    }
    Ok(())
}

/// Checks that the elements from the first to the last position lie in device memory.
fn check<T>(address: u64, (first, last): (i128, i128)) -> Result<(), Error> {
    let size = size_of::<T>() as i128;
    let start = u64::try_from(i128::from(address) + first * size).map_err(|_| Error::ILLEGAL_ADDRESS)?;
    let bytes = u64::try_from((last - first + 1) * size).map_err(|_| Error::ILLEGAL_ADDRESS)?;
    if !address.is_multiple_of(align_of::<T>() as u64) {
        return Err(Error::MISALIGNED_ADDRESS);
    }
    state().memory.pieces(start, bytes).map(|_| ()).map_err(|_| Error::ILLEGAL_ADDRESS)
}

#[cfg(test)]
mod tests {
    use super::{Kernel, Kind, Rule, recognise};

    #[test]
    fn a_name_says_rule_type_and_whether_it_strides() {
        let known = |rule, kind, strided| Some(Kernel { rule, kind, strided });
        assert_eq!(recognise("fill_f32"), known(Rule::Fill, Kind::F32, false));
        assert_eq!(recognise("add_bf16_strided"), known(Rule::Add, Kind::Bf16, true));
        assert_eq!(recognise("mul_scalar_i64"), known(Rule::MultiplyScalar, Kind::I64, false));
        assert_eq!(recognise("convert_f16_f16_strided"), known(Rule::Copy, Kind::F16, true));
        for other in ["convert_f32_f16", "sum_f32", "finish_f32", "fill_u8", "fill", "convert_f16", "copy_f32"] {
            assert_eq!(recognise(other), None, "{other}");
        }
    }
}
