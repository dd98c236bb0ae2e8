//! The ops in ndarray's words.

use crate::element::{Element, beside, literal};
use crate::places::{axis, count, moved, place, shape};
use crate::refusal::{caught, shape_error};
use crate::tensor::{Shared, Tensor, any, like, number, signed, typed, views};
use ndarray::linalg::Dot;
use ndarray::{ArrayD, Axis, IxDyn, Slice, Zip, arr0, concatenate, stack};
use subject::{Checksum, DType, Fail, Library, Scalar};

/// ndarray; it has no state beside its arrays.
pub(crate) struct NdArray;

type Result<T> = std::result::Result<T, Fail>;

/// Ops that ndarray has no API for, with what is missing.
macro_rules! lacks {
    ($($what:literal: $($name:ident($($type:ty),*) -> $answer:ty;)*)*) => { $($(
        fn $name(&mut self $(, _: $type)*) -> Result<$answer> {
            Err(Fail::unsupported(concat!("ndarray has no ", $what)))
        }
    )*)* };
}

impl Library for NdArray {
    type Tensor = Tensor;

    lacks! {
        "elements to read before they are written: Array::uninit gives MaybeUninit":
            empty(&[i64], DType) -> Tensor;
        "storage apart from an array":
            storage_ptr(&Tensor) -> i64;
            storage_bytes(&Tensor) -> i64;
            storage_offset(&Tensor) -> i64;
        "version counter":
            version(&Tensor) -> i64;
        "broadcast that lives on without its origin: broadcast() borrows":
            expand(&Tensor, &[i64]) -> Tensor;
        "windows that live on without their origin: windows() borrows":
            unfold(&Tensor, i64, i64, i64) -> Tensor;
        "strides to choose for an array that shares its elements":
            as_strided(&Tensor, &[i64], &[i64], i64) -> Tensor;
        "even sections of an axis: axis_chunks_iter() makes chunks of one length":
            tensor_split(&Tensor, i64, i64) -> Vec<Tensor>;
        "min: the crate ndarray-stats has it":
            min(&Tensor) -> Tensor;
        "max: the crate ndarray-stats has it":
            max(&Tensor) -> Tensor;
        "devices":
            device(&Tensor) -> String;
            to_device(&Tensor, &str, bool) -> Tensor;
            pin_memory(&Tensor) -> Tensor;
            is_pinned(&Tensor) -> bool;
            synchronize() -> ();
        "autograd":
            requires_grad_(&mut Tensor, bool) -> ();
            requires_grad(&Tensor) -> bool;
            is_leaf(&Tensor) -> bool;
            has_grad_fn(&Tensor) -> bool;
            detach(&Tensor) -> Tensor;
            set_grad_enabled(bool) -> ();
            backward(&Tensor) -> ();
            has_grad(&Tensor) -> bool;
            grad(&Tensor) -> Tensor;
    }

    fn checksum(&mut self, a: &Tensor) -> Result<Checksum> {
        let size = a.dtype().size() as usize;
        any!(a, a => {
            let mut bytes = Vec::with_capacity(a.len() * size);
            a.iter().for_each(|element| element.push_bytes(&mut bytes));
            Ok(Checksum::of_bytes(a.len() as u64, &bytes))
        })
    }

    fn zeros(&mut self, shape: &[i64], dtype: DType) -> Result<Tensor> {
        self.full(shape, 0.into(), dtype)
    }

    fn ones(&mut self, shape: &[i64], dtype: DType) -> Result<Tensor> {
        self.full(shape, 1.into(), dtype)
    }

    fn full(&mut self, sizes: &[i64], value: Scalar, dtype: DType) -> Result<Tensor> {
        typed!(dtype, T => {
            let (sizes, value) = (shape(sizes)?, literal::<T>(value)?);
            caught(|| ArrayD::from_elem(sizes, value).into())
        })
    }

    fn arange(&mut self, end: i64, dtype: DType) -> Result<Tensor> {
        typed!(dtype, T => {
            let numbers = (0..end).map(|number| literal::<T>(number.into())).collect::<Result<Vec<T>>>()?;
            Ok(ndarray::Array::from_vec(numbers).into_dyn().into())
        })
    }

    fn tensor(&mut self, values: &[Scalar], sizes: &[i64], dtype: DType) -> Result<Tensor> {
        typed!(dtype, T => {
            let values = values.iter().copied().map(literal::<T>).collect::<Result<Vec<T>>>()?;
            ArrayD::from_shape_vec(shape(sizes)?, values).map(Tensor::from).map_err(shape_error)
        })
    }

