//! The reference engine as a subject.

mod convert;
mod device;

use convert::{Answer, dtype_from, dtype_to, scalar_from, scalar_to};
use device::Gpu;
use kernels::Tensor;
use std::time::Duration;
use subject::{Checksum, DType, Fail, Identity, Lap, Library, Scalar};

/// The reference engine: its tensors, and the device that some of them are on.
#[derive(Default)]
struct Reference {
    gpu: Gpu,
}

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

    fn empty_on(&mut self, shape: &[i64], dtype: DType, device: &str) -> Result<Tensor> {
        Tensor::empty_on(shape, dtype_to(dtype), &self.gpu.device(device)?).answer()
    }

    fn zeros_on(&mut self, shape: &[i64], dtype: DType, device: &str) -> Result<Tensor> {
        Tensor::full_on(shape, 0, dtype_to(dtype), &self.gpu.device(device)?).answer()
    }

    fn empty_pinned(&mut self, shape: &[i64], dtype: DType) -> Result<Tensor> {
        Tensor::empty_pinned(shape, dtype_to(dtype), self.gpu.open()?).answer()
    }

    fn device(&mut self, a: &Tensor) -> Result<String> {
        Ok(a.device().to_string())
    }

    fn to_device(&mut self, a: &Tensor, device: &str, non_blocking: bool) -> Result<Tensor> {
        a.to_device(&self.gpu.device(device)?, non_blocking).answer()
    }

    fn copy_from(&mut self, a: &mut Tensor, b: &Tensor, non_blocking: bool) -> Result<()> {
        a.copy_from(b, non_blocking).answer()
    }

    fn register_(&mut self, a: &mut Tensor) -> Result<()> {
        a.register(self.gpu.open()?).answer()
    }

    fn unregister_(&mut self, a: &mut Tensor) -> Result<()> {
        a.unregister().answer()
    }

    fn pin_memory(&mut self, a: &Tensor) -> Result<Tensor> {
        a.pin_memory(self.gpu.open()?).answer()
    }

    fn is_pinned(&mut self, a: &Tensor) -> Result<bool> {
        Ok(a.is_pinned())
    }

    fn record_stream(&mut self, a: &Tensor, stream: i64) -> Result<()> {
        a.record_stream(device::number(stream)?).answer()
    }

    fn reset(&mut self) -> Result<()> {
        self.gpu.restore()
    }

    fn devices(&mut self) -> Vec<String> {
        let cuda = self.gpu.open().is_ok().then(|| "cuda".to_owned());
        ["cpu".to_owned()].into_iter().chain(cuda).collect()
    }

    fn start_clock(&mut self, gate: Duration) -> Result<()> {
        self.gpu.open()?.start_clock(gate).answer()
    }

    fn stop_clock(&mut self) -> Result<Lap> {
        let kernels::cuda::Lap { nanoseconds, gated } = self.gpu.open()?.stop_clock().answer()?;
        Ok(Lap { nanoseconds, gated })
    }

    fn synchronize(&mut self) -> Result<()> {
        self.gpu.open()?.synchronize().answer()
    }

    fn memory_allocated(&mut self) -> Result<i64> {
        Ok(self.gpu.open()?.caching().statistics().live() as i64)
    }

    fn max_memory_allocated(&mut self) -> Result<i64> {
        Ok(self.gpu.open()?.caching().statistics().peak_live() as i64)
    }

    fn memory_reserved(&mut self) -> Result<i64> {
        Ok(self.gpu.open()?.caching().statistics().held() as i64)
    }

    fn max_memory_reserved(&mut self) -> Result<i64> {
        Ok(self.gpu.open()?.caching().statistics().peak_held() as i64)
    }

    fn memory_used(&mut self) -> Result<i64> {
        let (free, total) = self.gpu.open()?.memory().answer()?;
        Ok((total - free) as i64)
    }

    fn memory_stat(&mut self, name: &str) -> Result<i64> {
        self.gpu.memory_stat(name)
    }

    fn memory_stats(&mut self) -> Result<Vec<i64>> {
        self.gpu.memory_stats()
    }

    fn memory_segments(&mut self) -> Result<Vec<i64>> {
        self.gpu.memory_segments()
    }

    fn empty_cache(&mut self) -> Result<()> {
        self.gpu.open()?.caching().empty_cache().map_err(device::refused)
    }

    fn take_and_give_back(&mut self, bytes: i64) -> Result<()> {
        let bytes = u64::try_from(bytes).map_err(|_| Fail::error("other", format!("{bytes} bytes asked")))?;
        self.gpu.open()?.take_and_give_back(bytes).answer()
    }

    fn reset_peak_memory_stats(&mut self) -> Result<()> {
        self.gpu.open()?.caching().reset_peak();
        Ok(())
    }

    fn reset_accumulated_memory_stats(&mut self) -> Result<()> {
        self.gpu.open()?.caching().reset_accumulated();
        Ok(())
    }

    fn set_memory_fraction(&mut self, fraction: Scalar) -> Result<()> {
        self.gpu.open()?.caching().set_fraction(fraction.as_f64()).map_err(device::refused)
    }

    fn set_allocator_settings(&mut self, settings: &str) -> Result<()> {
        self.gpu.apply_settings(settings)
    }

    fn set_stream(&mut self, stream: i64) -> Result<()> {
        self.gpu.open()?.set_stream(device::number(stream)?).answer()
    }

    fn pinned_stat(&mut self, name: &str) -> Result<i64> {
        self.gpu.pinned_stat(name)
    }

    fn empty_pinned_cache(&mut self) -> Result<()> {
        self.gpu.open()?.pinned().empty_cache().map_err(device::refused)
    }

    fn hold_events(&mut self, on: bool) -> Result<()> {
        self.gpu.open()?;
        device::hold_events(on)
    }

    fn complete_events(&mut self) -> Result<()> {
        device::complete_events()
    }

    fn detach(&mut self, a: &Tensor) -> Result<Tensor> {
        Ok(a.detach())
    }
}

fn main() -> std::io::Result<()> {
    let mut reference = Reference::default();
    subject::serve(&Identity { name: "reference", version: env!("CARGO_PKG_VERSION") }, &mut reference)?;
    // Nobody asks any more: what the driver refuses now is told by the way in which the process ends.
    reference.gpu.close().map_err(|refused| std::io::Error::other(refused.to_string()))
}
