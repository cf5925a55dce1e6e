"""An error of a shape that a program catches is a branch: at sizes where eager
raises nothing, the program that caught it is refused.

Each operator is tried in `try .. except` on x of so many rows and two columns,
exported where it fails and where it runs, and run at other sizes.
"""

import array
import contextlib
import datetime
import decimal
import fractions
import itertools
import json
import math
import statistics
import struct

import pytest
import torch
import torch.nn.functional as F

import proviso
from proviso import Dim

ROWS = range(10)
EXAMPLES = (3, 4, 5, 7)


def _assert(condition):
    assert condition


def _raising(x):
    if x.shape[0] < 5:
        raise ValueError("few")
    return x + 1


OPERATORS = {
    "view": lambda x: x.view(4, -1),
    "reshape": lambda x: x.reshape(4, -1),
    "view2": lambda x: x.view(3, 2),
    "expand": lambda x: x.expand(4, 2),
    "add": lambda x: x + torch.ones(4, 2),
    "add_": lambda x: x.clone().add_(torch.ones(4, 2)),
    "mul row": lambda x: x * torch.ones(4)[:, None],
    "matmul": lambda x: x.t() @ torch.ones(4, 3),
    "mm": lambda x: torch.mm(x.t(), torch.ones(4, 3)),
    "bmm": lambda x: torch.bmm(x.t()[None], torch.ones(1, 4, 3)),
    "mv": lambda x: torch.mv(x.t(), torch.ones(4)),
    "dot": lambda x: torch.dot(x[:, 0], torch.ones(4)),
    "addmm": lambda x: torch.addmm(torch.ones(3), x.t(), torch.ones(4, 3)),
    "linear": lambda x: F.linear(x.t(), torch.ones(3, 4)),
    "einsum": lambda x: torch.einsum('nk,nm->km', x, torch.ones(4, 3)),
    "cat": lambda x: torch.cat([x.t(), torch.ones(3, 4)]),
    "cat1": lambda x: torch.cat([x, torch.ones(4, 1)], 1),
    "stack": lambda x: torch.stack([x, torch.ones(4, 2)]),
    "hstack": lambda x: torch.hstack([x, torch.ones(4, 2)]),
    "vstack": lambda x: torch.vstack([x.t(), torch.ones(1, 4)]),
    "where": lambda x: torch.where(torch.ones(4, 1) > 0, x, x),
    "select": lambda x: x.select(0, 5),
    "select-": lambda x: x.select(0, -6),
    "index": lambda x: x[5],
    "index-": lambda x: x[-6],
    "narrow": lambda x: x.narrow(0, 0, 6),
    "narrow2": lambda x: x.narrow(0, 3, 3),
    "split": lambda x: x.split([2, 2])[1],
    "split2": lambda x: x.split([3, -1 + 2])[0],
    "unflatten": lambda x: x.unflatten(0, (2, -1)),
    "unflatten2": lambda x: x.unflatten(0, (2, 2)),
    "unfold": lambda x: x.unfold(0, 5, 1),
    "diagonal": lambda x: torch.diagonal(x, 3),
    "diag_embed": lambda x: torch.diag_embed(x[:, 0]),
    "trace": lambda x: torch.trace(x),
    "tri": lambda x: x.tril(),
    "pool": lambda x: F.max_pool1d(x.t()[None], 5),
    "avg": lambda x: F.avg_pool1d(x.t()[None], 5),
    "conv": lambda x: F.conv1d(x.t()[None], torch.ones(3, 2, 5)),
    "conv2": lambda x: F.conv1d(x[None], torch.ones(3, 4, 1)),
    "convt": lambda x: F.conv_transpose1d(x[None], torch.ones(4, 3, 1)),
    "pad": lambda x: F.pad(x, (0, 0, -5, 0)),
    "reflect": lambda x: F.pad(x.t()[None], (4, 4), mode='reflect'),
    "circular": lambda x: F.pad(x.t()[None], (5, 5), mode='circular'),
    "ln": lambda x: F.layer_norm(x.t(), (4,)),
    "bn": lambda x: F.batch_norm(x[None], torch.zeros(4), torch.ones(4)),
    "gn": lambda x: F.group_norm(x[None], 2),
    "in": lambda x: F.instance_norm(x.t()[None]),
    "pixel": lambda x: (
        F.pixel_shuffle(x[None, :, None].expand(1, x.shape[0], 3, 2), 2)),
    "glu": lambda x: F.glu(x, 0),
    "chan": lambda x: F.channel_shuffle(x[None, :, None], 2),
    "mse": lambda x: F.mse_loss(x, torch.ones(4, 2)),
    "cos": lambda x: F.cosine_similarity(x, torch.ones(4, 2), 0),
    "ce": lambda x: F.cross_entropy(x, torch.zeros(4, dtype=torch.long)),
    "nll": lambda x: F.nll_loss(x, torch.zeros(4, dtype=torch.long)),
    "bce": lambda x: F.binary_cross_entropy(x.sigmoid(), torch.ones(4, 2)),
    "l1": lambda x: F.l1_loss(x, torch.ones(4, 2)),
    "gather": lambda x: x.gather(0, torch.zeros(5, 2, dtype=torch.long)),
    "gather1": lambda x: x.gather(1, torch.zeros(5, 2, dtype=torch.long)),
    "scatter": lambda x: x.scatter(1, torch.zeros(5, 1, dtype=torch.long), 1.0),
    "index_add": lambda x: (
        x.index_add(0, torch.zeros(2, dtype=torch.long), torch.ones(2, 2))),
    "index_add1": lambda x: (
        x.index_add(1, torch.zeros(2, dtype=torch.long), torch.ones(4, 2))),
    "masked": lambda x: x.masked_fill(torch.ones(4, 1) > 0, 0.0),
    "boolidx": lambda x: x[torch.tensor([True] * 4)],
    "idx": lambda x: x[torch.tensor([4])],
    "put": lambda x: x.index_put((torch.tensor([0]),), torch.ones(3)),
    "copy_": lambda x: x.clone().copy_(torch.ones(4, 2)),
    "fill": lambda x: x.new_full((x.shape[0] - 4,), 1.0),
    "zeros": lambda x: torch.zeros(x.shape[0] - 4),
    "arange": lambda x: torch.arange(4, x.shape[0]),
    "linspace": lambda x: torch.linspace(0, 1, x.shape[0] - 4),
    "interp": lambda x: F.interpolate(x.t()[None], size=x.shape[0] - 4),
    "adaptive": lambda x: F.adaptive_avg_pool1d(x.t()[None], x.shape[0] - 4),
    "topk": lambda x: x.topk(4, 0)[0],
    "kth": lambda x: x.kthvalue(4, 0)[0],
    "max0": lambda x: x[4:].max(),
    "argmax": lambda x: x[4:].argmax(),
    "median": lambda x: x[4:].median(),
    "amax": lambda x: x[4:].amax(0),
    "squeeze": lambda x: x.squeeze(0),
    "tensordot": lambda x: torch.tensordot(x, torch.ones(4, 3), ([0], [0])),
    "kron": lambda x: torch.kron(x, x),
    "outer": lambda x: torch.outer(x[:, 0], x[:, 0]),
    "cross": lambda x: torch.linalg.cross(x, x, dim=0),
    "det": lambda x: torch.linalg.det(x[:2]),
    "inv": lambda x: torch.linalg.inv(x @ x.t()),
    "chol": lambda x: (
        torch.linalg.cholesky(x[:, :1] @ x[:, :1].t() + torch.eye(4))),
    "solve": lambda x: torch.linalg.solve(torch.eye(4), x),
    "det2": lambda x: torch.linalg.det(x),
    "fft": lambda x: torch.fft.fft(x, n=x.shape[0] - 4, dim=0).real,
    "stft": lambda x: torch.stft(x[:, 0], 4, return_complex=False),
    "hist": lambda x: torch.histc(x, x.shape[0] - 4),
    "rep": lambda x: x.repeat_interleave(torch.tensor([1, 2, 1, 1]), 0),
    "repeat": lambda x: x.repeat(x.shape[0] - 4, 1),
    "tile": lambda x: x.tile(2),
    "roll": lambda x: x.roll(1, 0),
    "check": lambda x: (torch._check(x.shape[0] == 4), x + 1)[1],
    "check2": lambda x: (torch._check(x.shape[0] > 4), x + 1)[1],
    "assert": lambda x: (_assert(x.shape[0] > 4), x + 1)[1],
    "raise": lambda x: _raising(x),
    "div": lambda x: x + 1 // (x.shape[0] - 5),
    "mod": lambda x: x + 7 % (x.shape[0] - 3),
    "sqrt": lambda x: x + math.sqrt(x.shape[0] - 4),
    "log": lambda x: x + math.log2(x.shape[0] - 4),
    "listidx": lambda x: x + [1, 2, 3, 4][x.shape[0]],
    "sdpa": lambda x: (
        F.scaled_dot_product_attention(
            x[None, None], x[None, None], x[None, None],
            attn_mask=torch.ones(4, 4))),
    "emb": lambda x: F.embedding(torch.tensor([4]), x),
    "mha": lambda x: (
        F.multi_head_attention_forward(
            x[:, None], x[:, None], x[:, None], 2, 1, torch.ones(6, 2), None,
            None, None, False, 0.0, torch.ones(2, 2), None,
            attn_mask=torch.zeros(4, 4))[0]),
    "as_strided": lambda x: x.as_strided((4, 2), (2, 1)),
    "cumsum": lambda x: x.cumsum(0) + torch.ones(4, 2),
    "clamp": lambda x: x.clamp(min=torch.zeros(4, 1)),
    "lerp": lambda x: x.lerp(torch.ones(4, 2), 0.5),
    "addcmul": lambda x: x.addcmul(torch.ones(4, 1), torch.ones(4, 1)),
    "baddbmm": lambda x: (
        torch.baddbmm(torch.ones(1, 2, 3), x.t()[None], torch.ones(1, 4, 3))),
    "chain": lambda x: (
        torch.linalg.multi_dot([x.t(), torch.ones(4, 3), torch.ones(3, 1)])),
    "cdist": lambda x: torch.cdist(x.t(), torch.ones(3, 4)),
    "bilinear": lambda x: F.bilinear(x.t(), x.t(), torch.ones(3, 4, 4)),
    "prelu": lambda x: F.prelu(x[None], torch.ones(4)),
    "unbind": lambda x: (lambda a, b, c, d: a + d)(*x.unbind(0)),
    "unpack": lambda x: (lambda a, b, c, d: a + d)(*x),
    "movedim": lambda x: x.movedim(0, 1) + torch.ones(2, 4),
}


