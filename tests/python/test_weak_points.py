"""The reference's known weak points, item by item: a program for each, and what
is right.

15.2  wrong answers                        test
1   & of what is unbounded below           test_no_claim_of_the_reference_that_fails
2   trunc(a/b) is not a//b                 the same
3   (a//b)//c is not a//(b*c)              the same
4   a factor that may be 0                 test_a_factor_that_may_be_zero_is_not...
5   values beyond int64                    test_values_beyond_int64
6   sizes 0 and 1                          test_tutorial: test_a_branch_on_zero_or_..
7   _check(u0 == s0 + 4) is lost           test_a_check_that_becomes_a_replacement...
8   _check of ceil, trunc, float is lost   test_numbers: test_a_check_is_kept_and_...
9   4*dx accepts 18                        test_specs: test_the_range_of_a_dim_...
10  AdditionalInputs break a guard         test_specs: test_additional_inputs_are...
    guard_size_oblivious at 0 and 1        test_a_size_oblivious_question

15.3  crashes
    u & v below 0                          test_what_kills_the_reference
    Eq(0**u, 0)                            test_a_power_of_zero
    (dx, dx-1) without max; max=oo         test_specs: test_the_tutorials_violations
    dynamic_shapes for **kwargs            test_specs: test_kwargs_nested_...
    _check(floor(a/2) == 3), round         test_numbers: test_a_check_is_kept_and_...
    saving a graph with round              test_round_is_saved
"""

import io
import math

import pytest
import torch
from torch.fx.experimental.symbolic_shapes import (guard_size_oblivious,
                                                   statically_known_true)

import proviso
from proviso import Dim

Y = torch.ones(60)
CHECK = torch._check


def trace(check, example):
    """x -> the number in x, added to Y; the check comes between."""
    def program(x, y):
        a = x.item()
        check(a)
        return y + a

    return proviso.export(program, (torch.tensor(example), Y))


@pytest.mark.parametrize("condition, values", [
    (lambda a: (a & -1) >= 0, range(-4, 5)),
    (lambda a: math.trunc(a / 2) == a // 2, range(-4, 5)),
    (lambda a: (a // 2) // -2 == a // -4, range(-9, 10)),
    (lambda a: a * 3 == 3 * abs(a), range(-4, 5)),
])
def test_no_claim_of_the_reference_that_fails_for_some_data(condition, values):
    """Each is claimed there and false for some value: here it is asserted."""
    example = next(v for v in values if condition(v))
    ep = trace(lambda a: CHECK(condition(a)), example)
    for value in values:
        args = torch.tensor(value), Y
        if condition(value):
            assert torch.equal(ep.module()(*args), Y + value)
        else:
            with pytest.raises(RuntimeError, match="Runtime assertion failed"):
                ep.module()(*args)


@pytest.mark.parametrize("condition, example, legal, illegal", [
    (lambda a, b: a * b == 3 * b, (3, 2), (9, 0), (9, 1)),
    (lambda a, b: a * b == a, (3, 1), (0, 7), (2, 7)),
    (lambda a, b: a * abs(b) <= 5 * abs(b), (4, -2), (9, 0), (9, 1)),
])
def test_a_factor_that_may_be_zero_is_not_divided_away(condition, example,
                                                       legal, illegal):
    def program(x, y):
        a, b = x.tolist()
        CHECK(condition(a, b))
        return y + a

    ep = proviso.export(program, (torch.tensor(example), Y))
    found = ep.module()(torch.tensor(legal), Y)
    assert torch.equal(found, Y + legal[0])
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        ep.module()(torch.tensor(illegal), Y)


def test_a_factor_of_int_inputs_may_be_zero():
    def program(x, m, n, k):
        CHECK(m * k == n * k)
        return x + m - n

    ep = proviso.export(program, (Y, 4, 4, 2),
                        dynamic_shapes=(None, *[Dim.DYNAMIC] * 3))
    assert torch.equal(ep.module()(Y, 5, 3, 0), Y + 2)
    with pytest.raises(RuntimeError):
        ep.module()(Y, 5, 3, 1)


def test_values_beyond_int64():
    """3**a == 3**b is true for a == b == 40."""
    def program(x, y):
        a, b = x.tolist()
        for number in (a, b):
            CHECK(number >= 40)
            CHECK(number <= 41)
        return y - 1 if statically_known_true(3**a != 3**b) else y + 1

    ep = proviso.export(program, (torch.tensor([40, 40]), Y))
    assert torch.equal(ep.module()(torch.tensor([40, 40]), Y), Y + 1)


@pytest.mark.parametrize("rows", [Dim.AUTO, Dim("rows")])
def test_a_check_that_becomes_a_replacement_is_kept(rows):
    def program(x, y):
        CHECK(x.item() == y.shape[0] + 4)
        return y + 1

    ep = proviso.export(program, (torch.tensor(9), torch.ones(5)),
                        dynamic_shapes=(None, {0: rows}))
    assert torch.equal(ep.module()(torch.tensor(12), torch.ones(8)),
                       torch.full((8,), 2.0))
    for value, size in ((8, 5), (9, 6)):
        with pytest.raises(RuntimeError):
            ep.module()(torch.tensor(value), torch.ones(size))


def test_a_size_oblivious_question():
    """Taken to be >= 2 by definition; what is recorded is true all the same."""
    def program(x, y):
        a = x.item()
        torch._check_is_size(a)
        z = y.new_zeros(a)
        return z + 1 if guard_size_oblivious(a == 0) else z

    ep = proviso.export(program, (torch.tensor(4), Y))
    for value in (2, 9):
        found = ep.module()(torch.tensor(value), Y)
        assert torch.equal(found, torch.zeros(value))


def test_a_power_of_zero():
    ep = trace(lambda a: (CHECK(a >= 0), CHECK(0**a == 0)), 3)
    assert torch.equal(ep.module()(torch.tensor(2), Y), Y + 2)
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        ep.module()(torch.tensor(0), Y)


def test_round_is_saved():
    ep = trace(lambda a: CHECK(round(a / 2) == 3), 6)
    file = io.BytesIO()
    ep.save(file)
    file.seek(0)
    theirs = torch.export.load(file).module()
    for value in (6, 5, 7, 8, 4):
        outcomes = []
        for run in (ep.module(), theirs):
            try:
                outcomes.append(run(torch.tensor(value), Y).sum().item())
            except RuntimeError:
                outcomes.append("refused")
        assert outcomes == [60.0 * (value + 1)] * 2 if (
            round(value / 2) == 3) else outcomes == ["refused"] * 2


def test_what_kills_the_reference():
    def negative(x, y):
        a, b = x.tolist()
        CHECK(a < -1)
        CHECK(b < -1)
        CHECK((a & b) < 0)
        return y + 1

    ep = proviso.export(negative, (torch.tensor([-3, -2]), Y))
    assert torch.equal(ep.module()(torch.tensor([-3, -2]), Y), Y + 1)
