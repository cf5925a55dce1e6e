"""The torch.export tutorial, sections 2 to 7: what its cells mean, here.

row of the tutorial                        test
2  static                                  test_static
   all Dim.AUTO                            test_all_automatic
   prefer_deferred_runtime_asserts...      test_deferred_checks_are_all_kept
   w=(AUTO, DYNAMIC); x=STATIC, y=DYNAMIC  test_dynamic_dims_that_the_model_f...
   assert, _check, if: both branches       test_branches_and_checks_on_sizes
3  batch 0, 1: AUTO, DYNAMIC, named        test_an_example_of_size_zero_or_on...
   batch 2, AUTO                           test_zero_and_one_run_where_nothin...
   if n == 1; if n > 0                     test_a_branch_on_zero_or_one_is_ne...
4  dx, 2*dx, dh                            test_a_dim_twice_another
   4*dx, 2*dx + 1                          test_specs: test_the_range_of_a_di...
   2d and 3d                               test_specs: test_a_derived_dim_is_...
   Dim algebra                             test_specs: test_what_is_no_size_i...
5  Foo; x[:-1] + y; (dx, dx-1); view       test_specs: test_the_tutorials_vio...
   5 < n < 100; n % 3 == 1                 test_specs: test_fixes_are_exact_a...
   DYNAMIC(min=200); AUTO(min=3, max=50)   test_ranges_of_hints
   n != m                                  test_named_dims_that_differ
6  None, ints, bools                       test_none_and_constants
   int in a spec; bad specs                test_errors: test_a_malformed_spec...
   int input DYNAMIC, named                test_an_int_input_may_be_negative
   one name, two ranges; unequal samples   test_different_definitions_of_one_...
   ShapesCollection                        test_a_shapes_collection
   AdditionalInputs                        test_specs: test_additional_inputs...
7  item() + tolist()                       test_each_number_read_is_a_symbol
   if a//2 >= 5; _check(a >= 9)            test_a_branch_on_data_names_both_s...
   every _check row, ceil, trunc, round,   test_checks_on_data_decide_and_are...
   sym_constrain_range, repeat, y[a]
   float(a)                                test_numbers: test_a_check_is_kept...
   y[a] without check; _check_is_size      test_an_index_and_a_size_need_no_c...
   range(a), int(a)                        test_a_number_is_not_read_from_data
   guard_or_*, guard_size_oblivious        test_questions_that_may_stay_open
   assert a > 3                            test_an_assert_on_data_is_checked_...
   nonzero(), y[y > 0]                     test_sizes_read_from_data
   float item                              test_floats_read_from_data_have_ra...

test_weak_points.py has the reference's 15.2 and 15.3, item by item.
"""

import math

import pytest
import torch
from torch.fx.experimental.symbolic_shapes import (guard_or_false,
                                                   guard_or_true)

import asserting
import proviso
from proviso import Dim

AUTO, DYNAMIC, STATIC = Dim.AUTO, Dim.DYNAMIC, Dim.STATIC


def refuses(ep, text, *args):
    with pytest.raises(RuntimeError, match="Guard failed: ") as raised:
        ep.module().check(*args)
    assert text in str(raised.value)


def conditions(ep):
    return [guard.condition for guard in ep.guards]


# --- 2. DynamicModel

class DynamicModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(5, 3)

    def forward(self, w, x, y, z):
        x0 = x + y
        x1 = self.l(w)
        x2 = x0.flatten()
        return x1, x2 + z


def tensors(w=(6, 5), x=4, y=(8, 4), z=32):
    return torch.ones(w), torch.ones(x), torch.ones(y), torch.ones(z)


def dynamic_model(w=(AUTO, AUTO), x=(AUTO,), y=(AUTO, AUTO), z=(AUTO,), **more):
    return proviso.export(DynamicModel(), tensors(), dynamic_shapes={
        "w": w, "x": x, "y": y, "z": z}, **more)