# What is in an index or beside the sizes, a kernel alone looks at: the program
# has no `except` by then, and ends in the error.
SEEN_BY_KERNELS = {"idx", "emb", "index_add1", "kth", "rep", "as_strided",
                   "prelu", "hist"}


class Catching(torch.nn.Module):
    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def forward(self, x):
        try:
            return self.operator(x)
        except Exception:
            return x - 1


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("rows", EXAMPLES)
def test_a_caught_error_is_a_branch(name, rows):
    eager = Catching(OPERATORS[name])
    module = proviso.export(eager, (torch.randn(rows, 2),),
                            dynamic_shapes=[{0: Dim.AUTO}]).module()
    for n in ROWS:
        x = torch.randn(n, 2)
        try:
            found = module(x)
        except Exception:
            assert n != rows or name in SEEN_BY_KERNELS
            continue
        expected = eager(x)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        assert torch.allclose(found, expected, equal_nan=True), f"{n} rows"


def test_an_error_of_the_tracers_own_is_not_caught():
    def program(x):
        try:
            return x + x.untyped_storage().nbytes()
        except Exception:
            return x - 1

    with pytest.raises(NotImplementedError, match="eager does not raise"):
        proviso.export(Catching(program), (torch.randn(5, 2),),
                       dynamic_shapes=[{0: Dim.AUTO}])


