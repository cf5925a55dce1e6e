"""DataDependentError.suggestions: pasted as they are at the line they name,
they end the error."""

import pytest
import torch
import proviso
from proviso import Dim
from pasting import NotFinished, Pasting

DYNAMIC = ({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC})


def masked(held, of=40, width=6):
    mask = torch.arange(of) < held
    return torch.randn(of, width), mask


# (body over x and m, how many of 40 rows are held, checks in order)
BODIES = {
    "a branch": ("""
    y = x[m]
    n = y.shape[0]
    if n > 20:
        y = y[:20]
    return y
""", 30, ["torch._check(n >= 21)"]),
    "its other side": ("""
    y = x[m]
    n = y.shape[0]
    if n > 20:
        y = y[:20]
    return y
""", 7, ["torch._check(n <= 20)"]),
    "a size without a name": ("""
    y = x[m]
    if y.shape[0] % 4 != 0:
        return y
    return y.view(-1, 4, 6)
""", 8, ["torch._check(y.shape[0] % 4 == 0)"]),
    "a size against an input's": ("""
    y = x[m]
    n = len(y)
    if 2 * n > x.shape[0]:
        return y
    return x
""", 30, None),
    "elif has no line of its own": ("""
    n = x[m].shape[0]
    if x.dim() == 1:
        return x
    elif n == 0:
        return x + 1
    return x * 2
""", 8, ["torch._check(n >= 1)"]),
    "a body on the line of its if": ("""
    n = x[m].shape[0]
    for k in range(3):
        if n == k: continue
        x = x + n
    return x
""", 8, None),
    "a loop": ("""
    n = x[m].shape[0]
    h = x[0]
    for i in range(n): h = h + x[i]
    return h
""", 5, ["torch._check(n == 5)"]),
    "an expression over lines": ("""
    y = x[m]
    n = y.shape[0]
    return torch.cat([
        y,
        y if n > 3 else
        x])
""", 8, ["torch._check(n >= 4)"]),
    "a truth that another function made": ("""
    y = x[m]
    def positive(count):
        return count > 0
    return y if positive(y.shape[0]) else x
""", 8, ["torch._check(y.shape[0] >= 1)"]),
    "chunks": ("""
    y = x[m]
    a, b = y.chunk(2)
    return a.sum(0) - b.sum(0)
""", 8, None),
    "halves": ("""
    y = x[m]
    n = y.shape[0]
    a, b = y.split(n // 2)
    return a * b
""", 8, None),
    "a batch norm": ("""
    y = x[m]
    return torch.nn.functional.batch_norm(
        y, x[0], x[1].abs() + 1, training=False)
""", 8, []),
    "a flag": ("""
    found = m.any().item()
    if found:
        return x + 1
    return x
""", 8, ["torch._check(found)"]),
    "min, max, round, pow, int": ("""
    n = x[m].shape[0]
    k = int(min(n, 20)) + max(n, 3) + round(n / 2) + pow(n, 2)
    if k > 7:
        return x + k
    return x
""", 8, None),
}


def source_of(body):
    return "import torch\n\n\ndef forward(x, m):" + body


@pytest.mark.parametrize("name", BODIES)
def test_pasted_checks_end_the_error(name, tmp_path):
    body, held, checks = BODIES[name]
    run = Pasting(tmp_path, source_of(body))
    args = masked(held)
    expected = run.callable()(*args)
    ep = run.export(args, dynamic_shapes=DYNAMIC)
    if checks is not None:
        assert [s.code for s in run.pasted] == checks
    assert torch.allclose(ep.module()(*args), expected)
    # What is pasted rules out what the text says, in eager too.
    for s in run.pasted:
        assert " or " not in s.code and "u0" not in s.code + s.excludes


@pytest.mark.parametrize("name", ["a branch", "its other side", "a flag",
                                  "a size without a name"])
def test_the_other_side_is_offered_second(name, tmp_path):
    body, held, _ = BODIES[name]
    run = Pasting(tmp_path, source_of(body))
    with pytest.raises(proviso.DataDependentError) as raised:
        proviso.export(run.callable(), masked(held), dynamic_shapes=DYNAMIC)
    first, second = raised.value.suggestions
    assert first.excludes == second.condition
    assert second.excludes == first.condition
    ep = run.export(masked(held), side=1, dynamic_shapes=DYNAMIC)
    with pytest.raises(RuntimeError):
        ep.module()(*masked(held))


def test_sizes_of_inputs_are_checked_at_the_entry(tmp_path):
    run = Pasting(tmp_path, """\
import torch


def inner(rows):
    return rows + 1 if rows.shape[1] > 3 else rows


def forward(x, **more):
    "Its first line is below."
    y = x
    z = inner(y.flip(0).t().t())
    return z + inner(more["other"])
""")
    args = (torch.ones(2, 5),)
    ep = run.export(args, kwargs={"other": torch.ones(2, 5)},
                    dynamic_shapes={"x": {1: Dim.UNBACKED},
                                    "more": {"other": {1: Dim.UNBACKED}}})
    assert [(s.code, s.line) for s in run.pasted] == [(
        "torch._check(x.shape[1] >= 4); "
        "torch._check(more['other'].shape[1] >= 4)", 10)]
    with pytest.raises(RuntimeError):
        ep.module()(torch.ones(2, 3), other=torch.ones(2, 3))


