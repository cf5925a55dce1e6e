"""float(), int(), round() and Python's math on numbers read from data: the
values that eager gives, and an error where eager raises."""

import math
import numbers

import pytest
import torch

import proviso
from proviso import Dim

Y = torch.arange(3.0)
VALUES = (6, 7, 1, 0, -3, -8)


def outcome(function, *args):
    """The result, or the word for an exception."""
    try:
        return function(*args)
    except Exception:  # eager and the program raise different types
        return "raised"


def agree(program, values=VALUES, dtype=torch.int64):
    ep = proviso.export(program, (torch.tensor(values[0], dtype=dtype), Y))
    run = ep.module()
    for value in values:
        x = torch.tensor(value, dtype=dtype)
        expected, found = outcome(program, x, Y), outcome(run, x, Y)
        if isinstance(expected, str) or isinstance(found, str):
            assert found is expected, (value, expected, found)
        else:
            assert torch.allclose(found, expected, 0, 0, equal_nan=True) and (
                found.dtype == expected.dtype), (value, expected, found)
    return ep


@pytest.mark.parametrize("of_int", [
    lambda u: int(u), lambda u: int(u / 2), lambda u: int(u == 6),
    lambda u: float(u), lambda u: float(u) * 0.1 + 1, lambda u: u / 2,
    lambda u: torch.sym_float(u), lambda u: math.floor(float(u) / 3),
    lambda u: math.trunc(u / 2), lambda u: math.floor(u / 2),
    lambda u: math.ceil(u / 2), lambda u: round(u / 2),
    lambda u: round(u / 3, 1), lambda u: round(u / 8, 2), lambda u: abs(u - 2),
    lambda u: u**2, lambda u: u % 4, lambda u: u // -2,
    lambda u: math.sqrt(u), lambda u: math.log2(u), lambda u: math.asin(u),
    lambda u: math.acos(u), lambda u: math.atan(u), lambda u: math.sin(u),
    lambda u: math.cos(u), lambda u: math.tan(u), lambda u: math.tanh(u),
    lambda u: math.sinh(u * 200), lambda u: math.cosh(u * 200),
    lambda u: math.fabs(u), lambda u: math.floor(u),
    lambda u: torch.sym_min(u, 4), lambda u: torch.sym_ite(u > 2, u, u + 9),
])
def test_of_an_integer(of_int):
    agree(lambda x, y: y + of_int(x.item()))


@pytest.mark.parametrize("of_float", [
    lambda f: float(f), lambda f: torch.sym_int(f), lambda f: math.trunc(f),
    lambda f: math.floor(f * 0.5), lambda f: math.ceil(f), lambda f: round(f),
    lambda f: round(f, 2), lambda f: f * 2 - 1, lambda f: math.sqrt(f),
    lambda f: math.log2(f), lambda f: abs(f), lambda f: float(f) / 3,
])
def test_of_a_float(of_float):
    agree(lambda x, y: y + of_float(x.item()),
          (2.5, 3.5, 0.125, 2.675, -0.5, 0.0, 1e300, math.inf, math.nan),
          torch.float64)


@pytest.mark.parametrize("holds", [
    lambda u: float(u) > 2.5, lambda u: math.ceil(u / 2) == 3,
    lambda u: math.trunc(u / 2) == 3, lambda u: math.floor(u / 2) == 3,
    lambda u: round(u / 2) == 3, lambda u: math.sqrt(u) < 2.6,
    lambda u: (u / 2).is_integer(), lambda u: torch.sym_int(u / 2) >= 1,
])
def test_a_check_is_kept_and_has_eagers_outcome(holds):
    def program(x, y):
        torch._check(holds(x.item()))
        return y + 1

    ep = agree(program)
    assert ep.runtime_asserts


def test_float_of_a_tensor_stays_symbolic():
    agree(lambda x, y: y * float(x) + float(x.sum() / 2))


def test_float_is_pythons_in_the_same_program():
    def program(x, y):
        assert isinstance(1.5, float) and not isinstance(1, float)
        assert issubclass(float, float) and float == type(2.5)
        assert {float: 1}[type(2.5)] == 1
        return y * float("0.5") + float(x.item()) + float() + float(3)

    agree(program)
    assert float is type(2.5)  # and this module's is Python's again


