"""What a user relies on from the views, comparisons and reductions of every subject of this language."""

from __future__ import annotations


class SharedOpsTests:
    """Mixed into a :class:`subject.SubjectTest`."""

    def grid(self) -> int:
        """The numbers from 0 to 11 in three rows of four."""
        return self.subject.value("tensor", values=list(range(12)), shape=[3, 4], dtype="i64")

    def test_each_view_shows_its_elements_of_the_same_storage(self) -> None:
        ask = self.subject.value
        cube = [[[n * 12 + row * 4 + place for place in range(4)] for row in range(3)] for n in range(2)]
        flat = [number for rows in cube for row in rows for number in row]
        for name, args, shape, stride, offset in [
            ("permute", {"dims": [2, 0, -2]}, [4, 2, 3], [1, 12, 4], 0),
            ("movedim", {"source": 0, "destination": -1}, [3, 4, 2], [4, 1, 12], 0),
            ("slice", {"dim": -1, "start": 1, "end": 99, "step": 2}, [2, 3, 2], [12, 4, 2], 1),
            ("slice", {"dim": 1, "start": -2, "end": -1, "step": 1}, [2, 1, 4], [12, None, 1], 4),
            ("unsqueeze", {"dim": 1}, [2, 1, 3, 4], [12, None, 4, 1], 0),
            ("unsqueeze", {"dim": -1}, [2, 3, 4, 1], [12, 4, 1, None], 0),
            ("flatten", {"start": 1, "end": -1}, [2, 12], [12, 1], 0),
            ("unfold", {"dim": -2, "size": 2, "step": 1}, [2, 2, 4, 2], [12, 4, 1, 4], 0),
            ("unfold", {"dim": 2, "size": 2, "step": 2}, [2, 3, 2, 2], [12, 4, 2, 1], 0),
            ("as_strided", {"shape": [2, 2], "strides": [5, 1], "offset": 3}, [2, 2], [5, 1], 3),
            ("diagonal", {"offset": 1, "dim0": 1, "dim1": -1}, [2, 3], [12, 5], 1),
            ("diagonal", {"offset": -1, "dim0": 2, "dim1": 0}, [3, 2], [4, 13], 1),
        ]:
            with self.subTest(op=name, args=args):
                a = ask("tensor", values=flat, shape=[2, 3, 4], dtype="i64")
                made = ask(name, a=a, **args)
                self.assertEqual(ask("shape", a=made), shape)
                # The stride of a dimension of one leads nowhere, and libraries choose it as they like.
                told = [None if size == 1 else step for size, step in zip(shape, ask("stride", a=made))]
                self.assertEqual(told, stride)
                self.assertEqual(ask("storage_offset", a=made), offset)
                self.assertEqual(ask("storage_ptr", a=made), ask("storage_ptr", a=a))
                ask("fill_", a=a, value=7)
                self.assertEqual(set(ask("values", a=made)), {7})

    def test_views_hold_the_elements_that_pytorch_documents(self) -> None:
        ask = self.subject.value
        for name, args, seen in [
            ("permute", {"dims": [1, 0]}, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
            ("slice", {"dim": 0, "start": 0, "end": 3, "step": 2}, [0, 1, 2, 3, 8, 9, 10, 11]),
            ("unfold", {"dim": 0, "size": 2, "step": 1}, [0, 4, 1, 5, 2, 6, 3, 7, 4, 8, 5, 9, 6, 10, 7, 11]),
            ("diagonal", {"offset": -1, "dim0": 0, "dim1": 1}, [4, 9]),
            ("as_strided", {"shape": [3], "strides": [0], "offset": 5}, [5, 5, 5]),
            ("flatten", {"start": 0, "end": 1}, list(range(12))),
        ]:
            with self.subTest(op=name, args=args):
                self.assertEqual(ask("values", a=ask(name, a=self.grid(), **args)), seen)

    def test_a_view_of_a_view_strides_over_the_whole_storage(self) -> None:
        ask = self.subject.value
        row = ask("select", a=self.grid(), dim=0, index=2)
        whole = ask("as_strided", a=row, shape=[2, 2], strides=[1, 4], offset=0)
        self.assertEqual(ask("values", a=whole), [0, 4, 1, 5])

    def test_a_dimension_of_one_is_squeezed_out(self) -> None:
        ask = self.subject.value
        row = ask("narrow", a=self.grid(), dim=0, start=1, length=1)
        squeezed = ask("squeeze", a=row, dim=-2)
        self.assertEqual((ask("shape", a=squeezed), ask("values", a=squeezed)), ([4], [4, 5, 6, 7]))

    def test_flattening_what_does_not_continue_copies(self) -> None:
        ask = self.subject.value
        a = self.grid()
        turned = ask("flatten", a=ask("transpose", a=a, dim0=0, dim1=1), start=0, end=-1)
        self.assertNotEqual(ask("storage_ptr", a=turned), ask("storage_ptr", a=a))
        self.assertEqual(ask("shape", a=ask("flatten", a=ask("sum", a=a), start=0, end=-1)), [1])

    def test_pieces_are_views_of_all_rows(self) -> None:
        ask = self.subject.value
        for name, args, rows, sizes in [
            ("split", {"size": 2}, 5, [2, 2, 1]),
            ("split", {"size": 9}, 5, [5]),
            ("split", {"size": 2}, 0, [0]),
            ("tensor_split", {"sections": 3}, 5, [2, 2, 1]),
            ("tensor_split", {"sections": 4}, 2, [1, 1, 0, 0]),
        ]:
            with self.subTest(op=name, args=args, rows=rows):
                a = ask("zeros", shape=[2, rows], dtype="f32")
                parts = ask(name, a=a, dim=-1, **args)
                self.assertEqual([ask("shape", a=part) for part in parts], [[2, size] for size in sizes])
                for part in parts:
                    ask("fill_", a=part, value=1)
                self.assertEqual(ask("values", a=a), [1.0] * 2 * rows)

    def test_computing_gives_new_tensors(self) -> None:
        ask = self.subject.value
        a = ask("tensor", values=[1.0, 2.0, 4.0], shape=[3], dtype="f64")
        b = ask("tensor", values=[2.0, 2.0, 2.0], shape=[3], dtype="f64")
        grid = ask("tensor", values=[1.0, 2.0, 3.0, 4.0], shape=[2, 2], dtype="f64")
        less = ask("lt", a=a, b=b)
        self.assertEqual(ask("dtype", a=less), "bool")
        for made, seen in [
            (ask("div", a=a, b=b), [0.5, 1.0, 2.0]),
            (ask("neg", a=a), [-1.0, -2.0, -4.0]),
            (ask("matmul", a=grid, b=grid), [7.0, 10.0, 15.0, 22.0]),
            (ask("eq", a=a, b=b), [False, True, False]),
            (ask("ne", a=a, b=b), [True, False, True]),
            (less, [True, False, False]),
            (ask("le", a=a, b=b), [True, True, False]),
            (ask("where_else", condition=less, a=a, b=b), [1.0, 2.0, 2.0]),
            (ask("sum_dim", a=grid, dim=-1), [3.0, 7.0]),
            (ask("mean", a=grid), [2.5]),
            (ask("min", a=grid), [1.0]),
            (ask("max", a=grid), [4.0]),
            (ask("stack", parts=[a, b], dim=1), [1.0, 2.0, 2.0, 2.0, 4.0, 2.0]),
        ]:
            self.assertEqual(ask("values", a=made), seen)
        self.assertEqual(ask("shape", a=ask("max", a=grid)), [])

    def test_writes_keep_the_storage(self) -> None:
        ask = self.subject.value
        a = ask("tensor", values=[8.0, 4.0], shape=[2], dtype="f32")
        b = ask("full", shape=[2], value=2, dtype="f32")
        place = ask("data_ptr", a=a)
        for name, args, seen in [("sub_", {"b": b}, [6.0, 2.0]), ("div_", {"b": b}, [3.0, 1.0]), ("neg_", {}, [-3.0, -1.0])]:
            self.assertEqual(self.subject.op(name, a=a, **args), {"value": None})
            self.assertEqual(ask("values", a=a), seen)
        self.assertEqual(ask("data_ptr", a=a), place)

    def test_refusals_of_views_and_computing_have_kinds(self) -> None:
        ask = self.subject.value
        grid, three = self.grid(), ask("ones", shape=[3], dtype="f32")
        bools = ask("ones", shape=[3], dtype="bool")
        point = ask("ones", shape=[], dtype="f32")
        nothing = ask("ones", shape=[0], dtype="f32")
        for kind, name, args in [
            ("shape", "permute", {"a": grid, "dims": [0]}),
            ("index", "permute", {"a": grid, "dims": [0, 2]}),
            ("index", "permute", {"a": grid, "dims": [0, 0]}),
            ("index", "movedim", {"a": grid, "source": 0, "destination": 2}),
            ("index", "slice", {"a": point, "dim": 0, "start": 0, "end": 1, "step": 1}),
            ("other", "slice", {"a": grid, "dim": 0, "start": 0, "end": 1, "step": 0}),
            ("index", "squeeze", {"a": grid, "dim": 2}),
            ("index", "unsqueeze", {"a": grid, "dim": 3}),
            ("index", "flatten", {"a": grid, "start": 0, "end": 2}),
            ("shape", "flatten", {"a": grid, "start": 1, "end": 0}),
            ("index", "unfold", {"a": three, "dim": 0, "size": 4, "step": 1}),
            ("index", "unfold", {"a": three, "dim": 1, "size": 1, "step": 1}),
            ("shape", "as_strided", {"a": three, "shape": [4], "strides": [1], "offset": 0}),
            ("shape", "as_strided", {"a": nothing, "shape": [1], "strides": [1], "offset": 0}),
            ("shape", "as_strided", {"a": three, "shape": [2], "strides": [1, 1], "offset": 0}),
            ("index", "diagonal", {"a": grid, "offset": 0, "dim0": 0, "dim1": 0}),
            ("index", "diagonal", {"a": three, "offset": 0, "dim0": 0, "dim1": 1}),
            ("other", "split", {"a": three, "size": 0, "dim": 0}),
            ("other", "split", {"a": three, "size": -1, "dim": 0}),
            ("index", "split", {"a": point, "size": 1, "dim": 0}),
            ("other", "tensor_split", {"a": three, "sections": 0, "dim": 0}),
            ("index", "tensor_split", {"a": point, "sections": 1, "dim": 0}),
            ("shape", "matmul", {"a": grid, "b": grid}),
            ("shape", "where_else", {"condition": bools, "a": three, "b": ask("ones", shape=[4], dtype="f32")}),
            ("shape", "eq", {"a": three, "b": ask("ones", shape=[4], dtype="f32")}),
            ("dtype", "neg", {"a": bools}),
            ("dtype", "div_", {"a": grid, "b": grid}),
            ("index", "sum_dim", {"a": grid, "dim": 2}),
            ("shape", "max", {"a": nothing}),
            ("shape", "stack", {"parts": [grid, three], "dim": 0}),
            ("index", "stack", {"parts": [three, three], "dim": 2}),
            ("other", "stack", {"parts": [], "dim": 0}),
        ]:
            with self.subTest(op=name, args=args):
                self.assert_error(self.subject.op(name, **args), kind)
