"""proviso.torch: Proviso answers for ShapeEnv in torch.compile and export."""

import copy
import gc
import inspect
import os
import pathlib
import subprocess
import sys
import threading
import traceback

import pytest
import sympy
import torch
from torch._inductor.utils import fresh_cache
from torch.fx.experimental import symbolic_shapes
from torch.utils._sympy.functions import FloorDiv
from torch.utils._sympy.numbers import int_oo

import proviso.torch
from proviso.torch import _binding, _settings, _shape_env

TORCHS = symbolic_shapes.ShapeEnv


@pytest.fixture(autouse=True)
def clean_compiler():
    """Each test starts without compiled code, in memory and on disk."""
    torch._dynamo.reset()
    with fresh_cache(), torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        yield
    torch._dynamo.reset()
    proviso.torch.disable()
    proviso.torch.reset_report()
    assert symbolic_shapes.ShapeEnv is TORCHS


def new_env(**sizes):
    """A ShapeEnv of ours and its backed symbols, named by the hints."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic

    env = _shape_env.ShapeEnv()
    symbols = [
        env.create_symbol(
            value, ConstantSource(name), dynamic_dim=DimDynamic.DYNAMIC
        )
        for name, value in sizes.items()
    ]
    return env, symbols


# ---- the cache hole -------------------------------------------------------


def ascending(x, y, z):
    if x.shape[0] < z.shape[0] and z.shape[0] < y.shape[0]:
        return (y[: x.shape[0]] * 2).cos()


def descending(x, y, z):
    if x.shape[0] > z.shape[0] and z.shape[0] > y.shape[0]:
        return (y[: x.shape[0]] * 2).cos()


def test_a_cached_graph_is_not_reused_where_what_decided_it_does_not_hold():
    # s0 < s2 and s2 < s1 imply s0 <= s1; z (s2) is no input of the graph.
    x, y, z = torch.randn(4), torch.randn(10), torch.randn(7)
    with proviso.torch.shape_env():
        first = torch.compile(ascending, dynamic=True)(x, y, z)
        torch.testing.assert_close(first, ascending(x, y, z))
        torch._dynamo.reset()
        second = torch.compile(descending, dynamic=True)(y, x, z)
    torch.testing.assert_close(second, descending(y, x, z))
    assert proviso.torch.report().decided > 0


def test_pruned_guards_have_what_guards_over_other_symbols_decided():
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    assert env.evaluate_expr(sympy.Lt(a, c), True)
    assert env.evaluate_expr(sympy.Lt(c, b), True)
    assert env.evaluate_expr(sympy.Le(a, b), True)
    assert [g.expr for g in env.guards] == [sympy.Lt(a, c), sympy.Lt(c, b)]
    kept = [env.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 10))]
    assert [g.expr for g in env.get_pruned_guards(kept)] == [sympy.Le(a, b)]


def loop_question(env, sizes, question, **loops):
    """Asks as Inductor does for a loop nest {variable: upper bound}."""
    from torch.utils._sympy.value_ranges import ValueRanges

    variables = {
        name: sympy.Symbol(name, integer=True, nonnegative=True)
        for name in loops
    }
    axioms, ranges = [], dict(env.var_to_range)
    for name, variable in variables.items():
        axioms += [sympy.Le(0, variable), sympy.Lt(variable, loops[name])]
        ranges[variable] = ValueRanges(0, int_oo)
    return env._maybe_evaluate_static(
        question(**variables),
        axioms=tuple(axioms) + env.get_axioms(),
        var_to_range=tuple(ranges.items()),
    )


def test_pruned_guards_have_what_decided_a_question_about_a_loop():
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    env.evaluate_expr(sympy.Lt(a, c), True)
    env.evaluate_expr(sympy.Lt(c, b), True)
    kept = [env.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 10))]
    # Of itself no guard is needed for this one.
    assert loop_question(
        env, (a, b), lambda i0: sympy.Lt(i0 + b, a + b), i0=a
    ) is sympy.true
    assert env.get_pruned_guards(kept) == []
    assert loop_question(
        env, (a, b), lambda i0: sympy.Lt(i0, b), i0=a
    ) is sympy.true
    assert [g.expr for g in env.get_pruned_guards(kept)] == [sympy.Le(a, b)]


def test_sizes_are_pinned_where_no_order_says_what_decided_a_loop():
    env, (a, b, c) = new_env(a=4, b=24, c=7)
    env.evaluate_expr(sympy.Le(2 * c, b), True)
    env.evaluate_expr(sympy.Le(3 * a, 2 * c), True)
    assert loop_question(
        env, (a, b), lambda i0: sympy.Lt(2 * i0, b), i0=a
    ) is sympy.true
    kept = [env.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 24))]
    exprs = {g.expr for g in env.get_pruned_guards(kept)}
    assert exprs
    for values in ({a: 4, b: 24}, {a: 9, b: 10}, {a: 12, b: 13}):
        holds = all(bool(e.xreplace(values)) for e in exprs)
        loop = all(2 * i < values[b] for i in range(values[a]))
        assert loop or not holds, (exprs, values)
        assert holds or values != {a: 4, b: 24}


def test_a_copy_remembers_what_was_decided():
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    env.evaluate_expr(sympy.Lt(a, c), True)
    env.evaluate_expr(sympy.Lt(c, b), True)
    env.evaluate_expr(sympy.Le(a, b), True)
    other = copy.deepcopy(env)
    assert type(other) is type(env)
    kept = [other.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 10))]
    assert [g.expr for g in other.get_pruned_guards(kept)] == [sympy.Le(a, b)]
    env.check_equal(other)


def test_a_graph_is_not_reused_where_a_size_from_data_is_larger():
    # u <= x's size is asserted in the graph; that x is no longer than y, which
    # decided the slice, came from guards over z, no input of the graph.
    def part(x, y, t):
        u = t.item()
        check(u >= 0)
        check(u <= x.shape[0])
        return y[:u].sort().values

    def ascending(x, y, z, t):
        if x.shape[0] < z.shape[0] and z.shape[0] < y.shape[0]:
            return part(x, y, t)

    def descending(x, y, z, t):
        if x.shape[0] > z.shape[0] and z.shape[0] > y.shape[0]:
            return part(x, y, t)

    x, y, z = torch.randn(4), torch.randn(10), torch.randn(7)
    for f, args in (
        (ascending, (x, y, z, torch.tensor(3))),
        (descending, (y, x, z, torch.tensor(8))),
    ):
        torch._dynamo.reset()
        with proviso.torch.shape_env():
            found = torch.compile(f, dynamic=True)(*args)
        torch.testing.assert_close(found, f(*args))


def pickled_with_a_graph(env, into):
    """The ShapeEnv as torch's pickler of graphs puts it into another."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx._graph_pickler import GraphPickler

    data = GraphPickler.dumps({"env": env})
    return GraphPickler.loads(data, FakeTensorMode(shape_env=into))["env"]


