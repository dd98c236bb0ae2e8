"""NumPy as a subject: each op is the line that a user of NumPy writes for it.

What NumPy does is what is shown: its own promotion (`int64 + 1.5` is `float64`, a sum of `uint8` is `uint64`), slices
that end at the edge where PyTorch refuses a range beyond it, writes of operands that overlap as if they had been
copied, and views of `broadcast_to` that refuse every write.

An operation whose operands have no dimension gives a scalar of NumPy and no array. As the answer of an op it is made an
array; inside a program it stays what it is.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import protocol
from library import Library
from wire import DTYPES, Op

SOURCES = {
    # create
    "empty": "np.empty({shape}, dtype={dtype})",
    "zeros": "np.zeros({shape}, dtype={dtype})",
    "ones": "np.ones({shape}, dtype={dtype})",
    "full": "np.full({shape}, {value}, dtype={dtype})",
    "arange": "np.arange({end}, dtype={dtype})",
    "tensor": "np.array({values}, dtype={dtype}).reshape({shape})",
    # observe
    "data_ptr": "{a}.ctypes.data",
    "storage_ptr": "owner({a}).ctypes.data",
    "storage_bytes": "owner({a}).nbytes",
    "storage_offset": "({a}.ctypes.data - owner({a}).ctypes.data) // {a}.itemsize",
    "element_size": "{a}.itemsize",
    "numel": "{a}.size",
    "shape": "list({a}.shape)",
    "stride": "[step // {a}.itemsize for step in {a}.strides]",
    "dtype": "{a}.dtype",
    "is_contiguous": "{a}.flags.c_contiguous",
    "values": "{a}.flatten().tolist()",
    "equal": "np.array_equal({a}, {b})",
    # view
    "view": "{a}.reshape({shape}, copy=False)",
    "reshape": "{a}.reshape({shape})",
    "narrow": "{a}[{rows}]",
    "select": "{a}[{place}]",
    "transpose": "{a}.swapaxes({dim0}, {dim1})",
    "expand": "np.broadcast_to({a}, {shape})",
    "permute": "{a}.transpose({dims})",
    "movedim": "np.moveaxis({a}, {source}, {destination})",
    "slice": "{a}[{stepped}]",
    "squeeze": "{a}.squeeze({dim})",
    "unsqueeze": "np.expand_dims({a}, {dim})",
    "flatten": "{a}.reshape(flattened({a}.shape, {start}, {end}))",
    # Of a mode that lets itself be written through, as PyTorch's windows do.
    "unfold": "np.lib.stride_tricks.sliding_window_view({a}, {size}, axis={dim}, writeable=True)[{windows}]",
    "as_strided": "as_strided({a}, {shape}, {strides}, {offset})",
    "diagonal": "np.diagonal({a}, {offset}, {dim0}, {dim1})",
    "split": "np.split({a}, ends({a}.shape[{dim}], {size}), axis={dim})",
    "tensor_split": "np.array_split({a}, {sections}, axis={dim})",
    "chunk": "chunk({a}, {chunks}, {dim})",
    # compute
    "add_scalar": "{a} + {value}",
    "mul_scalar": "{a} * {value}",
    "add": "{a} + {b}",
    "sub": "{a} - {b}",
    "mul": "{a} * {b}",
    "div": "{a} / {b}",
    "neg": "-{a}",
    "matmul": "{a} @ {b}",
    "eq": "{a} == {b}",
    "ne": "{a} != {b}",
    "lt": "{a} < {b}",
    "le": "{a} <= {b}",
    "where_else": "np.where({condition}, {a}, {b})",
    "sum": "{a}.sum()",
    "sum_dim": "{a}.sum(axis={dim})",
    "mean": "{a}.mean()",
    "min": "{a}.min()",
    "max": "{a}.max()",
    "stack": "np.stack({parts}, axis={dim})",
    "cat": "np.concatenate({parts}, axis={dim})",
    "clone": "{a}.copy()",
    # Not `ascontiguousarray`, which gives an array of no dimension one.
    "contiguous": "np.asarray({a}, order='C')",
    "to": "{a}.astype({dtype}, copy=False)",
    # write
    "add_scalar_": "{a} += {value}",
    "mul_scalar_": "{a} *= {value}",
    "add_": "{a} += {b}",
    "sub_": "{a} -= {b}",
    "mul_": "{a} *= {b}",
    "div_": "{a} /= {b}",
    "neg_": "np.negative({a}, out={a})",
    "fill_": "{a}.fill({value})",
    "zero_": "{a}.fill(0)",
    "copy_": "{a}[...] = {b}",
}
"""The ops that NumPy has. It has no version counter, no autograd and no device beside the CPU."""

DEVICE = "device beside the CPU"
LACKS = {"autograd": "autograd", "transfer": DEVICE, "memory": DEVICE, "create": DEVICE, "observe": "version counter"}
"""What the ops of a group that are not here would need."""


def load() -> Library:
    """Imports NumPy; an `ImportError` where that fails."""
    import numpy

    return NumPy(numpy)


class NumPy(Library):
    """NumPy."""

    name = "numpy"
    foreign_names = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}

    error_kinds = [
        (ValueError, "array is too big", "out-of-memory"),
        (ValueError, "maximum allowed dimension", "out-of-memory"),
        # `AxisError` is one too.
        (IndexError, "", "index"),
        # `expand` makes such arrays, whose elements share places; NumPy gives diagonals out the same way.
        (ValueError, "read-only", "overlap"),
        (TypeError, "Cannot cast", "dtype"),
        (TypeError, "boolean", "dtype"),
        (ValueError, "broadcast", "shape"),
        (ValueError, "avoid creating a copy while reshaping", "shape"),
        (ValueError, "window shape cannot be larger", "index"),
        (ValueError, "at least two dimensions", "index"),
        (ValueError, "shape", "shape"),
        (ValueError, "dimension", "shape"),
        (ValueError, "size not equal to one", "shape"),
        (ValueError, "axes don't match array", "shape"),
        (ValueError, "zero-size array", "shape"),
        (ValueError, "flatten takes its dimensions in order", "shape"),
        (ValueError, "repeated axis", "index"),
        (ValueError, "axis1 and axis2 cannot be the same", "index"),
    ]

    def __init__(self, np: Any):
        super().__init__()
        self.np = np
        self.version = np.__version__
        self.tensor = np.ndarray
        self.dtype = np.dtype
        self.dtypes = {name: np.dtype(python) for name, python in DTYPES.items() if name != "bf16"}
        self.sources = SOURCES
        self.derived = {
            "narrow": {"rows": rows},
            "select": {"place": place},
            "slice": {"stepped": stepped},
            "unfold": {"windows": windows},
        }
        helpers = (owner, flattened, ends, chunk, self.as_strided)
        self.namespace = {"np": np, **{helper.__name__: helper for helper in helpers}}
        self.usual_names = {"np": np}
        if not reshape_takes_copy(np):
            self.sources = {**SOURCES, "view": "view({a}, {shape})"}
            self.namespace["view"] = view

    def missing(self, op: Op) -> str:
        return f"numpy has no {LACKS[op.group]} ({op.name})"

    def as_tensor(self, value: Any) -> Any:
        return self.np.asarray(value) if isinstance(value, self.np.generic) else value

    def as_plain(self, value: Any) -> Any:
        return value.item() if isinstance(value, self.np.generic) else value

    def as_strided(self, array: Any, shape: list, strides: list, offset: int) -> Any:
        """Any view of an array's memory, through the constructor: `stride_tricks.as_strided` checks no bounds."""
        memory = owner(array).ravel(order="K")
        # A buffer without bytes is the only one whose bounds the constructor does not check.
        if not memory.size and math.prod(shape):
            raise ValueError(f"an array of shape {shape} reaches outside of memory of no elements")
        size = array.itemsize
        return self.np.ndarray(shape, array.dtype, memory, offset * size, [stride * size for stride in strides])

    def checksum(self, tensor: Any) -> tuple[int, int]:
        array = self.np.asarray(tensor)
        dense = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        return dense.size, zlib.crc32(dense)


