"""cond, map, while_loop, scan, associative_scan: recorded once, run like eager,
loaded by torch; each broken rule a clear error."""

import io

import pytest
import torch
from torch._higher_order_ops import associative_scan, map, scan, while_loop

import proviso
from proviso import Dim


class Wrap(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


AUTO = Dim.AUTO


def export(function, args, shapes=None):
    specs = None if shapes is None else (tuple(shapes),)
    return proviso.export(Wrap(function), args, dynamic_shapes=specs)


def check(program, expected, *inputs):
    """expected computes in plain Python what the program must give."""
    run = program.module()
    for args in inputs:
        with torch.no_grad():
            torch.testing.assert_close(run(*args), expected(*args))


# --- cond

def test_nested_cond_with_closures_and_parameters(round_trip):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x, y):
            z = y + 1

            def inner(x):
                return torch.cond(x.sum() > 5, lambda a: a * z,
                                  lambda a: self.linear(a), (x,))

            return torch.cond(x.mean() > 0, inner, lambda a: a - z, (x,))

    def eager(x, y):
        z = y + 1
        if x.mean() > 0:
            return x * z if x.sum() > 5 else model.linear(x)
        return x - z

    model = Model()
    inputs = [(torch.full((n, 3), v), torch.randn(3))
              for n in (2, 4) for v in (-1.0, 0.1, 3.0)]
    program = proviso.export(model, inputs[0],
                             dynamic_shapes=({0: AUTO}, None))
    text = str(program)
    assert text.count("class true_graph_0") == 2
    check(program, eager, *inputs)
    round_trip(program, eager, inputs)


def test_a_size_from_outside_is_an_operand():
    def f(x, y):
        n = x.shape[0]
        return torch.cond(y.sum() > 0, lambda y: y * n, lambda y: y - n, (y,))

    def eager(x, y):
        return y * x.shape[0] if y.sum() > 0 else y - x.shape[0]

    program = export(f, (torch.randn(4), torch.ones(2)),
                     ({0: AUTO}, None))
    check(program, eager, (torch.randn(7), torch.ones(2)),
          (torch.randn(1), -torch.ones(2)))


def test_branches_of_different_sizes_give_a_size_read_from_data():
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x[:2].clone(),
                          lambda x: x.clone(), (x,)) * 2

    def eager(x):
        return (x[:2] if x.sum() > 0 else x) * 2

    program = export(f, (torch.ones(5),))
    assert "u0" in str(program)
    check(program, eager, (torch.ones(5),), (-torch.ones(5),))


def test_predicate_on_a_size_keeps_both_branches():
    def f(x):
        return torch.cond(x.shape[0] > 4, torch.sin, torch.cos, (x,))

    program = export(f, (torch.randn(3),), ({0: AUTO},))
    assert program.guards == []
    check(program, lambda x: x.sin() if len(x) > 4 else x.cos(),
          *[(torch.randn(n),) for n in (0, 1, 3, 4, 5, 9)])


def test_data_read_in_a_branch_is_checked_there():
    def taken(x, n):
        a = n.item()
        torch._check(a >= 0)
        torch._check(a <= 3)
        return x[:3] + a

    def f(x, n):
        return torch.cond(x.sum() > 0, taken, lambda x, n: x[:3] * 1, (x, n))

    def eager(x, n):
        return x[:3] + n if x.sum() > 0 else x[:3] * 1

    program = export(f, (torch.ones(4), torch.tensor(2)))
    # 9 is wrong in the true branch alone.
    check(program, eager, (torch.ones(4), torch.tensor(3)),
          (-torch.ones(4), torch.tensor(9)))
    with pytest.raises(RuntimeError, match="Runtime assertion failed"):
        program.module()(torch.ones(4), torch.tensor(9))


def test_returning_an_operand_is_a_copy():
    def f(x):
        y = torch.cond(x.sum() > 0, lambda x: x, lambda x: x + 1, (x,))
        return y.add_(1), x * 1

    program = export(f, (torch.ones(2),))
    a, b = program.module()(torch.ones(2))
    assert a.tolist() == [2, 2] and b.tolist() == [1, 1]


def _raises(error, text, function, *args):
    with pytest.raises(error, match=text):
        export(function, args or (torch.ones(3),))


@pytest.mark.parametrize("pred", [lambda x: x.sum(), lambda x: x > 0,
                                  lambda x: "yes"])
def test_a_predicate_is_one_bool(pred):
    _raises(TypeError, "cond: the predicate must be a bool or a tensor of one "
            "bool", lambda x: torch.cond(pred(x), torch.sin, torch.cos, (x,)))


@pytest.mark.parametrize("operands, text", [
    (lambda x: x, "operands must be a tuple or list"),
    (lambda x: ("a",), "operands must be tensors and ints"),
])
def test_operands_are_tensors(operands, text):
    _raises(TypeError, text, lambda x: torch.cond(
        x.sum() > 0, torch.sin, torch.cos, operands(x)))


