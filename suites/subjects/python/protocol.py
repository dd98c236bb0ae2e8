"""Serves a library: one request a line, one reply a line, as described in ``docs/protocol.md``."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import json
import math
import os
import re
import sys
import textwrap
import threading
import types
import warnings
import weakref
from typing import Any, BinaryIO, Callable, Optional

from library import Library
from program import Program
from wire import Fail, encode_float, encode_text, fields, integer, natural

LIBRARY_MISSING = 3
"""Exit status of a subject whose library its interpreter cannot import."""

STANDARD_MODULES = (contextlib, ctypes, gc, io, math, os, sys, threading, warnings, weakref)
"""What a piece of Python sees without an import, beside the usual names of the library."""

REQUESTS = {
    "hello": (),
    "call": ("op", "args"),
    "python": ("source", "names"),
    "drop": ("handle",),
    "reset": (),
    "prepare": ("setup", "body", "result", "clock"),
    "account": ("program",),
    "measure": ("program", "iterations"),
    "checksum": ("program",),
}
"""The fields of each request; a :class:`Session` has a method of the same name that takes them."""


def serve(load: Callable[[], Library]) -> None:
    """Serves the library that `load` imports until the requests end.

    Exits with `LIBRARY_MISSING` where it cannot be imported.
    """
    requests, replies = take_pipes()
    try:
        library = load()
    except ImportError as error:
        print(f"{sys.argv[0]}: the library cannot be imported by {sys.executable}: {error}", file=sys.stderr)
        sys.exit(LIBRARY_MISSING)
    # What the import left behind stays for good: the collector need not look through it at every reset.
    gc.collect()
    gc.freeze()
    session = Session(library)
    written = json.JSONEncoder(allow_nan=False).encode
    for line in requests:
        replies.write(written(session.reply(line)).encode() + b"\n")
        replies.flush()


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keeps the pipes of the protocol out of reach of the library and of pieces of Python.

    What they print goes to stderr, and what they read is at its end.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


class Session:
    """The tensors and programs of one runner, and the answers to what it asks."""

    def __init__(self, library: Library):
        self.library = library
        self.dtype_names = {dtype: name for name, dtype in library.dtypes.items()}
        self.tensors: dict[int, Any] = {}
        self.programs: dict[int, Program] = {}
        self.next_tensor = 0
        self.next_program = 1

    def reply(self, line: bytes) -> dict:
        """The reply to one line."""
        try:
            ask, given = fields(parsed(line), "a request", ("ask", "with"))
            if not isinstance(ask, str) or ask not in REQUESTS:
                raise Fail.protocol(f"unknown request {ask!r}: one of {list(REQUESTS)}")
            return getattr(self, ask)(*fields(given, ask, REQUESTS[ask]))
        except Fail as fail:
            return fail.reply

    def hello(self) -> dict:
        """Says who answers."""
        return {
            "hello": {
                "name": self.library.name,
                "version": self.library.version,
                "language": "python " + ".".join(str(part) for part in sys.version_info[:3]),
                "build": "shipped",
                "devices": self.library.devices(),
            }
        }

    def call(self, name: Any, args: Any) -> dict:
        """One op."""
        library = self.library
        op = library.op(name)
        values = library.arguments(op, args, self.tensor)
        answer = library.guarded(library.function(op), *values.values())
        if op.gives == "tensor":
            answer = library.as_tensor(answer)
            if not isinstance(answer, library.tensor):
                raise Fail.error("other", f"{op.name} gave {answer!r}, which is no tensor")
        return {"value": self.encode(answer)}

    def python(self, source: Any, names: Any) -> dict:
        """A piece of Python, in a namespace of its own."""
        if not isinstance(source, str) or not isinstance(names, dict):
            raise Fail.protocol("python takes its source as text and its names as an object")
        namespace = {"__name__": "__main__", **self.library.usual_names}
        namespace.update((module.__name__, module) for module in STANDARD_MODULES)
        try:
            for name, handle in names.items():
                namespace[name] = self.tensor(handle)
            return {"value": self.evaluate(source, namespace)}
        except Fail:
            raise
        except (Exception, SystemExit) as error:
            return self.raised(error).reply
        finally:
            # Functions of the source and their namespace hold each other: they, and the tensors that they name,
            # would live until a collection.
            namespace.clear()

    def drop(self, handle: Any) -> dict:
        """Forgets a tensor."""
        self.tensor(handle)
        del self.tensors[handle]
        return {"value": None}

    def reset(self) -> dict:
        """Forgets all tensors and programs, restores defaults, and collects what only cycles hold."""
        self.tensors.clear()
        self.programs.clear()
        self.next_tensor = 0
        self.library.reset()
        gc.collect()
        return {"value": None}

    def prepare(self, setup: Any, body: Any, result: Any, clock: Any) -> dict:
        """Makes a program ready and runs its setup."""
        program = self.library.guarded(Program, self.library, setup, body, result, clock)
        number = self.next_program
        self.programs[number] = program
        self.next_program += 1
        return {"prepared": {"program": number}}

    def account(self, program: Any) -> dict:
        """Runs the body of a program once."""
        self.library.guarded(self.program(program).once)
        return {"value": None}

    def measure(self, program: Any, iterations: Any) -> dict:
        """Runs the body in a timed loop."""
        nanoseconds = self.library.guarded(self.program(program).measure, natural(iterations))
        return {"sample": {"nanoseconds": nanoseconds}}

    def checksum(self, program: Any) -> dict:
        """Runs the body once more and describes its result."""
        result = self.library.guarded(self.program(program).result)
        elements, crc32 = self.library.guarded(self.library.checksum, result)
        return {"checksum": {"elements": elements, "crc32": crc32}}

    def tensor(self, handle: Any) -> Any:
        """The tensor of this handle."""
        if natural(handle) not in self.tensors:
            raise Fail.protocol(f"no tensor {handle} is kept here: it was never made, or it was dropped")
        return self.tensors[handle]

    def program(self, number: Any) -> Program:
        """The program of this number."""
        if natural(number) not in self.programs:
            raise Fail.protocol(f"no program {number} is prepared")
        return self.programs[number]

    def evaluate(self, source: str, namespace: dict[str, Any]) -> Any:
        """The value of an expression, or of `answer` after statements, as it travels."""
        source = textwrap.dedent(source).strip()
        expression = compiled_expression(source)
        if expression is not None:
            return self.encode(eval(expression, namespace))
        exec(compile(source, "<python>", "exec"), namespace)
        if "answer" not in namespace:
            raise Fail.protocol("the statements leave no variable `answer`")
        return self.encode(namespace["answer"])

    def raised(self, error: BaseException) -> Fail:
        """The reply to what a piece of Python raised: its class is the kind.

        That a library is not here is no fault of the source, which may be written for several subjects.
        """
        message = str(error)
        if isinstance(error, ModuleNotFoundError):
            return Fail.unsupported(message)
        if isinstance(error, NameError):
            unknown = re.match(r"name '(\w+)' is not defined", message)
            library = unknown and self.library.foreign_names.get(unknown[1])
            if library:
                return Fail.unsupported(f"no {library} in this subject: {message}")
        return Fail.error(type(error).__name__, message)

    def encode(self, value: Any) -> Any:
        """A value as it travels; a tensor is kept under a new handle."""
        value = self.library.as_plain(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return integer(value)
        if isinstance(value, float):
            return encode_float(value)
        if isinstance(value, str):
            return encode_text(value)
        if isinstance(value, (list, tuple)):
            return [self.encode(each) for each in value]
        if isinstance(value, self.library.tensor):
            return {"tensor": self.keep(value)}
        if isinstance(value, self.library.dtype):
            return self.dtype_name(value)
        kind = type(value)
        raise Fail.protocol(f"an answer of type {kind.__module__}.{kind.__qualname__} cannot travel")

    def keep(self, tensor: Any) -> int:
        """Keeps a tensor under a new handle."""
        handle = self.next_tensor
        self.tensors[handle] = tensor
        self.next_tensor += 1
        return handle

    def dtype_name(self, dtype: Any) -> str:
        """The name of this dtype on the wire."""
        if dtype not in self.dtype_names:
            raise Fail.error("dtype", f"{dtype} is none of the dtypes of the protocol")
        return self.dtype_names[dtype]


def parsed(line: bytes) -> Any:
    """The JSON of one line."""
    try:
        return json.loads(line, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Fail.protocol(str(error)) from None


def refuse_constant(name: str) -> None:
    """Refuses what Python's reader takes beyond JSON."""
    raise ValueError(f"{name} is no JSON: a float that is not finite is an object")


def compiled_expression(source: str) -> Optional[types.CodeType]:
    """The source as an expression; `None` where it is none."""
    try:
        return compile(source, "<python>", "eval")
    except SyntaxError:
        return None
