"""What the memory ops of PyTorch see beside `torch`: streams by number, segments as numbers, the simulated device."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Optional

from wire import Fail

SIMULATED = "TENSORMARK_SIMULATED_CUDA_BACKING"
"""The variable that is set where the CUDA device is simulated."""

BLOCK_STATES = ("inactive", "active_pending_free", "active_allocated")
"""PyTorch's names of what travels as 0, 1 and 2; a pending block is also called awaiting."""

NAME_ROOM = 4096

OUT_OF_MEMORY = 2
"""The runtime's number for memory that is not there."""

CYCLES_OF_A_MICROSECOND = 2000
"""Cycles that a gate counts for a microsecond: near the clocks of today's cards. Whether it was long enough is seen."""


class Streams:
    """The streams of the device by number: 0 is the default one, others are made when they are first named."""

    def __init__(self, torch: Any):
        self.torch = torch
        self.made: list[Any] = []

    def __getitem__(self, number: int) -> Any:
        if number == 0:
            return self.torch.cuda.default_stream()
        while len(self.made) < number:
            self.made.append(self.torch.cuda.Stream())
        return self.made[number - 1]


class Pages:
    """Ordinary host memory whose pages are locked for copies, until it is unlocked or all is."""

    def __init__(self, torch: Any):
        self.torch = torch
        self.locked: dict[int, Any] = {}

    def lock(self, tensor: Any) -> None:
        """Locks the pages of the tensor's storage and keeps it alive."""
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if address in self.locked:
            raise Fail.error("other", "pages to be locked asked, found memory that is locked already")
        self.check("cudaHostRegister", self.torch.cuda.cudart().cudaHostRegister(address, storage.nbytes(), 0))
        self.locked[address] = tensor

    def unlock(self, tensor: Any) -> None:
        """Waits for the device, which may still read or write them, and unlocks the pages of the tensor's storage."""
        address = tensor.untyped_storage().data_ptr()
        if address not in self.locked:
            raise Fail.error("other", "pages to be unlocked asked, which were not locked: register them first")
        self.torch.cuda.synchronize()
        self.check("cudaHostUnregister", self.torch.cuda.cudart().cudaHostUnregister(address))
        del self.locked[address]

    def unlock_all(self) -> None:
        """Unlocks what is locked."""
        for tensor in list(self.locked.values()):
            self.unlock(tensor)

    def check(self, call: str, code: Any) -> None:
        """Refuses what the runtime refused."""
        if int(code) != 0:
            raise Fail.error("device", f"{call} failed: {code}")


class Driver:
    """The runtime under PyTorch, past its caching allocator."""

    def take_and_give_back(self, count: int) -> None:
        """Takes so many bytes of device memory and gives them back."""
        # PyTorch makes the names of its own runtime known to the whole process.
        runtime, address = ctypes.CDLL(None), ctypes.c_void_p()
        for call, *arguments in (("cudaMalloc", ctypes.byref(address), ctypes.c_size_t(count)), ("cudaFree", address)):
            code = getattr(runtime, call)(*arguments)
            if code != 0:
                raise Fail.error("out-of-memory" if code == OUT_OF_MEMORY else "device", f"{call} failed: error {code}")


class Clock:
    """The device's own clock: two events, the first behind a gate, a kernel that does nothing for a while.

    What is enqueued meanwhile runs when the gate opens, so that the time between the events has no enqueuing in it.
    """

    def __init__(self, torch: Any):
        self.torch = torch
        self.first = torch.cuda.Event(enable_timing=True)
        self.last = torch.cuda.Event(enable_timing=True)

    def wait(self) -> None:
        """Waits until all that the device was asked is done."""
        self.torch.cuda.synchronize()

    def start(self, gate: int) -> None:
        """Shuts the gate for about so many nanoseconds and starts the clock behind it."""
        self.torch.cuda._sleep(gate * CYCLES_OF_A_MICROSECOND // 1000)
        self.first.record()

    def stop(self) -> tuple[int, bool]:
        """Nanoseconds since the start, and whether the gate was still shut when all was enqueued."""
        self.last.record()
        gated = not self.first.query()
        self.last.synchronize()
        return round(self.first.elapsed_time(self.last) * 1e6), gated


def segments(snapshot: list[dict]) -> list[int]:
    """Segments in the order of their addresses, and their blocks, as the op `memory_segments` describes them."""
    numbers = []
    for segment in sorted(snapshot, key=lambda segment: segment["address"]):
        blocks = segment["blocks"]
        large, expandable = segment["segment_type"] == "large", segment["is_expandable"]
        numbers += [segment["address"], segment["total_size"], int(large), int(expandable), len(blocks)]
        for block in blocks:
            numbers += [block["size"], block["requested_size"], BLOCK_STATES.index(block["state"])]
    return numbers


class Simulation:
    """The simulated device of this process, asked through the functions that its library exports."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(None)
        self.library.simulated_cuda_recorded.restype = ctypes.c_uint64

    def hold_events(self, on: bool) -> None:
        """Holds events that are recorded from now on pending, or no more."""
        self.library.simulated_cuda_hold_events(int(on))

    def complete_events(self) -> None:
        """Lets every event be done."""
        self.library.simulated_cuda_complete_events()

    def recorded(self) -> int:
        """How many kernels were launched so far that the device only records: it computes nothing for them."""
        return self.library.simulated_cuda_recorded()

    def last_recorded(self) -> str:
        """The name of the last of them."""
        room = ctypes.create_string_buffer(NAME_ROOM)
        self.library.simulated_cuda_last_recorded(room, ctypes.c_size_t(NAME_ROOM))
        return room.value.decode(errors="replace")

    def refuse_recorded(self, before: int) -> None:
        """An op or a program that launched such a kernel has no values, so it is refused."""
        if self.recorded() != before:
            raise Fail.unsupported(f"the simulated CUDA device does not compute the kernel {self.last_recorded()}")


def simulation() -> Optional[Simulation]:
    """The simulated device, where there is one."""
    return Simulation() if SIMULATED in os.environ else None


def wake(torch: Any, simulation: Simulation) -> None:
    """Uses the device and page-locked memory once: before, PyTorch has no statistics of them."""
    torch.empty(1, device="cuda")
    torch.empty(1, pin_memory=True)
    restore(torch, simulation)


def restore(torch: Any, simulation: Simulation) -> None:
    """What a case may have changed of the allocators becomes what a new process has."""
    simulation.hold_events(False)
    simulation.complete_events()
    torch.cuda.set_stream(torch.cuda.default_stream())
    # Before the settings change: what is counted as oversize must be returned as such.
    torch.cuda.empty_cache()
    torch._C._host_emptyCache()
    torch._C._accelerator_setAllocatorSettings("expandable_segments:False,large_segment_size_mb:20")
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.reset_accumulated_memory_stats()
    torch.cuda.reset_peak_host_memory_stats()
    torch.cuda.reset_accumulated_host_memory_stats()
