"""proviso.requirements: sufficient by the proof that it makes itself, minimal
by Z3, satisfiable by its witness, and taken by PyTorch."""

import math
import re

import pytest
import torch
from torch.export import Dim

import proviso
from proviso import _leaks
from pasting import load

z3 = pytest.importorskip("z3")


# --- conditions over forward's parameters, for Z3

class Sizes(dict):
    """x.shape[1] of a text, as one integer of Z3."""

    def __missing__(self, text):
        name = text
        self[text] = z3.Int(name)
        return self[text]


SIZE = re.compile(r"\w+(?:\[[^\]]*\])*\.shape\[\d+\]")


class Number:
    """Python's // and % of sizes, which Z3 has for positive divisors."""

    def __init__(self, e):
        self.e = e

    def of(self, other):
        return other.e if isinstance(other, Number) else other

    def __add__(self, o): return Number(self.e + self.of(o))
    def __radd__(self, o): return Number(self.of(o) + self.e)
    def __sub__(self, o): return Number(self.e - self.of(o))
    def __rsub__(self, o): return Number(self.of(o) - self.e)
    def __mul__(self, o): return Number(self.e * self.of(o))
    __rmul__ = __mul__
    def __neg__(self): return Number(-self.e)
    def __floordiv__(self, o): return Number(self.e / self.of(o))
    def __mod__(self, o): return Number(self.e % self.of(o))
    def __eq__(self, o): return self.e == self.of(o)
    def __ne__(self, o): return self.e != self.of(o)
    def __le__(self, o): return self.e <= self.of(o)
    def __lt__(self, o): return self.e < self.of(o)
    def __ge__(self, o): return self.e >= self.of(o)
    def __gt__(self, o): return self.e > self.of(o)
    __hash__ = None


class Truth:
    """torch.sym_min and its like over Z3."""

    @staticmethod
    def sym_not(a):
        return z3.Not(a)


def to_z3(condition, sizes):
    names = {}

    def named(match):
        key = f"size_{len(names)}"
        names[key] = Number(sizes[match.group(0)])
        return key

    return eval(SIZE.sub(named, condition), {"torch": Truth}, names)


def check_minimal(found):
    sizes = Sizes()
    formulas = [to_z3(c, sizes) for c in found.conditions]
    natural = [s >= 0 for s in sizes.values()]
    for i, needed in enumerate(formulas):
        solver = z3.Solver()
        solver.add(*natural, *formulas[:i], *formulas[i + 1:], z3.Not(needed))
        assert solver.check() == z3.sat, (
            f"{found.conditions[i]} follows from the others of "
            f"{found.conditions}")


def check_witness(found):
    sizes = Sizes()
    solver = z3.Solver()
    solver.add(*[to_z3(c, sizes) for c in found.conditions])
    solver.add(*[sizes[text] == value
                 for text, value in found.witness.items()])
    assert solver.check() == z3.sat, (found.witness, found.conditions)


def check(found):
    assert found.proved, found.why_not
    check_minimal(found)
    check_witness(found)
    assert found.checks == [f"torch._check({c})" for c in found.conditions]


# --- programs

def required(program, *shapes, **options):
    found = proviso.requirements(program, tuple(map(torch.ones, shapes)),
                                 **options)
    check(found)
    return found


def test_a_program_without_questions_requires_nothing():
    found = required(lambda x: x * 2, (3, 4))
    assert found.conditions == [] and str(found).startswith(
        "requires nothing")


