"""proviso.torch: one error tells the checks of all data-dependent questions."""

import itertools
import random
import sys
import threading

import pytest
import sympy
import torch
from torch._inductor.utils import fresh_cache
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

import pasting
import proviso.torch
from proviso import _core
from proviso.torch import _joint_checks


@pytest.fixture(autouse=True)
def clean_compiler():
    torch._dynamo.reset()
    with fresh_cache():
        yield
    torch._dynamo.reset()
    proviso.torch.disable()
    proviso.torch.reset_report()


FIVE = '''\
import torch


@torch.no_grad()
def forward(x, y):
    """Asks five questions."""
    n, m = x.shape
    k = y.shape[0]
    if n > 4:
        x = x + 1
    if k % 4 == 0:
        x = x * 2
    if m == 1:
        return x.sum()
    if n >= 7 and k < 100:
        x = x + 2
    if n + k == 3:
        return x
    return x[: n - 1].sum(0) + y.sum()
'''

LATER = '''\
import torch


def forward(x, t):
    if x.shape[0] > 3:
        x = x + 1
    n = t[0].item()
    if n > 4:
        return x * 2
    return x
'''


def load(tmp_path, source):
    path = tmp_path / "program.py"
    path.write_text(source)
    return path, loaded(path)


def loaded(path):
    module = pasting.load(path)
    sys.modules[module.__name__] = module  # Dynamo imports it by its name
    return module.forward


def inputs(*sizes):
    """Tensors of these sizes, which only the data tells."""
    found = [torch.arange(float(torch.Size(s).numel())).reshape(s)
             for s in sizes]
    for tensor in found:
        for d in range(tensor.dim()):
            torch._dynamo.decorators.mark_unbacked(tensor, d)
    return found


def failing(forward, args, backend="aot_eager", **options):
    options.setdefault("fullgraph", True)
    torch._dynamo.reset()
    with pytest.raises(Exception) as caught, proviso.torch.shape_env():
        torch.compile(forward, backend=backend, **options)(*args)
    return caught.value


def insert(path, together):
    lines = path.read_text().split("\n")
    at = together.line - 1
    lines[at:at] = [f"    {line}" for line in together.code]
    path.write_text("\n".join(lines))
    return loaded(path)


def test_five_questions_take_one_round(tmp_path):
    path, forward = load(tmp_path, FIVE)
    args = inputs((9, 3), (8,))
    error = failing(forward, args)
    report = proviso.explain(error)
    assert report.together.questions == 5
    assert report.together.code == [
        "torch._check(y.shape[0] % 4 == 0)",
        "torch._check(y.shape[0] <= 96)",  # less than 100
        "torch._check(x.shape[1] != 1)",
        "torch._check(x.shape[0] >= 7)",
    ]
    assert (report.together.file, report.together.line) == (str(path), 7)
    assert report.together.function == "forward"
    assert [e.line for e in report.errors] == [9, 11, 13, 15, 15]
    for line in report.together.code:
        assert line in str(error) and line in str(report)
    # What it says is all that is needed, and the result is eager's.
    checked = insert(path, report.together)
    torch._dynamo.reset()
    with proviso.torch.shape_env():
        compiled = torch.compile(checked, fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(*args), forward(*args))
        for sizes in (((7, 3), (4,)), ((30, 2), (96,))):
            more = [torch.randn(s) for s in sizes]
            torch.testing.assert_close(compiled(*more), forward(*more))
        for sizes in (((6, 3), (8,)), ((9, 1), (8,)), ((9, 3), (100,)),
                      ((9, 3), (6,))):
            with pytest.raises(Exception):
                compiled(*[torch.randn(s) for s in sizes])


def test_the_other_side_is_the_other_examples(tmp_path):
    _, forward = load(tmp_path, FIVE)
    error = failing(forward, inputs((3, 1), (6,)))
    assert proviso.explain(error).together.code == [
        "torch._check(x.shape[0] <= 4)",
        "torch._check(y.shape[0] % 4 != 0)",
        "torch._check(x.shape[1] == 1)",
    ]


def test_the_error_is_the_one_that_torch_raised(tmp_path, monkeypatch):
    _, forward = load(tmp_path, FIVE)
    args = inputs((9, 3), (8,))
    with_checks = failing(forward, args)
    monkeypatch.setattr(_joint_checks, "_explain", lambda *args: None)
    plain = failing(forward, args)
    assert type(with_checks) is type(plain)
    assert proviso.explain(plain).together is None
    assert str(with_checks).startswith(str(plain).split("User Stack")[0])
    with proviso.torch.shape_env(verify=True), pytest.raises(type(plain)):
        torch._dynamo.reset()
        torch.compile(forward, fullgraph=True, backend="aot_eager")(*args)


def test_what_compiles_is_never_traced_again(tmp_path, monkeypatch):
    traced = []
    monkeypatch.setattr(_joint_checks, "_trace",
                        lambda *args: traced.append(args))
    _, forward = load(tmp_path, FIVE)
    args = [torch.randn(9, 3), torch.randn(8)]
    with proviso.torch.shape_env():
        for options in (dict(fullgraph=True, dynamic=True), {}):
            torch._dynamo.reset()
            compiled = torch.compile(forward, backend="aot_eager", **options)
            torch.testing.assert_close(compiled(*args), forward(*args))
    assert traced == []
    failing(forward, inputs((9, 3), (8,)))
    assert len(traced) == 1