def test_static():
    ep = proviso.export(DynamicModel(), tensors())
    refuses(ep, "y.size()[0] == 8", *tensors(y=(9, 4)))


def test_all_automatic():
    ep = dynamic_model()
    assert sorted(conditions(ep)) == [
        "Eq(s1, 5)", "Eq(s2*s3, s5)", "Eq(s2, s4)"]
    for signature in ('w: "f32[s0, 5]"', 'x: "f32[s2]"', 'y: "f32[s3, s2]"',
                      'z: "f32[s2*s3]"'):
        assert signature in str(ep)
    for good in (tensors(y=(3, 4), z=12), tensors(x=1, y=(8, 1), z=8)):
        found, expected = ep.module()(*good), DynamicModel()(*good)
        assert [f.shape for f in found] == [e.shape for e in expected]
    refuses(ep, "w.size()[1] == 5", *tensors(w=(6, 7)))
    refuses(ep, "x.size()[0] == y.size()[1]", *tensors(x=5))
    refuses(ep, "x.size()[0]*y.size()[0] == z.size()[0]", *tensors(z=33))


def test_deferred_checks_are_all_kept():
    ep = dynamic_model(prefer_deferred_runtime_asserts_over_guards=True)
    for bad in (tensors(w=(6, 7)), tensors(x=5), tensors(z=33)):
        with pytest.raises(RuntimeError):
            ep.module()(*bad)
    ep.module()(*tensors(y=(3, 4), z=12))


@pytest.mark.parametrize("spec, dim, size", [
    ({"w": (AUTO, DYNAMIC)}, "L['w'].size()[1]", 5),
    ({"x": (STATIC,), "y": (AUTO, DYNAMIC)}, "L['y'].size()[1]", 4),
])
def test_dynamic_dims_that_the_model_fixes(spec, dim, size):
    with pytest.raises(proviso.ConstraintViolationError) as raised:
        dynamic_model(**spec)
    text = str(raised.value)
    assert text.startswith(f"Constraints violated ({dim})!")
    assert (f"You marked {dim} as dynamic but your code specialized it to be "
            f"a constant ({size})") in text


@pytest.mark.parametrize("rows, guard, refused", [
    (6, "Eq(s0, s2 + 2)", 9), (9, "Ne(s0, s2 + 2)", 6)])
def test_branches_and_checks_on_sizes(rows, guard, refused):
    def program(w, x):
        assert w.shape[0] <= 512
        torch._check(x.shape[0] >= 4)
        if w.shape[0] == x.shape[0] + 2:
            return w + 1
        return w

    ep = proviso.export(program, (torch.ones(rows, 5), torch.ones(4)),
                        dynamic_shapes=((AUTO, AUTO), (AUTO,)))
    assert guard in conditions(ep)
    refuses(ep, "x.size()[0]", torch.ones(refused, 5), torch.ones(4))
    refuses(ep, "", torch.ones(5, 5), torch.ones(3))  # x >= 4
    refuses(ep, "512", torch.ones(513, 5), torch.ones(511))


# --- 3. sizes 0 and 1

LINEAR = torch.nn.Linear(4, 3)


@pytest.mark.parametrize("batch", [0, 1])
def test_an_example_of_size_zero_or_one_is_fixed(batch):
    ep = proviso.export(LINEAR, (torch.ones(batch, 4),),
                        dynamic_shapes=((AUTO, None),))
    refuses(ep, f"input.size()[0] == {batch}", torch.ones(2, 4))
    with pytest.raises(proviso.ConstraintViolationError, match=str(batch)):
        proviso.export(LINEAR, (torch.ones(batch, 4),),
                       dynamic_shapes=((DYNAMIC, None),))
    with pytest.raises(proviso.ConstraintViolationError) as raised:
        proviso.export(LINEAR, (torch.ones(batch, 4),),
                       dynamic_shapes=((Dim("b"), None),))
    assert str(raised.value).endswith(f"Suggested fixes:\n  b = {batch}")