# What torch and Python refuse of a symbolic number alone.
REFUSED = {
    "keepdim": lambda x: x.sum(0, keepdim=x.shape[0] > 3),
    "condition before": lambda x, c=None: _kept(x.shape[0] > 3, x),
    "arange": lambda x: torch.arange(x.shape[0] > 3) + 1.0,
    "invert": lambda x: x + ~(x.shape[0] > 3),
    "or": lambda x: x + ((x.shape[0] > 3) | 4),
    "dropout": lambda x: F.dropout(x, 0.0, training=x.shape[0] > 3),
    "sort": lambda x: torch.sort(x, 0, descending=x.shape[0] > 3)[0],
    "decimal": lambda x: x + float(decimal.Decimal(x.shape[0])),
    "fraction": lambda x: x + float(fractions.Fraction(x.shape[0], 2)),
    "json": lambda x: x + len(json.dumps(x.shape[0])),
    "timedelta": lambda x: x + datetime.timedelta(x.shape[0]).days,
    "date": lambda x: x + datetime.date(2000, 1, 1 + x.shape[0]).day,
    "struct": lambda x: x + len(struct.pack(f"{x.shape[0]}s", b"")),
    "bytes": lambda x: x + len(bytes(x.shape[0])),
    "array": lambda x: x + array.array("l", [x.shape[0]])[0],
    "str": lambda x: x + len("ab" * x.shape[0]),
    "join": lambda x: x + len("".join(map(str, x.shape))),
    "comb": lambda x: x + math.comb(x.shape[0] + 1, 2),
    "statistics": lambda x: x + statistics.mean([x.shape[0], 2.5]),
    "data_ptr": lambda x: x + (x.data_ptr() > 0),
    "islice": lambda x: x + len(list(itertools.islice("abcdef", x.shape[0]))),
    "repeat": lambda x: x + len(list(itertools.repeat(1, x.shape[0]))),
    "isqrt": lambda x: x + math.isqrt(x.shape[0]),
    "list": lambda x: x + sum([1] * x.shape[0]),
    "slice": lambda x: x + len("abcdefgh"[:x.shape[0]]),
    "dict": lambda x: x + {True: 1.0, False: 2.0}[x.shape[0] > 3],
}


