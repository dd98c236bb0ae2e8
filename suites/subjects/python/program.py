"""Programs: a workload as functions of Python, and its clock."""

from __future__ import annotations

import gc
import math
import reprlib
import time
from typing import Any, Iterable, NamedTuple, Optional

from library import Library, function_source
from wire import TENSOR_KINDS, Fail, fields, listed, natural


CLOCKS = ("host", "device")

AHEAD = 256
"""Steps that are enqueued behind one gate: CUDA takes about a thousand launches ahead, and a step may have several."""

SLOTS = 1 << 16
"""Slots are numbered below this, as in every subject."""

FIRST_GATE, LONGEST_GATE = 200_000, 250_000_000
"""How long a gate is shut at first and at most, in nanoseconds."""


class Step(NamedTuple):
    """A step of a program as a line of Python over one variable a slot. A drop has no line of its own."""

    reads: list[int]
    out: list[int]
    line: Optional[str]


class Writer:
    """Turns steps as they travel into lines."""

    def __init__(self, library: Library):
        self.library = library
        self.constants: dict[str, Any] = {}

    def steps(self, steps: Any) -> list[Step]:
        """The steps of a setup or of a body."""
        return [self.step(step) for step in listed(steps)]

    def step(self, step: Any) -> Step:
        """One step; the schema of the request says what it looks like."""
        if not isinstance(step, dict) or list(step) not in (["call"], ["drop"]):
            raise Fail.protocol(f"a step is a call or a drop, found {reprlib.repr(step)}")
        if "drop" in step:
            return Step([], [natural(slot) for slot in listed(step["drop"])], None)
        op, out = fields(step["call"], "a call", ("op", "out"))
        return self.call(*fields(op, "an op", ("op", "args")), [natural(slot) for slot in listed(out)])

    def call(self, name: Any, args: Any, out: list[int]) -> Step:
        """An op whose handles are slots, and the slots that get its answer."""
        reads: list[int] = []

        def slot(handle: Any) -> str:
            reads.append(natural(handle))
            return f"s{handle}"

        op = self.library.op(name)
        wanted = {"tensor": 1, "tensors": len(out)}.get(op.gives, 0)
        beyond = [number for number in out if number >= SLOTS]
        if beyond:
            raise Fail.protocol(f"slot {beyond[0]}: slots are numbered from 0 to {SLOTS - 1}")
        if len(out) != wanted:
            raise Fail.protocol(f"{name} gives {wanted} tensors, the program has {len(out)} slots for them")
        values = self.library.arguments(op, args, slot)
        spelled = {each: self.spelled(value, op.args.get(each)) for each, value in values.items()}
        line = self.library.source(op).format(**spelled)
        targets = ", ".join(variables(out))
        if op.gives == "tensors":
            line = f"[{targets}] = {line}"
        elif out:
            line = f"{targets} = {line}"
        return Step(reads, out, line)

    def spelled(self, value: Any, kind: Optional[str]) -> str:
        """A slot as its variable, a number as a literal, anything else as a constant that is made outside the clock."""
        if kind == "tensors":
            return f"[{', '.join(value)}]"
        if kind in TENSOR_KINDS:
            return value
        if isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
            return repr(value)
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name


def run_through(steps: list[Step], live: set[int]) -> list[str]:
    """The lines of these steps; `live`, the slots that hold a tensor, is brought from before them to after them."""
    lines = []
    for step in steps:
        empty = [slot for slot in step.reads if slot not in live]
        if empty:
            raise Fail.protocol(f"{step.line!r} reads slot {empty[0]}, which holds no tensor at that step")
        if step.line is None:
            lines += drops(slot for slot in step.out if slot in live)
            live.difference_update(step.out)
        else:
            lines.append(step.line)
            live.update(step.out)
    return lines