def test_what_is_asked_later_is_answered_at_once(tmp_path):
    run = Pasting(tmp_path, """\
import torch


def forward(x):
    for k in (2, 4, 8):
        if x.shape[0] % k == 0:
            x = x + 1
    return x if x.shape[1] != 1 else x * 2
""")
    unbacked = ({0: Dim.UNBACKED, 1: Dim.UNBACKED},)
    with pytest.raises(proviso.DataDependentError) as raised:
        proviso.export(run.callable(), (torch.ones(8, 3),),
                       dynamic_shapes=unbacked)
    text = str(raised.value)
    assert "x.shape[0] % 8 == 0" in text and "Caused by: " in text
    run.export((torch.ones(8, 3),), dynamic_shapes=unbacked)
    assert [s.code for s in run.pasted] == [
        "torch._check(x.shape[0] % 8 == 0); torch._check(x.shape[1] != 1)"]


def test_later_questions_about_data_are_answered_at_once(tmp_path):
    run = Pasting(tmp_path, """\
import torch


def forward(x, m):
    n = x[m].shape[0]
    if n == 0:
        return x
    if n < 30:
        x = x + 1
    k = x[~m].shape[0]
    if k > 3 and n != 1:
        x = x * 2
    return x
""")
    run.export(masked(8), dynamic_shapes=DYNAMIC)
    assert [s.code for s in run.pasted] == [
        "torch._check(n >= 2); torch._check(n <= 29)",
        "torch._check(k >= 4)"]


def test_another_error_further_on_leaves_the_first(tmp_path):
    run = Pasting(tmp_path, """\
def forward(x):
    if x.shape[0] > 3:
        x.too_many
    return x
""")
    with pytest.raises(proviso.DataDependentError) as raised:
        proviso.export(run.callable(), (torch.ones(8),),
                       dynamic_shapes=({0: Dim.UNBACKED},))
    assert raised.value.suggestions[0].condition == "x.shape[0] >= 4"


def test_torch_is_imported_where_it_has_another_name(tmp_path):
    run = Pasting(tmp_path, """\
import torch as th


def forward(x, m):
    n = x[m].shape[0]
    return x + 1 if n > 2 else th.relu(x)
""")
    run.export(masked(8), dynamic_shapes=DYNAMIC)
    assert run.pasted[0].code == "import torch; torch._check(n >= 3)"


def test_what_the_line_reads_is_a_name(tmp_path):
    run = Pasting(tmp_path, """\
import torch


def forward(x, m):
    return x + 1 if x[m].shape[0] > 2 else x
""")
    ep = run.export(masked(8), dynamic_shapes=DYNAMIC)
    assert [s.code for s in run.pasted] == [
        "torch._check(x[m].shape[0] >= 3)"]
    with pytest.raises(RuntimeError):
        ep.module()(*masked(2))


@pytest.mark.parametrize("body", [
    """
    found = m.any()
    if found:
        return x + 1
    return x
""", """
    most = x[m].argmax()
    for i in range(most):
        x = x + i
    return x
"""])
def test_a_tensor_that_the_line_reads_is_a_name(body, tmp_path):
    run = Pasting(tmp_path, source_of(body))
    args = masked(8)
    expected = run.callable()(*args)
    ep = run.export(args, dynamic_shapes=DYNAMIC)
    assert len(run.pasted) == 1 and ".item()" in run.pasted[0].code
    assert torch.equal(ep.module()(*args), expected)


@pytest.mark.parametrize("line", ["if (x > 10).any(): return x",
                                  "for i in range((x > 10).sum()): x = x + i"])
def test_what_has_no_name_is_no_code(line, tmp_path):
    run = Pasting(tmp_path, source_of(f"\n    {line}\n    return x - 1\n"))
    with pytest.raises(proviso.DataDependentError) as raised:
        proviso.export(run.callable(), masked(8), dynamic_shapes=DYNAMIC)
    assert "torch._check(u0" not in str(raised.value)
    assert "n = ....item()" in str(raised.value)


def test_without_a_name_nothing_is_offered(tmp_path):
    run = Pasting(tmp_path, """\
def forward(x, m):
    return x + 1 if x[m ^ (x[:, 0] > 9)].shape[0] > 2 else x
""")
    with pytest.raises(NotFinished, match="no suggestion"):
        run.export(masked(8), dynamic_shapes=DYNAMIC)


def test_the_example_is_run_apart():
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x, m):
            self.calls += 1
            x.mul_(2)
            n = x[m].shape[0]
            if n > 3:
                return x
            return x + 1

    model, (x, m) = Counting(), masked(8)
    before, state = x.clone(), torch.get_rng_state()
    with pytest.raises(proviso.DataDependentError) as raised:
        proviso.export(model, (x, m), dynamic_shapes=DYNAMIC)
    assert raised.value.suggestions[0].code == "torch._check(n >= 4)"
    assert torch.equal(x, before) and model.calls == 0
    assert torch.equal(torch.get_rng_state(), state)


def test_contradictory_checks_name_each_other(tmp_path):
    run = Pasting(tmp_path, """\
import torch


def forward(x, m):
    n = x[m].shape[0]
    torch._check(n > 5)
    torch._check(n < 3)
    return x
""")
    with pytest.raises(RuntimeError, match="(?s)contradicts.*program.py:6"):
        run.export(masked(8), dynamic_shapes=DYNAMIC)


# Of each kind: a length, two tensors' lengths, divisions, and none at all.
@pytest.mark.parametrize("name,rounds", [
    ("bert", 1), ("xglm", 1), ("mobilenet_v2", 1), ("resnet", 0)])
def test_models_export_with_pasted_checks(name, rounds):
    import pathlib
    import sys
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "models"))
    pytest.importorskip("zoo")
    import pasted_checks

    row = pasted_checks.try_model(name)
    assert not row["problems"], row
    assert row["rounds"] == rounds and row["equal"] == row["inside"] > 0
    assert row["refused"] == row["outside"] > 0
