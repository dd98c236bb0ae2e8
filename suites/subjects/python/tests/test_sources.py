"""The sources of the ops fit the table of ops, and a subject without its library says so."""

from __future__ import annotations

import inspect
import string
import subprocess
import sys
import unittest

from subject import FOLDER, import_or_skip
from wire import TENSOR_KINDS, table_of_ops


def placeholders(source: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(source) if name is not None}


class SourcesTest(unittest.TestCase):
    def check(self, library: object) -> None:
        """Each source compiles and uses each argument of its op, itself or through what is derived from it."""
        for name, source in library.sources.items():
            with self.subTest(op=name):
                op = library.ops[name]
                used = placeholders(source)
                for derived, derive in library.derived.get(name, {}).items():
                    self.assertIn(derived, used)
                    used.remove(derived)
                    plain = {arg for arg, kind in op.args.items() if kind not in TENSOR_KINDS}
                    self.assertEqual(set(inspect.signature(derive).parameters), plain)
                    used |= plain
                self.assertEqual(used, set(op.args))
                self.assertTrue(callable(library.function(op)))

    def test_pytorch_has_every_op(self) -> None:
        import_or_skip("torch")
        import pytorch_subject

        library = pytorch_subject.load()
        self.check(library)
        self.assertEqual(library.sources.keys(), table_of_ops().keys())

    def test_numpy_has_every_op_but_autograd_versions_and_devices(self) -> None:
        import_or_skip("numpy")
        import numpy_subject

        library = numpy_subject.load()
        self.check(library)
        groups = ("autograd", "transfer", "memory")
        missing = {name for name, op in table_of_ops().items() if op.group in groups}
        missing |= {"version", "empty_on", "zeros_on", "empty_pinned"}
        self.assertEqual(table_of_ops().keys() - library.sources.keys(), missing)

    def test_each_dtype_of_the_table_is_known(self) -> None:
        import_or_skip("torch")
        import pytorch_subject
        from wire import DTYPES

        self.assertEqual(pytorch_subject.load().dtypes.keys(), DTYPES.keys())


class MissingLibraryTest(unittest.TestCase):
    def test_a_subject_without_its_library_says_so_and_exits_with_3(self) -> None:
        for script, library in [("pytorch_subject.py", "torch"), ("numpy_subject.py", "numpy")]:
            # Without the site packages no library is found, whatever is installed.
            ended = subprocess.run(
                [sys.executable, "-I", "-S", "-c", f"import runpy, sys; sys.path.insert(0, {str(FOLDER)!r}); "
                 f"runpy.run_path({str(FOLDER / script)!r}, run_name='__main__')"],
                input=b"", capture_output=True, timeout=60,
            )
            self.assertEqual((ended.returncode, ended.stdout), (3, b""), ended.stderr)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
            self.assertIn(f"No module named '{library}'".encode(), ended.stderr)