class Program:
    """A program that is ready to run: its loop is Python source and costs nothing beyond the library's calls."""

    def __init__(self, library: Library, setup: Any, body: Any, result: Any, clock: Any):
        if clock not in CLOCKS:
            raise Fail.protocol(f"the clock is one of {CLOCKS}, found {reprlib.repr(clock)}")
        self.device_clock = library.device_clock() if clock == "device" else None
        self.steps = len(listed(body))
        self.gate = FIRST_GATE
        writer = Writer(library)
        live: set[int] = set()
        setup_lines = run_through(writer.steps(setup), live)
        kept = sorted(live)
        body_steps = writer.steps(body)
        body_lines = run_through(body_steps, live)
        if natural(result) not in live:
            raise Fail.protocol(f"slot {result} holds no tensor at the end of the body")
        made = sorted(live.intersection(slot for step in body_steps if step.line for slot in step.out))
        lost = [slot for slot in kept if slot not in live or slot in made]
        if lost:
            raise Fail.protocol(f"the body cannot run again: it drops or replaces slot {lost[0]} of the setup")

        constants = list(writer.constants)
        given = [*variables(kept), *constants]
        functions = library.define(
            function_source("setup", constants, [*setup_lines, f"return [{', '.join(variables(kept))}]"])
            + function_source("run", ["iterations", *given], repeated([*body_lines, *drops(made)]))
            + function_source("last", given, [*body_lines, f"return s{result}"]),
            "<program>",
        )
        self.run, self.last = functions["run"], functions["last"]
        values = list(writer.constants.values())
        self.given = [*functions["setup"](*values), *values]

    def once(self) -> None:
        """One run of the body, without a clock."""
        self.run(1, *self.given)

    def measure(self, iterations: int) -> int:
        """Nanoseconds of so many runs of the body, by the program's clock."""
        # A collection falls due after so many allocations, whoever made them: it would charge this loop for what
        # earlier requests left behind. Tensors are counted and go at their `del`.
        collecting = gc.isenabled()
        gc.disable()
        try:
            if self.device_clock is not None:
                return self.measure_on_device(iterations)
            start = time.perf_counter_ns()
            self.run(iterations, *self.given)
            return time.perf_counter_ns() - start
        finally:
            if collecting:
                gc.enable()

    def measure_on_device(self, iterations: int) -> int:
        """A device takes only so much work ahead of time, so that long loops are timed in parts."""
        # Once before: what is taken of the device for the first time would wait for the gate.
        self.once()
        part = max(1, AHEAD // max(1, self.steps))
        return sum(self.lap(min(part, iterations - done)) for done in range(0, iterations, part))

    def lap(self, iterations: int) -> int:
        """Enqueues the body so often behind a gate that is shut for long enough."""
        while True:
            self.device_clock.start(self.gate)
            try:
                self.run(iterations, *self.given)
            finally:
                # Stopped also where the body failed: the device shall not be left behind a gate.
                nanoseconds, gated = self.device_clock.stop()
            if gated:
                return nanoseconds
            if self.gate == LONGEST_GATE:
                self.gate = FIRST_GATE
                raise Fail.error(
                    "other",
                    f"a gate of {LONGEST_GATE // 1_000_000} ms opened before the body was enqueued: the body waits for the device itself",
                )
            self.gate = min(self.gate * 2, LONGEST_GATE)

    def result(self) -> Any:
        """The checked tensor, after one more run of the body."""
        result = self.last(*self.given)
        if self.device_clock is not None:
            # The body only enqueued it.
            self.device_clock.wait()
        return result


def repeated(lines: list[str]) -> list[str]:
    """The lines of a loop over these lines."""
    return ["for _ in range(iterations):", *["    " + line for line in lines or ["pass"]]]


def drops(slots: Iterable[int]) -> list[str]:
    """The lines that forget what these slots hold."""
    return [f"del s{slot}" for slot in slots]


def variables(slots: list[int]) -> list[str]:
    """The variables of these slots."""
    return [f"s{slot}" for slot in slots]