def test_zero_and_one_run_where_nothing_depends_on_them():
    ep = proviso.export(LINEAR, (torch.ones(2, 4),),
                        dynamic_shapes=((AUTO, None),))
    assert conditions(ep) == []
    for n in (0, 1, 7):
        x = torch.randn(n, 4)
        assert torch.equal(ep.module()(x), LINEAR(x))


@pytest.mark.parametrize("program, spec", [
    (lambda x: x + 1 if x.shape[0] == 1 else x - 1, DYNAMIC),
    (lambda x: x.sum() / x.shape[0] if x.shape[0] > 0 else x.sum(),
     Dim("n", min=0)),
])
def test_a_branch_on_zero_or_one_is_never_silently_wrong(program, spec):
    ep = proviso.export(program, (torch.ones(4),), dynamic_shapes=((spec,),))
    for n in range(8):
        x = torch.ones(n)
        try:
            found = ep.module()(x)
        except RuntimeError as error:
            assert "Guard failed" in str(error) and n < 2
        else:
            assert torch.equal(found, program(x)), n


# --- 4. named and derived Dims (test_specs.py has the rest)

def test_a_dim_twice_another():
    dx, dh = Dim("dx", min=4, max=256), Dim("dh", max=512)
    ep = proviso.export(lambda x, y: (x + 1, y * 2),
                        (torch.ones(10, 3), torch.ones(20, 7)),
                        dynamic_shapes=((dx, None), (2 * dx, dh)))
    assert repr(ep.range_constraints) == (
        "{s0: VR[4, 256], 2*s0: VR[8, 512], s2: VR[0, 512]}")
    ep.module().check(torch.ones(5, 3), torch.ones(10, 1))
    for text, x, y, h in (("x.size()[0] >= 4", 3, 6, 7),
                          ("x.size()[0] <= 256", 257, 514, 7),
                          ("2*x.size()[0]", 5, 11, 7),
                          ("y.size()[1] <= 512", 5, 10, 513)):
        refuses(ep, text, torch.ones(x, 3), torch.ones(y, h))
    with pytest.raises(proviso.ConstraintViolationError,
                       match=r"Expected input L\['y'\].size\(\)\[0\] to be "
                             r"equal to 2\*dx, where dx = 10, but got 21"):
        proviso.export(lambda x, y: (x, y),
                       (torch.ones(10, 3), torch.ones(21, 7)),
                       dynamic_shapes=((dx, None), (2 * dx, dh)))
    with pytest.raises(proviso.ConstraintViolationError,
                       match=r"3 not in range \[4, 256\]"):
        proviso.export(lambda x: x + 1, (torch.ones(3),),
                       dynamic_shapes=((dx,),))


# --- 5. violations (test_specs.py has the rest)

def test_ranges_of_hints():
    def program(x):
        return x + 1 if 5 < x.shape[0] < 100 else x

    args = (torch.ones(8),)
    ep = proviso.export(program, args, dynamic_shapes=((AUTO(min=3, max=50),),))
    assert repr(ep.range_constraints) == "{s0: VR[6, 50]}"
    refuses(ep, "x.size()[0] >= 6", torch.ones(5))
    refuses(ep, "x.size()[0] <= 50", torch.ones(51))
    with pytest.raises(proviso.ConstraintViolationError,
                       match=r"8 not in range \[200, int_oo\]"):
        proviso.export(program, args, dynamic_shapes=((DYNAMIC(min=200),),))


def test_named_dims_that_differ():
    def program(x, y):
        return x + 1 if x.shape[0] != y.shape[0] else x

    ep = proviso.export(program, (torch.ones(4), torch.ones(3)),
                        dynamic_shapes=((Dim("n"),), (Dim("m"),)))
    assert conditions(ep) == ["Ne(s0, s1)"]
    refuses(ep, "x.size()[0] != y.size()[0]", torch.ones(5), torch.ones(5))


# --- 6. None, ints and collections

