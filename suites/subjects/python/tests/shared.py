"""What a user relies on from every subject of this language, whatever its library."""

from __future__ import annotations

import struct
import sys
import zlib

from subject import Subject, step


class SharedTests:
    """Mixed into a :class:`subject.SubjectTest`."""

    def test_hello_says_who_answers(self) -> None:
        module = sys.modules[self.library]
        self.assertEqual(self.subject.ask("hello"), {"hello": {
            "name": self.script.replace("_subject.py", ""),
            "version": module.__version__,
            "language": "python %d.%d.%d" % sys.version_info[:3],
            "build": "shipped",
            "devices": ["cpu"],
        }})

    # Requests

    def test_nonsense_is_an_error_and_the_next_request_is_answered(self) -> None:
        a = self.subject.value("zeros", shape=[2], dtype="f32")
        for line in [
            b"", b"hello", b"[1]", b"\xff", b"null", b"[" * 100_000, b'{"ask":"hello"}',
            b'{"ask":"hello","with":{},"more":1}',
            b'{"ask":"hello","with":{"more":1}}',
            b'{"ask":"reply","with":{"line":""}}',
            b'{"ask":["hello"],"with":{}}',
            b'{"ask":"measure","with":{"program":1}}',
            b'{"ask":"measure","with":{"program":1,"iterations":-1}}',
            b'{"ask":"checksum","with":{"program":7}}',
            b'{"ask":"drop","with":{"handle":99}}',
            b'{"ask":"drop","with":{"handle":true}}',
            b'{"ask":"drop","with":{"handle":0.0}}',
            b'{"ask":"call","with":{"op":"no_such_op","args":{}}}',
            b'{"ask":"call","with":{"op":"numel","args":{}}}',
            b'{"ask":"call","with":{"op":"numel","args":{"a":0,"b":0}}}',
            b'{"ask":"call","with":{"op":"numel","args":{"a":99}}}',
            b'{"ask":"call","with":{"op":"numel","args":{"a":' + b"[" * 900 + b"]" * 900 + b"}}}",
            b'{"ask":"call","with":{"op":"zeros","args":{"shape":[2.0],"dtype":"f32"}}}',
            b'{"ask":"call","with":{"op":"zeros","args":{"shape":2,"dtype":"f32"}}}',
            b'{"ask":"call","with":{"op":"zeros","args":{"shape":[2],"dtype":"float32"}}}',
            b'{"ask":"call","with":{"op":"add_scalar","args":{"a":0,"value":NaN}}}',
            b'{"ask":"call","with":{"op":"add_scalar","args":{"a":0,"value":1e999}}}',
            b'{"ask":"call","with":{"op":"add_scalar","args":{"a":0,"value":{"float":"nan"}}}}',
            b'{"ask":"call","with":{"op":"add_scalar","args":{"a":0,"value":9223372036854775808}}}',
            b'{"ask":"call","with":{"op":"add_scalar","args":{"a":0,"value":"5"}}}',
            b'{"ask":"python","with":{"source":"a","names":{"a":99}}}',
            b'{"ask":"python","with":{"source":"1","names":[]}}',
        ]:
            with self.subTest(line=line[:80]):
                self.assert_error(self.subject.line(line), "protocol")
        self.assertEqual(self.subject.value("values", a=a), [0.0, 0.0])

    def test_a_dropped_tensor_is_gone(self) -> None:
        a = self.subject.value("zeros", shape=[2], dtype="f32")
        self.assertEqual(self.subject.ask("drop", handle=a), {"value": None})
        self.assert_error(self.subject.op("numel", a=a), "protocol", "never made, or it was dropped")

    # Values

    def test_whole_numbers_and_floats_are_told_apart(self) -> None:
        for dtype, value, seen in [("i64", 5, 5), ("f32", 5, 5.0), ("f64", 5.0, 5.0), ("bool", True, True)]:
            with self.subTest(dtype=dtype):
                a = self.subject.value("full", shape=[1], value=value, dtype=dtype)
                (found,) = self.subject.value("values", a=a)
                self.assertEqual((found, type(found)), (seen, type(seen)))

    def test_integers_are_exact_to_64_bits(self) -> None:
        for number in [-(2**63), 2**63 - 1, 2**53 + 1]:
            a = self.subject.value("full", shape=[1], value=number, dtype="i64")
            self.assertEqual(self.subject.value("values", a=a), [number])
        self.assert_error(self.subject.python("2**63"), "protocol", "64 bits")

    def test_floats_that_are_not_finite_travel_as_objects(self) -> None:
        given = [{"float": "NaN"}, {"float": "inf"}, {"float": "-inf"}, 0.1]
        a = self.subject.value("tensor", values=given, shape=[4], dtype="f64")
        self.assertEqual(self.subject.value("values", a=a), given)

    # Ops

    def test_views_share_storage_and_copies_do_not(self) -> None:
        ask = self.subject.value
        a = ask("arange", end=12, dtype="f32")
        rows = ask("view", a=a, shape=[3, 4])
        part = ask("narrow", a=rows, dim=1, start=1, length=2)
        column = ask("select", a=rows, dim=-1, index=1)
        point = ask("select", a=column, dim=0, index=2)
        turned = ask("transpose", a=rows, dim0=0, dim1=1)
        wide = ask("expand", a=column, shape=[2, 3])
        for handle, shape, stride, offset in [
            (rows, [3, 4], [4, 1], 0),
            (part, [3, 2], [4, 1], 1),
            (column, [3], [4], 1),
            (point, [], [], 9),
            (turned, [4, 3], [1, 4], 0),
            (wide, [2, 3], [0, 4], 1),
        ]:
            self.assertEqual(ask("shape", a=handle), shape)
            self.assertEqual(ask("stride", a=handle), stride)
            self.assertEqual(ask("storage_offset", a=handle), offset)
            self.assertEqual(ask("storage_ptr", a=handle), ask("storage_ptr", a=a))
            self.assertEqual(ask("data_ptr", a=handle), ask("data_ptr", a=a) + 4 * offset)
            self.assertEqual(ask("storage_bytes", a=handle), 48)
        self.assertEqual(ask("storage_ptr", a=ask("contiguous", a=rows)), ask("storage_ptr", a=a))
        for copy in [ask("clone", a=a), ask("contiguous", a=turned), ask("reshape", a=turned, shape=[12])]:
            self.assertNotEqual(ask("storage_ptr", a=copy), ask("storage_ptr", a=a))

    def test_ranges_count_from_either_end(self) -> None:
        a = self.subject.value("tensor", values=list(range(6)), shape=[2, 3], dtype="i64")
        for dim, start, length, seen in [
            (1, 0, 2, [0, 1, 3, 4]),
            (-1, -2, 2, [1, 2, 4, 5]),
            (-2, -2, 1, [0, 1, 2]),
            (0, -1, 1, [3, 4, 5]),
            (-1, 3, 0, []),
        ]:
            with self.subTest(dim=dim, start=start, length=length):
                part = self.subject.value("narrow", a=a, dim=dim, start=start, length=length)
                self.assertEqual(self.subject.value("values", a=part), seen)

    def test_chunks_hold_the_ceiling_of_the_quotient(self) -> None:
        for rows, chunks, sizes in [(4, 3, [2, 2]), (11, 5, [3, 3, 3, 2]), (3, 5, [1, 1, 1]), (0, 2, [0, 0])]:
            with self.subTest(rows=rows, chunks=chunks):
                a = self.subject.value("zeros", shape=[2, rows], dtype="f32")
                parts = self.subject.value("chunk", a=a, chunks=chunks, dim=-1)
                self.assertEqual([self.subject.value("shape", a=part) for part in parts], [[2, n] for n in sizes])
        self.assert_error(self.subject.op("chunk", a=a, chunks=0, dim=0), "other")

    def test_computing_makes_new_tensors_and_writing_does_not(self) -> None:
        ask = self.subject.value
        a = ask("tensor", values=[1.0, 2.0], shape=[2], dtype="f32")
        b = ask("full", shape=[2], value=10, dtype="f32")
        for made, seen in [
            (ask("add", a=a, b=b), [11.0, 12.0]),
            (ask("sub", a=a, b=b), [-9.0, -8.0]),
            (ask("mul", a=a, b=b), [10.0, 20.0]),
            (ask("add_scalar", a=a, value=0.5), [1.5, 2.5]),
            (ask("mul_scalar", a=a, value=3), [3.0, 6.0]),
            (ask("cat", parts=[a, b], dim=0), [1.0, 2.0, 10.0, 10.0]),
            (ask("sum", a=a), [3.0]),
            (ask("to", a=a, dtype="f64"), [1.0, 2.0]),
        ]:
            self.assertEqual(ask("values", a=made), seen)
            self.assertNotEqual(ask("storage_ptr", a=made), ask("storage_ptr", a=a))
        place = ask("storage_ptr", a=a)
        for name, args, seen in [
            ("add_scalar_", {"value": 5.0}, [6.0, 7.0]),
            ("mul_scalar_", {"value": 2}, [12.0, 14.0]),
            ("add_", {"b": b}, [22.0, 24.0]),
            ("mul_", {"b": b}, [220.0, 240.0]),
            ("copy_", {"b": b}, [10.0, 10.0]),
            ("fill_", {"value": 3}, [3.0, 3.0]),
            ("zero_", {}, [0.0, 0.0]),
        ]:
            self.assertEqual(self.subject.op(name, a=a, **args), {"value": None})
            self.assertEqual(ask("values", a=a), seen)
        self.assertEqual(ask("storage_ptr", a=a), place)

    def test_what_has_no_dimension_is_a_tensor_too(self) -> None:
        ask = self.subject.value
        a = ask("sum", a=ask("ones", shape=[3], dtype="f32"))
        b = ask("contiguous", a=ask("add_scalar", a=a, value=1))
        self.subject.value("add_", a=b, b=a)
        self.assertEqual((ask("shape", a=b), ask("values", a=b), ask("dtype", a=b)), ([], [7.0], "f32"))

    def test_refusals_have_kinds(self) -> None:
        ask = self.subject.value
        three, four = ask("ones", shape=[3], dtype="f32"), ask("ones", shape=[4], dtype="f32")
        grid = ask("ones", shape=[2, 3], dtype="f32")
        turned = ask("transpose", a=grid, dim0=0, dim1=1)
        whole = ask("ones", shape=[3], dtype="i64")
        bools = ask("ones", shape=[3], dtype="bool")
        point = ask("ones", shape=[], dtype="f32")
        wide = ask("expand", a=ask("ones", shape=[1], dtype="f32"), shape=[3])
        for kind, name, args in [
            ("shape", "view", {"a": turned, "shape": [6]}),
            ("shape", "view", {"a": three, "shape": [2, 2]}),
            ("shape", "view", {"a": three, "shape": [-1, -1]}),
            ("shape", "reshape", {"a": three, "shape": [2, 2]}),
            ("shape", "add", {"a": three, "b": four}),
            ("shape", "add_", {"a": three, "b": four}),
            ("shape", "add_", {"a": three, "b": grid}),
            ("shape", "copy_", {"a": three, "b": four}),
            ("shape", "expand", {"a": three, "shape": [4]}),
            ("shape", "expand", {"a": grid, "shape": [4]}),
            ("shape", "cat", {"parts": [three, grid], "dim": 0}),
            ("shape", "cat", {"parts": [grid, turned], "dim": 0}),
            ("shape", "tensor", {"values": [1, 2, 3], "shape": [2, 2], "dtype": "f32"}),
            ("shape", "zeros", {"shape": [-1], "dtype": "f32"}),
            ("index", "select", {"a": three, "dim": 0, "index": 5}),
            ("index", "select", {"a": three, "dim": 4, "index": 0}),
            ("index", "narrow", {"a": three, "dim": -2, "start": 0, "length": 1}),
            ("index", "transpose", {"a": three, "dim0": 0, "dim1": 3}),
            ("index", "chunk", {"a": three, "chunks": 2, "dim": 4}),
            ("index", "chunk", {"a": point, "chunks": 2, "dim": 0}),
            ("index", "narrow", {"a": point, "dim": 0, "start": 0, "length": 1}),
            ("dtype", "add_scalar_", {"a": whole, "value": 1.5}),
            ("dtype", "sub", {"a": bools, "b": bools}),
            ("overlap", "add_scalar_", {"a": wide, "value": 1}),
            ("out-of-memory", "empty", {"shape": [2**50], "dtype": "f32"}),
            ("out-of-memory", "empty", {"shape": [2**62, 2**62], "dtype": "f32"}),
            ("other", "tensor", {"values": [300], "shape": [1], "dtype": "u8"}),
        ]:
            with self.subTest(op=name, args=args):
                self.assert_error(self.subject.op(name, **args), kind)

    # Pieces of Python

    def test_python_answers_expressions_and_statements(self) -> None:
        a = self.subject.value("ones", shape=[2], dtype="f32")
        for source, seen in [
            ("1 + 1", 2),
            ("  (1,\n   2.0)", [1, 2.0]),
            ("answer = [None, True, 'text', float('nan')]", [None, True, "text", {"float": "NaN"}]),
            ("\n    def double(n):\n        return factor * n\n    factor = 2\n    answer = double(4)\n", 8),
            ("a.dtype", "f32"),
            ("__name__", "__main__"),
            ("gc.isenabled() and weakref.ref(a)() is a", True),
            ("[io, os, contextlib, threading, math, ctypes, warnings] and sys.stdin.read()", ""),
        ]:
            with self.subTest(source=source):
                self.assertEqual(self.subject.python(source, a=a), {"value": seen})
        again = self.subject.python("a", a=a)["value"]["tensor"]
        self.assertNotEqual(again, a)
        self.assertEqual(self.subject.value("data_ptr", a=again), self.subject.value("data_ptr", a=a))

    def test_what_python_raises_is_named_by_its_class(self) -> None:
        for source, kind in [
            ("[][1]", "IndexError"),
            ("{}['x']", "KeyError"),
            ("''.no_such_method()", "AttributeError"),
            ("no_such_name", "NameError"),
            ("1 +", "SyntaxError"),
            ("sys.exit(1)", "SystemExit"),
            ("a = []; a.append(a); answer = a", "RecursionError"),
            ("raise NotImplementedError('later')", "NotImplementedError"),
        ]:
            with self.subTest(source=source):
                self.assert_error(self.subject.python(source), kind)

    def test_what_cannot_travel_is_refused_by_its_type(self) -> None:
        for source, words in [
            ("{}", "builtins.dict"),
            ("[object()]", "builtins.object"),
            ("2**64", "64 bits"),
            ("'\\ud800'", "Unicode"),
            ("x = 1", "answer"),
        ]:
            with self.subTest(source=source):
                self.assert_error(self.subject.python(source), "protocol", words)

    def test_a_module_that_is_not_installed_is_unsupported(self) -> None:
        self.assert_unsupported(self.subject.python("import no_such_module\nanswer = 1"), "no_such_module")

    def test_nothing_of_a_piece_of_python_stays_alive(self) -> None:
        for end in ["answer = 1", "raise ValueError('x')", "answer = {}", "answer = user()"]:
            source = f"""
                class Traced:
                    pass
                def user():
                    return 1 if traced else 0
                traced = Traced()
                os.watched = weakref.ref(traced)
                {end}
            """
            with self.subTest(end=end):
                self.subject.python(source)
                self.assertEqual(self.subject.python("os.watched() is None"), {"value": True})

    def test_an_error_keeps_no_tensor_alive(self) -> None:
        a = self.subject.value("ones", shape=[3], dtype="f32")
        self.assertEqual(self.subject.python("os.watched = weakref.ref(a)\nanswer = None", a=a), {"value": None})
        self.assert_error(self.subject.op("view", a=a, shape=[2]), "shape")
        self.assert_error(self.subject.python("def f(t): raise ValueError(t)\nf(a)", a=a), "ValueError")
        self.subject.ask("drop", handle=a)
        self.assertEqual(self.subject.python("os.watched() is None"), {"value": True})

    def test_what_a_library_prints_is_no_reply(self) -> None:
        chatty = Subject(self.script)
        self.addCleanup(chatty.process.kill)
        source = "print('by Python'); os.write(1, b'by descriptor\\n'); os.system('echo by a child'); answer = 1"
        self.assertEqual(chatty.python(source), {"value": 1})
        self.assertEqual(chatty.python("2"), {"value": 2})
        errors = chatty.close()
        for words in ["by Python", "by descriptor", "by a child"]:
            self.assertIn(words, errors)

    # Programs

    def prepare(self, setup: list, body: list, result: int) -> int:
        reply = self.subject.ask("prepare", setup=setup, body=body, result=result, clock="host")
        self.assertIn("prepared", reply, reply)
        return reply["prepared"]["program"]

    def test_a_program_makes_the_calls_that_it_lists(self) -> None:
        setup = [
            step("arange", 0, end=4, dtype="f32"),
            step("view", 1, a=0, shape=[2, 2]),
            step("zeros", 5, shape=[1], dtype="f32"),
            {"drop": [5, 6]},
        ]
        body = [
            step("add_scalar_", a=0, value=1.0),
            step("chunk", 2, 3, a=1, chunks=2, dim=0),
            step("narrow", 6, a=2, dim=-1, start=0, length=2),
            {"drop": [2]},
            step("cat", 4, parts=[3, 6], dim=0),
            step("mul_scalar", 7, a=4, value={"float": "inf"}),
            step("sub", 8, a=4, b=4),
        ]
        program = self.prepare(setup, body, 4)
        self.assertEqual(self.subject.ask("account", program=program), {"value": None})
        sample = self.subject.ask("measure", program=program, iterations=3)
        self.assertGreater(sample["sample"]["nanoseconds"], 0)
        self.assertEqual(self.subject.ask("measure", program=program, iterations=0).keys(), {"sample"})
        # One run by account, three by measure, one by checksum: five were added.
        crc32 = zlib.crc32(struct.pack("<4f", 7, 8, 5, 6))
        self.assertEqual(self.subject.ask("checksum", program=program), {"checksum": {"elements": 4, "crc32": crc32}})

    def test_a_checksum_is_of_the_elements_in_row_major_order(self) -> None:
        setup = [step("tensor", 0, values=[1, 2, 3, 4], shape=[2, 2], dtype="i16")]
        turned = self.prepare(setup, [step("transpose", 1, a=0, dim0=0, dim1=1)], 1)
        crc32 = zlib.crc32(struct.pack("<4h", 1, 3, 2, 4))
        self.assertEqual(self.subject.ask("checksum", program=turned), {"checksum": {"elements": 4, "crc32": crc32}})
        empty = self.prepare([step("zeros", 0, shape=[0], dtype="f32")], [], 0)
        self.assertEqual(self.subject.ask("checksum", program=empty), {"checksum": {"elements": 0, "crc32": 0}})

    def test_a_program_that_cannot_run_again_and_again_is_refused(self) -> None:
        ones = step("ones", 0, shape=[4], dtype="f32")
        double = step("mul_scalar", 1, a=0, value=2.0)
        for setup, body, result, words in [
            ([ones], [step("mul_scalar", 1, a=9, value=2.0)], 1, "reads slot 9"),
            ([ones], [double], 9, "slot 9 holds no tensor"),
            ([ones], [double, {"drop": [1]}], 1, "slot 1 holds no tensor"),
            ([ones], [double, {"drop": [0]}], 1, "cannot run again"),
            ([ones], [step("mul_scalar", 10**12, a=0, value=2.0)], 10**12, "numbered from 0 to 65535"),
            ([ones], [step("mul_scalar", 0, a=0, value=2.0)], 0, "cannot run again"),
            ([ones], [step("mul_scalar", a=0, value=2.0)], 0, "1 tensors"),
            ([ones], [step("fill_", 1, a=0, value=2.0)], 0, "0 tensors"),
            ([ones], [step("fill_", a=0, value=2.0, more=1)], 0, "fill_ has the fields"),
            ([{"call": {"op": {"op": "zero_", "args": {"a": 0}}}}], [], 0, "a call has the fields"),
            ([{"keep": [0]}], [], 0, "a call or a drop"),
        ]:
            with self.subTest(words=words):
                reply = self.subject.ask("prepare", setup=setup, body=body, result=result, clock="host")
                self.assert_error(reply, "protocol", words)

    def test_a_refusal_inside_a_program_has_its_kind(self) -> None:
        ones = step("ones", 0, shape=[4], dtype="f32")
        reply = self.subject.ask("prepare", setup=[ones, step("view", 1, a=0, shape=[3])], body=[], result=0, clock="host")
        self.assert_error(reply, "shape")
        program = self.prepare([ones], [step("view", 1, a=0, shape=[3])], 1)
        for request in [{"ask": "account"}, {"ask": "measure", "iterations": 5}, {"ask": "checksum"}]:
            self.assert_error(self.subject.ask(request.pop("ask"), program=program, **request), "shape")
        program = self.prepare([ones], [step("chunk", 1, 2, 3, a=0, chunks=3, dim=0)], 1)
        self.assert_error(self.subject.ask("account", program=program), "protocol", "values to unpack")
        self.assertEqual(self.subject.python("gc.isenabled()"), {"value": True})

    def test_reset_forgets_tensors_and_programs(self) -> None:
        a = self.subject.value("ones", shape=[4], dtype="f32")
        program = self.prepare([step("ones", 0, shape=[4], dtype="f32")], [], 0)
        self.subject.ask("reset")
        self.assert_error(self.subject.op("numel", a=a), "protocol")
        self.assert_error(self.subject.ask("account", program=program), "protocol")
