"""What travels: replies that end a request, numbers, lists and objects, and the table of ops."""

from __future__ import annotations

import json
import math
import reprlib
from pathlib import Path
from typing import Any, NamedTuple

TENSOR_KINDS = ("tensor", "target", "tensors")
"""The types of arguments that hold handles."""

DTYPES = {
    "bool": "bool",
    "u8": "uint8",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}
"""The dtypes by the name that travels, with the name that Python libraries give them."""


class Op(NamedTuple):
    """One row of the table of ops."""

    name: str
    group: str
    args: dict[str, str]
    """The type of each argument, in order."""
    gives: str
    """The type of the answer."""
    torch: str
    """The PyTorch expression, with `{argument}` for each argument."""


def table_of_ops() -> dict[str, Op]:
    """The ops by name, from the file that is generated from the table."""
    rows = json.loads(Path(__file__).with_name("ops.json").read_text(encoding="utf-8"))
    return {
        row["name"]: Op(row["name"], row["group"], dict(row["args"]), row["gives"], row["torch"]) for row in rows
    }


class Fail(Exception):
    """Ends a request with this reply."""

    def __init__(self, reply: dict):
        super().__init__(reply)
        self.reply = reply

    @classmethod
    def unsupported(cls, what: str) -> Fail:
        """The library lacks the API that the text names."""
        return cls({"unsupported": sendable(what)})

    @classmethod
    def error(cls, kind: str, message: str) -> Fail:
        """The library refused; ``docs/protocol.md`` lists the kinds."""
        return cls({"error": {"kind": kind, "message": sendable(message)}})

    @classmethod
    def protocol(cls, message: str) -> Fail:
        """The request makes no sense, or its answer cannot travel."""
        return cls.error("protocol", message)


def sendable(text: str) -> str:
    """The text without halves of surrogate pairs, which are no text on the wire."""
    return text.encode("utf-8", "replace").decode("utf-8")


def is_integer(value: Any) -> bool:
    """Whether this is a whole number of 64 bits with a sign; `True` and `False` are none."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def integer(value: Any) -> int:
    """A whole number of 64 bits with a sign."""
    if not is_integer(value):
        raise Fail.protocol(f"expected a whole number within 64 bits, found {reprlib.repr(value)}")
    return value


def text(value: Any) -> str:
    """A piece of text."""
    if not isinstance(value, str):
        raise Fail.protocol(f"expected text, found {reprlib.repr(value)}")
    return value


def natural(value: Any) -> int:
    """A handle, a number of a program or a count."""
    if not is_integer(value) or value < 0:
        raise Fail.protocol(f"expected a handle or a count, found {reprlib.repr(value)}")
    return value


def boolean(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Fail.protocol(f"expected true or false, found {reprlib.repr(value)}")
    return value


def scalar(value: Any) -> Any:
    """A number, which keeps whether it is whole, or a float that is not finite."""
    if isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, dict) and value in ({"float": "NaN"}, {"float": "inf"}, {"float": "-inf"}):
        return float(value["float"])
    return integer(value)


def listed(value: Any) -> list:
    """A list, whatever it holds."""
    if not isinstance(value, list):
        raise Fail.protocol(f"expected a list, found {reprlib.repr(value)}")
    return value


def fields(value: Any, what: str, names: tuple[str, ...]) -> list:
    """The fields of an object that has these and no others, in this order."""
    if not isinstance(value, dict):
        raise Fail.protocol(f"expected {what} as an object, found {reprlib.repr(value)}")
    if value.keys() != set(names):
        raise Fail.protocol(f"{what} has the fields {list(names)}, found {list(value)}")
    return [value[name] for name in names]


DECODERS = {
    "bool": boolean,
    "int": integer,
    "scalar": scalar,
    "text": text,
    "ints": lambda value: [integer(each) for each in listed(value)],
    "scalars": lambda value: [scalar(each) for each in listed(value)],
}
"""From the wire to Python, by the type of the argument; tensors and dtypes are looked up by their owners."""


def encode_float(value: float) -> Any:
    """A float as it travels: itself, or an object where it is not finite."""
    if math.isfinite(value):
        return value
    return {"float": "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"}


def encode_text(value: str) -> str:
    """A text as it travels: itself."""
    if sendable(value) != value:
        raise Fail.protocol(f"{value!r} cannot travel: it is no valid Unicode")
    return value