    fn data_ptr(&mut self, a: &Tensor) -> Result<i64> {
        any!(a, a => Ok(a.as_ptr() as i64))
    }

    fn element_size(&mut self, a: &Tensor) -> Result<i64> {
        Ok(a.dtype().size())
    }

    fn numel(&mut self, a: &Tensor) -> Result<i64> {
        any!(a, a => Ok(a.len() as i64))
    }

    fn shape(&mut self, a: &Tensor) -> Result<Vec<i64>> {
        any!(a, a => Ok(a.shape().iter().map(|size| *size as i64).collect()))
    }

    fn stride(&mut self, a: &Tensor) -> Result<Vec<i64>> {
        any!(a, a => Ok(a.strides().iter().map(|stride| *stride as i64).collect()))
    }

    fn dtype(&mut self, a: &Tensor) -> Result<DType> {
        Ok(a.dtype())
    }

    fn is_contiguous(&mut self, a: &Tensor) -> Result<bool> {
        any!(a, a => Ok(a.is_standard_layout()))
    }

    fn values(&mut self, a: &Tensor) -> Result<Vec<Scalar>> {
        any!(a, a => Ok(a.iter().map(|element| element.scalar()).collect()))
    }

    fn equal(&mut self, a: &Tensor, b: &Tensor) -> Result<bool> {
        any!(a, a => {
            let b = like(a, b)?;
            Ok(a == b)
        })
    }

    fn view(&mut self, a: &Tensor, sizes: &[i64]) -> Result<Tensor> {
        any!(a, a => a.clone().into_shape_with_order(shape(sizes)?).map(Tensor::from).map_err(shape_error))
    }

    fn reshape(&mut self, a: &Tensor, sizes: &[i64]) -> Result<Tensor> {
        any!(a, a => a.clone().into_shape_clone(shape(sizes)?).map(Tensor::from).map_err(shape_error))
    }

    fn narrow(&mut self, a: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        any!(a, a => {
            let axis = axis(dim, a.ndim())?;
            let start = place(start, a.len_of(axis))?;
            let length = count(length)?;
            caught(|| rows(a, axis, start, length).into())
        })
    }

    fn select(&mut self, a: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        any!(a, a => {
            let axis = axis(dim, a.ndim())?;
            let index = place(index, a.len_of(axis))?;
            caught(|| a.clone().index_axis_move(axis, index).into())
        })
    }

    fn transpose(&mut self, a: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
        any!(a, a => {
            let (first, second) = (axis(dim0, a.ndim())?, axis(dim1, a.ndim())?);
            let mut swapped = a.clone();
            swapped.swap_axes(first.index(), second.index());
            Ok(swapped.into())
        })
    }

    fn permute(&mut self, a: &Tensor, dims: &[i64]) -> Result<Tensor> {
        any!(a, a => {
            let order = dims.iter().map(|dim| Ok(axis(*dim, a.ndim())?.index())).collect::<Result<Vec<usize>>>()?;
            caught(|| a.clone().permuted_axes(order).into())
        })
    }

    fn movedim(&mut self, a: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
        any!(a, a => {
            let (source, destination) = (axis(source, a.ndim())?, axis(destination, a.ndim())?);
            let order = moved(a.ndim(), source, destination);
            Ok(a.clone().permuted_axes(order).into())
        })
    }

    fn slice(&mut self, a: &Tensor, dim: i64, start: i64, end: i64, step: i64) -> Result<Tensor> {
        any!(a, a => {
            let axis = axis(dim, a.ndim())?;
            caught(|| {
                let slice = Slice::new(start as isize, Some(end as isize), step as isize);
                a.clone().slice_axis_move(axis, slice).into()
            })
        })
    }

    fn squeeze(&mut self, a: &Tensor, dim: i64) -> Result<Tensor> {
        any!(a, a => {
            let axis = axis(dim, a.ndim())?;
            let shared = a.clone();
            Ok(if a.len_of(axis) == 1 { shared.remove_axis(axis) } else { shared }.into())
        })
    }

    fn unsqueeze(&mut self, a: &Tensor, dim: i64) -> Result<Tensor> {
        any!(a, a => Ok(a.clone().insert_axis(axis(dim, a.ndim() + 1)?).into()))
    }