def test_the_least_is_required_and_each_question_has_its_line():
    def program(x, y):
        if x.shape[0] > 1:
            x = x + 1
        if x.shape[0] != 1:
            x = x + 1
        if x.shape[1] % 2 == 0 and (x.shape[1] // 2) % 2 == 0:
            return x.view(-1, 4) + y.sum()
        return x

    found = required(program, (3, 8), (2,))
    assert found.conditions == ["x.shape[0] >= 2", "x.shape[1] % 4 == 0"]
    lines = {q.line for q in found.questions}
    first = program.__code__.co_firstlineno
    assert {first + 1, first + 5} <= lines
    assert all(q.follows_from for q in found.questions)


def test_a_size_that_is_needed_as_a_number_is_pinned():
    def program(x):
        for i in range(x.shape[0]):
            x = x + i
        return x

    found = required(program, (3, 4))
    assert [(p.size, p.value, p.because) for p in found.pinned] == [
        ("x.shape[0]", 3, ("x.shape[0] == 3",))]


def test_int_of_a_quotient_pins_nothing(tmp_path):
    path = tmp_path / "padded.py"
    path.write_text("""\
import torch


def forward(x):
    pad = int(x.shape[-1] / 4) * 4 - x.shape[-1]
    if pad == 0:
        return x
    return torch.nn.functional.pad(x, (0, pad + 4))
""")
    found = required(load(path).forward, (2, 8))
    assert found.conditions == ["x.shape[1] % 4 == 0"] and not found.pinned


def test_questions_about_data_are_answered_as_the_example_does():
    def program(x, m):
        y = x[m]
        n = y.shape[0]
        if n > 2:
            y = y + 1
        return y + x.shape[1] if x.shape[1] != 4 else y

    found = proviso.requirements(
        program, (torch.randn(8, 6), torch.arange(8) < 5))
    assert found.proved, found.why_not
    assert found.conditions[-1:] == ["x.shape[1] != 4"] or (
        "x.shape[1] != 4" in found.conditions)
    [of_data] = [q for q in found.questions if q.suggestions]
    assert of_data.suggestions[0].code == "torch._check(n >= 3)"
    assert of_data.line == program.__code__.co_firstlineno + 3


def test_what_may_vary_can_be_said():
    def program(x):
        return x + 1 if x.shape[1] == 4 else x

    x = torch.ones(3, 4)
    fixed = proviso.requirements(program, (x,), dynamic_shapes=({0: Dim.AUTO},))
    assert fixed.conditions == []
    assert proviso.requirements(
        program, (x,), None, {"x": {1: Dim("n", max=9)}}
    ).conditions == ["x.shape[1] == 4"]


# --- PyTorch's form

def rows(x, y):
    if x.shape[0] != 1 and x.shape[1] <= 64:
        return x.view(-1, 4) + (x * y).sum()
    return x


def test_torch_takes_its_form():
    args = torch.ones(3, 8), torch.ones(3, 8)
    found = proviso.requirements(rows, args)
    check(found)
    form = found.to_torch()
    assert "torch._check(x.shape[0] >= 2)" in form
    text = form.shape_invariants()
    names = {"torch": torch}
    exec(text, names)
    names["shape_invariants"](*args)
    with pytest.raises(RuntimeError):
        names["shape_invariants"](torch.ones(1, 8), torch.ones(1, 8))
    assert "Dim('x_shape_0" in form.dim_specs() or "Dim(" in form.dim_specs()
    compile(form.marks(), "marks", "exec")
    compile(form.dim_specs(), "specs", "exec")


def test_torch_compiles_unbacked_with_the_checks():
    args = torch.ones(3, 8), torch.ones(3, 8)
    form = proviso.requirements(rows, args).to_torch()
    names = {"torch": torch}
    exec(form.shape_invariants(), names)

    def checked(x, y):
        names["shape_invariants"](x, y)
        return rows(x, y)

    torch._dynamo.reset()
    for t in args:
        for d in range(2):
            torch._dynamo.decorators.mark_unbacked(t, d)
    compiled = torch.compile(checked, fullgraph=True, backend="eager")
    assert torch.equal(compiled(*args), rows(*args))
    more = torch.ones(5, 12), torch.ones(5, 12)
    assert torch.equal(compiled(*more), rows(*more))


# Each form of the output, on PyTorch itself.

class Scaled(torch.nn.Module):
    """As wide as y, of two rows or more, and of 64 columns or less."""

    def forward(self, x, y, scale=None, *more):
        if x.shape[0] != 1 and x.shape[1] <= 64:
            x = x + y
        return x if scale is None else x * scale


SCALED = torch.ones(3, 8), torch.ones(3, 8)


@pytest.fixture(scope="module")
def scaled_form():
    found = proviso.requirements(Scaled(), SCALED)
    check(found)
    return found.to_torch()


def run_text(text, **names):
    names.update(torch=torch, Dim=Dim)
    exec(text, names)
    return names


def refuses(function, *args):
    with pytest.raises(Exception):
        function(*args)


def test_marks_alone_are_enough_for_torch_compile(scaled_form):
    args = tuple(map(torch.clone, SCALED))
    run_text(scaled_form.marks(), x=args[0], y=args[1])
    torch._dynamo.reset()
    model = Scaled()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(*args), model(*args))
    assert torch.equal(compiled(torch.ones(7, 9), torch.ones(7, 9)),
                       model(torch.ones(7, 9), torch.ones(7, 9)))


