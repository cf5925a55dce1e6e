"""A program exported again, alone or inside another model, read from a file or
decomposed by torch gives what eager gives: a number of it stays a number."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

import proviso
from proviso import Dim
from test_cli import COMMAND

AUTO = Dim.AUTO
ROWS = ({0: AUTO, 1: AUTO},)
X = torch.arange(15.).reshape(3, 5) - 4
NUMBERS = {
    "quotient of a size": lambda x: x.sum() * (x.shape[0] / 2),
    "quotient with integers": lambda x: (x > 0).long() * (x.shape[0] / 2),
    "quotient with truths": lambda x: (x > 0) * (x.shape[0] / 2),
    "root": lambda x: x.half().sum() + x.shape[0] ** 0.5,
    "size with int32": lambda x: x.sum().int() * x.shape[0],
    "size with truths": lambda x: (x > 0) + x.shape[0],
    "number from data": lambda x: x.half().sum() * x.sum().item(),
    "int from data": lambda x: x.sum().int() + x.sum().long().item(),
    "size by name": lambda x: torch.ops.aten.mul.Tensor(
        x.int().sum(dtype=torch.int32), x.shape[0]),
    "in place": lambda x: x.half().sum().mul_(x.shape[0] / 2),
    "subtracted": lambda x: torch.rsub(x.half().sum(), x.shape[1] / 2),
    "where": lambda x: torch.where(x > 0, x.shape[0] / 2, x),
}


class Around(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x + 0)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_stays_a_number(name, tmp_path):
    ep = proviso.export(NUMBERS[name], (X,), dynamic_shapes=ROWS)
    ep.save(tmp_path / "first.pt2")
    loaded = proviso.load(tmp_path / "first.pt2")
    for module in (ep.module(), loaded.module(), Around(ep.module()),
                   ep.run_decompositions().module()):
        again = proviso.export(module, (X,), dynamic_shapes=ROWS)
        again.save(tmp_path / "again.pt2")
        for program in (again, proviso.load(tmp_path / "again.pt2")):
            for rows in (1, 2, 3, 7):
                x = torch.arange(4. * rows).reshape(rows, 4)
                found, eager = program.module()(x), NUMBERS[name](x)
                assert found.dtype == eager.dtype
                torch.testing.assert_close(found, eager)


# --- guards that torch traces

def _checked(x, condition):
    torch._check(condition)
    return x + 1


TRACED = {
    "float of a size": (
        lambda x: F.interpolate(x[None], scale_factor=0.6), range(2, 20)),
    "or": (lambda x: _checked(x, (x.shape[1] == 5) | (x.shape[1] >= 8)),
           [5, *range(8, 20)]),
    "max": (lambda x: x + 1 if max(x.shape[1], 4) * 2 <= 40 else x,
            range(2, 20)),
    "root": (lambda x: x + 1 if x.shape[1] ** 0.5 < 4.3 else x, range(2, 18)),
    "not": (lambda x: x + 1 if not (x.shape[1] > 9 and x.shape[0] > 2) else x,
            range(2, 9)),
}


@pytest.mark.parametrize("name", TRACED)
def test_torchs_decompositions_fix_no_size_by_a_guard(name, tmp_path):
    program, sizes = TRACED[name]
    ep = proviso.export(program, (X,), dynamic_shapes=ROWS)
    ep.save(tmp_path / "program.pt2")
    decomposed = torch.export.load(
        tmp_path / "program.pt2").run_decompositions().module()
    for n in sizes:
        x = torch.randn(3, n)
        torch.testing.assert_close(decomposed(x), program(x))


# --- .data

def _normalised(x):
    hidden = x * 2
    return (hidden / hidden.data.norm()).sum() + (x.data * x).sum()


@pytest.mark.parametrize("requires_grad", [True, False])
def test_no_gradient_goes_through_data(requires_grad, tmp_path):
    example = X.clone().requires_grad_(requires_grad)
    ep = proviso.export(_normalised, (example,), dynamic_shapes=ROWS)
    ep.save(tmp_path / "program.pt2")
    expected = X.clone().requires_grad_()
    _normalised(expected).backward()
    for module in (ep.module(), proviso.load(tmp_path / "program.pt2").module(),
                   torch.export.load(tmp_path / "program.pt2").module()):
        x = X.clone().requires_grad_()
        module(x).backward()
        torch.testing.assert_close(x.grad, expected.grad)


def test_data_is_written_through():
    def program(x):
        y = x * 1
        y.data.mul_(3)
        return y

    ep = proviso.export(program, (X,), dynamic_shapes=ROWS)
    torch.testing.assert_close(ep.module()(X), program(X))


# --- a kernel that eager crashes in

@pytest.mark.parametrize("last", [False, True])
def test_bags_of_no_index_reach_no_kernel(last, tmp_path):
    """Eager's embedding_bag of indices, and of no bags, ends the process."""
    script = tmp_path / "script.py"
    script.write_text(f"""
import torch, proviso
def bags(i, o):
    return torch.nn.functional.embedding_bag(
        i, torch.ones(5, 3), o, mode="max", include_last_offset={last})
i, o = torch.tensor([0, 1, 2, 3, 4, 0]), torch.tensor([0, 2, 3])
ep = proviso.export(bags, (i, o), dynamic_shapes=({{0: proviso.Dim.AUTO}},) * 2)
ep.run_decompositions()
ep.save("bags.pt2")
module = proviso.load("bags.pt2").module()
assert torch.equal(module(i, o), bags(i, o))
try:
    module(i, o[:{1 if last else 0}])
except (RuntimeError, ValueError) as error:
    assert "offsets" in str(error), error
else:
    raise SystemExit("it ran")
""")
    done = subprocess.run([sys.executable, "-W", "ignore", script],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# --- gradients in files

GRADIENTS = {
    "select": lambda t: t[0].sum() + t[:, 1].pow(2).sum(),
    "slices": lambda t: (t[:, 1:] * t[:, :-1]).sum(),
    "diagonal": lambda t: t.diagonal().pow(2).sum(),
    "unfold": lambda t: t.unfold(1, 2, 1).pow(2).sum(),
    "unfold by steps": lambda t: t.unfold(1, 2, 3).pow(2).sum(),
    "cross entropy": lambda t: F.cross_entropy(
        t, torch.zeros(t.shape[0], dtype=torch.long)),
    "nll, none": lambda t: F.nll_loss(
        t, torch.zeros(t.shape[0], dtype=torch.long), reduction="none").sum(),
    **{name: lambda t, f=getattr(F, name): f(t).sum()
       for name in ("celu", "elu", "gelu", "hardshrink", "hardsigmoid",
                    "hardswish", "hardtanh", "leaky_relu", "mish", "relu6",
                    "silu", "softplus", "softshrink")},
    "glu": lambda t: F.glu(t[:, :4]).sum(),
    "threshold": lambda t: F.threshold(t, 0.5, 2.).sum(),
    "logit": lambda t: t.sigmoid().logit(0.1).sum(),
    "mse": lambda t: F.mse_loss(t, t.detach() + 1),
    "smooth l1": lambda t: F.smooth_l1_loss(t, t.detach() + 1),
    "huber": lambda t: F.huber_loss(t, t.detach() + 1),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_read_by_all(name, tmp_path):
    def program(x):
        return torch.func.grad(GRADIENTS[name])(x)

    path = tmp_path / "program.pt2"
    proviso.export(program, (X,), dynamic_shapes=({0: AUTO},)).save(path)
    for command in ("check", "run"):
        done = subprocess.run([COMMAND, command, path], capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    for module in (proviso.load(path).module(),
                   torch.export.load(path).module()):
        for rows in (1, 2, 6):
            x = torch.randn(rows, 5)
            torch.testing.assert_close(module(x), program(x))


def test_a_target_outside_of_the_classes_reaches_no_kernel(tmp_path):
    def program(x, target):
        return torch.func.grad(
            lambda t: F.nll_loss(t, target.clamp(max=0)))(x)

    target = torch.zeros(3, dtype=torch.long)
    path = tmp_path / "program.pt2"
    proviso.export(program, (X, target)).save(path)
    module = proviso.load(path).module()
    torch.testing.assert_close(module(X, target), program(X, target))
    with pytest.raises((IndexError, ValueError, RuntimeError)):
        module(X, target - 1000)


# --- control flow

def test_an_associative_scan_is_exported_again():
    from torch._higher_order_ops import associative_scan

    def program(x):
        return associative_scan(lambda a, b: a + b, x, 0,
                                combine_mode="generic")

    ep = proviso.export(program, (X,), dynamic_shapes=ROWS)
    again = proviso.export(ep.module(), (X,), dynamic_shapes=ROWS)
    for rows in (1, 2, 5):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(again.module()(x), x.cumsum(0))