    fn flatten(&mut self, a: &Tensor, start: i64, end: i64) -> Result<Tensor> {
        any!(a, a => {
            let (first, last) = (axis(start, a.ndim())?.index(), axis(end, a.ndim())?.index());
            let (before, rest) = a.shape().split_at(first);
            let together = last.checked_sub(first).and_then(|between| rest.split_at_checked(between + 1));
            let (flat, after) = together
                .ok_or_else(|| Fail::error("shape", format!("dimensions {start} to {end} are not in order")))?;
            let sizes = [before, &[flat.iter().product()], after].concat();
            a.clone().into_shape_clone(IxDyn(&sizes)).map(Tensor::from).map_err(shape_error)
        })
    }

    fn diagonal(&mut self, a: &Tensor, offset: i64, dim0: i64, dim1: i64) -> Result<Tensor> {
        any!(a, a => {
            let (first, second) = (axis(dim0, a.ndim())?, axis(dim1, a.ndim())?);
            if a.ndim() != 2 || first == second {
                return Err(Fail::unsupported("ndarray has no diagonal of two axes out of many: into_diag() is of all"));
            }
            let shifted = if offset < 0 { first } else { second };
            let start = count(offset.saturating_abs())?;
            let rest = caught(|| a.clone().slice_axis_move(shifted, Slice::from(start..)))?;
            Ok(rest.into_diag().into_dyn().into())
        })
    }

    fn split(&mut self, a: &Tensor, size: i64, dim: i64) -> Result<Vec<Tensor>> {
        any!(a, a => chunks(a, axis(dim, a.ndim())?, count(size)?))
    }

    fn chunk(&mut self, a: &Tensor, number: i64, dim: i64) -> Result<Vec<Tensor>> {
        any!(a, a => {
            let axis = axis(dim, a.ndim())?;
            // Without a chunk to cut, the length is 0, which ndarray refuses.
            let length = match count(number)? {
                0 => 0,
                number => a.len_of(axis).div_ceil(number),
            };
            chunks(a, axis, length)
        })
    }

    fn add_scalar(&mut self, a: &Tensor, value: Scalar) -> Result<Tensor> {
        number!(a, a => {
            let value = beside(a, value)?;
            caught(|| (a + value).into())
        })
    }

    fn mul_scalar(&mut self, a: &Tensor, value: Scalar) -> Result<Tensor> {
        number!(a, a => {
            let value = beside(a, value)?;
            caught(|| (a * value).into())
        })
    }

