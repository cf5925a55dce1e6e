"""numpy's functions of sizes: a program gives the value and the type that eager
gives, at every size that it takes."""

import warnings

import numpy as np
import pytest
import torch

import proviso
from proviso import Dim

PROGRAMS = {
    "ceil/2": lambda n: np.ceil(n / 2),
    "floor/2": lambda n: np.floor(n / 2),
    "ceil n": lambda n: np.ceil(n),
    "rint": lambda n: np.rint(n / 2),
    "rint n": lambda n: np.rint(n),
    "trunc": lambda n: np.trunc(n / 3),
    "round": lambda n: np.round(n / 3, 1),
    "around": lambda n: np.around(n / 3),
    "fix": lambda n: np.fix(n / 3),
    "neg": lambda n: np.ceil(-n / 3),
    "arr": lambda n: np.ceil(np.array([n, 3]) / 2)[0],
    "arr2": lambda n: np.floor(np.array([n, 4]) / 2).sum(),
    "mul": lambda n: np.int64(2) * n,
    "mul2": lambda n: n * np.float64(2),
    "div": lambda n: n / np.int64(2),
    "fdiv": lambda n: n // np.int64(2),
    "f32": lambda n: n * np.float32(0.1),
    "max": lambda n: np.maximum(n, 4),
    "min": lambda n: np.minimum(n / 2, 4),
    "prod": lambda n: np.prod([n, 4]),
    "mean": lambda n: np.mean([n, 4]),
    "sum": lambda n: np.sum([n, 4]),
    "abs": lambda n: np.abs(3 - n),
    "sign": lambda n: np.sign(3 - n),
    "sq": lambda n: np.square(n),
    "pow": lambda n: np.power(n, 2),
    "sqrt": lambda n: np.sqrt(n),
    "log": lambda n: np.log(n),
    "float64": lambda n: np.float64(n),
    "int64": lambda n: np.int64(n),
    "clip": lambda n: np.clip(n, 2, 6),
    "mod": lambda n: np.mod(n, 3),
    "fmod": lambda n: np.fmod(n, 3),
    "isf": lambda n: float(np.isfinite(n)),
    "cbrt": lambda n: np.cbrt(n),
    "hypot": lambda n: np.hypot(n, 3),
    "exp2": lambda n: np.exp2(n),
    "arange": lambda n: np.arange(n).sum(),
    "linspace": lambda n: np.linspace(0, 1, n).sum(),
    "float32": lambda n: np.float32(n / 3),
    "log2ceil": lambda n: 2 ** np.ceil(np.log2(n)),
    "int(ceil)": lambda n: int(np.ceil(n / 2)),
    "gcd": lambda n: np.gcd(n, 6),
    "eq": lambda n: float(np.int64(5) == n),
    "lt": lambda n: float(np.less(n, 5)),
    "and": lambda n: np.bitwise_and(n, 3),
    "shift": lambda n: np.left_shift(1, n),
    "floor_divide": lambda n: np.floor_divide(n, 2),
    "true_divide": lambda n: np.true_divide(n, 2),
    "arr*": lambda n: (np.array([1, 2]) * n).sum(),
    "neg1": lambda n: np.negative(n),
    "recip": lambda n: np.reciprocal(n),
    "recipf": lambda n: np.reciprocal(n / 2),
    "maxlist": lambda n: np.max([n, 4]),
    "divmod": lambda n: np.divmod(n, 3)[1],
    "rint arr": lambda n: np.rint(np.array([n / 2, 1.0]))[0],
}
UFUNCS = sorted(
    name for name, f in vars(np).items()
    if isinstance(f, np.ufunc) and f.nout == 1 and f.nin <= 2
    and not f.signature)
PARTNERS = (3, 2.5, np.int64(3), np.float32(2.5), np.array(2))
FREE = ("ceil/2", "floor/2", "trunc", "rint", "mul", "mul2", "prod", "sqrt",
        "arr", "floor_divide")
