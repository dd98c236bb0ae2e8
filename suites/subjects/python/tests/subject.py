"""A subject's process at the other end of two pipes, as the runner holds it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER))


def import_or_skip(library: str) -> None:
    """Skips a test whose library is not installed, and says why."""
    try:
        importlib.import_module(library)
    except ImportError as error:
        raise unittest.SkipTest(f"{library} cannot be imported by {sys.executable}: {error}") from None


class Subject:
    """A subject that has been started and answers one request at a time."""

    def __init__(self, script: str):
        self.process = subprocess.Popen(
            [sys.executable, "-u", str(FOLDER / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
        )

    def line(self, line: bytes) -> dict:
        """The reply to a line as it stands."""
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        if not reply:
            raise EOFError(f"the subject ended: {self.process.stderr.read().decode()}")
        return json.loads(reply, parse_constant=refuse_constant)

    def ask(self, request: str, **given: Any) -> dict:
        """The reply to a request."""
        return self.line(json.dumps({"ask": request, "with": given}, allow_nan=False).encode())

    def op(self, name: str, **args: Any) -> dict:
        """The reply to an op."""
        return self.ask("call", op=name, args=args)

    def value(self, name: str, **args: Any) -> Any:
        """The answer of an op, a tensor as its handle."""
        return plain(self.op(name, **args))

    def python(self, source: str, **names: int) -> dict:
        """The reply to a piece of Python."""
        return self.ask("python", source=source, names=names)

    def close(self) -> str:
        """Ends the requests; what the subject wrote on stderr."""
        _, errors = self.process.communicate(timeout=60)
        return errors.decode()


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def plain(reply: dict) -> Any:
    """The value of a reply, tensors as their handles."""
    if "value" not in reply:
        raise AssertionError(reply)
    value = reply["value"]
    if isinstance(value, list):
        return [plain({"value": each}) for each in value]
    return value["tensor"] if isinstance(value, dict) and "tensor" in value else value


def step(op: str, *out: int, **args: Any) -> dict:
    """A call of a program."""
    return {"call": {"op": {"op": op, "args": args}, "out": list(out)}}


class SubjectTest(unittest.TestCase):
    """Tests over one process, with nothing kept between them."""

    script: str
    library: str

    @classmethod
    def setUpClass(cls) -> None:
        import_or_skip(cls.library)
        cls.subject = Subject(cls.script)
        cls.addClassCleanup(cls.subject.close)

    def setUp(self) -> None:
        self.assertEqual(self.subject.ask("reset"), {"value": None})

    def assert_error(self, reply: dict, kind: str, words: str = "") -> None:
        """Asserts that the reply is an error of this kind whose message holds these words."""
        self.assertEqual(reply.get("error", reply).get("kind"), kind, reply)
        self.assertIn(words, reply["error"]["message"])

    def assert_unsupported(self, reply: dict, words: str) -> None:
        """Asserts that the reply names the missing API with these words."""
        self.assertIn(words, reply.get("unsupported", ""), reply)