    fn add(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| (a + b).into())
        })
    }

    fn sub(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| (a - b).into())
        })
    }

    fn mul(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| (a * b).into())
        })
    }

    fn div(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| (a / b).into())
        })
    }

    fn neg(&mut self, a: &Tensor) -> Result<Tensor> {
        signed!(a, a => caught(|| (-a).into()))
    }

    fn matmul(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| Dot::dot(&**a, &**b).into())
        })
    }

    fn eq(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        any!(a, a => {
            let b = like(a, b)?;
            compare(a, b, |a, b| a == b)
        })
    }

    fn ne(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        any!(a, a => {
            let b = like(a, b)?;
            compare(a, b, |a, b| a != b)
        })
    }

    fn lt(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        any!(a, a => {
            let b = like(a, b)?;
            compare(a, b, |a, b| a < b)
        })
    }

    fn le(&mut self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        any!(a, a => {
            let b = like(a, b)?;
            compare(a, b, |a, b| a <= b)
        })
    }

    fn where_else(&mut self, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        let Tensor::Bool(condition) = condition else {
            return Err(Fail::unsupported(format!("Rust chooses by a bool, found {}", condition.dtype())));
        };
        any!(a, a => {
            let b = like(a, b)?;
            caught(|| {
                let operands = Zip::from(condition).and_broadcast(a.view()).and_broadcast(b.view());
                operands.map_collect(|condition, a, b| if *condition { *a } else { *b }).into()
            })
        })
    }

    fn sum(&mut self, a: &Tensor) -> Result<Tensor> {
        number!(a, a => caught(|| arr0(a.sum()).into_dyn().into()))
    }

    fn sum_dim(&mut self, a: &Tensor, dim: i64) -> Result<Tensor> {
        number!(a, a => {
            let axis = axis(dim, a.ndim())?;
            caught(|| a.sum_axis(axis).into())
        })
    }

    fn mean(&mut self, a: &Tensor) -> Result<Tensor> {
        number!(a, a => {
            let mean = caught(|| a.mean())?;
            let mean = mean.ok_or_else(|| Fail::error("shape", "mean() of an array without elements is None"))?;
            Ok(arr0(mean).into_dyn().into())
        })
    }

    fn stack(&mut self, parts: Vec<&Tensor>, dim: i64) -> Result<Tensor> {
        any!(first(&parts)?, a => {
            let (axis, views) = (axis(dim, a.ndim() + 1)?, views(a, &parts)?);
            caught(|| stack(axis, &views))?.map(Tensor::from).map_err(shape_error)
        })
    }

    fn cat(&mut self, parts: Vec<&Tensor>, dim: i64) -> Result<Tensor> {
        any!(first(&parts)?, a => {
            let (axis, views) = (axis(dim, a.ndim())?, views(a, &parts)?);
            caught(|| concatenate(axis, &views))?.map(Tensor::from).map_err(shape_error)
        })
    }

    fn clone(&mut self, a: &Tensor) -> Result<Tensor> {
        any!(a, a => Ok(a.to_owned().into()))
    }

    fn contiguous(&mut self, a: &Tensor) -> Result<Tensor> {
        any!(a, a => Ok(if a.is_standard_layout() {
            a.clone().into()
        } else {
            a.as_standard_layout().into_owned().into()
        }))
    }

    fn to(&mut self, a: &Tensor, dtype: DType) -> Result<Tensor> {
        let same = dtype == a.dtype();
        any!(a, a => if same {
            Ok(a.clone().into())
        } else {
            typed!(dtype, T => Ok(a.mapv(|element| T::cast(element.scalar())).into()))
        })
    }

    fn add_scalar_(&mut self, a: &mut Tensor, value: Scalar) -> Result<()> {
        number!(a, a => {
            let value = beside(a, value)?;
            caught(|| *a += value)
        })
    }

    fn mul_scalar_(&mut self, a: &mut Tensor, value: Scalar) -> Result<()> {
        number!(a, a => {
            let value = beside(a, value)?;
            caught(|| *a *= value)
        })
    }

    fn add_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| *a += b)
        })
    }

    fn sub_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| *a -= b)
        })
    }

    fn mul_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| *a *= b)
        })
    }

    fn div_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        number!(a, a => {
            let b = like(a, b)?;
            caught(|| *a /= b)
        })
    }

    fn neg_(&mut self, a: &mut Tensor) -> Result<()> {
        signed!(a, a => caught(|| a.mapv_inplace(|element| -element)))
    }

    fn fill_(&mut self, a: &mut Tensor, value: Scalar) -> Result<()> {
        any!(a, a => {
            let value = beside(a, value)?;
            caught(|| a.fill(value))
        })
    }

    fn zero_(&mut self, a: &mut Tensor) -> Result<()> {
        self.fill_(a, 0.into())
    }

    fn copy_(&mut self, a: &mut Tensor, b: &Tensor) -> Result<()> {
        any!(a, a => {
            let b = like(a, b)?;
            caught(|| a.assign(b))
        })
    }
}

/// A slice that shares the elements of an array.
fn rows<T: Clone>(a: &Shared<T>, axis: Axis, start: usize, length: usize) -> Shared<T> {
    a.clone().slice_axis_move(axis, Slice::from(start..start.saturating_add(length)))
}

/// Slices that share the elements of an array, where `axis_chunks_iter` gives views that borrow them.
fn chunks<T: Clone>(a: &Shared<T>, axis: Axis, length: usize) -> Result<Vec<Tensor>>
where
    Tensor: From<Shared<T>>,
{
    caught(|| {
        let borrowed = a.axis_chunks_iter(axis, length).enumerate();
        borrowed.map(|(at, view)| rows(a, axis, at * length, view.len_of(axis)).into()).collect()
    })
}

fn compare<T>(a: &Shared<T>, b: &Shared<T>, holds: impl Fn(&T, &T) -> bool) -> Result<Tensor> {
    caught(|| Zip::from(a.view()).and_broadcast(b.view()).map_collect(holds).into())
}

fn first<'a>(parts: &[&'a Tensor]) -> Result<&'a Tensor> {
    parts.first().copied().ok_or_else(|| Fail::error("other", "ndarray joins at least one array, found none"))
}
