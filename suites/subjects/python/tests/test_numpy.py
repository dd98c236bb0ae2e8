"""The NumPy subject over its pipes, where it is not like PyTorch."""

from __future__ import annotations

import unittest

from shared import SharedTests
from shared_ops import SharedOpsTests
from subject import SubjectTest, import_or_skip


class NumPyTest(SharedTests, SharedOpsTests, SubjectTest):
    script = "numpy_subject.py"
    library = "numpy"

    def test_what_numpy_lacks_is_named(self) -> None:
        a = self.subject.value("ones", shape=[2], dtype="f32")
        for name, args, words in [
            ("zeros", {"shape": [2], "dtype": "bf16"}, "numpy has no bfloat16"),
            ("to", {"a": a, "dtype": "bf16"}, "numpy has no bfloat16"),
            ("requires_grad_", {"a": a, "on": True}, "numpy has no autograd (requires_grad_)"),
            ("detach", {"a": a}, "numpy has no autograd (detach)"),
            ("version", {"a": a}, "numpy has no version counter (version)"),
            ("device", {"a": a}, "numpy has no device beside the CPU (device)"),
            ("synchronize", {}, "numpy has no device beside the CPU (synchronize)"),
        ]:
            self.assertEqual(self.subject.op(name, **args), {"unsupported": words})

    def test_pieces_of_python_about_torch_are_unsupported(self) -> None:
        for source in ["torch.ones(3)", "nn.Linear(1, 1)", "F.relu"]:
            self.assert_unsupported(self.subject.python(source), "no torch")

    def test_scalars_of_numpy_travel_as_numbers(self) -> None:
        source = "[np.float32(1.5), np.int8(3), np.bool_(True), np.float64('inf')]"
        self.assertEqual(self.subject.python(source), {"value": [1.5, 3, True, {"float": "inf"}]})

    def test_promotion_is_numpys_own(self) -> None:
        ask = self.subject.value
        whole = ask("ones", shape=[2], dtype="i64")
        self.assertEqual(ask("dtype", a=ask("add_scalar", a=whole, value=1.5)), "f64")
        single = ask("ones", shape=[2], dtype="f32")
        self.assertEqual(ask("dtype", a=ask("add_scalar", a=single, value=1.5)), "f32")
        total = ask("sum", a=ask("ones", shape=[2], dtype="u8"))
        self.assert_error(self.subject.op("dtype", a=total), "dtype", "uint64")

    def test_diagonals_are_views_that_refuse_to_be_written(self) -> None:
        a = self.subject.value("zeros", shape=[2, 2], dtype="f32")
        diagonal = self.subject.value("diagonal", a=a, offset=0, dim0=0, dim1=1)
        self.assert_error(self.subject.op("fill_", a=diagonal, value=1), "overlap", "read-only")
        self.subject.value("fill_", a=a, value=1)
        self.assertEqual(self.subject.value("values", a=diagonal), [1.0, 1.0])

    def test_only_a_dimension_of_one_can_be_squeezed_out(self) -> None:
        a = self.subject.value("zeros", shape=[2, 2], dtype="f32")
        self.assert_error(self.subject.op("squeeze", a=a, dim=0), "shape", "not equal to one")

    def test_slices_end_at_the_edge(self) -> None:
        a = self.subject.value("arange", end=3, dtype="i64")
        for start, seen in [(2, [2]), (5, []), (-1, [2])]:
            part = self.subject.value("narrow", a=a, dim=0, start=start, length=5)
            self.assertEqual(self.subject.value("values", a=part), seen)

    def test_writing_what_is_read_works_as_if_it_had_been_copied(self) -> None:
        a = self.subject.value("arange", end=5, dtype="i64")
        low = self.subject.value("narrow", a=a, dim=0, start=0, length=4)
        high = self.subject.value("narrow", a=a, dim=0, start=1, length=4)
        self.subject.value("add_", a=high, b=low)
        self.assertEqual(self.subject.value("values", a=a), [0, 1, 3, 5, 7])

    def test_a_copy_converts(self) -> None:
        a = self.subject.value("zeros", shape=[2], dtype="i64")
        self.subject.value("copy_", a=a, b=self.subject.value("full", shape=[2], value=1.7, dtype="f64"))
        self.assertEqual(self.subject.value("values", a=a), [1, 1])


class OlderNumPyTest(unittest.TestCase):
    """What stands in where `reshape` cannot refuse to copy."""

    def setUp(self) -> None:
        import_or_skip("numpy")

    def test_a_view_is_one_or_is_refused(self) -> None:
        import numpy
        from numpy_subject import view

        a = numpy.arange(6)
        self.assertTrue(numpy.shares_memory(view(a, [2, -1]), a))
        self.assertEqual(a.shape, (6,))
        with self.assertRaisesRegex(ValueError, "[Ss]hape"):
            view(a.reshape(2, 3).T, [6])
