"""Every .pt2 of ours is read by every reader (see readers.py): a slice of the
programs; `readers.py` runs all of them."""

import json

import pytest
import sympy
import torch
from torch.utils import _pytree as pytree
from torch.utils._sympy.functions import FloorDiv

import proviso
import readers
import reader_programs
from proviso import _torch_program

OWN = {case.name.split("/")[1]: case for case in reader_programs.own()}


@pytest.mark.parametrize("name", [
    "ChangedWithoutGradients", "dataclass_in_and_out", "every_kind",
    "int_rows", "int_rows_and_columns", "int_sum", "int_that_decides",
    "int_that_is_a_dimension", "int_that_is_read", "map_of_sizes",
    "no_grad_of_a_size", "powers", "root_by_power", "rounded_product",
    "scan_of_sizes", "unbacked_slice_added", "while_of_sizes",
])
def test_every_reader_gives_what_eager_gives(name, tmp_path):
    if not readers.COMMAND.exists():
        pytest.skip(f"{readers.COMMAND} is not built (./dev build makes it)")
    assert readers.examine(OWN[name], tmp_path) == []


@pytest.mark.parametrize("case", list(reader_programs.equalities(every=601)),
                         ids=lambda case: case.name)
def test_sizes_that_turn_out_equal_or_fixed(case, tmp_path):
    assert readers.examine(case, tmp_path, command=False) == []


def test_a_reader_that_differs_is_told(tmp_path):
    case = OWN["size_alone"]
    found = readers.Examination(case, tmp_path, command=False)
    found.points = [((3, 5), case.inputs(3, 5), (4, case.inputs(3, 5)))]
    found._compare("torch", lambda x: x.shape[0], *found.points[0], True)
    found._compare("torch", lambda x: x.shape[7], *found.points[0], True)
    assert "differs from eager at (3, 5)" in found.complaints[0]
    assert "refuses (3, 5): IndexError" in found.complaints[1]


def same_memory(x):
    y, z = x * 2, x + 1
    return (y, y.view(torch.int32), y.t(), x.view(torch.int32),
            x.view(torch.int16), z.view(torch.int16), z.view(torch.int64),
            x[:, 2:], z[1:].view(torch.int32))


def test_the_command_writes_views_of_other_dtypes(tmp_path):
    if not readers.COMMAND.exists():
        pytest.skip(f"{readers.COMMAND} is not built (./dev build makes it)")
    case = reader_programs.Case(
        "same memory", lambda: same_memory,
        lambda n: ((torch.randn(n, 4),), {}), ({0: proviso.Dim.AUTO},),
        [(3,), (5,), (1,)], trains=False)
    assert readers.examine(case, tmp_path) == []


class Rows:
    """Takes tensors alone, as a cache of keys and values does."""

    def __init__(self, rows):
        self.width = {row.shape[-1] for row in rows}
        self.rows = rows


pytree.register_pytree_node(
    Rows, lambda r: (r.rows, None), lambda rows, _: Rows(rows),
    serialized_type_name="tests.Rows", to_dumpable_context=lambda _: "",
    from_dumpable_context=lambda _: None,
    flatten_with_keys_fn=lambda r: (
        [(pytree.SequenceKey(i), row) for i, row in enumerate(r.rows)], None))


def test_a_class_that_takes_tensors_alone_is_read(tmp_path):
    case = reader_programs.Case(
        "rows", lambda: lambda r, x: r.rows[0] + r.rows[1] * x.shape[0],
        lambda n: ((Rows([torch.ones(n, 3), torch.ones(n, 3)]),
                    torch.ones(n, 2)), {}),
        ([{0: proviso.Dim.AUTO}] * 2, {0: proviso.Dim.AUTO}),
        [(4,), (7,), (1,)], trusted=True)
    assert readers.examine(case, tmp_path, command=False) == []


class Bag:
    """A mapping of its own kind, whose keys are its context."""

    def __init__(self, items):
        self.items = dict(items)


pytree.register_pytree_node(
    Bag, lambda b: (list(b.items.values()), list(b.items)),
    lambda values, keys: Bag(zip(keys, values)),
    serialized_type_name="tests.Bag", to_dumpable_context=json.dumps,
    from_dumpable_context=json.loads,
    flatten_with_keys_fn=lambda b: (
        [(pytree.MappingKey(k), v) for k, v in b.items.items()],
        list(b.items)))


@pytest.mark.parametrize("key, is_kept", [
    ("plain", True), ("a b", True), ("it's", False), ('say "x"', False),
    ("bell\a", False)])
def test_keys_of_a_type_of_your_own_are_kept_or_refused(key, is_kept, tmp_path):
    class First(torch.nn.Module):
        def forward(self, bag):
            return bag.items[key].reshape(-1, 2).sum(1)

    ep = proviso.export(First(), (Bag({key: torch.ones(4)}),),
                        dynamic_shapes=({key: {0: proviso.Dim.AUTO}},))
    path = tmp_path / "bag.pt2"
    if not is_kept:
        with pytest.raises(ValueError, match="save: a key is .* rename it"):
            ep.save(path)
        return
    ep.save(path)
    with torch.serialization.safe_globals([Bag]):
        loaded = proviso.load(path)
        for module in (loaded.module(), loaded.to_torch().module()):
            assert module(Bag({key: torch.ones(6)})).tolist() == [2., 2., 2.]


H, W = sympy.symbols("s0 s1", integer=True, positive=True)
ROWS, COLUMNS = FloorDiv(H + 31, 64), FloorDiv(FloorDiv(W + 15, 16) + 1, 4)


@pytest.mark.parametrize("condition, is_one", [
    (sympy.Ne(ROWS * COLUMNS, COLUMNS), True),
    (sympy.Eq(H * W, W), True),
    (sympy.Eq(H * W * W, W * W), True),
    (sympy.Eq(H * 2, H + 1), True),
    (sympy.Ne(H, W), False),
    (sympy.Eq(H * W, H * ROWS), False),
    (sympy.Eq(H * W + 1, 2), True),
    (sympy.Eq(H * W + 1, 4), False),
])
def test_questions_for_zero_or_one(condition, is_one):
    assert _torch_program._asks_for_zero_or_one(condition) == is_one


def test_what_is_false_of_the_example_is_tried():
    condition = sympy.Ne(ROWS, COLUMNS)
    assert _torch_program._can_be_tried(condition, {H: 64, W: 64})
    assert not _torch_program._can_be_tried(condition, {H: 64, W: 128})


def test_a_decomposition_whose_question_the_example_answers_otherwise():
    from zoo import ZOO

    case = ZOO["mobilevitv2"]
    with torch.no_grad():
        model = case.build()
        ep = proviso.export(model, (), case.kwargs(case.traced),
                            dynamic_shapes=case.shapes)
        run = ep.run_decompositions().module()
        for size in case.others:
            inputs = case.kwargs(size)
            assert readers.same(run(**inputs), model(**inputs))
