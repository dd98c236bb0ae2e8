//! The reference engine as a subject.

mod convert;
mod device;

use convert::{Answer, dtype_from, dtype_to, scalar_from, scalar_to};
use device::Device;
use kernels::Tensor;
use subject::{Checksum, DType, Fail, Identity, Library, Scalar};

/// The reference engine; it has no state beside its tensors.
struct Reference;

type Result<T> = std::result::Result<T, Fail>;

impl Library for Reference {
    type Tensor = Tensor;

    fn checksum(&mut self, a: &Tensor) -> Result<Checksum> {
        Ok(Checksum::of_bytes(a.numel() as u64, &a.to_bytes().answer()?))
    }

    fn empty(&mut self, shape: &[i64], dtype: DType) -> Result<Tensor> {
        Tensor::empty(shape, dtype_to(dtype)).answer()
    }

    fn zeros(&mut self, shape: &[i64], dtype: DType) -> Result<Tensor> {
        Tensor::zeros(shape, dtype_to(dtype)).answer()
    }

    fn ones(&mut self, shape: &[i64], dtype: DType) -> Result<Tensor> {
        Tensor::ones(shape, dtype_to(dtype)).answer()
    }

    fn full(&mut self, shape: &[i64], value: Scalar, dtype: DType) -> Result<Tensor> {
        Tensor::full(shape, scalar_to(value), dtype_to(dtype)).answer()
    }

    fn arange(&mut self, end: i64, dtype: DType) -> Result<Tensor> {
        Tensor::arange(0.into(), end.into(), 1.into(), Some(dtype_to(dtype))).answer()
    }

    fn tensor(&mut self, values: &[Scalar], shape: &[i64], dtype: DType) -> Result<Tensor> {
        let values: Vec<_> = values.iter().copied().map(scalar_to).collect();
        Tensor::from_values(&values, shape, dtype_to(dtype)).answer()
    }