@pytest.mark.parametrize("false_fn, error, text", [
    (lambda x: (x, x), ValueError, "structure"),
    (lambda x: x.double(), ValueError, "dtype: .*float32.*float64"),
    (lambda x: x.sum(), ValueError, r"shape: .*\(3,\).*\(\)"),
    (lambda x: "no", TypeError, "sub-graphs return tensors, ints and None"),
    (3, TypeError, "false_fn must be callable"),
])
def test_branches_agree(false_fn, error, text):
    _raises(error, text, lambda x: torch.cond(
        x.sum() > 0, lambda x: x + 1, false_fn, (x,)))


def test_branches_change_nothing_outside():
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x.add_(1), lambda x: x + 1,
                          (x,))

    _raises(RuntimeError, "aten::add_.* writes to a tensor that the true "
            "branch of cond got from outside.*clone", f)
    outside = torch.zeros(3)
    _raises(RuntimeError, "got from outside", lambda x: torch.cond(
        x.sum() > 0, lambda x: outside.mul_(2), torch.cos, (x,)))


def test_a_view_of_an_operand_is_not_written_either():
    _raises(RuntimeError, "got from outside", lambda x: torch.cond(
        x.sum() > 0, lambda x: x[1:].mul_(2), lambda x: x[1:] * 1, (x,)))


def test_a_check_on_outer_data_does_not_hide_in_a_branch():
    def f(x, n):
        a = n.item()

        def taken(x):
            torch._check(a > 3)
            return x + 1

        return torch.cond(x.sum() > 0, taken, lambda x: x - 1, (x,))

    _raises(RuntimeError, "speaks of data read outside it", f, torch.ones(3),
            torch.tensor(5))


def test_an_error_in_a_branch_leaves_the_tracer_usable():
    def f(x):
        try:
            return torch.cond(x.sum() > 0, lambda x: x.no_such(), torch.cos,
                              (x,))
        except AttributeError:
            return x * 2

    check(export(f, (torch.ones(3),)), lambda x: x * 2, (torch.ones(3),))


def test_outside_a_trace_torch_is_as_before():
    x = torch.ones(3)
    export(lambda x: x + 1, (x,))
    assert torch.cond.__code__.co_name == "cond"
    assert torch.cond(True, torch.sin, torch.cos, (x,)).equal(x.sin())


# --- loops

def test_map_over_a_pytree_with_a_dynamic_size(round_trip):
    def f(x, y, w):
        return map(lambda xs, w: (xs[0] @ w + xs[1], xs[0].sum()), (x, y), w)

    def eager(x, y, w):
        return x @ w + y, x.sum(1)

    program = export(f, (torch.randn(4, 2), torch.randn(4, 3),
                         torch.randn(2, 3)), ({0: AUTO}, {0: AUTO}, None))
    inputs = [(torch.randn(n, 2), torch.randn(n, 3), torch.randn(2, 3))
              for n in (4, 7)]
    check(program, eager, *inputs)
    round_trip(program, eager, inputs)


def test_while_loop_carries_tensors_and_ints():
    def f(x):
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2),
                          (0, x))[1]

    check(export(f, (torch.ones(3),)), lambda x: x * 8, (torch.ones(3),))


def test_a_saved_while_loop_counts_with_a_tensor(round_trip):
    def f(i, x):
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2 + 1),
                          (i, x))

    def eager(i, x):
        while i < 5:
            i, x = i + 1, x * 2 + 1
        return i, x

    inputs = [(torch.tensor(i), torch.ones(n, 4))
              for i, n in ((0, 3), (3, 2), (9, 5))]
    program = export(f, inputs[0], (None, {0: AUTO}))
    check(program, eager, *inputs)
    round_trip(program, eager, inputs)


def test_while_loop_on_data(round_trip):
    def f(x, limit):
        return while_loop(lambda x: x.sum() < limit, lambda x: (x * 2,),
                          (x,))

    def eager(x, limit):
        while x.sum() < limit:
            x = x * 2
        return (x,)

    inputs = [(torch.ones(n), torch.tensor(float(v)))
              for n in (3, 5) for v in (0, 10, 100)]
    program = export(f, inputs[0], ({0: AUTO}, None))
    check(program, eager, *inputs)
    round_trip(program, eager, inputs)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_scan(dim, reverse):
    def step(carry, x):
        return carry + x, carry * x

    def f(init, xs):
        return scan(step, init, xs, dim=dim, reverse=reverse)

    def eager(init, xs):
        rows = list(xs.unbind(dim))
        out = []
        for row in rows[::-1] if reverse else rows:
            out.append(init * row)
            init = init + row
        return init, torch.stack(out[::-1] if reverse else out, dim)

    program = export(f, (torch.randn(3), torch.randn(3, 3)))
    check(program, eager, (torch.randn(3), torch.randn(3, 3)))