def _kept(keepdim, x):
    try:
        return x.sum(0, keepdim=keepdim)
    except TypeError:
        return x - 2


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("rows", (2, 5))
def test_a_refusal_of_what_is_symbolic_decides_no_way(name, rows):
    eager = Catching(REFUSED[name])
    try:
        module = proviso.export(eager, (torch.randn(rows, 2),),
                                dynamic_shapes=[{0: Dim.AUTO}]).module()
    except (NotImplementedError, TypeError):
        return
    for n in ROWS:
        x = torch.randn(n, 2)
        try:
            found = module(x)
        except Exception:
            assert n != rows
            continue
        expected = eager(x)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        assert torch.equal(found, expected), f"{n} rows"


# What is an error of a plain number too.
ALSO_EAGERS = {
    "iter": lambda x: iter(x.shape[0]), "len": lambda x: len(x.shape[0]),
    "add": lambda x: x.shape[0] + "a", "call": lambda x: x.shape[0](),
    "less": lambda x: x.shape[0] < "a", "none": lambda x: x.shape[0] < None,
    "item": lambda x: x.shape[0][0], "sort": lambda x: sorted([x.shape[0], ""]),
    "sum": lambda x: sum([x.shape[0], None]), "star": lambda x: [*x.shape[0]],
    "concatenate": lambda x: [1] + x.shape[0], "in": lambda x: 1 in x.shape[0],
    "join": lambda x: "".join(x.shape), "path": lambda x: open(x.shape),
    "unpack": lambda x: (lambda a: a)(**x.shape[0]),
    "enter": lambda x: contextlib.ExitStack().enter_context(x.shape[0]),
}


@pytest.mark.parametrize("name", ALSO_EAGERS)
def test_an_error_of_a_plain_number_is_caught(name):
    eager = Catching(ALSO_EAGERS[name])
    module = proviso.export(eager, (torch.randn(5, 2),),
                            dynamic_shapes=[{0: Dim.AUTO}]).module()
    for n in ROWS:
        x = torch.randn(n, 2)
        assert torch.equal(module(x), eager(x))


def test_a_question_about_data_is_not_caught():
    def program(x):
        try:
            return x + 1 if int(x.sum()) > 3 else x
        except RuntimeError:
            return x - 1

    with pytest.raises(NotImplementedError, match="data-dependent"):
        proviso.export(Catching(program), (torch.ones(5, dtype=torch.int64),),
                       dynamic_shapes=[{0: Dim.AUTO}])
