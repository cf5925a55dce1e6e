"""proviso.torch with inductor=True: Inductor's index expressions."""

import os
import random

import pytest
import sympy
import torch
from torch._inductor import sizevars
from torch._inductor.utils import fresh_cache
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

import proviso.torch
from proviso.torch import _inductor, _quotients

TORCHS = (
    sizevars.stride_at, sizevars.stride_at_vec_range, sizevars.join_dimensions,
    FloorDiv.eval.__func__,
)
LOOPS = sympy.symbols("x0 x1 x2", integer=True, nonnegative=True)
SIZES = sympy.symbols("s0 s1", integer=True, positive=True)
x0, x1, x2 = LOOPS
s0, s1 = SIZES
COUNT = int(os.environ.get("PROVISO_TEST_INDICES", "300"))


def bound():
    import torch._inductor.codegen.cpp as cpp

    assert cpp.stride_at_vec_range is sizevars.stride_at_vec_range
    return (
        sizevars.stride_at, sizevars.stride_at_vec_range,
        sizevars.join_dimensions, FloorDiv.eval.__func__,
    )


@pytest.fixture(autouse=True)
def torchs_afterwards():
    assert bound() == TORCHS
    yield
    proviso.torch.disable()
    assert bound() == TORCHS


def random_index(rng, depth=2):
    """An index as Inductor has them: sums of products, quotients."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*LOOPS, *SIZES, sympy.Integer(rng.randint(1, 32))])
    inner = [random_index(rng, depth - 1) for _ in range(2)]
    number = sympy.Integer(rng.choice((2, 3, 4, 8, 16, 32)))
    kind = rng.randrange(6)
    if kind == 0:
        return FloorDiv(inner[0], number)
    if kind == 1:
        return ModularIndexing(inner[0], rng.choice((1, number)), number * 2)
    if kind == 2:
        return FloorDiv(inner[0], rng.choice(SIZES))
    if kind == 3 and rng.random() < 0.3:
        return inner[0] ** 2
    return sum(
        rng.choice((1, number, *SIZES)) * part for part in inner
    ) if kind < 5 else inner[0] * inner[1]


def points(rng, count=12):
    for _ in range(count):
        yield {s: sympy.Integer(rng.randint(1, 70)) for s in (*LOOPS, *SIZES)}


def indices():
    rng = random.Random(7)
    for _ in range(COUNT):
        yield random_index(rng), rng


def test_a_stride_is_what_the_index_grows_by():
    served = 0
    for index, rng in indices():
        stride = _quotients.forms.stride(index, x0)
        if stride is NotImplemented:
            continue
        served += 1
        for at in points(rng):
            grown = index.xreplace({**at, x0: at[x0] + 1})
            assert stride.xreplace(at) == grown - index.xreplace(at), index
    assert served > COUNT // 2


@pytest.mark.parametrize("length", [4, 16])
def test_a_stride_within_a_vector_holds_in_each_vector(length):
    numbers = 0
    for index, rng in indices():
        stride = _inductor._stride_at_vec_range(index, x0, length)
        if not stride.is_number:
            continue
        numbers += 1
        for at in points(rng, 4):
            begin = at[x0] // length * length
            values = [
                index.xreplace({**at, x0: begin + sympy.Integer(i)})
                for i in range(length)
            ]
            steps = {b - a for a, b in zip(values, values[1:])}
            assert steps == {stride}, (index, at)
    assert numbers > COUNT // 10


@pytest.mark.parametrize(
    "base, divisor, quotient",
    [
        (s0 * s1 + s1, s0 + 1, s1),
        (4 * s0 * s1 + 8 * s1, s0 + 2, 4 * s1),
        (s0**2 + 2 * s0 * s1 + s1**2, s0 + s1, s0 + s1),
        (x0 * (s0 + 1) + 2 * s0 + 2, s0 + 1, x0 + 2),
        (FloorDiv(s0, 4) * s1 + s1, FloorDiv(s0, 4) + 1, s1),
        (s0 * s1 + s0, s0 + 1, None),
        (3 * s0 + 3, 2 * s0 + 2, None),
        (s0 + 2, s0 + 1, None),
    ],
)
def test_a_divisor_that_divides_as_a_polynomial(base, divisor, quotient):
    assert _quotients.forms.exact_quotient(sympy.expand(base), divisor) == (
        quotient
    )


def test_a_number_goes_out_of_a_product_as_torch_takes_it_out():
    part = FloorDiv(s0, 4)
    for base, divisor, quotient in (
        (16 * s0 * s1, 256, FloorDiv(s0 * s1, 16)),
        (48 * s0 * x0, 32, FloorDiv(3 * s0 * x0, 2)),
        (6 * part, 9, FloorDiv(2 * part, 3)),
        (-6 * s0 * s1, 4, FloorDiv(-3 * s0 * s1, 2)),
        (2 * part, 4, FloorDiv(s0, 8)),
    ):
        divisor = sympy.Integer(divisor)
        ours = _quotients._without_common_factor(base, divisor)
        assert ours == quotient
        assert ours == _quotients._torch_floor_div(FloorDiv, base, divisor)
    rng = random.Random(5)
    served = 0
    for _ in range(COUNT):
        number, divisor = rng.randint(-40, 40), sympy.Integer(rng.randint(-9, 60))
        base = sympy.Mul(number, random_index(rng), random_index(rng))
        if not isinstance(base, sympy.Mul) or divisor == 0:
            continue
        ours = _quotients._without_common_factor(base, divisor)
        if ours is None or ours is NotImplemented:
            continue
        served += 1
        for at in points(rng, 4):
            assert ours.xreplace(at) == base.xreplace(at) // divisor, base
    assert served > COUNT // 10
    for base, divisor in ((4 * s0, 4), (5 * s0, 4), (s0 * s1, 4), (4 * s0, -8)):
        assert _quotients._without_common_factor(
            base, sympy.Integer(divisor)) is NotImplemented


def test_quotients_have_torchs_values():
    for index, rng in indices():
        for divisor in (s0 + 1, s0 * s1 + 2, 2 * s0, sympy.Integer(6)):
            base = sympy.expand(index * divisor) + rng.choice((0, 0, 1, x1))
            ours = _quotients._floor_div(base, divisor)
            if ours is None:
                continue
            for at in points(rng, 3):
                expected = base.xreplace(at) // divisor.xreplace(at)
                assert ours.xreplace(at) == expected, (base, divisor)


def test_what_has_no_form_is_left_to_torch():
    for odd in (s0 < 3, sympy.Symbol("f"), sympy.Float(1.5), sympy.oo):
        assert _quotients.forms.stride(odd, x0) is NotImplemented
    # Two symbols of one name: the second begins anew.
    other = sympy.Symbol("s0", integer=True)
    assert _quotients.forms.stride(other * x0, x0) == other
    assert _quotients.forms.stride(s0 * x0, x0) == s0
    assert _quotients.forms.stride(s0 * x0 + other, x0) is NotImplemented


def pieces(rng):
    """A sum that has an index in pieces: remainders, and a quotient above."""
    base = rng.choice((x0, x1, x0 + 4 * x1, x0 * s0))
    scale, divisor = rng.choice((1, 3, s1, 4 * s0)), rng.choice((1, 2, s1))
    moduli = [
        rng.choice((2, 4, 8, s0)) for _ in range(rng.randint(1, 3))
    ]
    terms = []
    for modulus in moduli:
        terms.append(scale * ModularIndexing(base, divisor, modulus))
        scale, divisor = scale * modulus, divisor * modulus
    if rng.random() < 0.5:
        terms.append(scale * FloorDiv(base, divisor))
    if rng.random() < 0.3:
        terms.pop(rng.randrange(len(terms)))
    return sympy.Add(*terms, rng.choice((x2, 5, ModularIndexing(x2, 1, 4))))


def test_dimensions_are_joined_as_torch_joins_them():
    rng = random.Random(3)
    joined = 0
    for _ in range(COUNT // 3):
        expr = pieces(rng)
        ours = _inductor._join_dimensions(expr)
        assert ours == _inductor._torch_join_dimensions(expr), expr
        joined += ours != expr
        for at in points(rng, 3):
            assert ours.xreplace(at) == expr.xreplace(at), expr
    assert joined > COUNT // 10


def windows(x, y):
    n, c = x.shape
    z = x.reshape(n // 4, 4, c).transpose(0, 1).reshape(n, c)
    return (z[: n // 2] + y[: n // 2]).softmax(0), z.flip(0).cumsum(1)


@pytest.mark.parametrize("verify", [False, True])
def test_a_program_gives_what_eager_gives_at_other_sizes(verify):
    proviso.torch.reset_report()
    torch._dynamo.reset()
    with fresh_cache(), proviso.torch.shape_env(inductor=True, verify=verify):
        assert all(a != b for a, b in zip(bound(), TORCHS))
        compiled = torch.compile(windows, dynamic=True)
        for n, c in ((16, 24), (8, 24), (40, 3), (24, 17)):
            x, y = torch.randn(n, c), torch.randn(n, c)
            torch.testing.assert_close(compiled(x, y), windows(x, y))
    report = proviso.torch.report()
    assert not [d for d in report.differences if d.kind == "disagree"]


def served():
    """Whether Inductor's functions, and quotients of sizes, are Proviso's."""
    differ = [a != b for a, b in zip(bound(), TORCHS)]
    assert differ[0] == differ[1] == differ[2]
    return tuple(differ[2:])


def test_the_innermost_block_says_whether_inductor_is_served():
    with proviso.torch.shape_env(inductor=True):
        assert served() == (True, True)
        with proviso.torch.shape_env():
            assert served() == (False, True)
        assert served() == (True, True)
    assert served() == (False, False)
    proviso.torch.enable()
    assert served() == (False, True)
    proviso.torch.enable(inductor=True)
    assert served() == (True, True)