@pytest.mark.parametrize("kind", [TORCHS, _shape_env.ShapeEnv])
def test_a_graph_is_pickled_with_what_was_decided(kind):
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    env.evaluate_expr(sympy.Lt(a, c), True)
    env.evaluate_expr(sympy.Lt(c, b), True)
    env.evaluate_expr(sympy.Le(a, b), True)
    loop_question(env, (a, b), lambda i0: sympy.Lt(i0, b - 1), i0=a)
    other = pickled_with_a_graph(env, into=kind())
    assert type(other) is kind
    kept = [other.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 10))]
    guards = [g.expr for g in other.get_pruned_guards(kept)]
    assert guards
    for values in ({a: 4, b: 10}, {a: 10, b: 4}, {a: 5, b: 5}):
        holds = all(bool(g.xreplace(values)) for g in guards)
        assert holds == (values[a] + 1 < values[b]), (guards, values)
    assert len(env.guards) == 2


def test_a_graph_is_pickled_with_what_was_decided_beside_sizes_from_data():
    # What is asserted of u concerns c; that a <= b followed does not.
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    u = env.create_unbacked_symint().node.expr
    env.guard_or_defer_runtime_assert(sympy.Le(u, c), "u")
    env.evaluate_expr(sympy.Lt(a, c), True)
    env.evaluate_expr(sympy.Lt(c, b), True)
    env.evaluate_expr(sympy.Le(a, b), True)
    other = pickled_with_a_graph(env, into=TORCHS())
    kept = [other.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 10))]
    assert [g.expr for g in other.get_pruned_guards(kept)] == [sympy.Le(a, b)]


def test_a_copy_remembers_what_was_decided_of_loops():
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    env.evaluate_expr(sympy.Lt(a, c), True)
    env.evaluate_expr(sympy.Lt(c, b), True)
    loop_question(env, (a, b), lambda i0: sympy.Lt(i0, b), i0=a)
    other = copy.deepcopy(env)
    kept = [other.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 10))]
    assert [g.expr for g in other.get_pruned_guards(kept)] == [sympy.Le(a, b)]


def test_pruned_guards_have_what_decided_a_question_about_data():
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    u = env.create_unbacked_symint().node.expr
    env.guard_or_defer_runtime_assert(sympy.Le(u, a), "u")
    kept = [env.create_symintnode(s, hint=h) for s, h in ((a, 4), (b, 10))]
    # The graph asserts this itself.
    assert env._maybe_evaluate_static(sympy.Lt(u, a + 1)) is sympy.true
    assert env.get_pruned_guards(kept) == []
    env.evaluate_expr(sympy.Lt(a, c), True)
    env.evaluate_expr(sympy.Lt(c, b), True)
    assert env._maybe_evaluate_static(sympy.Le(u, b)) is sympy.true
    assert [g.expr for g in env.get_pruned_guards(kept)] == [sympy.Le(a, b)]
    assert env._maybe_evaluate_static(sympy.Lt(u, b)) is sympy.true
    assert [g.expr for g in env.get_pruned_guards(kept)] == [
        sympy.Le(a, b), sympy.Lt(a, b)
    ]
    other = pickled_with_a_graph(env, into=TORCHS())
    assert sympy.Lt(a, b) in [g.expr for g in other.get_pruned_guards(kept)]


# ---- programs with data-dependent questions -------------------------------

check = torch._check


def divisible(t):
    u = t[0].item()
    check(u >= 0)
    check(u % 4 == 0)
    return torch.ones(3) if u % 2 == 0 else torch.zeros(3)


def chain(t):
    u, v, w = t[0].item(), t[1].item(), t[2].item()
    check(u < v)
    check(v < w)
    return torch.ones(3) if u < w else torch.zeros(3)


def part_of_a_sum(t):
    u, v = t[0].item(), t[1].item()
    check(u + v <= 10)
    check(u >= 0)
    check(v >= 0)
    return torch.ones(3) if u <= 10 else torch.zeros(3)


