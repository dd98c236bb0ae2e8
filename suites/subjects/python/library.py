"""What a subject says about its library, and how an op of the table becomes a call of it."""

from __future__ import annotations

import textwrap
from typing import Any, Callable

from wire import DECODERS, DTYPES, TENSOR_KINDS, Fail, Op, fields, listed, table_of_ops

COMMON_KINDS = [
    (MemoryError, "", "out-of-memory"),
    # A step of a program has more or fewer slots than its op gives tensors.
    (ValueError, "values to unpack", "protocol"),
]
"""Kinds of refusals of any library, in the form of `Library.error_kinds`."""


class Library:
    """A tensor library as a subject. A subject fills in the attributes and what differs from here."""

    name: str
    """The library's name, for `hello` and for messages."""
    version: str
    """The library's version, as it tells it."""
    tensor: type
    """The class of its tensors: what an op gives that gives a tensor is one."""
    dtype: type
    """The class of its dtypes."""
    dtypes: dict[str, Any]
    """The library's dtypes by the name that travels; those that it lacks are left out."""
    sources: dict[str, str]
    """The expression of each op, with `{argument}` for each argument; an op that gives nothing may be a statement."""
    derived: dict[str, dict[str, Callable]] = {}
    """Per op, placeholders of its source that are computed from its arguments other than tensors, outside any clock."""
    namespace: dict[str, Any]
    """What the sources see beside their arguments."""
    usual_names: dict[str, Any]
    """What a piece of Python sees beside the standard modules."""
    foreign_names: dict[str, str] = {}
    """Names that a piece of Python may use and whose library is not here: name, library."""
    error_kinds: list[tuple[type, str, str]] = []
    """Kinds of refusals: class, a fragment of the message, kind. The first that fits counts, and the kind
    `unsupported` says that what is missing is an API."""

    def devices(self) -> list[str]:
        """The devices that it can run on here."""
        return ["cpu"]

    def __init__(self) -> None:
        self.ops = table_of_ops()
        self.functions: dict[str, Callable] = {}

    def missing(self, op: Op) -> str:
        """Names the API that an op without a source would need."""
        return f"{self.name} has no {op.name}"

    def as_tensor(self, value: Any) -> Any:
        """The answer of an op that gives a tensor, where the library answers another class."""
        return value

    def as_plain(self, value: Any) -> Any:
        """An answer as a number of the language, where it is of a class of the library's own."""
        return value

    def checksum(self, tensor: Any) -> tuple[int, int]:
        """Number of elements, and the CRC-32 of their little-endian bytes in row-major order."""
        raise NotImplementedError

    def device_clock(self) -> Any:
        """A new clock of the device, for programs that are timed by it: `start(gate)`, `stop()`, `wait()`."""
        raise Fail.unsupported(f"{self.name} has no clock of a device")

    def reset(self) -> None:
        """Restores the library's defaults."""

    def op(self, name: Any) -> Op:
        """The op of this name."""
        if not isinstance(name, str) or name not in self.ops:
            raise Fail.protocol(f"unknown op {name!r}")
        return self.ops[name]

    def arguments(self, op: Op, args: Any, tensor: Callable[[Any], Any]) -> dict[str, Any]:
        """The arguments of an op, then what its source derives from them. `tensor` looks a handle up."""
        given = fields(args, op.name, tuple(op.args))
        values = {name: self.decode(kind, value, tensor) for (name, kind), value in zip(op.args.items(), given)}
        derived = self.derived.get(op.name)
        if derived:
            plain = {name: values[name] for name, kind in op.args.items() if kind not in TENSOR_KINDS}
            values.update({name: derive(**plain) for name, derive in derived.items()})
        return values

    def decode(self, kind: str, value: Any, tensor: Callable[[Any], Any]) -> Any:
        """An argument of this type from the wire."""
        if kind in DECODERS:
            return DECODERS[kind](value)
        if kind == "tensors":
            return [tensor(handle) for handle in listed(value)]
        if kind in TENSOR_KINDS:
            return tensor(value)
        return self.dtype_of(value)

    def dtype_of(self, name: Any) -> Any:
        """The library's dtype of this wire name."""
        if not isinstance(name, str) or name not in DTYPES:
            raise Fail.protocol(f"unknown dtype {name!r}: one of {list(DTYPES)}")
        if name not in self.dtypes:
            raise Fail.unsupported(f"{self.name} has no {DTYPES[name]}")
        return self.dtypes[name]

    def source(self, op: Op) -> str:
        """The expression of an op."""
        if op.name not in self.sources:
            raise Fail.unsupported(self.missing(op))
        return self.sources[op.name]

    def function(self, op: Op) -> Callable:
        """The source of an op, compiled once, as a function of its arguments and what is derived from them."""
        if op.name not in self.functions:
            names = [*op.args, *self.derived.get(op.name, ())]
            line = self.source(op).format(**{name: name for name in names})
            source = function_source("op", names, [line if op.gives == "none" else f"return {line}"])
            self.functions[op.name] = self.define(source, f"<{op.name}>")["op"]
        return self.functions[op.name]

    def define(self, source: str, filename: str) -> dict[str, Any]:
        """The functions that this source defines over the names of the library."""
        scope = dict(self.namespace)
        exec(compile(source, filename, "exec"), scope)
        return scope

    def guarded(self, call: Callable, *args: Any) -> Any:
        """Calls into the library; what it raises becomes the reply."""
        try:
            return call(*args)
        except Fail:
            raise
        except Exception as error:
            # Not by way of a variable: its frame would hold the error that holds the frame, and the tensors in it.
            raise self.refusal(error) from None

    def refusal(self, error: Exception) -> Fail:
        """The reply to what the library raised."""
        message = str(error)
        if isinstance(error, (AttributeError, NotImplementedError)):
            return Fail.unsupported(message)
        for kind_of, fragment, kind in COMMON_KINDS + self.error_kinds:
            if isinstance(error, kind_of) and fragment in message:
                return Fail.unsupported(message) if kind == "unsupported" else Fail.error(kind, message)
        return Fail.error("other", message)


def function_source(name: str, parameters: list[str], lines: list[str]) -> str:
    """The source of a function of these lines."""
    return f"def {name}({', '.join(parameters)}):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"