def test_none_and_constants():
    ep = proviso.export(
        lambda t0, t1, i, b: (t0 + 1, t1 + i),
        (torch.ones(3, 4), torch.ones(2), 16, False),
        dynamic_shapes=((AUTO, None), None, None, None))
    args = torch.ones(5, 4), torch.ones(2), 16, False
    ep.module().check(*args)
    refuses(ep, "i == 16", *args[:2], 17, False)
    refuses(ep, "b == False", *args[:3], True)
    refuses(ep, "t0.size()[1] == 4", torch.ones(5, 5), *args[1:])


def test_an_int_input_may_be_negative():
    ep = proviso.export(lambda x, n: x + n, (torch.ones(2), 16),
                        dynamic_shapes=(None, DYNAMIC))
    assert torch.equal(ep.module()(torch.ones(2), -3), torch.ones(2) - 3)
    with pytest.raises(ValueError, match="Unable to specify input integers as "
                                         "dynamic through named Dims"):
        proviso.export(lambda x, n: x + n, (torch.ones(2), 16),
                       dynamic_shapes=(None, Dim("n")))


def test_different_definitions_of_one_name():
    with pytest.raises(proviso.ConstraintViolationError,
                       match="Found different definitions .*max=20.*max=30"):
        proviso.export(lambda x, y: (x, y), (torch.ones(10), torch.ones(10)),
                       dynamic_shapes=((Dim("dx", max=20),),
                                       (Dim("dx", max=30),)))
    with pytest.raises(proviso.ConstraintViolationError,
                       match=r"L\['y'\].size\(\)\[0\] = 11 is not equal to "
                             r"L\['x'\].size\(\)\[0\] = 10"):
        proviso.export(lambda x, y: (x, y), (torch.ones(10), torch.ones(11)),
                       dynamic_shapes=((Dim("dx"),), (Dim("dx"),)))


def test_a_shapes_collection():
    t0, t1 = torch.ones(3, 4), torch.ones(5, 4)
    shapes = torch.export.ShapesCollection()
    shapes[t0] = (torch.export.Dim("a"), 4)
    shapes[t1] = {0: torch.export.Dim.AUTO}
    ep = proviso.export(lambda ts: (ts[0] + 1, ts[1] * 2), ([t0, t1],),
                        dynamic_shapes=shapes)
    assert repr(ep.range_constraints) == (
        "{s0: VR[0, int_oo], s1: VR[0, int_oo]}")
    ep.module().check([torch.ones(1, 4), torch.ones(9, 4)])
    refuses(ep, "size()[1] == 4", [torch.ones(3, 5), torch.ones(5, 4)])


# --- 7. numbers read from data

Y = torch.ones(60)


def checked(check, then=lambda a, y: y + a):
    def program(x, y):
        a = x.item()
        check(a, y)
        return then(a, y)
    return program


def trace(program, value=6):
    return proviso.export(program, (torch.tensor(value), Y))


def branch(a, y):
    return y + 2 if a // 2 >= 5 else y * 5


CHECK = torch._check