    fn data_ptr(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.data_ptr() as i64)
    }

    fn storage_ptr(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.storage_ptr() as i64)
    }

    fn storage_bytes(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.storage_bytes() as i64)
    }

    fn storage_offset(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.offset() as i64)
    }

    fn element_size(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.element_size() as i64)
    }

    fn numel(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.numel() as i64)
    }

    fn shape(&mut self, a: &Tensor) -> Result<Vec<i64>> {
        Ok(a.shape().iter().map(|size| *size as i64).collect())
    }

    fn stride(&mut self, a: &Tensor) -> Result<Vec<i64>> {
        Ok(a.strides().iter().map(|stride| *stride as i64).collect())
    }

    fn dtype(&mut self, a: &Tensor) -> Result<DType> {
        Ok(dtype_from(a.dtype()))
    }

    fn is_contiguous(&mut self, a: &Tensor) -> Result<bool> {
        Ok(a.is_contiguous())
    }

    fn values(&mut self, a: &Tensor) -> Result<Vec<Scalar>> {
        Ok(a.values().answer()?.into_iter().map(scalar_from).collect())
    }

    fn equal(&mut self, a: &Tensor, b: &Tensor) -> Result<bool> {
        a.equal(b).answer()
    }

    fn version(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.version() as i64)
    }

    fn view(&mut self, a: &Tensor, shape: &[i64]) -> Result<Tensor> {
        a.view(shape).answer()
    }

    fn reshape(&mut self, a: &Tensor, shape: &[i64]) -> Result<Tensor> {
        a.reshape(shape).answer()
    }

    fn narrow(&mut self, a: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        a.narrow(dim, start, length).answer()
    }

    fn select(&mut self, a: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        a.select(dim, index).answer()
    }

    fn transpose(&mut self, a: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
        a.transpose(dim0, dim1).answer()
    }

    fn expand(&mut self, a: &Tensor, shape: &[i64]) -> Result<Tensor> {
        a.expand(shape).answer()
    }

    fn permute(&mut self, a: &Tensor, dims: &[i64]) -> Result<Tensor> {
        a.permute(dims).answer()
    }

    fn movedim(&mut self, a: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
        a.movedim(source, destination).answer()
    }

    fn slice(&mut self, a: &Tensor, dim: i64, start: i64, end: i64, step: i64) -> Result<Tensor> {
        a.slice(dim, start, end, step).answer()
    }

    fn squeeze(&mut self, a: &Tensor, dim: i64) -> Result<Tensor> {
        a.squeeze(dim).answer()
    }

    fn unsqueeze(&mut self, a: &Tensor, dim: i64) -> Result<Tensor> {
        a.unsqueeze(dim).answer()
    }

    fn flatten(&mut self, a: &Tensor, start: i64, end: i64) -> Result<Tensor> {
        a.flatten(start, end).answer()
    }

    fn unfold(&mut self, a: &Tensor, dim: i64, size: i64, step: i64) -> Result<Tensor> {
        a.unfold(dim, size, step).answer()
    }

    fn as_strided(&mut self, a: &Tensor, shape: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
        a.as_strided(shape, strides, offset).answer()
    }

    fn diagonal(&mut self, a: &Tensor, offset: i64, dim0: i64, dim1: i64) -> Result<Tensor> {
        a.diagonal(offset, dim0, dim1).answer()
    }

    fn split(&mut self, a: &Tensor, size: i64, dim: i64) -> Result<Vec<Tensor>> {
        a.split(size, dim).answer()
    }

    fn tensor_split(&mut self, a: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
        a.tensor_split(sections, dim).answer()
    }

    fn chunk(&mut self, a: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
        a.chunk(chunks, dim).answer()
    }

    fn add_scalar(&mut self, a: &Tensor, value: Scalar) -> Result<Tensor> {
        a.add(scalar_to(value)).answer()
    }

    fn mul_scalar(&mut self, a: &Tensor, value: Scalar) -> Result<Tensor> {
        a.mul(scalar_to(value)).answer()
    }

    fn add(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.add(b).answer()
    }

    fn sub(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.sub(b).answer()
    }

    fn mul(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.mul(b).answer()
    }

    fn div(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.div(b).answer()
    }

    fn neg(&mut self, a: &Tensor) -> Result<Tensor> {
        a.neg().answer()
    }

    fn matmul(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.matmul(b).answer()
    }

    fn eq(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.eq(b).answer()
    }

    fn ne(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.ne(b).answer()
    }

    fn lt(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.lt(b).answer()
    }

    fn le(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.le(b).answer()
    }

    fn where_else(&mut self, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        Tensor::where_else(condition, a, b).answer()
    }

    fn sum(&mut self, a: &Tensor) -> Result<Tensor> {
        a.sum().answer()
    }

    fn sum_dim(&mut self, a: &Tensor, dim: i64) -> Result<Tensor> {
        a.sum_over(&[dim]).answer()
    }

    fn mean(&mut self, a: &Tensor) -> Result<Tensor> {
        a.mean().answer()
    }

    fn min(&mut self, a: &Tensor) -> Result<Tensor> {
        a.min().answer()
    }

    fn max(&mut self, a: &Tensor) -> Result<Tensor> {
        a.max().answer()
    }

    fn stack(&mut self, parts: Vec<&Tensor>, dim: i64) -> Result<Tensor> {
        Tensor::stack(&parts, dim).answer()
    }

    fn cat(&mut self, parts: Vec<&Tensor>, dim: i64) -> Result<Tensor> {
        Tensor::cat(&parts, dim).answer()
    }

    fn clone(&mut self, a: &Tensor) -> Result<Tensor> {
        a.clone_data().answer()
    }

    fn contiguous(&mut self, a: &Tensor) -> Result<Tensor> {
        a.contiguous().answer()
    }

    fn to(&mut self, a: &Tensor, dtype: DType) -> Result<Tensor> {
        a.to(dtype_to(dtype)).answer()
    }

    fn add_scalar_(&mut self, a: &mut Tensor, value: Scalar) -> Result<()> {
        a.add_(scalar_to(value)).answer()
    }

    fn mul_scalar_(&mut self, a: &mut Tensor, value: Scalar) -> Result<()> {
        a.mul_(scalar_to(value)).answer()
    }

    fn add_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        a.add_(b).answer()
    }

    fn sub_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        a.sub_(b).answer()
    }

    fn div_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        a.div_(b).answer()
    }

    fn neg_(&mut self, a: &mut Tensor) -> Result<()> {
        a.neg_().answer()
    }

    fn mul_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        a.mul_(b).answer()
    }

    fn fill_(&mut self, a: &mut Tensor, value: Scalar) -> Result<()> {
        a.fill_(scalar_to(value)).answer()
    }

    fn zero_(&mut self, a: &mut Tensor) -> Result<()> {
        a.zero_().answer()
    }

    fn copy_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        a.copy_(b).answer()
    }

    fn device(&mut self, _: &Tensor) -> Result<String> {
        Ok("cpu".into())
    }

    fn to_device(&mut self, a: &Tensor, device: &str, _non_blocking: bool) -> Result<Tensor> {
        match device {
            "cpu" => Ok(a.share()),
            other => Err(Fail::unsupported(format!("device {other:?}: this engine has the cpu alone"))),
        }
    }

    fn detach(&mut self, a: &Tensor) -> Result<Tensor> {
        Ok(a.detach())
    }
}

fn main() -> std::io::Result<()> {
    let identity = Identity { name: "reference", version: env!("CARGO_PKG_VERSION") };
    match Device::from_environment().map_err(std::io::Error::other)? {
        Some(device) => subject::serve(&identity, device),
        None => subject::serve(&identity, Reference),
    }
}