# An array of a size and another number, one of its numbers or a tensor of it.
ARRAYS = {
    "array": lambda v: np.array(v), "asarray": lambda v: np.asarray(v),
    "stack": np.stack,
    "concatenate": lambda v: np.concatenate([[item] for item in v]),
    "of rows": lambda v: np.array([v, v])[0],
    "of int64": lambda v: np.array(v, dtype=np.int64),
    "of float": lambda v: np.array(v, dtype=float),
    "of float32": lambda v: np.array(v, np.float32),
    "of objects": lambda v: np.array(v, dtype=object),
    "cumsum": np.cumsum, "sort": np.sort, "where": (
        lambda v: np.where([True, False], *v)),
    "append": lambda v: np.append(v[:1], v[1]),
    "full": lambda v: np.full(2, v[0]), "r_": lambda v: np.r_[v[0], v[1]],
    "fromiter": lambda v: np.fromiter(v, float),
    "written": lambda v: _written(np.zeros(2, int), 0, v[0]),
}
ITEMS = {
    "n, 2": lambda n: [n, 2], "n, 2.5": lambda n: [n, 2.5],
    "n/2, 2": lambda n: [n / 2, 2], "n, True": lambda n: [n, True],
    "n, float32": lambda n: [n, np.float32(2.5)],
    "n, float64": lambda n: [n, np.float64(2.5)],
    "n, int32": lambda n: [n, np.int32(2)],
}
USES = {
    "[0]": lambda a: torch.tensor(a[0]), "tensor": lambda a: torch.tensor(a),
    "from_numpy": lambda a: torch.from_numpy(np.asarray(a)),
    "as_tensor": torch.as_tensor, "full": lambda a: torch.full((2,), a[0]),
    "sum": lambda a: torch.tensor(a.sum()),
    "max": lambda a: torch.tensor(a.max()),
    "half": lambda a: torch.tensor((a / 2)[0]),
    "two": lambda a: torch.tensor(a[0] + a[-1]),
    "ceil": lambda a: torch.tensor(np.ceil(a / 2).astype(int).tolist()),
    "kind": lambda a: torch.full((2,), float(a.dtype.kind == "f")),
    "isinstance": lambda a: torch.full((2,), float(
        isinstance(a[0], np.floating)
        + 2 * isinstance(a[0], int) + 4 * isinstance(a, np.ndarray))),
    "in place": lambda a: torch.tensor(a.__iadd__(a)),
    "a view": lambda a: (_written(a[1:], 0, 9), torch.tensor(a))[1],
}


def _written(array, index, value):
    array[index] = value
    return array


def _programs_of(name):
    """With a size and its half, and another number on either side."""
    f = getattr(np, name)
    for number in (lambda n: n, lambda n: n / 2, lambda n: 3 - n):
        if f.nin == 1:
            yield lambda n, of=number: f(of(n))
        for other in PARTNERS if f.nin == 2 else ():
            yield lambda n, of=number, other=other: f(of(n), other)
            yield lambda n, of=number, other=other: f(other, of(n))


def _rows_taken(program):
    """Those of which eager gives a number, and the exported program the same."""
    return _rows_where_equal(
        lambda x: torch.full((2,), program(x.shape[0])))


def _rows_where_equal(filled):
    def outcome(function, rows):
        try:
            return function(torch.ones(rows, 4))
        except Exception:
            return None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if outcome(filled, 5) is None:
            return None
        try:
            module = proviso.export(filled, (torch.ones(5, 4),),
                                    dynamic_shapes=[{0: Dim.AUTO}]).module()
        except (NotImplementedError, TypeError):
            return []
        taken = []
        for rows in (1, 2, 3, 4, 5, 6, 7, 17):
            found, expected = outcome(module, rows), outcome(filled, rows)
            if found is None or expected is None:
                continue
            taken.append(rows)
            assert found.dtype == expected.dtype, rows
            assert torch.equal(found.nan_to_num(7), expected.nan_to_num(7)), rows
            assert torch.equal(found.signbit(), expected.signbit()), rows
    return taken


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_of_a_size_is_eagers(name):
    taken = _rows_taken(PROGRAMS[name])
    assert 5 in taken
    assert len(taken) >= 7 or name not in FREE


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_of_a_size_is_eagers(name):
    taken = [_rows_taken(program) for program in _programs_of(name)]
    assert any(taken) or all(rows is None for rows in taken)


@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("array", ARRAYS)
def test_an_array_of_sizes_is_eagers(array, items):
    for name, use in USES.items():
        taken = _rows_where_equal(
            lambda x: use(ARRAYS[array](ITEMS[items](x.shape[0]))))
        assert taken is None or 5 in taken, name
        if array == "array" and items == "n, 2.5" and name in (
                "[0]", "sum", "tensor", "half", "two"):
            assert len(taken) >= 7, name


@pytest.mark.parametrize("of", [
    lambda n: 2 if ~(np.prod([n, 2]) > 8) else 3,
    lambda n: 2 if ~np.less(n, 5) else 3,
    lambda n: 2 + hasattr(np.prod([n, 2]), "bit_length"),
    lambda n: {10: 2}.get(np.prod([n, 2]), 3),
    lambda n: 2 + (np.float64(n) == 5.0),
])
def test_a_number_of_numpys_answers_as_one(of):
    assert 5 in _rows_where_equal(
        lambda x: torch.full((2,), of(x.shape[0])))


def test_a_number_of_numpys_is_one_of_float64():
    for of in (lambda n: np.ceil(n / 2), lambda n: np.float64(2) * n,
               lambda n: n * np.float64(2), lambda n: np.prod([n, 2]),
               lambda n: np.mean([n, 2]) + 1, lambda n: 2 - np.sqrt(n),
               lambda n: np.prod([n, 2]).astype(float).item(),
               lambda n: np.square(n) % 3, lambda n: np.prod([n, 2]) ** 2):
        assert _rows_where_equal(lambda x: torch.tensor(of(x.shape[0])))