def test_marks_are_of_sizes_that_vary():
    found = proviso.requirements(Scaled(), SCALED, None,
                                 ({0: Dim.AUTO}, {0: Dim.AUTO}))
    marks = found.to_torch().marks()
    assert "mark_unbacked(x, 0" in marks and "mark_unbacked(x, 1" not in marks


def test_dim_specs_are_taken_by_torch_export(scaled_form):
    names = run_text(scaled_form.dim_specs())
    ep = torch.export.export(Scaled(), SCALED,
                             dynamic_shapes=names["dynamic_shapes"])
    more = torch.ones(5, 9), torch.ones(5, 9)
    assert torch.equal(ep.module()(*more), Scaled()(*more))
    refuses(ep.module(), torch.ones(5, 65), torch.ones(5, 65))


def test_shape_invariants_take_what_forward_takes(scaled_form):
    """vLLM calls them with the arguments of forward, whatever these are."""
    check_shapes = run_text(scaled_form.shape_invariants())["shape_invariants"]
    check_shapes(*SCALED)
    check_shapes(*SCALED, torch.ones(()), torch.ones(2))
    refuses(check_shapes, torch.ones(1, 8), torch.ones(1, 8))

    def invariants_and_forward(*args):
        check_shapes(*args)
        return Scaled()(*args)

    torch._dynamo.reset()
    args = tuple(map(torch.clone, SCALED))
    for t in args:
        torch._dynamo.decorators.mark_unbacked(t, (0, 1))
    compiled = torch.compile(invariants_and_forward, fullgraph=True,
                             backend="aot_eager")
    assert torch.equal(compiled(*args), Scaled()(*args))
    for shape in ((1, 8), (3, 65)):
        refuses(compiled, torch.ones(shape), torch.ones(shape))


class Branches(torch.nn.Module):
    """Twice PyTorch asks for what follows from `x.shape[0] % 8 == 0`."""

    def forward(self, x):
        if x.shape[0] % 8 != 0:
            raise ValueError("eights")
        if x.shape[0] % 4 == 0 and (3 * x.shape[0]) % 2 == 0:
            x = x + 1
        return x * 2


def test_the_loop_goes_on_where_proviso_answers_for_torch():
    # Dynamo skips the files of Proviso from then on.
    import torch._dynamo  # noqa: F401

    import proviso.torch

    args = (torch.ones(16, 3),)
    with proviso.torch.shape_env():
        form = proviso.requirements(Branches(), args).to_torch(Branches(), args)
    assert form.accepted, form.why_not
    form = proviso.requirements(Branches(), args).to_torch(Branches(), args)
    assert form.accepted, form.why_not


def test_the_loop_adds_what_torch_asks_beyond():
    args = (torch.ones(16, 3),)
    found = proviso.requirements(Branches(), args)
    check(found)
    assert found.conditions == ["x.shape[0] % 8 == 0"]
    form = found.to_torch(Branches(), args)
    assert form.accepted and form.rounds >= 1, form.why_not
    for c in form.conditions:
        if c.rule == "asked by PyTorch":
            assert not c.is_stronger
    names = run_text(form.shape_invariants())
    names["shape_invariants"](torch.ones(24, 3))
    refuses(names["shape_invariants"], torch.ones(12, 3))


def test_the_loop_ends_where_torch_fails_otherwise():
    class Printing(torch.nn.Module):
        def forward(self, x):
            torch._dynamo.graph_break()
            return x + 1

    args = (torch.ones(3, 4),)
    form = proviso.requirements(Printing(), args).to_torch(Printing(), args)
    assert form.accepted is False and form.why_not and form.rounds == 1
    with pytest.raises(ValueError, match="rounds=0"):
        proviso.requirements(Printing(), args).to_torch(Printing(), args,
                                                        rounds=0)