class Kinds(torch.nn.Module):
    """A branch on what kind of a number each is."""

    def forward(self, x, y):
        n, size = x.item(), y.shape[0]
        half, more = n / 2, n > 3
        questions = (
            isinstance(n, int), isinstance(size, (int, float)),
            isinstance(n, float), isinstance(half, float),
            isinstance(half, int), isinstance(more, bool),
            isinstance(more, int), isinstance(n, bool),
            isinstance(n, numbers.Integral), isinstance(size, numbers.Number),
            isinstance(half, numbers.Integral), isinstance(size + 1, str))
        match size * 2:
            case int():
                y = y + 64
            case _:
                y = y - 64
        return sum((y * 2 ** i for i, yes in enumerate(questions) if yes), y)


def test_a_traced_number_is_of_its_type():
    ep = proviso.export(Kinds(), (torch.tensor(6), Y), dynamic_shapes=(
        None, {0: Dim.AUTO}))
    assert torch.equal(ep.module()(torch.tensor(2), Y),
                       Kinds()(torch.tensor(2), Y))
    assert "__class__" not in vars(torch.SymInt)


def test_the_math_of_sizes_stays_symbolic():
    def scale(x):
        return x / math.sqrt(x.shape[0]) + math.pow(x.shape[0], 2)

    ep = proviso.export(scale, (torch.ones(4, 2),),
                        dynamic_shapes=({0: Dim("n")},))
    assert ep.guards == []
    for n in (1, 2, 9):
        x = torch.ones(n, 2)
        assert torch.equal(ep.module()(x), scale(x))


@pytest.mark.parametrize("program, error, text", [
    (lambda x, y: y + len(range(x.item())), proviso.DataDependentError,
     "(?s)specialized integer .*torch.sym_int and torch.sym_float do"),
    (lambda x, y: y + math.gcd(x.item(), 4), proviso.DataDependentError,
     "specialized integer"),
    (lambda x, y: y if math.isnan(x.double().item()) else y,
     proviso.DataDependentError, "specialized float"),
    (lambda x, y: y + x.double().item() // 0.1, NotImplementedError,
     r"floordiv of symbolic floats from data .*math.floor\(a / b\)"),
    (lambda x, y: y + round(x.item(), -1), NotImplementedError,
     r"round\(u0, -1\) of a symbolic number from data is not supported"),
])
def test_what_must_be_known_while_tracing(program, error, text):
    with pytest.raises(error, match=text):
        proviso.export(program, (torch.tensor(6), Y))
    assert math.sqrt(4) == 2.0  # the process goes on


@pytest.mark.parametrize("of", [
    lambda n: n % 2.5, lambda n: n // 2.5, lambda n: -n % 2.5,
    lambda n: -n // 0.75, lambda n: sum(divmod(n, 2.5)), lambda n: n % 1.0,
    lambda n: n % -2.5, lambda n: n // -2.5, lambda n: math.fmod(n, 2.5),
    lambda n: n % 0.1, lambda n: n // 0.1, lambda n: 7.5 % n,
    lambda n: math.fmod(-n, 3), lambda n: math.modf(-n / 4)[0],
    lambda n: 7.5 // n, lambda n: n / 2 % 1, lambda n: n / 3 // 1,
    lambda n: n % (n / 2), lambda n: n % math.inf, lambda n: n * 0.7 % 1,
    lambda n: round(n, -1), lambda n: math.remainder(n, 2.5),
])
def test_quotients_and_remainders_of_floats_are_pythons(of):
    def program(x):
        return x + of(x.shape[0])

    run = proviso.export(program, (torch.zeros(5),),
                         dynamic_shapes=[{0: Dim.AUTO}]).module()
    for rows in range(10):
        x = torch.zeros(rows)
        found = outcome(run, x)
        if isinstance(found, str):
            assert rows != 5
        else:
            assert torch.equal(found, program(x)), rows


@pytest.mark.parametrize("of", [
    lambda n: n % 2.5, lambda n: n // 2.5, lambda n: n / 2 % 1,
    lambda n: n / 4 % 1.5 + n / 4 // 1.5, lambda n: (n * 0.375 + 1) % 2,
    lambda n: -n / 2 // 1, lambda n: -n / 8 % 0.25,
    lambda n: sum(divmod(n / 2, 1)), lambda n: math.fmod(n, 3),
    lambda n: math.fmod(n / 4, 1), lambda n: math.modf(n / 4)[0],
    lambda n: math.modf(n / 4)[1], lambda n: sum(math.modf(n)),
])
def test_few_parts_keep_a_size_free(of):
    def program(x):
        return x + of(x.shape[0])

    run = proviso.export(program, (torch.zeros(5),),
                         dynamic_shapes=[{0: Dim.AUTO}]).module()
    for rows in range(20):
        x = torch.zeros(rows)
        assert torch.equal(run(x), program(x))


