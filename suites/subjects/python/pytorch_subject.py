"""PyTorch as a subject: each op is the line of Python that the report shows."""

from __future__ import annotations

import ctypes
import zlib
from typing import Any, Callable

import device_memory
import protocol
from library import Library
from wire import DTYPES, Fail


def load() -> Library:
    """Imports PyTorch; an `ImportError` where that fails."""
    import torch

    return PyTorch(torch)


class PyTorch(Library):
    """PyTorch."""

    name = "pytorch"
    foreign_names = {"np": "numpy"}

    error_kinds = [
        (RuntimeError, "Found no NVIDIA driver", "unsupported"),
        (RuntimeError, "CUDA driver version is insufficient", "unsupported"),
        (RuntimeError, "Cannot access accelerator device when none is available", "unsupported"),
        (AssertionError, "not compiled with CUDA enabled", "unsupported"),
        (RuntimeError, "CUDA error: operation not supported", "unsupported"),
        (RuntimeError, "has been modified by an inplace operation", "version"),
        (RuntimeError, "a leaf Variable that requires grad is being used in an in-place", "leaf"),
        (RuntimeError, "can only change requires_grad flags of leaf variables", "leaf"),
        (RuntimeError, "does not require grad and does not have a grad_fn", "no-graph"),
        (RuntimeError, "backward through the graph a second time", "no-graph"),
        (RuntimeError, "to a single memory location", "overlap"),
        (RuntimeError, "can't allocate memory", "out-of-memory"),
        (RuntimeError, "CUDA out of memory", "out-of-memory"),
        (RuntimeError, "Storage size calculation overflowed", "out-of-memory"),
        (IndexError, "", "index"),
        (RuntimeError, "exceeds dimension size", "index"),
        (RuntimeError, "length must be non-negative", "index"),
        (RuntimeError, "cannot be applied to a 0-dim tensor", "index"),
        (RuntimeError, "at least a 1-dimensional tensor", "index"),
        (RuntimeError, "maximum size for tensor at dimension", "index"),
        (RuntimeError, "diagonal dimensions cannot be identical", "index"),
        (RuntimeError, "duplicate dims are not allowed", "index"),
        (RuntimeError, "can't be cast to the desired output type", "dtype"),
        (RuntimeError, "only Tensors of floating point", "dtype"),
        (RuntimeError, "with two bool tensors is not supported", "dtype"),
        (RuntimeError, "with a bool tensor is not supported", "dtype"),
        (RuntimeError, "on a bool tensor is not supported", "dtype"),
        (RuntimeError, "could not infer output dtype", "dtype"),
        (RuntimeError, "to have the same dtype", "dtype"),
        (RuntimeError, "expected condition to be a boolean tensor", "dtype"),
        (RuntimeError, "grad can be implicitly created only for scalar outputs", "shape"),
        (RuntimeError, "is invalid for input of size", "shape"),
        (RuntimeError, "view size is not compatible", "shape"),
        (RuntimeError, "must match the size of tensor", "shape"),
        (RuntimeError, "must match the existing size", "shape"),
        (RuntimeError, "the number of sizes provided", "shape"),
        (RuntimeError, "match the broadcast shape", "shape"),
        (RuntimeError, "must match except in dimension", "shape"),
        (RuntimeError, "must have same number of dimensions", "shape"),
        (RuntimeError, "zero-dimensional tensor", "shape"),
        (RuntimeError, "only one dimension can be inferred", "shape"),
        (RuntimeError, "invalid shape dimension", "shape"),
        (RuntimeError, "negative dimension", "shape"),
        (RuntimeError, "Dimension size must be non-negative", "shape"),
        (RuntimeError, "non-existing dimension", "shape"),
        (RuntimeError, "cannot reshape tensor of 0 elements", "shape"),
        (RuntimeError, "start_dim cannot come after end_dim", "shape"),
        (RuntimeError, "does not match the length of the desired ordering", "shape"),
        (RuntimeError, "are out of bounds for storage", "shape"),
        (RuntimeError, "mismatch in length of strides and shape", "shape"),
        (RuntimeError, "shapes cannot be multiplied", "shape"),
        (RuntimeError, "size mismatch", "shape"),
        (RuntimeError, "to be equal size", "shape"),
        (RuntimeError, "Expected reduction dim to be specified", "shape"),
    ]

    def devices(self) -> list[str]:
        """The CPU, and CUDA where a driver and a device are there."""
        return ["cpu", "cuda"] if self.torch.cuda.is_available() else ["cpu"]

    def __init__(self, torch: Any):
        super().__init__()
        self.torch = torch
        self.version = torch.__version__
        self.tensor = torch.Tensor
        self.dtype = torch.dtype
        self.dtypes = {name: getattr(torch, python) for name, python in DTYPES.items()}
        self.sources = {op.name: op.torch for op in self.ops.values()}
        self.simulation = device_memory.simulation()
        self.pages = device_memory.Pages(torch)
        self.namespace = {
            "torch": torch,
            "driver": device_memory.Driver(),
            "pages": self.pages,
            "streams": device_memory.Streams(torch),
            "segments": device_memory.segments,
            **({"simulation": self.simulation} if self.simulation else {}),
        }
        if self.simulation is not None:
            device_memory.wake(torch, self.simulation)
        self.usual_names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, **numpy_if_installed()}

    def checksum(self, tensor: Any) -> tuple[int, int]:
        dense = tensor.detach().cpu().contiguous()
        size = dense.numel() * dense.element_size()
        # Through ctypes and not NumPy, which has no bfloat16. The processors that PyTorch runs on are little-endian.
        data = (ctypes.c_char * size).from_address(dense.data_ptr()) if size else b""
        return dense.numel(), zlib.crc32(data)

    def guarded(self, call: Callable, *args: Any) -> Any:
        if self.simulation is None:
            return super().guarded(call, *args)
        before = self.simulation.recorded()
        answer = super().guarded(call, *args)
        self.simulation.refuse_recorded(before)
        return answer

    def refusal(self, error: Exception) -> Fail:
        if isinstance(error, NameError) and "simulation" in str(error):
            return Fail.unsupported("only a simulated device can hold events")
        return super().refusal(error)

    def device_clock(self) -> device_memory.Clock:
        return device_memory.Clock(self.torch)

    def reset(self) -> None:
        self.pages.unlock_all()
        self.torch.set_grad_enabled(True)
        self.torch.set_default_dtype(self.torch.float32)
        if self.simulation is not None:
            device_memory.restore(self.torch, self.simulation)


def numpy_if_installed() -> dict[str, Any]:
    """NumPy under its usual name, for pieces of Python about both; PyTorch runs without it."""
    try:
        import numpy
    except ImportError:
        return {}
    return {"np": numpy}


if __name__ == "__main__":
    protocol.serve(load)
