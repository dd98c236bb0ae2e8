"""A subject that misbehaves in one way, named on its command line, whenever it is asked for a version counter.

Anything else it answers well enough for the cases of `fakes.rs`.
"""

import json
import os
import sys
import time

MODE = sys.argv[1]
DEVICES = ["cpu", "cuda"] if MODE == "copies-nothing" else ["cpu"]
HELLO = {"name": "fake", "version": "1", "language": "python 3.11.7", "build": "release", "devices": DEVICES}
# What tutorial 000 prints at lines 47 and 48, and the overhead it names at line 57.
PRINTED = [72, 4_000_056, 56]


def say(reply):
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


def misbehave(line):
    if MODE == "wrong":
        say({"value": 7})
    elif MODE == "parrot":
        sys.stdout.write(line)
        sys.stdout.flush()
    elif MODE == "silent":
        time.sleep(600)
    elif MODE == "dies":
        sys.stderr.write("no more\n")
        os._exit(9)
    elif MODE == "killed":
        os.abort()
    elif MODE == "floods":
        for _ in range(64):
            sys.stderr.write("x" * (1 << 20) + "\n")
        say({"value": 0})
    elif MODE == "nonsense":
        sys.stdout.write("Hello, world!\n")
        sys.stdout.flush()
    elif MODE == "not-text":
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.buffer.flush()
    elif MODE == "wrong-type":
        say({"value": "zero"})
    elif MODE == "lacks":
        say({"unsupported": "version counters"})
    elif MODE == "refuses":
        say({"error": {"kind": "other", "message": "not today"}})
    else:
        say({"error": {"kind": "protocol", "message": f"no such mode: {MODE}"}})


def measured(request):
    """Answers what a measuring process asks."""
    if request["ask"] == "prepare":
        say({"prepared": {"program": 1}})
    elif request["ask"] == "measure" and MODE == "dies-measuring":
        os._exit(9)
    elif request["ask"] == "measure":
        iterations = request["with"]["iterations"]
        time.sleep(iterations / 1e6)
        say({"sample": {"nanoseconds": 1000 * iterations}})
    else:
        say({"checksum": {"elements": 2, "crc32": 0 if MODE == "wrong-result" else 7}})


for line in sys.stdin:
    request = json.loads(line)
    if request["ask"] == "hello":
        say({"hello": {**HELLO, "build": "debug" if MODE == "debug-build" else "release"}})
    elif request["ask"] in ("prepare", "measure", "checksum"):
        measured(request)
    elif request["ask"] == "python":
        known = MODE == "printed" and "getsizeof(storage)" in request["with"]["source"]
        say({"value": PRINTED} if known else {"error": {"kind": "RuntimeError", "message": "only printed numbers"}})
    elif request["ask"] == "call" and request["with"]["op"] == "version":
        misbehave(line)
    elif request["ask"] == "call":
        say({"value": {"tensor": 0}})
    else:
        say({"value": None})