def test_questions_that_break_the_graph_stay_breaks(tmp_path, monkeypatch):
    # Dynamo goes on behind each; nothing is to be repaired.
    traced = []
    monkeypatch.setattr(_joint_checks, "_trace",
                        lambda *args: traced.append(args))
    _, forward = load(tmp_path, FIVE)
    args = inputs((9, 3), (8,))
    with proviso.torch.shape_env():
        compiled = torch.compile(forward, backend="aot_eager")
        torch.testing.assert_close(compiled(*args), forward(*args))
    assert traced == []


def test_a_question_that_the_sizes_do_not_answer_ends_the_list(tmp_path):
    _, forward = load(tmp_path, LATER)
    x, = inputs((9,))
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        error = failing(forward, (x, torch.tensor([6])))
    report = proviso.explain(error)
    assert report.together.questions == 1
    assert report.together.code == ["torch._check(x.shape[0] >= 4)"]


def test_a_backend_of_somebody_else_is_not_called_for_it(tmp_path):
    _, forward = load(tmp_path, FIVE)
    called = []

    def backend(graph, example):
        called.append(graph)
        return graph.forward

    error = failing(forward, inputs((9, 3), (8,)), backend=backend)
    assert proviso.explain(error).together.questions == 5
    assert called == []


def asks(graph, example):
    """A backend that asks of the first tensor."""
    values = [n.meta.get("example_value") for n in graph.graph.nodes]
    tensor = next(t for t in values if isinstance(t, torch.Tensor))
    return graph.forward if tensor.shape[0] > 3 else graph.forward


@pytest.mark.parametrize("fullgraph", [True, False])
def test_a_backend_of_torchs_is_asked_for_its_own_questions(
        tmp_path, monkeypatch, fullgraph):
    source = FIVE.replace("if k % 4 == 0", "if k >= 0").split("    if m ==")[0]
    path, forward = load(tmp_path, source + "    return x + y.sum()\n")
    monkeypatch.setattr(asks, "__module__", "torch.of_a_test")
    error = failing(forward, inputs((9, 3), (8,)), backend=asks,
                    fullgraph=fullgraph)
    together = proviso.explain(error).together
    if fullgraph:
        # n > 4 is Dynamo's, and the backend's follows from it.
        assert together.code == ["torch._check(x.shape[0] >= 5)"]
    else:
        # Dynamo breaks the graph there: no error comes of it.
        assert together is None or "n > 4" not in str(together)


def test_without_fullgraph_the_backends_questions_are_answered_alone(
        tmp_path, monkeypatch):
    source = """\
import torch


def forward(x):
    return x + 1
"""
    path, forward = load(tmp_path, source)
    monkeypatch.setattr(asks, "__module__", "torch.of_a_test")
    args = inputs((9,))
    for options in (dict(fullgraph=True), dict(fullgraph=False)):
        error = failing(forward, args, backend=asks, **options)
        together = proviso.explain(error).together
        assert together.code == ["torch._check(x.shape[0] >= 4)"]
    torch._dynamo.reset()
    checked = insert(path, together)
    with proviso.torch.shape_env():
        compiled = torch.compile(checked, backend=asks)
        torch.testing.assert_close(compiled(*args), args[0] + 1)


def test_nothing_of_it_is_cached(tmp_path):
    from torch._dynamo.utils import counters

    _, forward = load(tmp_path, FIVE)
    args = inputs((9, 3), (8,))
    counters.clear()  # of other tests
    for _ in range(2):
        error = failing(forward, args, backend="inductor")
        assert proviso.explain(error).together.questions == 5
    assert counters["aot_autograd"]["autograd_cache_saved"] == 0
    assert counters["inductor"]["fxgraph_cache_miss"] == 0


def test_a_lambda_has_no_line_to_insert_at():
    error = failing(lambda x: x + 1 if x.shape[0] > 4 else x, inputs((9,)))
    together = proviso.explain(error).together
    assert together.code == [] and together.conditions == ["u0 >= 5"]
    assert "must hold" in str(together)


def test_a_program_without_a_graph_stays_an_error():
    # The second trace ends without a backend; nothing of it is installed.
    def f(x):
        return 1 if x.shape[0] > 4 else 2

    args = inputs((9,))
    for _ in range(2):
        error = failing(f, args)
        assert proviso.explain(error).together.conditions == ["u0 >= 5"]
    with proviso.torch.shape_env():
        compiled = torch.compile(f, fullgraph=True, backend="eager")
        for _ in range(2):
            with pytest.raises(type(error)):
                compiled(*args)


def test_an_error_of_another_kind_is_not_traced_again(monkeypatch):
    traced = []
    monkeypatch.setattr(_joint_checks, "_trace",
                        lambda *args: traced.append(args))

    def f(x):
        torch._dynamo.graph_break()
        return x

    error = failing(f, [torch.randn(4)])
    assert "Proviso" not in str(error)
    assert traced == []