def owner(array: Any) -> Any:
    """The array whose memory this one looks at: itself, where it is no view."""
    found = base = array
    while base is not None:
        if isinstance(base, type(array)):
            found = base
        base = getattr(base, "base", None)
    return found


def rows(dim: int, start: int, length: int) -> tuple:
    """The index of `length` rows from `start` of one dimension; a negative start counts from the end."""
    stop = start + length
    return along(dim, slice(start, None if start < 0 <= stop else stop))


def place(dim: int, index: int) -> tuple:
    """The index of one place of a dimension, with the ellipsis that makes the last one a view too."""
    return (*along(dim, index), ...) if dim >= 0 else along(dim, index)


def along(dim: int, index: Any) -> tuple:
    """An index of one dimension, whatever the others are."""
    if dim >= 0:
        return (slice(None),) * dim + (index,)
    return (..., index) + (slice(None),) * (-1 - dim)


def stepped(dim: int, start: int, end: int, step: int) -> tuple:
    """The index of every so many rows of one dimension."""
    return along(dim, slice(start, end, step))


def windows(dim: int, size: int, step: int) -> tuple:
    """The index of every so many windows of one dimension, which have been made the last dimension."""
    return along(dim if dim >= 0 else dim - 1, slice(None, None, step))


def flattened(shape: tuple, start: int, end: int) -> tuple:
    """The shape with two dimensions and those between them as one."""
    if not shape:
        return (1,)
    first, last = range(len(shape))[start], range(len(shape))[end]
    if first > last:
        raise ValueError(f"flatten takes its dimensions in order, found shape {shape} from {start} to {end}")
    return (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])


def ends(rows: int, size: int) -> range:
    """Where the pieces of so many rows end, but the last."""
    if size < 0:
        raise ValueError(f"split needs a size of at least 0, found {size}")
    return range(size, rows, size) if rows else range(0)


def chunk(array: Any, chunks: int, dim: int) -> list:
    """Slices of ceil(size / chunks) rows; NumPy's own `array_split` makes even ones, and empty ones."""
    if chunks <= 0:
        raise ValueError(f"chunk needs at least one chunk, found {chunks}")
    size = array.shape[dim]
    length = -(-size // chunks)
    starts = range(0, size, length) if size else [0] * chunks
    return [array[rows(dim, start, length)] for start in starts]


def reshape_takes_copy(np: Any) -> bool:
    """Whether `reshape` can refuse to copy, as it can from NumPy 2.1 on."""
    try:
        np.empty(0).reshape(0, copy=False)
    except TypeError:
        return False
    return True


def view(array: Any, shape: list) -> Any:
    """Another shape without a copy, for NumPy before 2.1: a view refuses a shape that its strides do not allow."""
    other = array.view()
    try:
        other.shape = shape
    except AttributeError as error:
        raise ValueError(str(error)) from None
    return other


if __name__ == "__main__":
    protocol.serve(load)