def test_scan_with_a_dynamic_length(round_trip):
    def f(init, xs):
        return scan(lambda c, x: (c + x, c * x), init, xs)

    def eager(init, xs):
        out = []
        for row in xs.unbind(0):
            out.append(init * row)
            init = init + row
        return init, torch.stack(out)

    program = export(f, (torch.randn(2), torch.randn(5, 2)),
                     (None, {0: AUTO}))
    inputs = [(torch.randn(2), torch.randn(n, 2)) for n in (5, 9)]
    check(program, eager, *inputs)


def test_associative_scan_with_a_dynamic_length():
    def f(xs):
        return associative_scan(lambda a, b: a * b, xs, 0,
                                combine_mode="generic")

    program = export(f, (torch.randn(5, 2),), ({0: AUTO},))
    inputs = [(torch.randn(n, 2),) for n in (2, 5, 8)]
    check(program, lambda x: x.cumprod(0), *inputs)
    # The body's inputs have a size of their own: the pairs of one level.
    file = io.BytesIO()
    proviso.save(program, file)
    for load in (proviso.load, torch.export.load):
        file.seek(0)
        loaded = load(file).module()
        for x, in inputs:
            torch.testing.assert_close(loaded(x), x.cumprod(0))


@pytest.mark.parametrize("function, error, text", [
    (lambda x: map(lambda r: r, 3), TypeError, "xs must be tensors"),
    (lambda x: map(lambda r: "a", x), TypeError, "sub-graphs return"),
    (lambda x: map(lambda r: r, (x, x[:1])), ValueError,
     "leading dimensions of xs must be consistent"),
    (lambda x: map(lambda r: r, x.sum()), ValueError, "no dimension"),
    (lambda x: map(lambda r: r.mul_(2), x), RuntimeError,
     "the body of map got from outside"),
    (lambda x: while_loop(lambda x: x, lambda x: (x,), (x,)), TypeError,
     "cond_fn must return a bool"),
    (lambda x: while_loop(lambda x: x.any(), lambda x: (x, x), (x,)),
     ValueError, "the body returns 2 values, it carries 1"),
    (lambda x: while_loop(lambda x: x.any(), lambda x: (x[1:],), (x,)),
     ValueError, "shape"),
    (lambda x: scan(lambda c, r: (c, r), "a", x), TypeError,
     "init must be tensors"),
    (lambda x: scan(lambda c, r: (c.double(), r), x[0], x), ValueError,
     "dtype"),
    (lambda x: scan(lambda c, r: c, x[0], x), ValueError, "next carry"),
    (lambda x: associative_scan(lambda a, b: a + b, x, 5), ValueError,
     "dim 5 is out of range"),
    (lambda x: associative_scan(lambda a, b: a, x, 0, combine_mode="odd"),
     ValueError, "'pointwise' or 'generic'"),
])
def test_broken_rules_of_loops(function, error, text):
    _raises(error, text, function, torch.ones(3, 2))


# --- numbers among the operands

def test_numbers_among_tensors_are_saved(round_trip):
    """torch.export.export refuses int operands of cond and map; a file holds
    them as symbolic numbers or as constants of the body."""
    def f(x, y):
        n = x.shape[0]
        z = torch.cond(y.sum() > 0, lambda y, n, k: y * n * k,
                       lambda y, n, k: y - n - k, (y, n, 3))
        return map(lambda row, n: row * n, x, n), z, while_loop(
            lambda i, y: i < 8, lambda i, y: (i + 1, y * 2), (n, y))

    def eager(x, y):
        n = x.shape[0]
        z = y * n * 3 if y.sum() > 0 else y - n - 3
        return x * n, z, (max(n, 8), y * 2 ** max(8 - n, 0))

    program = export(f, (torch.randn(4), torch.ones(2)), ({0: AUTO}, None))
    inputs = [(torch.randn(n), torch.full((2,), v))
              for n in (3, 6) for v in (-1.0, 1.0)]
    check(program, eager, *inputs)
    round_trip(program, eager, inputs)


def test_a_plain_number_that_a_loop_carries_has_no_place_in_a_file(tmp_path):
    """As with torch.export.save; the error names the way out."""
    def f(x):
        return while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y + 1),
                          (0, x))

    program = export(f, (torch.randn(4),), ({0: AUTO},))
    number, tensor = program.module()(torch.zeros(6))
    assert number == 5 and torch.equal(tensor, torch.full((6,), 5.0))
    with pytest.raises(RuntimeError, match=r"mixes tensors and constants: "
                       r"\[0, a.*torch.tensor\(0\) for 0"):
        program.save(tmp_path / "loop.pt2")
