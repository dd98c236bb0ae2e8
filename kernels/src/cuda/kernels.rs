//! The operations that run on the device.

use super::Cuda;
use super::launch::{Parameter, Walk, blocks};
use crate::backend::{Backend, Binary, Comparison, Operand, Reduction, Second, Unary};
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;

/// The dtypes that the kernels know, as they are spelled in their names.
fn spelled(dtype: DType) -> Result<&'static str> {
    match dtype {
        DType::F32 | DType::F16 | DType::Bf16 | DType::F64 | DType::I32 | DType::I64 => Ok(dtype.name()),
        other => Err(unsupported(&format!("{other} elements"))),
    }
}

fn unsupported(what: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("{what} on a CUDA device asked: this engine has no kernel for it; move the tensor to the CPU first"),
    )
}

/// Address of the first element.
fn start(operand: Operand<'_>) -> u64 {
    let block = operand.block().as_ptr().expose_provenance() as u64;
    block + (operand.layout().offset() * operand.dtype().element_size()) as u64
}

fn address(operand: Operand<'_>) -> Parameter {
    Parameter::Address(start(operand))
}

/// A number as the kernels of this dtype take it.
fn number(value: Scalar, dtype: DType) -> Parameter {
    match dtype {
        DType::F64 => Parameter::Float(value.as_f64()),
        // By way of f32, as everywhere with floats of 16 bits.
        dtype if dtype.is_floating() => Parameter::Float(f64::from(value.as_f64() as f32)),
        _ => Parameter::Int(i64::from_scalar(value)),
    }
}

impl Cuda {
    /// Runs an element-wise kernel: the plain one where all operands lie in one run, else the strided one.
    fn element_wise(&self, name: &str, operands: &[Operand<'_>], value: Option<Parameter>) -> Result<()> {
        let layouts: Vec<_> = operands.iter().map(|operand| operand.layout()).collect();
        if layouts[0].numel() == 0 {
            return Ok(());
        }
        let walk = Walk::over(&layouts).ok_or_else(|| unsupported("more than 8 dimensions with gaps"))?;
        let mut parameters: Vec<Parameter> = operands.iter().map(|operand| address(*operand)).collect();
        let one_run = walk.is_one_run(operands.len());
        parameters.push(if one_run { Parameter::Count(walk.numel()) } else { Parameter::Walk(Box::new(walk)) });
        parameters.extend(value);
        let each = if one_run { 16 / operands[0].dtype().element_size() as u64 } else { 1 };
        let name = if one_run { name.to_owned() } else { format!("{name}_strided") };
        // SAFETY: the parameters are in the kernel's order, and operands borrow the tensors whose blocks they lead to.
        unsafe { self.launch(&name, blocks(walk.numel(), each), &mut parameters) }
    }
}

impl Backend for Cuda {
    fn fill(&self, out: Operand<'_>, value: Scalar) -> Result<()> {
        let dtype = out.dtype();
        self.element_wise(&format!("fill_{}", spelled(dtype)?), &[out], Some(number(value, dtype)))
    }

    fn ramp(&self, _: Operand<'_>, _: Scalar, _: Scalar) -> Result<()> {
        Err(unsupported("a range"))
    }

    fn copy(&self, out: Operand<'_>, input: Operand<'_>) -> Result<()> {
        let one_run = |walk: Walk| walk.is_one_run(2);
        if out.dtype() == input.dtype() && Walk::over(&[out.layout(), input.layout()]).is_some_and(one_run) {
            let bytes = (out.layout().numel() * out.dtype().element_size()) as u64;
            return self.copy_bytes(start(out), start(input), bytes);
        }
        let name = format!("convert_{}_{}", spelled(input.dtype())?, spelled(out.dtype())?);
        self.element_wise(&name, &[out, input], None)
    }

    fn unary(&self, operation: Unary, _: Operand<'_>, _: Operand<'_>) -> Result<()> {
        Err(unsupported(&format!("{operation:?}")))
    }

    fn binary(&self, operation: Binary, out: Operand<'_>, first: Operand<'_>, second: Second<'_>) -> Result<()> {
        let dtype = spelled(out.dtype())?;
        let name = match operation {
            Binary::Add => "add",
            Binary::Mul => "mul",
            other => return Err(unsupported(&format!("{other:?}"))),
        };
        match second {
            Second::Tensor(second) => self.element_wise(&format!("{name}_{dtype}"), &[out, first, second], None),
            Second::Number(value) => {
                let value = Some(number(value, out.dtype()));
                self.element_wise(&format!("{name}_scalar_{dtype}"), &[out, first], value)
            }
        }
    }

    fn compare(&self, _: Comparison, _: Operand<'_>, _: Operand<'_>, _: Second<'_>) -> Result<()> {
        Err(unsupported("a comparison"))
    }

    fn select(&self, _: Operand<'_>, _: Operand<'_>, _: Operand<'_>, _: Operand<'_>) -> Result<()> {
        Err(unsupported("a choice"))
    }

    fn reduce(&self, reduction: Reduction, out: Operand<'_>, input: Operand<'_>, dims: &[usize]) -> Result<()> {
        if reduction != Reduction::Sum || dims.len() < input.layout().shape().len() {
            return Err(unsupported("a reduction other than the sum of all elements"));
        }
        let dtype = spelled(input.dtype())?;
        let walk = Walk::over(&[input.layout(), input.layout()]);
        let walk = walk.ok_or_else(|| unsupported("more than 8 dimensions with gaps"))?;
        let one_run = walk.is_one_run(2);
        let count = blocks(walk.numel(), 1).min(1024);
        // Partial sums are 8 bytes each. Freed at once, they stay on this stream, whose kernels run in order.
        let partial = self.allocate(u64::from(count) * 8)?;
        let places = if one_run { Parameter::Count(walk.numel()) } else { Parameter::Walk(Box::new(walk)) };
        let name = format!("sum_{dtype}{}", if one_run { "" } else { "_strided" });
        let mut first = [Parameter::Address(partial), address(input), places];
        let mut second = [address(out), Parameter::Address(partial), Parameter::Count(u64::from(count))];
        // SAFETY: as in `element_wise`; the partial sums have room for one of each block.
        let launched = unsafe { self.launch(&name, count, &mut first) }.and_then(|()| {
            // SAFETY: as above.
            unsafe { self.launch(&format!("finish_{dtype}"), 1, &mut second) }
        });
        self.free(partial);
        launched
    }

    fn matmul(&self, _: Operand<'_>, _: Operand<'_>, _: Operand<'_>) -> Result<()> {
        Err(unsupported("a matrix product"))
    }

    fn equal(&self, _: Operand<'_>, _: Operand<'_>) -> Result<bool> {
        Err(unsupported("a comparison"))
    }

    fn read(&self, _: Operand<'_>) -> Result<Vec<Scalar>> {
        Err(unsupported("reading"))
    }

    fn write(&self, _: Operand<'_>, _: &[Scalar]) -> Result<()> {
        Err(unsupported("writing"))
    }
}
