"""How a program is timed by a device's own clock, on a device that only counts."""

from __future__ import annotations

import unittest
from typing import Any, Optional

import subject  # noqa: F401  The modules of the subjects lie beside this folder.
from library import Library
from program import Program
from wire import Fail


class Counting(Library):
    """A device on which a write takes 10 ns, and enqueuing it takes as long as the test wants."""

    name = "counting"
    tensor = object
    dtypes: dict[str, Any] = {"f32": None}
    sources = {"ones": "new({shape}, {dtype})", "add_scalar_": "write({a}, {value})"}

    def __init__(self, enqueuing: int = 0, refuses_after: Optional[int] = None):
        super().__init__()
        self.enqueuing, self.refuses_after = enqueuing, refuses_after
        self.namespace = {"new": lambda shape, dtype: object(), "write": self.write}
        self.gate: Optional[int] = None
        self.enqueued = 0
        self.laps: list[tuple[int, int]] = []
        self.waited = 0

    def device_clock(self) -> Counting:
        return self

    def write(self, tensor: object, value: float) -> None:
        if self.enqueued == self.refuses_after:
            raise Fail.error("device", "refused")
        self.enqueued += 1

    def start(self, gate: int) -> None:
        assert self.gate is None, "started twice"
        self.gate, self.enqueued = gate, 0

    def stop(self) -> tuple[int, bool]:
        assert self.gate is not None, "stopped and not started"
        gate, self.gate = self.gate, None
        self.laps.append((self.enqueued, gate))
        return 10 * self.enqueued, self.enqueuing * self.enqueued <= gate

    def wait(self) -> None:
        self.waited += 1


def program(library: Counting, steps: int) -> Program:
    write = {"call": {"op": {"op": "add_scalar_", "args": {"a": 0, "value": 1.0}}, "out": []}}
    ones = {"call": {"op": {"op": "ones", "args": {"shape": [4], "dtype": "f32"}}, "out": [0]}}
    return Program(library, [ones], [write] * steps, 0, "device")


class DeviceClockTest(unittest.TestCase):
    def test_a_long_loop_is_timed_in_parts_that_the_device_takes_ahead(self) -> None:
        library = Counting()
        self.assertEqual(program(library, 2).measure(300), 10 * 600)
        self.assertEqual([writes for writes, _ in library.laps], [256, 256, 88])

    def test_a_body_of_more_steps_than_the_device_takes_is_a_part_of_its_own(self) -> None:
        library = Counting()
        self.assertEqual(program(library, 1000).measure(2), 10 * 2000)
        self.assertEqual(len(library.laps), 2)

    def test_the_gate_grows_until_it_holds_and_stays_so(self) -> None:
        library = Counting(enqueuing=5_000)
        timed = program(library, 1)
        # Only laps behind a shut gate count.
        self.assertEqual([timed.measure(256), timed.measure(256)], [10 * 256] * 2)
        self.assertEqual([gate // 1000 for _, gate in library.laps], [200, 400, 800, 1600, 1600])

    def test_a_body_that_waits_for_the_device_has_no_time(self) -> None:
        library = Counting(enqueuing=1_000_000_000)
        with self.assertRaises(Fail) as refused:
            program(library, 1).measure(3)
        self.assertIn("waits for the device itself", str(refused.exception.reply))
        self.assertEqual(library.laps[-1][1], 250_000_000, "what the message says was tried")

    def test_a_body_that_fails_leaves_no_clock_running(self) -> None:
        library = Counting(refuses_after=5)
        with self.assertRaises(Fail) as refused:
            program(library, 1).measure(20)
        self.assertIn("refused", str(refused.exception.reply))
        self.assertEqual((library.gate, len(library.laps)), (None, 1))

    def test_a_result_is_looked_at_when_the_device_has_it(self) -> None:
        library = Counting()
        timed = program(library, 1)
        timed.result()
        self.assertEqual(library.waited, 1)
        timed.once()
        self.assertEqual(library.laps, [], "no clock without a time")

    def test_an_unknown_clock_is_refused(self) -> None:
        with self.assertRaises(Fail) as refused:
            Program(Counting(), [], [], 0, "sun")
        self.assertIn("the clock is one of", str(refused.exception.reply))