def test_diagnose_tells_the_same(tmp_path):
    _, forward = load(tmp_path, FIVE)
    args = inputs((9, 3), (8,))
    with proviso.torch.shape_env(), pytest.raises(Exception):
        with proviso.diagnose() as found:
            torch.compile(forward, fullgraph=True, backend="eager")(*args)
    assert found.report.together.questions == 5


def test_the_report_lists_a_question_once(tmp_path):
    _, forward = load(tmp_path, FIVE)
    failing(forward, inputs((9, 3), (8,)))
    known = proviso.torch.report().data_dependent
    assert [(one.line, times) for one, times in known] == [(9, 1)]


def test_dynamos_function_is_given_back():
    from torch._dynamo import convert_frame

    torchs = convert_frame._compile
    with proviso.torch.shape_env():
        with proviso.torch.shape_env():
            assert convert_frame._compile is not torchs
        assert convert_frame._compile.__wrapped__ is torchs
    assert convert_frame._compile is torchs


def test_threads_gather_their_own(tmp_path):
    _, forward = load(tmp_path, FIVE)
    texts = {}

    def work(n):
        args = inputs((n, 3), (8,))
        try:
            torch.compile(forward, fullgraph=True, backend="eager")(*args)
        except Exception as error:
            texts[n] = proviso.explain(error).together.code[3]

    with proviso.torch.shape_env():
        threads = [threading.Thread(target=work, args=(n,)) for n in (7, 9, 11)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert texts == dict.fromkeys((7, 9, 11), "torch._check(x.shape[0] >= 7)")


def test_checks_are_least_and_follow_one_another():
    u, v = sympy.symbols("u0 u1", integer=True)
    size = {u: ValueRanges(0, int_oo), v: ValueRanges(0, int_oo)}
    answers = [sympy.Ne(u, 1), sympy.Ge(u, 1), sympy.Eq(u, v), sympy.Ge(v, 2)]
    steps = [(size, {}, answers[:i], side) for i, side in enumerate(answers)]
    found = _core.joint_checks(steps, {"u0": "x.shape[0]"})
    assert found == [("Eq(u0, u1)", None), ("u1 >= 2", None)]
    found = _core.joint_checks(steps[:2], {"u0": "x.shape[0]"})
    assert found == [("u0 >= 2", "torch._check(x.shape[0] >= 2)")]


def test_an_answer_without_a_meaning_here_is_told_as_it_is():
    u = sympy.Symbol("u0", integer=True)
    odd = sympy.Float(1.5) < u
    ranges = {u: ValueRanges(0, int_oo)}
    found = _core.joint_checks([(ranges, {}, [], sympy.Ge(u, 3)),
                                (ranges, {}, [], odd)], {"u0": "n"})
    assert found == [(str(odd), None), ("u0 >= 3", "torch._check(n >= 3)")]


def random_question(rng, symbols):
    from torch.utils._sympy.functions import FloorDiv, Max, Mod

    a, b = rng.choice(symbols), rng.choice(symbols)
    k = rng.randint(1, 9)
    return rng.choice([
        sympy.Eq(a, k), sympy.Eq(a, b), a < k, a <= b, sympy.Eq(Mod(a, k), 0),
        a + 2 * b < k, a * b > k, sympy.Eq(FloorDiv(a, k), 1),
        sympy.Eq(Mod(a + b, 3), 1), sympy.Eq(Max(a, k), k),
        sympy.Eq(a * (b + 1), 0), k * a >= b,
    ])


@pytest.mark.parametrize("seed", range(40))
def test_checks_say_just_what_the_answers_say(seed):
    # At every point of a box, the checks hold where all answers do.
    rng = random.Random(seed)
    symbols = sympy.symbols("u0 u1 u2", integer=True)[:rng.randint(1, 3)]
    ranges = {s: ValueRanges(0, rng.choice((int_oo, 11))) for s in symbols}
    example = {s: sympy.Integer(rng.randint(0, 11)) for s in symbols}
    steps, answers = [], []
    for _ in range(rng.randint(1, 6)):
        asked = random_question(rng, symbols)
        if asked in (sympy.true, sympy.false):
            continue
        side = asked if asked.xreplace(example) is sympy.true else (
            sympy.Not(asked))
        steps.append((ranges, {}, list(answers), side))
        answers.append(side)
    words = {str(s): f"n{i}" for i, s in enumerate(symbols)}
    found = _core.joint_checks(steps, words)
    codes = [compile(line[len("torch._check("):-1], "<check>", "eval")
             for _, line in found]
    for values in itertools.product(range(12), repeat=len(symbols)):
        point = dict(zip(symbols, map(sympy.Integer, values)))
        names = {words[str(s)]: int(v) for s, v in point.items()}
        expected = all(a.xreplace(point) is sympy.true for a in answers)
        names.update(torch=torch, max=max, min=min)
        assert all(eval(c, names) for c in codes) == expected, (
            answers, found, point)