def two_views(t):
    u = t[0].item()
    check(u >= 8)
    check(u % 8 == 0)
    x = torch.zeros(u) + 1
    return x.view(-1, 8).view(-1, 4).sum(1)


def not_zero(t):
    u = t[0].item()
    check(u >= 0)
    check(u != 0)
    return torch.ones(3) if u >= 1 else torch.zeros(3)


def two_halves(t):
    u = t[0].item()
    check(u >= 2)
    return torch.zeros(u) + torch.zeros(u // 2 + (u + 1) // 2)


def first_of_many(t):
    n = t.nonzero()
    k = n.shape[0]
    check(k >= 3)
    m = min(k, 3)
    return n[:m].sum() * (1 if m == 3 else 2)


def remainder(t):
    u, v = t[0].item(), t[1].item()
    check(v >= 1)
    check(u >= 0)
    return torch.ones(3) if u % v < v else torch.zeros(3)


def joined(t):
    u, v = t[0].item(), t[1].item()
    check(u >= 2)
    check(v == u + 2)
    return torch.cat([torch.zeros(u), torch.zeros(2)]) + torch.zeros(v)


def rounded(t):
    u = t[0].item()
    check(u >= 0)
    check(2 * u <= 9)
    return torch.ones(3) if u <= 4 else torch.zeros(3)


def two_parts(t):
    u, v = t[0].item(), t[1].item()
    check(u >= 4)
    check(v >= 4)
    check(u == v)
    a, b = torch.ones(u, 3), torch.ones(v, 3)
    return torch.cat([a, b]).reshape(2, -1, 3)[0]


def transposed(t):
    u = t[0].item()
    check(u > 0)
    x = torch.zeros(4 * u)
    return x.view(u, 4).t().contiguous().view(-1)[: 2 * u]


PROGRAMS = [
    (divisible, [8]),
    (chain, [1, 2, 3]),
    (part_of_a_sum, [3, 4]),
    (two_views, [16]),
    (not_zero, [3]),
    (two_halves, [5]),
    (first_of_many, [1, 1, 0, 1, 1]),
    (remainder, [7, 3]),
    (joined, [3, 5]),
    (rounded, [4]),
    (two_parts, [5, 5]),
    (transposed, [3]),
]


@pytest.mark.parametrize(
    "program, data", PROGRAMS, ids=[p.__name__ for p, _ in PROGRAMS]
)
def test_questions_that_follow_from_checks_compile(program, data):
    t = torch.tensor(data)
    with proviso.torch.shape_env():
        compiled = torch.compile(
            program, fullgraph=True, dynamic=True, backend="aot_eager"
        )
        torch.testing.assert_close(compiled(t), program(t))


# ---- data-dependent errors that remain ------------------------------------


def takes_a_side(t, y):
    n = t[0].item()
    if n > 4:
        return y + 1
    return y


class TakesASide(torch.nn.Module):
    def forward(self, t, y):
        return takes_a_side(t, y)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


@pytest.mark.parametrize("how", ["compile", "export", "strict"])
def test_an_error_that_remains_says_which_checks_end_it(how):
    args = torch.tensor([6]), torch.randn(8)
    with proviso.torch.shape_env(), pytest.raises(Exception) as caught:
        if how == "compile":
            torch.compile(
                takes_a_side, fullgraph=True, dynamic=True, backend="eager"
            )(*args)
        else:
            torch.export.export(TakesASide(), args, strict=how == "strict")
    text = str(caught.value)
    assert text.count("Proviso: real_branch") == 1
    assert "insert before it  torch._check(n <= 4)" in text
    assert "or instead        torch._check(n >= 5)" in text
    (answer,) = proviso.explain(caught.value).errors
    assert answer.kind == "real_branch"
    assert answer.code == ["torch._check(n <= 4)"]
    assert answer.line == line_of(takes_a_side, "if n > 4")
    assert os.path.basename(answer.file) == os.path.basename(__file__)
    (known,) = proviso.torch.report().data_dependent
    assert known[0].question == answer.question and known[1] >= 1
    assert "torch._check(n <= 4) would decide it" in str(proviso.torch.report())


def test_a_graph_that_breaks_at_data_is_reported():
    args = torch.tensor([6]), torch.randn(8)
    with proviso.torch.shape_env():
        compiled = torch.compile(takes_a_side, dynamic=True, backend="eager")
        torch.testing.assert_close(compiled(*args), takes_a_side(*args))
    ((answer, _),) = proviso.torch.report().data_dependent
    assert answer.other_code == ["torch._check(n >= 5)"]


def test_diagnose_does_not_answer_a_second_time():
    args = torch.tensor([6]), torch.randn(8)
    with proviso.torch.shape_env(), pytest.raises(Exception) as caught:
        with proviso.diagnose() as found:
            torch.compile(
                takes_a_side, fullgraph=True, dynamic=True, backend="eager"
            )(*args)
    assert [e.kind for e in found.report.errors] == ["real_branch"]
    text = "".join(traceback.format_exception(caught.value))
    assert text.count("insert before it  torch._check(n <= 4)") == 1


def test_verify_leaves_errors_as_torch_makes_them():
    args = torch.tensor([6]), torch.randn(8)
    with proviso.torch.shape_env(verify=True):
        with pytest.raises(Exception) as caught:
            torch.export.export(TakesASide(), args)
    assert "Proviso" not in str(caught.value)
    assert proviso.torch.report().data_dependent == ()


def test_the_line_that_asked_is_the_programs():
    seen = []

    class Model(torch.nn.Module):
        def forward(self, x):
            if x.shape[0] > 3:
                seen.extend(x.shape[0].node.shape_env.guards)
            return x

    with proviso.torch.shape_env():
        torch.export.export(
            Model(), (torch.randn(6),),
            dynamic_shapes={"x": {0: torch.export.Dim.AUTO}},
        )
    assert any("test_torch_shape_env.py" in str(g.sloc) for g in seen)
    assert not any("_shape_env.py:" in str(g.sloc).replace(
        "test_torch_shape_env.py", "") for g in seen)


# ---- the mirror -----------------------------------------------------------


def test_what_a_guard_says_is_not_used_to_drop_it():
    env, (a, b) = new_env(a=4, b=10)
    env.evaluate_expr(sympy.Lt(a, b), True)
    assert env._maybe_evaluate_static(sympy.Lt(a, b)) is sympy.true
    assert env._maybe_evaluate_static(sympy.Lt(a, b), axioms=()) is None
    assert env.get_nontrivial_guards() == [sympy.Lt(a, b)]


def test_ranges_that_are_written_directly_are_seen():
    from torch.utils._sympy.value_ranges import ValueRanges

    env, (a,) = new_env(a=4)
    question = sympy.Lt(a, 10)
    assert env._maybe_evaluate_static(question) is None
    env.var_to_range[a] = ValueRanges(2, 9)
    assert env._maybe_evaluate_static(question) is sympy.true
    env.var_to_range[a] = ValueRanges(2, 99)  # wider: no longer known
    assert env._maybe_evaluate_static(question) is None


def test_what_goes_away_is_forgotten():
    env, (a, b) = new_env(a=4, b=4)
    env.replacements[a] = b
    assert env._maybe_evaluate_static(sympy.Eq(a, b)) is sympy.true
    del env.replacements[a]
    assert env._maybe_evaluate_static(sympy.Eq(a, b)) is None
    env.evaluate_expr(sympy.Eq(a % 2, 0), True)
    assert env._maybe_evaluate_static(sympy.Eq(a % 2, 0)) is sympy.true
    env.guards.clear()
    env.axioms.clear()
    assert env._maybe_evaluate_static(sympy.Eq(a % 2, 0)) is None


def test_axioms_and_ranges_of_a_loop_are_used_for_that_question_alone():
    from torch.utils._sympy.value_ranges import ValueRanges

    env, (a,) = new_env(a=4)
    i = sympy.Symbol("i0", integer=True, nonnegative=True)
    ranges = tuple(env.var_to_range.items()) + ((i, ValueRanges(0, 2**40)),)
    axioms = (sympy.Lt(i, a), sympy.Le(0, i))
    question = sympy.Lt(i + 1, a + 1)
    ask = env._maybe_evaluate_static
    assert ask(question, axioms=axioms, var_to_range=ranges) is sympy.true
    assert ask(question, axioms=(), var_to_range=ranges) is None


def test_questions_without_a_meaning_go_to_torch():
    env, (a,) = new_env(a=4)
    from torch.utils._sympy.functions import ToFloat

    assert env._maybe_evaluate_static(ToFloat(a) > sympy.Float(1.5)) in (
        None, sympy.true,
    )
    assert sum(proviso.torch.report().left_to_torch.values()) == 1


# ---- where it is put, and where it is not ---------------------------------


def test_the_name_is_bound_where_torch_constructs_one_and_taken_away():
    import torch._dynamo.output_graph as dynamo

    with proviso.torch.shape_env():
        assert symbolic_shapes.ShapeEnv is _shape_env.ShapeEnv
        assert dynamo.ShapeEnv is _shape_env.ShapeEnv
        with proviso.torch.shape_env(verify=True):
            assert _settings.verify
        assert not _settings.verify
        assert symbolic_shapes.ShapeEnv is _shape_env.ShapeEnv
    assert symbolic_shapes.ShapeEnv is TORCHS
    assert dynamo.ShapeEnv is TORCHS
    assert not proviso.torch.is_enabled()


def test_enable_and_disable():
    proviso.torch.enable()
    proviso.torch.enable(verify=True)
    with proviso.torch.shape_env():
        proviso.torch.disable()
        assert symbolic_shapes.ShapeEnv is _shape_env.ShapeEnv
    assert symbolic_shapes.ShapeEnv is TORCHS
    proviso.torch.disable()


def test_an_object_of_torchs_class_stays_an_instance():
    env = TORCHS()
    with proviso.torch.shape_env():
        assert isinstance(env, symbolic_shapes.ShapeEnv)
        assert isinstance(symbolic_shapes.ShapeEnv(), TORCHS)
        assert not isinstance(3, symbolic_shapes.ShapeEnv)


def test_a_class_of_somebody_else_keeps_torchs_reasoning():
    with proviso.torch.shape_env():

        class Theirs(symbolic_shapes.ShapeEnv):
            pass

        env = Theirs()
        assert not isinstance(TORCHS(), Theirs)
    assert _shape_env.companion(env) is None
    u = env.create_unbacked_symint()
    assert bool(torch._check(u >= 2) is None)
    assert bool(u >= 1)
    assert proviso.torch.report().questions == 0


def test_another_version_of_torch_is_refused(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.14.0a0")
    with pytest.raises(RuntimeError, match=r"enable.*2\.13\.0.*2\.14\.0a0"):
        proviso.torch.enable()
    with pytest.raises(RuntimeError, match="shape_env"):
        with proviso.torch.shape_env():
            pass
    assert not proviso.torch.is_enabled()


def test_threads_each_compile_their_own():
    results = {}

    def work(k):
        with proviso.torch.shape_env():
            x = torch.arange(4.0 + k)

            def f(x):
                return x.view(-1, 2).sum(0) + k

            compiled = torch.compile(f, dynamic=True, backend="eager")
            results[k] = torch.equal(compiled(x), f(x))

    threads = [threading.Thread(target=work, args=(k,)) for k in (0, 2, 4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {0: True, 2: True, 4: True}
    assert not _binding._state.blocks


def test_threads_that_ask_one_shape_env_get_right_answers():
    env, (a, b, c) = new_env(a=4, b=10, c=7)
    env.evaluate_expr(sympy.Lt(a, c), True)
    env.evaluate_expr(sympy.Lt(c, b), True)
    wrong = []

    def work(k):
        # Each reads expressions that no other thread has asked about.
        for n in range(50):
            shift = 100 * k + n
            true = sympy.Lt(a + shift, b + shift + FloorDiv(c, shift + 2))
            false = sympy.Gt(a * (shift + 2), b * (shift + 2))
            for question, right in ((true, sympy.true), (false, sympy.false)):
                answer = env._maybe_evaluate_static(question)
                if answer is not None and answer != right:
                    wrong.append((question, answer))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong, wrong[:3]
    assert env._maybe_evaluate_static(sympy.Lt(a, b)) is sympy.true


def test_a_question_within_a_question_is_torchs():
    env, (a, b) = new_env(a=4, b=10)
    inner = []

    class Guard:
        expr = sympy.Lt(a, b)

        @property
        def size_oblivious(self):
            inner.append(env._maybe_evaluate_static(sympy.Ge(a, 2)))
            return False

    env.guards.append(Guard())
    assert env._maybe_evaluate_static(sympy.Lt(a, b)) is sympy.true
    assert inner == [sympy.true]


def test_a_backward_that_is_compiled_behind_a_graph_break():
    # Dynamo looks at the frames that begin there: none of Proviso's is a
    # program to compile.
    def f(x):
        (gradient,) = torch.autograd.grad(x.sum(), x)
        return gradient

    with proviso.torch.shape_env():
        compiled = torch.compile(f)
        for size in (10, 11, 12):
            x = torch.randn(size, 4, requires_grad=True)
            torch.testing.assert_close(compiled(x), f(x))


def test_export_and_a_saved_program(tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x):
            return x.reshape(-1, 2).sum(1) if x.shape[0] % 2 == 0 else x

    x = torch.randn(6)
    with proviso.torch.shape_env():
        program = torch.export.export(
            Model(), (x,),
            dynamic_shapes={"x": {0: 2 * torch.export.Dim("half")}},
        )
        torch.export.save(program, tmp_path / "p.pt2")
        again = torch.export.load(tmp_path / "p.pt2")
    y = torch.randn(10)
    torch.testing.assert_close(again.module()(y), Model()(y))
    copy.deepcopy(program)


# ---- PROVISO_SHAPE_ENV ----------------------------------------------------

COMPILE = """
import torch
def f(x):
    return x.view(-1, 2).sum(0)
torch.compile(f, dynamic=True, backend="eager")(torch.randn(6))
from torch.fx.experimental import symbolic_shapes
print(symbolic_shapes.ShapeEnv.__module__)
"""


@pytest.mark.parametrize(
    "value, module, said",
    [
        ("1", "proviso.torch._shape_env", ""),
        ("verify", "proviso.torch._shape_env", "same: "),
        ("0", "torch.fx.experimental.symbolic_shapes", ""),
        (
            "yes", "torch.fx.experimental.symbolic_shapes",
            "expected 0, 1 or verify, got 'yes'",
        ),
    ],
)
def test_the_environment_variable_enables_it(value, module, said):
    env = dict(os.environ, PROVISO_SHAPE_ENV=value)
    env.pop("PROVISO_SHAPE_ENV_REPORT", None)
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], env=env, capture_output=True,
        text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [module]
    assert said in done.stderr


REPAIR = """
import torch
def f(x):
    return x + 1 if x.shape[0] > 4 else x
x = torch.randn(6)
torch._dynamo.decorators.mark_unbacked(x, 0)
try:
    torch.compile(f, fullgraph=True, backend="eager")(x)
except Exception as error:
    print(error)
"""


def test_the_environment_variable_gathers_the_questions_of_an_error():
    # Dynamo is half imported when ShapeEnv is.
    done = subprocess.run(
        [sys.executable, "-c", REPAIR],
        env=dict(os.environ, PROVISO_SHAPE_ENV="1"), capture_output=True,
        text=True, timeout=300,
    )
    assert "Proviso: 1 question is open" in done.stdout, done.stderr


# ---- guards that remain, and why a function is compiled again -------------


def compiled_again(f, *calls, **options):
    """Runs compiled `f` on inputs of these sizes; the Recompiles of that."""
    from torch._dynamo.utils import clear_compilation_metrics

    clear_compilation_metrics()
    with proviso.torch.shape_env():
        compiled = torch.compile(f, backend="eager", **options)
        for sizes in calls:
            inputs = [torch.arange(float(n)) for n in sizes]
            torch.testing.assert_close(compiled(*inputs), f(*inputs))
    return proviso.torch.explain_recompiles()


def test_guards_that_later_ones_imply_are_not_checked():
    def f(x, y):
        n = x.shape[0]
        if n > 3 and n > 4 + y.shape[0] and n % 2 == 0 and n % 4 == 0:
            return x + 1
        return x

    proviso.torch.reset_report()
    seen = []
    make = _shape_env.ShapeEnv._guards_not_implied

    def watch(env, mirror):
        kept = make(env, mirror)
        seen.append((len(env.guards), len(kept)))
        return kept

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_shape_env.ShapeEnv, "_guards_not_implied", watch)
        # 16 and 2: every condition holds; 14: 4 does not divide it.
        again = compiled_again(f, (16, 2), (14, 2), (20, 3), dynamic=True)
    assert seen[0] == (4, 2)  # n > 4 + y, n % 4 == 0
    assert [r.guard for r in again] == ["(x.size()[0] % 4) == 0"]


@pytest.mark.parametrize("condition, size, checks", [
    # n//2 != 1 decides n//2 >= 2, and n >= 4 says both.
    (lambda n: n // 2 != 1 and n // 2 >= 2, 8, ["4 <= L['x'].size()[0]"]),
    (lambda n: n != 3 and n != 2, 8, ["4 <= L['x'].size()[0]"]),
    (lambda n: (n + 3) // 4 != 1, 8, ["5 <= L['x'].size()[0]"]),
    # No range says n != 5; that n is even does.
    (lambda n: n > 3 and n != 5 and n % 2 == 0, 8,
     ["(L['x'].size()[0] % 2) == 0", "4 <= L['x'].size()[0]"]),
])
def test_a_guard_that_a_range_says_is_a_range(condition, size, checks):
    seen = []
    make = TORCHS.produce_guards_verbose

    def watch(env, *args, **kwargs):
        made = make(env, *args, **kwargs)
        seen.append(made[0].exprs)
        return made

    def f(x):
        return x + 1 if condition(x.shape[0]) else x - 1

    sizes = [(size,), *((n,) for n in range(2, 12))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TORCHS, "produce_guards_verbose", watch)
        again = compiled_again(f, *sizes, dynamic=True)
    assert seen[0] == checks
    assert os.path.basename(__file__) in again[0].asked_by


def test_a_range_leaves_guards_that_divide_by_a_size():
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic
    from torch.utils._sympy.functions import PythonMod

    from proviso.torch import _narrowing

    env, _ = new_env(x=8)
    k = env.create_symbol(
        4, ConstantSource("k"), dynamic_dim=DimDynamic.DYNAMIC, positive=None,
        do_not_specialize_zero_one=True,
    )
    divides = sympy.Eq(PythonMod(8, k), 0)
    for condition in (sympy.Ge(k, 0), sympy.Ne(k, 0), divides):
        assert env.evaluate_expr(condition, True)
    kept = _narrowing.with_ranges_for_guards(env, list(env.guards))
    # k = 0 is kept from the division by a guard before it.
    assert [g.expr for g in kept] == [g.expr for g in env.guards]


def test_a_branch_is_explained_by_its_line():
    def f(x):
        return x.view(-1, 2).sum(0) if x.shape[0] % 2 == 0 else x

    (again,) = compiled_again(f, (8,), (10,), (7,), (9,), dynamic=True)
    assert (again.compile_id[-2:], again.earlier[-2:]) == ("/1", "/0")
    assert again.function == "f" and again.file == __file__
    assert "x.shape[0] % 2 == 0" in again.asked_by
    assert "multiple of 2" in again.remedy


def test_a_static_size_is_explained():
    (again,) = compiled_again(lambda x: x * 2, (8,), (7,))
    assert "mark_dynamic(x, 0)" in again.remedy
    assert again.asked_by == ""


def test_a_batch_of_one_is_explained():
    # Marking the dimension dynamic would be refused: torch keeps 0 and 1.
    again = compiled_again(lambda x: x * 2, (4,), (1,), (6,), (9,))
    assert [r.guard.split("expected")[1] for r in again] == [
        " 4, actual 1", " 1, actual 6"
    ]
    for one in again:
        assert "programs of their own" in one.remedy
        assert "mark_dynamic" not in one.remedy


def test_a_number_that_a_module_counts_is_explained():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.step = 0

        def forward(self, x):
            self.step += 1
            return x + self.step

    from torch._dynamo.utils import clear_compilation_metrics

    clear_compilation_metrics()
    model = Counts()
    compiled = torch.compile(model, backend="eager")
    for _ in range(3):
        compiled(torch.ones(3))
    again = proviso.torch.explain_recompiles()
    assert "allow_unspec_int_on_nn_module" in again[0].remedy


def test_a_size_that_the_program_pins_is_named():
    def f(x, y):
        if 4 * x.shape[0] <= 35 and 2 * x.shape[0] >= 16:
            return x + 1
        return x - 1

    (again,) = compiled_again(f, (8, 5), (8, 6), (9, 5), dynamic=True)
    assert list(again.pinned.values()) == [8]
    assert "8 alone" in again.remedy
    assert "allow" in str(again)


def test_equal_sizes_that_differ_later_are_explained():
    def f(x, y):
        return x + 1 if x.shape[0] == y.shape[0] else x - 1

    (again,) = compiled_again(f, (8, 8), (6, 5), dynamic=True)
    assert "use_duck_shape" in again.remedy


def test_nothing_is_explained_where_nothing_was_compiled_again():
    assert compiled_again(lambda x: x + 1, (8,), (9,), dynamic=True) == ()
    assert str(proviso.torch.explain_recompiles()) == (
        "no function was compiled again"
    )


def test_a_guard_that_divides_keeps_what_keeps_its_divisor_from_zero():
    # Where k is 0, x % k is an error and not false: `k != 0` has to be checked
    # before, though x % k == 0 says it where it means anything.
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic
    from torch.utils._sympy.functions import PythonMod

    env, (x,) = new_env(x=8)
    k = env.create_symbol(
        4, ConstantSource("k"), dynamic_dim=DimDynamic.DYNAMIC, positive=None,
        do_not_specialize_zero_one=True,
    )
    nonzero, divides = sympy.Ne(k, 0), sympy.Eq(PythonMod(x, k), 0)
    assert env.evaluate_expr(nonzero, True)
    assert env.evaluate_expr(divides, True)
    assert [g.expr for g in env.guards] == [nonzero, divides]
    kept = env._guards_not_implied(_shape_env.companion(env).mirror)
    assert [g.expr for g in kept] == [nonzero, divides]
    # A divisor that no size makes 0 is another matter.
    env, (x, n) = new_env(x=8, n=4)
    assert env.evaluate_expr(sympy.Le(n, x), True)
    assert env.evaluate_expr(sympy.Eq(PythonMod(x, n), 0), True)
    kept = env._guards_not_implied(_shape_env.companion(env).mirror)
    assert len(kept) == 1


def test_a_program_that_divides_by_what_it_has_compared_with_zero():
    def f(x, k):
        if k != 0 and x.shape[0] % k == 0:
            return x + 1
        return x - 1

    with proviso.torch.shape_env():
        compiled = torch.compile(f, backend="eager", dynamic=True)
        x = torch.arange(8.0)
        for k in (4, 0, 2, 3, 0, -4):
            torch.testing.assert_close(compiled(x, k), f(x, k))


# ---- caches ---------------------------------------------------------------


def test_no_cached_graph_is_reused_where_it_does_not_hold():
    import cache_pairs

    groups = int(os.environ.get("PROVISO_TEST_GROUPS", "2"))
    wrong, reused = cache_pairs.run_all(groups, functions=8, seed=2)
    assert not wrong, wrong
    assert reused > 0


def test_a_graph_that_is_reused_where_it_does_not_hold_is_seen(monkeypatch):
    import cache_pairs

    monkeypatch.setattr(
        _shape_env.ShapeEnv, "_decided_about", lambda self, symbols, kept: []
    )
    wrong, _ = cache_pairs.run_all(1, functions=8, seed=3)
    assert any(problem.startswith("silent") for _, problem in wrong)


def test_kept_guards_say_all_that_was_decided():
    import cache_laws

    count = int(os.environ.get("PROVISO_TEST_ENVS", "40"))
    wrong, asked, tried = cache_laws.run_all(count, seed=1)
    assert not wrong, wrong
    assert asked > count and tried > count


def test_a_law_of_caches_that_does_not_hold_is_seen(monkeypatch):
    import cache_laws

    monkeypatch.setattr(
        _shape_env.ShapeEnv, "_decided_about", lambda self, symbols, kept: []
    )
    assert cache_laws.run_all(40, seed=1)[0]


def test_mirrors_go_with_their_shape_envs():
    # torch keeps some ShapeEnvs alive itself, in the caches of its methods.
    gc.collect()
    before = len(_shape_env._companions)
    for _ in range(100):
        env, (a,) = new_env(a=4)
        assert env._maybe_evaluate_static(sympy.Ge(a, 0)) is sympy.true
        del env
    gc.collect()
    assert len(_shape_env._companions) <= before + 1


# ---- torch.export reads each constraint -----------------------------------


def test_export_learns_equalities_that_follow():
    # x has 2 rows of 1 or 2, y - 1 is not 1: that they are equal follows.
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return x + y[1:]

    Dim = torch.export.Dim
    rows = Dim("rows", min=1, max=2)
    with proviso.torch.shape_env():
        program = torch.export.export(
            Model(), (torch.randn(2, 2), torch.randn(3, 2)),
            dynamic_shapes=({0: rows}, {0: rows + 1}),
        )
    ranges = program.range_constraints.values()
    assert sorted(r.upper for r in ranges) == [2, 3]


def test_export_tells_of_every_constraint():
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return x.reshape([-1]) + y

    dy = torch.export.Dim("dy", min=6)
    with proviso.torch.shape_env():
        with pytest.raises(torch._dynamo.exc.UserError, match="dy = 12"):
            torch.export.export(
                Model(), (torch.randn(6, 2), torch.randn(12)),
                dynamic_shapes={"x": (dy - 6, 2), "y": (dy,)},
            )


def test_a_fork_while_another_thread_binds_leaves_a_child_that_answers():
    program = pathlib.Path(__file__).with_name("fork_while_bound.py")
    done = subprocess.run([sys.executable, "-W", "ignore", program],
                          capture_output=True, text=True, timeout=120)
    assert done.stdout == "answered\n", done.stdout + done.stderr


# ---- whose ShapeEnv, nested, and in other processes -----------------------


def test_another_version_of_torch_under_the_variable_is_a_warning():
    program = f"import torch\ntorch.__version__ = '2.14.0'\n{COMPILE}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PROVISO_SHAPE_ENV="1"), capture_output=True,
        text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["torch.fx.experimental.symbolic_shapes"]
    assert "torch 2.14.0 is installed" in done.stderr
    assert "torch's own ShapeEnv goes on" in done.stderr


class TheirsFromBefore(TORCHS):
    """A class that somebody derived before Proviso was enabled."""


def test_a_program_in_a_shape_env_of_somebody_elses_class():
    proviso.torch.enable()
    with pytest.MonkeyPatch.context() as patch:
        # They put their class where Dynamo makes one, over ours.
        import torch._dynamo.output_graph as dynamo

        patch.setattr(dynamo, "ShapeEnv", TheirsFromBefore)
        x = torch.arange(8.0)
        compiled = torch.compile(
            lambda x: x.view(-1, 2).sum(0), dynamic=True, backend="eager"
        )
        torch.testing.assert_close(compiled(x), x.view(-1, 2).sum(0))
        assert proviso.torch.report().questions == 0
        proviso.torch.disable()
        assert dynamo.ShapeEnv is TheirsFromBefore
    # It was ours when they came: that is given back too.
    assert dynamo.ShapeEnv is _shape_env.ShapeEnv
    with proviso.torch.shape_env():
        pass
    assert dynamo.ShapeEnv is TORCHS


def test_blocks_that_an_error_leaves_are_closed():
    with pytest.raises(ZeroDivisionError):
        with proviso.torch.shape_env(inductor=True):
            with proviso.torch.shape_env(verify=True):
                raise ZeroDivisionError
    assert symbolic_shapes.ShapeEnv is TORCHS
    assert not _settings.verify
    assert not _binding._state.blocks


def test_a_compilation_within_a_compilation():
    # The backend compiles a function of its own.
    def inner(x):
        return x * 2 if x.shape[0] % 2 == 0 else x

    def backend(graph, example):
        y = torch.arange(6.0)
        compiled = torch.compile(inner, dynamic=True, backend="eager")
        with torch._dynamo.config.patch(reorderable_logging_functions=set()):
            torch.testing.assert_close(compiled(y), inner(y))
        return graph.forward

    def f(x):
        return x + 1 if x.shape[0] > 3 else x

    with proviso.torch.shape_env():
        x = torch.arange(5.0)
        compiled = torch.compile(f, dynamic=True, backend=backend)
        torch.testing.assert_close(compiled(x), f(x))


IN_A_CHILD = """
import os
import torch
import proviso.torch

def f(x):
    return x.view(-1, 2).sum(0) if x.shape[0] % 4 == 0 else x

if __name__ == "__main__":
    torch.set_num_threads(1)
    with proviso.torch.shape_env():
        x = torch.arange(8.0)
        compiled = torch.compile(f, dynamic=True, backend="aot_eager")
        assert torch.equal(compiled(x), f(x))
        child = os.fork()
        if child == 0:
            torch._dynamo.reset()
            compiled = torch.compile(f, dynamic=True, backend="aot_eager")
            y = torch.arange(12.0)
            good = torch.equal(compiled(y), f(y))
            os._exit(0 if good and proviso.torch.is_enabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        z = torch.arange(16.0)
        assert torch.equal(compiled(z), f(z))
    print("equal")
"""


def test_a_child_of_fork_compiles_as_its_parent_does():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", IN_A_CHILD],
                          capture_output=True, text=True, timeout=300)
    assert done.stdout == "equal\n", done.stdout + done.stderr


WITH_WORKERS = """
import torch
import torch._inductor.config as inductor
import proviso.torch

def f(x, y):
    return (x.view(-1, 2).sum(0).cos() + y[: x.shape[0] // 4].sum()).sin()

if __name__ == "__main__":
    inductor.compile_threads = 2
    inductor.worker_start_method = "{how}"
    with proviso.torch.shape_env(inductor=True):
        compiled = torch.compile(f, dynamic=True)
        for n in (8, 12, 20):
            x, y = torch.randn(n), torch.randn(n)
            torch.testing.assert_close(compiled(x, y), f(x, y))
    assert proviso.torch.report().questions > 0
    print("equal")
"""


@pytest.mark.parametrize("how", ["fork", "subprocess"])
def test_inductors_compile_workers(how, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(WITH_WORKERS.format(how=how))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program],
        env=dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(tmp_path)),
        capture_output=True, text=True, timeout=300,
    )
    assert done.stdout == "equal\n", done.stdout + done.stderr


# ---- Dynamo and Proviso's own files ---------------------------------------


def test_dynamo_skips_every_file_of_proviso():
    from torch._dynamo import trace_rules

    with proviso.torch.shape_env():
        compiled = torch.compile(lambda x: x + 1, backend="eager")
        compiled(torch.ones(3))
    package = pathlib.Path(proviso.__file__).parent
    files = [p for p in package.rglob("*.py") if p.parent.name != "db"]
    assert len(files) > 30
    for file in files:
        assert trace_rules.check_file(str(file)).skipped, file
    # Programs of ExportDB are programs.
    for file in (package / "db").glob("*.py"):
        assert not trace_rules.check_file(str(file)).skipped, file


def test_an_error_behind_a_graph_break_compiles_no_frame_of_proviso():
    # What answers the error runs while Dynamo looks at frames that begin.
    seen = []

    def backend(graph, example):
        seen.append(graph)
        return graph.forward

    def f(x, t):
        x = x + 1
        if t[0].item() > 4:
            return x * 2
        return x

    with proviso.torch.shape_env():
        compiled = torch.compile(f, dynamic=True, backend=backend)
        args = torch.randn(4), torch.tensor([6])
        torch.testing.assert_close(compiled(*args), f(*args))
    compiled = [code() for code in torch._dynamo.convert_frame.input_codes.seen]
    package = str(pathlib.Path(proviso.__file__).parent)
    mine = [c for c in compiled if c and c.co_filename.startswith(package)]
    assert not mine
    assert seen
