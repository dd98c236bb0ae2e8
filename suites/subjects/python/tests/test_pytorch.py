"""The PyTorch subject over its pipes."""

from __future__ import annotations

import struct
import zlib

from shared import SharedTests
from shared_ops import SharedOpsTests
from subject import SubjectTest, step


class PyTorchTest(SharedTests, SharedOpsTests, SubjectTest):
    script = "pytorch_subject.py"
    library = "torch"

    def test_bfloat16_is_told_and_checked_like_any_dtype(self) -> None:
        ask = self.subject.value
        a = ask("full", shape=[2], value=1.5, dtype="bf16")
        self.assertEqual((ask("dtype", a=a), ask("element_size", a=a)), ("bf16", 2))
        program = self.subject.ask(
            "prepare", setup=[step("full", 0, shape=[2], value=1.5, dtype="bf16")], body=[], result=0, clock="host"
        )["prepared"]["program"]
        upper_halves = struct.pack("<2f", 1.5, 1.5)[2:4] * 2
        self.assertEqual(
            self.subject.ask("checksum", program=program),
            {"checksum": {"elements": 2, "crc32": zlib.crc32(upper_halves)}},
        )

    def test_gradients_are_recorded(self) -> None:
        ask = self.subject.value
        a = ask("tensor", values=[2.0, 3.0], shape=[2], dtype="f32")
        self.assertEqual(self.subject.op("requires_grad_", a=a, on=True), {"value": None})
        self.assertFalse(ask("has_grad", a=a))
        self.assert_error(self.subject.op("grad", a=a), "other", "no tensor")
        total = ask("sum", a=ask("mul", a=a, b=a))
        self.assertEqual([ask("is_leaf", a=each) for each in (a, total)], [True, False])
        self.assertEqual([ask("has_grad_fn", a=each) for each in (a, total)], [False, True])
        self.assertEqual(self.subject.op("backward", a=total), {"value": None})
        self.assertEqual(ask("values", a=ask("grad", a=a)), [4.0, 6.0])
        self.assertFalse(ask("requires_grad", a=ask("detach", a=total)))

    def test_writes_are_counted(self) -> None:
        a = self.subject.value("zeros", shape=[2], dtype="f32")
        before = self.subject.value("version", a=a)
        self.subject.value("add_scalar_", a=self.subject.value("view", a=a, shape=[2, 1]), value=1)
        self.assertEqual(self.subject.value("version", a=a), before + 1)

    def test_refusals_of_autograd_have_kinds(self) -> None:
        ask = self.subject.value

        def leaf() -> int:
            made = ask("ones", shape=[3], dtype="f32")
            ask("requires_grad_", a=made, on=True)
            return made

        a = leaf()
        self.assert_error(self.subject.op("add_scalar_", a=a, value=1), "leaf")
        self.assert_error(self.subject.op("fill_", a=ask("narrow", a=a, dim=0, start=0, length=1), value=1), "leaf")
        doubled = ask("mul_scalar", a=a, value=2)
        self.assert_error(self.subject.op("requires_grad_", a=doubled, on=False), "leaf")
        self.assert_error(self.subject.op("backward", a=doubled), "shape")
        total = ask("sum", a=ask("mul", a=doubled, b=doubled))
        ask("add_scalar_", a=doubled, value=1)
        self.assert_error(self.subject.op("backward", a=total), "version")
        total = ask("sum", a=ask("mul", a=a, b=a))
        ask("backward", a=total)
        self.assert_error(self.subject.op("backward", a=total), "no-graph")
        self.assert_error(self.subject.op("backward", a=ask("ones", shape=[], dtype="f32")), "no-graph")
        whole = ask("ones", shape=[3], dtype="i64")
        self.assert_error(self.subject.op("requires_grad_", a=whole, on=True), "dtype")

    def test_writing_what_is_read_is_refused(self) -> None:
        a = self.subject.value("arange", end=5, dtype="f32")
        low = self.subject.value("narrow", a=a, dim=0, start=0, length=4)
        high = self.subject.value("narrow", a=a, dim=0, start=1, length=4)
        self.assert_error(self.subject.op("add_", a=high, b=low), "overlap")
        self.assertEqual(self.subject.op("add_", a=a, b=a), {"value": None})

    def test_a_diagonal_can_be_written(self) -> None:
        a = self.subject.value("zeros", shape=[2, 2], dtype="f32")
        self.subject.value("fill_", a=self.subject.value("diagonal", a=a, offset=0, dim0=0, dim1=1), value=1)
        self.assertEqual(self.subject.value("values", a=a), [1.0, 0.0, 0.0, 1.0])

    def test_squeezing_a_dimension_of_more_than_one_changes_nothing(self) -> None:
        a = self.subject.value("zeros", shape=[2, 2], dtype="f32")
        self.assertEqual(self.subject.value("shape", a=self.subject.value("squeeze", a=a, dim=0)), [2, 2])

    def test_tensors_are_on_the_cpu_and_a_missing_gpu_is_an_api_that_is_missing(self) -> None:
        a = self.subject.value("ones", shape=[3], dtype="f32")
        self.assertEqual(self.subject.value("device", a=a), "cpu")
        self.assertFalse(self.subject.value("is_pinned", a=a))
        same = self.subject.value("to_device", a=a, device="cpu", non_blocking=False)
        self.assertEqual(self.subject.value("data_ptr", a=same), self.subject.value("data_ptr", a=a))
        if self.subject.python("torch.cuda.is_available()") == {"value": False}:
            for name, args in [
                ("to_device", {"a": a, "device": "cuda:0", "non_blocking": True}),
                ("pin_memory", {"a": a}),
                ("synchronize", {}),
            ]:
                self.assert_unsupported(self.subject.op(name, **args), "")
                self.assertIn("unsupported", self.subject.op(name, **args))

    def test_a_range_beyond_the_edge_is_refused(self) -> None:
        a = self.subject.value("ones", shape=[3], dtype="f32")
        self.assert_error(self.subject.op("narrow", a=a, dim=0, start=2, length=5), "index")
        self.assert_error(self.subject.op("narrow", a=a, dim=0, start=0, length=-1), "index")

    def test_an_op_that_a_dtype_lacks_is_unsupported(self) -> None:
        self.assert_unsupported(self.subject.op("arange", end=3, dtype="bool"), "arange")

    def test_reset_records_again(self) -> None:
        self.subject.value("set_grad_enabled", on=False)
        self.subject.python("torch.set_default_dtype(torch.float64)\nanswer = None")
        self.assertEqual(self.subject.python("torch.is_grad_enabled()"), {"value": False})
        self.subject.ask("reset")
        self.assertEqual(self.subject.python("torch.is_grad_enabled()"), {"value": True})
        self.assertEqual(self.subject.python("torch.ones(1).dtype"), {"value": "f32"})

    def test_python_sees_the_usual_names(self) -> None:
        source = "nn.Linear(2, 2)(torch.ones(1, 2)).shape == F.relu(torch.ones(1, 2)).shape"
        self.assertEqual(self.subject.python(source), {"value": True})
        self.assertEqual(self.subject.python("torch.ones(2, 3).shape"), {"value": [2, 3]})
        self.assert_error(self.subject.python("torch.ones(3).view(2)"), "RuntimeError")

    def test_python_sees_only_the_references_of_the_runner(self) -> None:
        a = self.subject.value("ones", shape=[3], dtype="f32")
        # The kept tensor, the name and the argument.
        self.assertEqual(self.subject.python("sys.getrefcount(a)", a=a), {"value": 3})
