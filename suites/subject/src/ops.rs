//! The table of ops: the only place where an op is spelled.
//!
//! Each line gives the wire form, the method of [`Library`], dispatch, the method that cases and workloads call
//! ([`Calls`]), the row of `docs/protocol.md` and the line of PyTorch that the report shows and the PyTorch subject runs.

use crate::args::{Arg, Ret, Target, Tensor, Tensors};
use crate::{Checksum, DType, Fail, Handle, Lap, Scalar, Table, Value, checksum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

type Shape = Vec<i64>;

/// One row of the table.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OpInfo {
    /// The name that travels; a trailing underscore marks an op that writes its target.
    pub name: &'static str,
    /// The group: create, observe, view, compute, write, transfer, memory, autograd.
    pub group: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its arguments and their types, in order.
    pub args: &'static [(&'static str, &'static str)],
    /// The type of its answer.
    pub gives: &'static str,
    /// The PyTorch expression, with `{argument}` in place of each argument.
    pub torch: &'static str,
}

macro_rules! ops {
    ($( $group:ident { $( #[doc = $doc:literal] $variant:ident $name:ident ( $($arg:ident : $type:ty),* ) -> $ret:ty = $torch:literal; )* } )*) => {
        /// One op with its arguments, as it travels.
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "op", content = "args", rename_all = "snake_case", deny_unknown_fields)]
        #[allow(missing_docs, non_camel_case_types)]
        pub enum Op {
            $($( #[doc = $doc] $variant { $($arg: <$type as Arg>::Wire),* }, )*)*
        }

        impl Op {
            /// The name that travels.
            pub fn name(&self) -> &'static str {
                match self { $($( Op::$variant { .. } => stringify!($name), )*)* }
            }

            /// The tensors that it reads or writes.
            pub fn handles(&self) -> Vec<Handle> {
                match self { $($( Op::$variant { $($arg),* } => {
                    let of_each: &[Vec<Handle>] = &[$(<$type as Arg>::handles($arg)),*];
                    of_each.concat()
                } )*)* }
            }

            /// The type of its answer.
            pub fn gives(&self) -> &'static str {
                match self { $($( Op::$variant { .. } => <$ret as Ret>::NAME, )*)* }
            }

            /// The line of PyTorch that does it, with handle 3 spelled `t3`.
            pub fn torch(&self) -> String {
                match self { $($( Op::$variant { $($arg),* } => {
                    #[allow(unused_mut)]
                    let mut line = String::from($torch);
                    $( line = line.replace(concat!("{", stringify!($arg), "}"), &<$type as Arg>::python($arg)); )*
                    line
                } )*)* }
            }
        }

        /// A tensor library as a subject sees it. Every op is unsupported until it is written.
        ///
        /// Dimensions and indices count from the end when negative, as in PyTorch; strides and offsets are in elements.
        #[allow(unused_variables)]
        pub trait Library {
            /// The library's own tensor, or a handle to it.
            type Tensor: 'static;
            /// Restores the library's defaults (grad mode, seeds) between cases. What it fails at ends the process: the
            /// next case gets a new one.
            fn reset(&mut self) -> Result<(), Fail> {
                Ok(())
            }

            /// The devices that it can run on here, as far as it knows.
            fn devices(&mut self) -> Vec<String> {
                vec!["cpu".into()]
            }

            /// Shuts a gate on the device for so long and starts the device's clock behind it: what is enqueued now runs
            /// when the gate opens, and its enqueuing is not timed.
            fn start_clock(&mut self, gate: Duration) -> Result<(), Fail> {
                Err(Fail::unsupported("no clock of a device in this library"))
            }

            /// Stops the clock behind all that was enqueued, and waits for it.
            fn stop_clock(&mut self) -> Result<Lap, Fail> {
                Err(Fail::unsupported("no clock of a device in this library"))
            }

            /// The checksum of a program's result. A library that can lend its bytes may say so faster.
            fn checksum(&mut self, a: &Self::Tensor) -> Result<Checksum, Fail> {
                let (dtype, values) = (self.dtype(a)?, self.values(a)?);
                Ok(checksum(&values, dtype))
            }
            $($( #[doc = $doc]
            fn $name(&mut self $(, $arg: <$type as Arg>::Face<'_, Self::Tensor>)*) -> Result<<$ret as Ret>::Given<Self::Tensor>, Fail> {
                Err(Fail::unsupported(concat!("no ", stringify!($name), " in this library")))
            } )*)*
        }

        /// The table as data.
        pub const OPS: &[OpInfo] = &[ $($( OpInfo {
            name: stringify!($name),
            group: stringify!($group),
            doc: $doc.trim_ascii(),
            args: &[$((stringify!($arg), <$type as Arg>::NAME)),*],
            gives: <$ret as Ret>::NAME,
            torch: $torch,
        }, )*)* ];

        /// Runs one op on a library; tensors in the answer are kept in the table.
        pub fn dispatch<L: Library>(library: &mut L, table: &mut Table<L::Tensor>, op: &Op) -> Result<Value, Fail> {
            match op { $($( Op::$variant { $($arg),* } => {
                let given = {
                    $( let mut $arg = <$type as Arg>::hold($arg, table)?; )*
                    library.$name($(<$type as Arg>::face::<L::Tensor>(&mut $arg)),*)?
                };
                Ok(<$ret as Ret>::wire(given, table))
            } )*)* }
        }

        /// One op over slots, ready to run again and again without looking at its name.
        pub(crate) type Resolved<L> = Box<dyn Fn(&mut L, &mut Table<<L as Library>::Tensor>) -> Result<Vec<<L as Library>::Tensor>, Fail>>;

        /// Turns an op into a closure.
        #[allow(unused_variables, reason = "an op without tensors looks nothing up")]
        pub(crate) fn resolve<L: Library>(op: Op) -> Resolved<L> {
            match op { $($( Op::$variant { $($arg),* } => Box::new(move |library, table| {
                $( let mut $arg = <$type as Arg>::hold(&$arg, table)?; )*
                library.$name($(<$type as Arg>::face::<L::Tensor>(&mut $arg)),*).map(<$ret as Ret>::tensors)
            }), )*)* }
        }

        /// The typed face of the table, for whatever can carry out an [`Op`]: a probe over a subject, or a program being written.
        pub trait Calls {
            /// Why a call gave no value.
            type Stop;
            /// Carries out one op.
            fn call(&self, op: Op) -> Result<Value, Self::Stop>;
            /// The answer had another type than the table says.
            fn nonsense(&self, op: &'static str, expected: &'static str) -> Self::Stop;
            $($( #[doc = $doc]
            fn $name(&self $(, $arg: impl Into<<$type as Arg>::Wire>)*) -> Result<<$ret as Ret>::Seen, Self::Stop> {
                let value = self.call(Op::$variant { $($arg: $arg.into()),* })?;
                <$ret as Ret>::seen(value).ok_or_else(|| self.nonsense(stringify!($name), <$ret as Ret>::NAME))
            } )*)*
        }
    };
}

ops! {
    create {
        /// A new tensor whose values are whatever its storage holds.
        Empty empty(shape: Shape, dtype: DType) -> Tensor = "torch.empty({shape}, dtype={dtype})";
        /// A new tensor of zeros.
        Zeros zeros(shape: Shape, dtype: DType) -> Tensor = "torch.zeros({shape}, dtype={dtype})";
        /// A new tensor of ones.
        Ones ones(shape: Shape, dtype: DType) -> Tensor = "torch.ones({shape}, dtype={dtype})";
        /// A new tensor that holds one value everywhere.
        Full full(shape: Shape, value: Scalar, dtype: DType) -> Tensor = "torch.full({shape}, {value}, dtype={dtype})";
        /// The numbers from 0 up to, not including, `end`.
        Arange arange(end: i64, dtype: DType) -> Tensor = "torch.arange({end}, dtype={dtype})";
        /// A new tensor that holds these values in row-major order.
        Tensor tensor(values: Vec<Scalar>, shape: Shape, dtype: DType) -> Tensor = "torch.tensor({values}, dtype={dtype}).reshape({shape})";
        /// A new tensor on a device whose values are whatever its storage holds.
        EmptyOn empty_on(shape: Shape, dtype: DType, device: String) -> Tensor = "torch.empty({shape}, dtype={dtype}, device={device})";
        /// A new tensor of zeros on a device.
        ZerosOn zeros_on(shape: Shape, dtype: DType, device: String) -> Tensor = "torch.zeros({shape}, dtype={dtype}, device={device})";
        /// A new tensor in page-locked host memory whose values are whatever its storage holds.
        EmptyPinned empty_pinned(shape: Shape, dtype: DType) -> Tensor = "torch.empty({shape}, dtype={dtype}, pin_memory=True)";
    }
    observe {
        /// Address of the first element; 0 where there is none.
        DataPtr data_ptr(a: Tensor) -> i64 = "{a}.data_ptr()";
        /// Address of the storage.
        StoragePtr storage_ptr(a: Tensor) -> i64 = "{a}.untyped_storage().data_ptr()";
        /// Bytes of the whole storage.
        StorageBytes storage_bytes(a: Tensor) -> i64 = "{a}.untyped_storage().nbytes()";
        /// Offset of the first element in its storage, in elements.
        StorageOffset storage_offset(a: Tensor) -> i64 = "{a}.storage_offset()";
        /// Bytes of one element.
        ElementSize element_size(a: Tensor) -> i64 = "{a}.element_size()";
        /// Number of elements.
        Numel numel(a: Tensor) -> i64 = "{a}.numel()";
        /// Sizes of the dimensions.
        Shape shape(a: Tensor) -> Vec<i64> = "list({a}.shape)";
        /// Strides, in elements.
        Stride stride(a: Tensor) -> Vec<i64> = "list({a}.stride())";
        /// The element type.
        Dtype dtype(a: Tensor) -> DType = "{a}.dtype";
        /// Whether the elements lie in row-major order without gaps.
        IsContiguous is_contiguous(a: Tensor) -> bool = "{a}.is_contiguous()";
        /// All values in row-major order.
        Values values(a: Tensor) -> Vec<Scalar> = "{a}.flatten().tolist()";
        /// Whether two tensors have the same shape and the same values; NaN equals nothing.
        Equal equal(a: Tensor, b: Tensor) -> bool = "torch.equal({a}, {b})";
        /// The version counter: how often the storage was written through this tensor or one that shares its counter.
        Version version(a: Tensor) -> i64 = "{a}._version";
    }
    view {
        /// The same elements under another shape, without a copy; refused where strides do not allow it.
        View view(a: Tensor, shape: Shape) -> Tensor = "{a}.view({shape})";
        /// The same elements under another shape; a view where strides allow it, else a copy.
        Reshape reshape(a: Tensor, shape: Shape) -> Tensor = "{a}.reshape({shape})";
        /// A view of `length` rows of dimension `dim` from `start`.
        Narrow narrow(a: Tensor, dim: i64, start: i64, length: i64) -> Tensor = "{a}.narrow({dim}, {start}, {length})";
        /// A view of one index of dimension `dim`, which goes away.
        Select select(a: Tensor, dim: i64, index: i64) -> Tensor = "{a}.select({dim}, {index})";
        /// A view with two dimensions swapped.
        Transpose transpose(a: Tensor, dim0: i64, dim1: i64) -> Tensor = "{a}.transpose({dim0}, {dim1})";
        /// A view in which dimensions of size 1 repeat, with stride 0.
        Expand expand(a: Tensor, shape: Shape) -> Tensor = "{a}.expand({shape})";
        /// A view with the dimensions in this order.
        Permute permute(a: Tensor, dims: Vec<i64>) -> Tensor = "{a}.permute({dims})";
        /// A view with dimension `source` moved to place `destination`.
        Movedim movedim(a: Tensor, source: i64, destination: i64) -> Tensor = "{a}.movedim({source}, {destination})";
        /// A view of every `step`-th row of dimension `dim` from `start` up to, not including, `end`; both are clipped.
        Slice slice(a: Tensor, dim: i64, start: i64, end: i64, step: i64) -> Tensor = "torch.ops.aten.slice({a}, {dim}, {start}, {end}, {step})";
        /// A view without dimension `dim` where its size is 1, else the same elements as they are.
        Squeeze squeeze(a: Tensor, dim: i64) -> Tensor = "{a}.squeeze({dim})";
        /// A view with a dimension of size 1 put in at `dim`.
        Unsqueeze unsqueeze(a: Tensor, dim: i64) -> Tensor = "{a}.unsqueeze({dim})";
        /// Dimensions `start` to `end` as one; a view where strides allow it, else a copy.
        Flatten flatten(a: Tensor, start: i64, end: i64) -> Tensor = "{a}.flatten({start}, {end})";
        /// A view of all windows of `size` rows of dimension `dim`, `step` apart, with the window as last dimension.
        Unfold unfold(a: Tensor, dim: i64, size: i64, step: i64) -> Tensor = "{a}.unfold({dim}, {size}, {step})";
        /// A view of the storage with this shape, these strides and this offset, in elements.
        AsStrided as_strided(a: Tensor, shape: Shape, strides: Vec<i64>, offset: i64) -> Tensor = "{a}.as_strided({shape}, {strides}, {offset})";
        /// A view of a diagonal of two dimensions, as last dimension.
        Diagonal diagonal(a: Tensor, offset: i64, dim0: i64, dim1: i64) -> Tensor = "{a}.diagonal({offset}, {dim0}, {dim1})";
        /// Views of `size` rows of dimension `dim` each, the last of what is left.
        Split split(a: Tensor, size: i64, dim: i64) -> Tensors = "list({a}.split({size}, {dim}))";
        /// Exactly `sections` views along `dim`, the first ones a row longer where it does not divide.
        TensorSplit tensor_split(a: Tensor, sections: i64, dim: i64) -> Tensors = "list({a}.tensor_split({sections}, {dim}))";
        /// At most `chunks` views along `dim`, each of ceil(size / chunks) rows but the last.
        Chunk chunk(a: Tensor, chunks: i64, dim: i64) -> Tensors = "list({a}.chunk({chunks}, {dim}))";
    }
    compute {
        /// `a + value`, in new storage.
        AddScalar add_scalar(a: Tensor, value: Scalar) -> Tensor = "{a}.add({value})";
        /// `a * value`, in new storage.
        MulScalar mul_scalar(a: Tensor, value: Scalar) -> Tensor = "{a}.mul({value})";
        /// `a + b`, broadcast, in new storage.
        Add add(a: Tensor, b: Tensor) -> Tensor = "{a}.add({b})";
        /// `a - b`, broadcast, in new storage.
        Sub sub(a: Tensor, b: Tensor) -> Tensor = "{a}.sub({b})";
        /// `a * b`, broadcast, in new storage.
        Mul mul(a: Tensor, b: Tensor) -> Tensor = "{a}.mul({b})";
        /// `a / b`, broadcast, in new storage; whole numbers give the default float dtype.
        Div div(a: Tensor, b: Tensor) -> Tensor = "{a}.div({b})";
        /// `-a`, in new storage.
        Neg neg(a: Tensor) -> Tensor = "{a}.neg()";
        /// The matrix product of two tensors of two dimensions, in new storage.
        Matmul matmul(a: Tensor, b: Tensor) -> Tensor = "{a}.matmul({b})";
        /// Whether `a == b`, element by element, broadcast.
        Eq eq(a: Tensor, b: Tensor) -> Tensor = "{a}.eq({b})";
        /// Whether `a != b`, element by element, broadcast.
        Ne ne(a: Tensor, b: Tensor) -> Tensor = "{a}.ne({b})";
        /// Whether `a < b`, element by element, broadcast.
        Lt lt(a: Tensor, b: Tensor) -> Tensor = "{a}.lt({b})";
        /// Whether `a <= b`, element by element, broadcast.
        Le le(a: Tensor, b: Tensor) -> Tensor = "{a}.le({b})";
        /// `a` where the condition holds, else `b`, broadcast, in new storage.
        WhereElse where_else(condition: Tensor, a: Tensor, b: Tensor) -> Tensor = "torch.where({condition}, {a}, {b})";
        /// The sum of all elements, of no dimension.
        Sum sum(a: Tensor) -> Tensor = "{a}.sum()";
        /// The sums along `dim`, which goes away.
        SumDim sum_dim(a: Tensor, dim: i64) -> Tensor = "{a}.sum({dim})";
        /// The mean of all elements, of no dimension.
        Mean mean(a: Tensor) -> Tensor = "{a}.mean()";
        /// The least of all elements, of no dimension; NaN where there is one.
        Min min(a: Tensor) -> Tensor = "{a}.min()";
        /// The greatest of all elements, of no dimension; NaN where there is one.
        Max max(a: Tensor) -> Tensor = "{a}.max()";
        /// Joins along a new dimension `dim`, in new storage.
        Stack stack(parts: Tensors, dim: i64) -> Tensor = "torch.stack({parts}, {dim})";
        /// Joins along `dim`, in new storage.
        Cat cat(parts: Tensors, dim: i64) -> Tensor = "torch.cat({parts}, {dim})";
        /// A copy in new storage.
        Clone clone(a: Tensor) -> Tensor = "{a}.clone()";
        /// The tensor itself where it is contiguous, else a contiguous copy.
        Contiguous contiguous(a: Tensor) -> Tensor = "{a}.contiguous()";
        /// The tensor itself where it has this dtype, else a converted copy.
        To to(a: Tensor, dtype: DType) -> Tensor = "{a}.to({dtype})";
    }
    write {
        /// Adds a number to every element, in place.
        AddScalar_ add_scalar_(a: Target, value: Scalar) -> () = "{a}.add_({value})";
        /// Multiplies every element by a number, in place.
        MulScalar_ mul_scalar_(a: Target, value: Scalar) -> () = "{a}.mul_({value})";
        /// Adds `b`, broadcast, in place.
        Add_ add_(a: Target, b: Tensor) -> () = "{a}.add_({b})";
        /// Subtracts `b`, broadcast, in place.
        Sub_ sub_(a: Target, b: Tensor) -> () = "{a}.sub_({b})";
        /// Divides by `b`, broadcast, in place.
        Div_ div_(a: Target, b: Tensor) -> () = "{a}.div_({b})";
        /// Negates every element, in place.
        Neg_ neg_(a: Target) -> () = "{a}.neg_()";
        /// Multiplies by `b`, broadcast, in place.
        Mul_ mul_(a: Target, b: Tensor) -> () = "{a}.mul_({b})";
        /// Sets every element, in place.
        Fill_ fill_(a: Target, value: Scalar) -> () = "{a}.fill_({value})";
        /// Sets every element to zero, in place.
        Zero_ zero_(a: Target) -> () = "{a}.zero_()";
        /// Copies `b`, broadcast and converted, in place.
        Copy_ copy_(a: Target, b: Tensor) -> () = "{a}.copy_({b})";
    }
    transfer {
        /// The device that the tensor is on, such as `cpu` or `cuda:0`.
        Device device(a: Tensor) -> String = "str({a}.device)";
        /// The tensor itself where it is on this device, else a copy there. A copy that does not block returns before it is done.
        ToDevice to_device(a: Tensor, device: String, non_blocking: bool) -> Tensor = "{a}.to({device}, non_blocking={non_blocking})";
        /// Copies `b` in place, as it is, from whatever device it is on. A copy that does not block may return before it is done.
        CopyFrom copy_from(a: Target, b: Tensor, non_blocking: bool) -> () = "{a}.copy_({b}, non_blocking={non_blocking})";
        /// The tensor itself where it is pinned, else a copy in page-locked host memory.
        PinMemory pin_memory(a: Tensor) -> Tensor = "{a}.pin_memory()";
        /// Whether the storage lies in page-locked host memory.
        IsPinned is_pinned(a: Tensor) -> bool = "{a}.is_pinned()";
        /// Locks the pages of the storage, ordinary host memory, until they are unlocked or the next reset.
        Register_ register_(a: Target) -> () = "pages.lock({a})";
        /// Waits until all that the device was asked is done, and unlocks the pages of the storage again.
        Unregister_ unregister_(a: Target) -> () = "pages.unlock({a})";
        /// Waits until all that the device was asked is done.
        Synchronize synchronize() -> () = "torch.cuda.synchronize()";
    }
    memory {
        /// Bytes of device memory in use.
        MemoryAllocated memory_allocated() -> i64 = "torch.cuda.memory_allocated()";
        /// The most bytes of device memory that were in use since the peaks were reset.
        MaxMemoryAllocated max_memory_allocated() -> i64 = "torch.cuda.max_memory_allocated()";
        /// Bytes that the caching allocator holds of the device.
        MemoryReserved memory_reserved() -> i64 = "torch.cuda.memory_reserved()";
        /// The most bytes that it held since the peaks were reset.
        MaxMemoryReserved max_memory_reserved() -> i64 = "torch.cuda.max_memory_reserved()";
        /// Bytes of the device that are taken, as the driver shows them.
        MemoryUsed memory_used() -> i64 = "torch.cuda.mem_get_info()[1] - torch.cuda.mem_get_info()[0]";
        /// One statistic of the caching allocator, such as `segment.all.current`.
        MemoryStat memory_stat(name: String) -> i64 = "torch.cuda.memory_stats()[{name}]";
        /// All statistics of the caching allocator, in the alphabetical order of their names.
        MemoryStats memory_stats() -> Vec<i64> = "[value for _, value in sorted(torch.cuda.memory_stats().items())]";
        /// The segments by address: address, bytes, 1 if large, 1 if expandable, number of blocks; for each block bytes, bytes asked for, 0 if free, 1 if pending, 2 if in use.
        MemorySegments memory_segments() -> Vec<i64> = "segments(torch.cuda.memory_snapshot())";
        /// Returns cached segments of which no part is in use to the device.
        EmptyCache empty_cache() -> () = "torch.cuda.empty_cache()";
        /// Takes so many bytes of device memory from the driver itself, past the caching allocator, and gives them back.
        TakeAndGiveBack take_and_give_back(bytes: i64) -> () = "driver.take_and_give_back({bytes})";
        /// Makes every peak what is there now.
        ResetPeakMemoryStats reset_peak_memory_stats() -> () = "torch.cuda.reset_peak_memory_stats()";
        /// Makes every sum and every count of events 0.
        ResetAccumulatedMemoryStats reset_accumulated_memory_stats() -> () = "torch.cuda.reset_accumulated_memory_stats()";
        /// Sets the part of the device, 0 to 1, that the caching allocator may hold.
        SetMemoryFraction set_memory_fraction(fraction: Scalar) -> () = "torch.cuda.set_per_process_memory_fraction({fraction})";
        /// Puts a string of settings of the caching allocator into force, as `PYTORCH_CUDA_ALLOC_CONF` spells them.
        SetAllocatorSettings set_allocator_settings(settings: String) -> () = "torch._C._accelerator_setAllocatorSettings({settings})";
        /// Makes a stream the current one: 0 is the default stream, others are made in the order of their numbers.
        SetStream set_stream(stream: i64) -> () = "torch.cuda.set_stream(streams[{stream}])";
        /// Says that a stream uses the tensor, too.
        RecordStream record_stream(a: Tensor, stream: i64) -> () = "{a}.record_stream(streams[{stream}])";
        /// One statistic of the allocator of page-locked host memory, such as `allocated_bytes.current`.
        PinnedStat pinned_stat(name: String) -> i64 = "torch.cuda.host_memory_stats()[{name}]";
        /// Returns free page-locked memory to the system.
        EmptyPinnedCache empty_pinned_cache() -> () = "torch._C._host_emptyCache()";
        /// Holds events that are recorded from now on pending, or no more; a simulated device alone can do so.
        HoldEvents hold_events(on: bool) -> () = "simulation.hold_events({on})";
        /// Lets every event be done.
        CompleteEvents complete_events() -> () = "simulation.complete_events()";
    }
    autograd {
        /// Sets whether operations on this leaf are recorded.
        RequiresGrad_ requires_grad_(a: Target, on: bool) -> () = "{a}.requires_grad_({on})";
        /// Whether operations on this tensor are recorded.
        RequiresGrad requires_grad(a: Tensor) -> bool = "{a}.requires_grad";
        /// Whether the tensor was made by no recorded operation.
        IsLeaf is_leaf(a: Tensor) -> bool = "{a}.is_leaf";
        /// Whether the tensor has the node of a recorded operation.
        HasGradFn has_grad_fn(a: Tensor) -> bool = "{a}.grad_fn is not None";
        /// A tensor over the same storage and version counter that is cut from the graph.
        Detach detach(a: Tensor) -> Tensor = "{a}.detach()";
        /// Turns recording on or off until the next reset.
        SetGradEnabled set_grad_enabled(on: bool) -> () = "torch._C._set_grad_enabled({on})";
        /// Enters a block in which nothing is recorded.
        EnterNoGrad enter_no_grad() -> () = "torch.no_grad().__enter__()";
        /// Leaves it: recording is on again.
        LeaveNoGrad leave_no_grad() -> () = "torch.set_grad_enabled(True)";
        /// Computes the gradients of the leaves of a tensor of one element.
        Backward backward(a: Tensor) -> () = "{a}.backward()";
        /// Whether a gradient has been accumulated.
        HasGrad has_grad(a: Tensor) -> bool = "{a}.grad is not None";
        /// The accumulated gradient.
        Grad grad(a: Tensor) -> Tensor = "{a}.grad";
    }
}