@pytest.mark.parametrize("check, then, good, bad", [
    (lambda a, y: (CHECK(a >= 10), CHECK(a <= 60)), branch, (10, 60), (9, 61)),
    (lambda a, y: CHECK(a == 4), branch, (4,), (5,)),
    (lambda a, y: CHECK(a // 2 >= 5), branch, (10, 99), (9,)),
    (lambda a, y: CHECK(a // 2 >= 6), branch, (12,), (11,)),
    (lambda a, y: CHECK(a < 4), lambda a, y: y + 1 if a >= 4 else y, (3, -9),
     (4,)),
    (lambda a, y: CHECK(a**2 - 3 * a <= 10),
     lambda a, y: y + 1 if a <= 5 else y, (-2, 5), (-3, 6)),
    (lambda a, y: CHECK(a == y.shape[0] + 4), lambda a, y: y + a, (64,), (8,)),
    (lambda a, y: CHECK(a == 5), lambda a, y: y.new_zeros(a) + torch.ones(5),
     (5,), (6,)),
    (lambda a, y: CHECK(a == 60), lambda a, y: y + int(a), (60,), (61,)),
    # As in torch.export(strict=True).
    (lambda a, y: None, lambda a, y: y + int(a), (5, 0, -7), ()),
    (lambda a, y: (CHECK(0 <= a), CHECK(a < y.shape[0])), lambda a, y: y[a],
     (0, 59), (-1, 60)),
    (lambda a, y: CHECK(math.ceil(a / 2) == 3), branch, (5, 6), (4, 7)),
    (lambda a, y: CHECK(math.trunc(a / 2) == 3), lambda a, y: y + a, (6, 7),
     (5, 8, -6)),
    (lambda a, y: CHECK(math.floor(a / 2) == 3), branch, (6, 7), (5, 8)),
    (lambda a, y: CHECK(round(a / 2) == 3), lambda a, y: y + a, (6,), (4, 8)),
    (lambda a, y: torch.sym_constrain_range(a, min=3, max=9),
     lambda a, y: y + a, (3, 9), (2, 10)),
    (lambda a, y: torch.sym_constrain_range_for_size(a, min=3, max=9),
     lambda a, y: y.new_zeros(a), (3, 9), (2, 10)),
    (lambda a, y: None, lambda a, y: y.unsqueeze(0).repeat(a, 1) + a, (0, 2),
     (-1,)),
    (lambda a, y: CHECK(((a == 1) | (a > 5)) & (a < 8)),
     lambda a, y: y + 1 if a >= 1 else y, (1, 6, 7), (0, 5, 8)),
])
def test_checks_on_data_decide_and_are_kept(check, then, good, bad):
    program = checked(check, then)
    ep = trace(program, good[0])
    run = ep.module()
    for value in good:
        args = torch.tensor(value), Y
        assert torch.equal(run(*args), program(*args)), value
    for value in bad:
        with pytest.raises((RuntimeError, IndexError)):
            run(torch.tensor(value), Y)


@pytest.mark.parametrize("check", [
    lambda a, y: None, lambda a, y: CHECK(a >= 9)])
def test_a_branch_on_data_names_both_sides(check):
    with pytest.raises(proviso.DataDependentError) as raised:
        trace(checked(check, branch))
    text = str(raised.value)
    assert text.startswith("Could not guard on data-dependent expression ")
    assert "(Size-like symbols: none)" in text
    for side in ("1. torch._check(", "2. torch._check("):
        assert side in text


def test_a_number_is_not_read_from_data():
    with pytest.raises(proviso.DataDependentError,
                       match="Could not extract specialized integer from "
                             "data-dependent expression u0"):
        trace(checked(lambda a, y: None, lambda a, y: y + sum(range(a))))


def test_an_assert_on_data_is_checked_at_run_time():
    ep = trace(asserting.on_data)
    assert [a.condition for a in ep.runtime_asserts] == [
        "u0 >= 4", "u0 <= 49", "Ne(u0, 40)"]
    run = ep.module()
    for value in (4, 49):
        args = torch.tensor(value), Y
        assert torch.equal(run(*args), asserting.on_data(*args))
    for value in (3, 40, 50):
        with pytest.raises(RuntimeError, match="Runtime assertion failed for "
                                               "expression .* on node '"):
            run(torch.tensor(value), Y)
    with pytest.raises(proviso.DataDependentError):  # it may hold otherwise
        trace(asserting.or_on_data)
    assert trace(asserting.or_known).runtime_asserts == []


def test_questions_that_may_stay_open():
    def program(x, y):
        a = x.item()
        if guard_or_false(a == 0):
            return y + 1
        return y + 2 if guard_or_true(a > 7) else y + 3

    ep = trace(program)
    assert ep.runtime_asserts == []
    assert torch.equal(ep.module()(torch.tensor(0), Y), Y + 2)


def test_each_number_read_is_a_symbol():
    def program(x, y):
        a = x.item()
        b, c = y.tolist()
        return a + b, c

    ep = proviso.export(program, (torch.tensor(3), torch.tensor([4, 5])))
    assert repr(ep.range_constraints) == (
        "{u0: VR[-int_oo, int_oo], u1: VR[-int_oo, int_oo], "
        "u2: VR[-int_oo, int_oo]}")
    assert ep.module()(torch.tensor(-3), torch.tensor([9, 0])) == (6, 0)


def test_an_index_and_a_size_need_no_check():
    ep = trace(checked(lambda a, y: None, lambda a, y: y[a]))
    for value in (-60, -1, 0, 59):
        ep.module()(torch.tensor(value), Y)
    for value in (-61, 60):
        with pytest.raises((RuntimeError, IndexError)):
            ep.module()(torch.tensor(value), Y)
    for check in (lambda a, y: None, lambda a, y: torch._check_is_size(a)):
        ep = trace(checked(check, lambda a, y: y.new_zeros(a)))
        assert repr(ep.range_constraints) == "{u0: VR[0, int_oo]}"
        assert ep.module()(torch.tensor(0), Y).shape == (0,)
        with pytest.raises(RuntimeError, match="u0 >= 0"):
            ep.module()(torch.tensor(-1), Y)


def test_floats_read_from_data_have_ranges():
    def program(x, y):
        f = x.item()
        CHECK(f > 0.5)
        return y + 1 if f > 0.25 else y

    ep = trace(program, 0.75)
    assert torch.equal(ep.module()(torch.tensor(0.625), Y), Y + 1)
    with pytest.raises(RuntimeError, match="zuf0 > 0.5"):
        ep.module()(torch.tensor(0.375), Y)


def test_sizes_read_from_data():
    nonzero = proviso.export(lambda x: x.nonzero(), (torch.ones(3, 3),))
    assert repr(nonzero.range_constraints) == "{u0: VR[0, 9]}"

    def masked(y):
        z = y[y > 0]
        CHECK(z.shape[0] >= 1)
        return z + 1

    ep = proviso.export(masked, (torch.ones(9),))
    assert repr(ep.range_constraints) == "{u0: VR[1, 9]}"
    with pytest.raises(RuntimeError, match="u0 >= 1"):
        ep.module()(torch.zeros(9))


# --- users' threads as Dim specs (user_needs.md section 5)

def need(condition):
    def program(*tensors):
        sizes = [n for t in tensors for n in t.shape]
        return tensors[0] + 1 if condition(*sizes) else tensors[0] - 1
    return program


@pytest.mark.parametrize("name, condition, examples, spec, relations", [
    ("V11", lambda w: torch.sym_max(1, 32 * ((w + (64 - w % 64) % 64) // 64))
     == 32 * ((w + (64 - w % 64) % 64) // 64), (80,),
     (Dim("W", min=64, max=128),), ()),
    ("V13", lambda h: (h + (32 - h % 32) % 32) % 32 == 0, (50,), (Dim("H"),),
     ()),
    ("V15", lambda a, b: (a * b) // 4 == 4, (2, 8), (Dim("a"), Dim("b")),
     ("a*b == 16",)),
    ("V22", lambda x, y, z: (1 + z) // 2 != 1, (2, 3, 9),
     (Dim("dx", min=1), Dim("dy", min=1), Dim("dz")), ("dx + dy == (1 + dz)//2",)),
    ("V23", lambda s: s <= 9223372036854775807, (5,), (Dim("s"),), ()),
])
def test_no_violation_where_the_fact_is_true(name, condition, examples, spec,
                                             relations):
    ep = proviso.export(
        need(condition), tuple(torch.ones(n) for n in examples),
        dynamic_shapes=(tuple((d,) for d in spec),), relations=relations)
    promised = [g.condition for g in ep.guards]
    assert len(promised) <= len(relations), name