def test_arguments_may_be_nested():
    def program(pair, *, by):
        x, y = pair["x"], pair["y"][0]
        return x + y if x.shape[0] != 1 else x * by

    args = ({"x": torch.ones(3), "y": [torch.ones(3)]},)
    kwargs = {"by": torch.ones(3)}
    found = proviso.requirements(program, args, kwargs)
    check(found)
    form = found.to_torch(program, args, kwargs)
    assert form.accepted, form.why_not
    assert "torch._check(pair['x'].shape[0] >= 2)" in form


# --- models: those of this option, else small ones of each kind

@pytest.fixture(scope="module")
def zoo():
    import pathlib
    import sys
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "models"))
    return pytest.importorskip("zoo")


# What each requires, as PyTorch's users would write it.
MODELS = {
    "bert": ["input_ids.shape[0] >= 1", "input_ids.shape[1] >= 2",
             "input_ids.shape[1] <= 128"],
    "gpt2": ["input_ids.shape[0] >= 2", "input_ids.shape[1] >= 2"],
    "resnet": ["pixel_values.shape[2] >= 1", "pixel_values.shape[3] >= 1"],
    "mobilenet_v2": ["pixel_values.shape[2] % 32 == 0",
                     "pixel_values.shape[2] >= 1",
                     "pixel_values.shape[3] % 32 == 0",
                     "pixel_values.shape[3] >= 1"],
}


def required_of_model(zoo, name):
    case = zoo.ZOO[name]
    model = case.build()
    kwargs = case.kwargs(case.traced)
    found = proviso.requirements(model, (), kwargs, case.shapes)
    check(found)
    return case, model, kwargs, found


@pytest.mark.parametrize("name", MODELS)
def test_what_models_require(zoo, name):
    _, _, _, found = required_of_model(zoo, name)
    print(found)
    assert set(found.conditions) <= set(MODELS[name]) and found.conditions
    assert not found.pinned


@pytest.mark.parametrize("name", ["bert", "resnet"])
def test_torch_compiles_models_with_the_checks(zoo, name):
    case, model, kwargs, found = required_of_model(zoo, name)
    names = {"torch": torch}
    exec(found.to_torch().shape_invariants(), names)

    def checked(**inputs):
        names["shape_invariants"](**inputs)
        return model(**inputs)[0]

    torch._dynamo.reset()
    for text, dims in case.shapes.items():
        for d in dims:
            torch._dynamo.decorators.mark_unbacked(kwargs[text], d)
    compiled = torch.compile(checked, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        assert torch.allclose(compiled(**kwargs), model(**kwargs)[0],
                              atol=1e-5)
        for size in case.others[:1]:
            more = case.kwargs(size)
            assert torch.allclose(compiled(**more), model(**more)[0],
                                  atol=1e-5)


def test_the_loop_says_what_only_torch_wants_of_swin(zoo):
    """Swin is one program for every batch; PyTorch wants it to be 2 or more."""
    import requirement_cases
    import requirements_on_torch

    case = requirement_cases.CASES["swin"]
    model, kwargs = case.build(), case.kwargs(case.traced)
    found = proviso.requirements(model, (), kwargs, case.shapes)
    check(found)
    assert found.conditions == ["pixel_values.shape[0] >= 1"]
    form = found.to_torch(model, (), kwargs)
    assert form.accepted, form.why_not
    assert str(form) == ("torch._check(pixel_values.shape[0] >= 2)"
                         "  # torch only: the answer does not matter here")
    run = requirements_on_torch.run(model, case, kwargs, form,
                                    found._parameters)
    assert not run["problems"], run
    assert run["equal"] == run["inside"] == 4 and run["refused"] == 1


# --- errors

def test_arguments_are_checked():
    with pytest.raises(TypeError, match="tuple of example"):
        proviso.requirements(lambda x: x, torch.ones(2))


def test_a_proof_that_ends_with_a_question_leaves_nothing_to_look_for(
        monkeypatch):
    """To look for who holds a traced tensor is to look at every object."""
    looked = []
    monkeypatch.setattr(_leaks, "_named_holders",
                        lambda living: looked.append(len(living)) or [])

    def program(x):
        size = x.shape[0]
        for _ in range(20):
            size = int(math.sqrt(size + 1)) * x.shape[0]
        return x[:size % 3 + 1]

    proviso.requirements(program, (torch.randn(4, 6),))
    assert len([living for living in looked if living]) <= 1, looked