@pytest.mark.parametrize("of", [
    lambda n: abs(n / 2 - 1.0), lambda n: max(n / 2 - 1.0, 1.0 - n / 2),
    lambda n: max(n / 2 - 1.0, -(n / 2 - 1.0)), lambda n: abs(n / 2 - 1),
    lambda n: min(n / 2 - 1.0, n * 0.5 - 1.0), lambda n: (-1) ** n,
    lambda n: (-3) ** (n % 4), lambda n: (-2.0) ** (n % 3),
    lambda n: (-0.5) ** n, lambda n: -2 ** n, lambda n: (1 - 2) ** (n + 1),
])
def test_signs_are_eagers_for_every_reader(of, tmp_path):
    def program(x):
        return x / of(x.shape[0])

    ep = proviso.export(program, (torch.ones(5),),
                        dynamic_shapes=[{0: Dim.AUTO}])
    ep.save(tmp_path / "p.pt2")
    for run in (ep.module(), proviso.load(tmp_path / "p.pt2").module(),
                torch.export.load(tmp_path / "p.pt2").module()):
        for rows in range(1, 8):
            x = torch.ones(rows)
            assert torch.equal(run(x), program(x)), rows


def test_what_no_symbol_says_is_refused_by_name(tmp_path):
    def program(x):
        return x / (-0.0 * x.shape[0])

    with pytest.raises(RuntimeError, match="-0 has no place"):
        proviso.export(program, (torch.ones(5),),
                       dynamic_shapes=[{0: Dim.AUTO}])
    ep = proviso.export(lambda x: (x, math.nan), (torch.ones(5),))
    with pytest.raises(ValueError, match="returns the number nan"):
        ep.save(tmp_path / "p.pt2")
    with pytest.raises(NotImplementedError, match="is_shared"):
        proviso.export(lambda x: x if x.is_shared() else -x, (torch.ones(5),))


_OF_TYPES = {"int": 1.0, "float": 2.0}


@pytest.mark.parametrize("of", [
    lambda n, d: 2 if type(n) == type(d) else 3,
    lambda n, d: 2 if type(n) is type(d) else 3,
    lambda n, d: 2 if type(n / 2) is type(d / 2) else 3,
    lambda n, d: _OF_TYPES.get(type(n).__name__, 5.0),
    lambda n, d: len(f"{type(n * 0.5)}"),
    lambda n, d: 2 if type(n) in {type(d): 0} else 3,
    lambda n, d: 2 if type(n) != type("") else 3,
])
def test_the_type_of_a_size_is_a_numbers(of):
    def program(x):
        return x + of(x.shape[0], x.dim())

    run = proviso.export(program, (torch.zeros(5),),
                         dynamic_shapes=[{0: Dim.AUTO}]).module()
    for rows in (2, 5):
        x = torch.zeros(rows)
        assert torch.equal(run(x), program(x))


@pytest.mark.parametrize("of", [
    lambda n: float(math.sqrt(n)), lambda n: float(n ** 0.5),
    lambda n: math.sqrt(n) % 1, lambda n: len(f"{math.sqrt(n):.2f}"),
    lambda n: float(math.log2(n) * math.sin(n)),
])
def test_a_root_that_must_be_known_fixes_its_size(of):
    def program(x):
        return x + of(x.shape[0])

    for rows in (4, 5):
        run = proviso.export(program, (torch.zeros(rows),),
                             dynamic_shapes=[{0: Dim.AUTO}]).module()
        x = torch.zeros(rows)
        assert torch.equal(run(x), program(x))
        with pytest.raises(RuntimeError, match="Guard failed"):
            run(torch.zeros(rows + 1))


def test_parts_that_round_are_refused_past_2_to_the_53():
    run = proviso.export(lambda x, n: x + n / 2 % 1, (torch.zeros(2), 5),
                         dynamic_shapes=[None, Dim.AUTO]).module()
    assert run(torch.zeros(2), 2**53 - 1).tolist() == [0.5, 0.5]
    with pytest.raises(RuntimeError, match="9007199254740992"):
        run(torch.zeros(2), 2**53 + 1)
