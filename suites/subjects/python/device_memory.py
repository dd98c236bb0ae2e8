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
        """An op that launched such a kernel has no values, so it is refused."""
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
