"""What Python asks of a size, at every place where it may: a program takes the
way that eager takes, or its size is fixed, or it is refused.

Each program is exported at five rows and run at others: what it gives, eager
gives.  (`n is 5` cannot be seen, and is not here.)
"""

import bisect
import collections
import copy
import dataclasses
import decimal
import enum
import fractions
import functools
import heapq
import json
import math
import numbers
import operator
import pickle
import random
import re
import statistics
import struct

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import proviso
from proviso import Dim

ROWS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 17)
# Python takes nothing but its own numbers here, or the operation has no form in
# a graph.
REFUSED = {"mean", "base", "isview", "version", "storage"}


class _Rows(enum.IntEnum):
    THREE = 3
    FOUR = 4
    FIVE = 5
    SIX = 6


class _Int(int):
    pass


class _Float(float):
    pass


def _is_false(condition, x):
    more = x.shape[0] > 4
    return x + 1 if more is not False else x - 1


@functools.lru_cache
def _cached(n):
    return n * 2


def _match_case(x):
    match x.shape[0]:
        case 3:
            return x + 3
        case 5:
            return x + 5
        case _:
            return x


def _match_shape(x):
    match tuple(x.shape):
        case [5, k]:
            return x * k
        case [n, k]:
            return x + 1


def _rangef(x):
    y = x
    for i in range(x.shape[0]):
        y = y + i
    return y


def _rangestep(x):
    y = x
    for i in range(0, 10, x.shape[0]):
        y = y + i
    return y


def _heap(x):
    h = [x.shape[0], 4, 9]
    heapq.heapify(h)
    return x + h[0]


def _divm(x):
    q, r = divmod(x.shape[0], 3)
    return x + q * 10 + r


def _unpack(x):
    n, k = x.shape
    return x.reshape(k, n)


def _walrus(x):
    if (n := x.shape[0]) > 4:
        return x + n
    return x - n


def _trycatch(x):
    try:
        return x + [1, 2, 3, 4][x.shape[0]]
    except IndexError:
        return x - 1


def _trycatch2(x):
    try:
        return x.view(4, -1)
    except RuntimeError:
        return x - 1


def _trycatch3(x):
    try:
        return x + torch.ones(5, 2)
    except RuntimeError:
        return x - 1


def _trycatch4(x):
    try:
        return x / (1 / (x.shape[0] - 3))
    except ZeroDivisionError:
        return x - 1


def _whilef(x):
    n = x.shape[0]
    while n > 2:
        n = n // 2
    return x + n


def _dc(x):

    @dataclasses.dataclass(frozen=True)
    class S:
        n: int
    return x + 1 if S(x.shape[0]) == S(5) else x - 1


def _nt(x):
    T = collections.namedtuple('T', 'n')
    return x + 1 if T(x.shape[0]) == T(5) else x - 1


def _mask_set(x):
    y = x.clone()
    y[x.shape[0] > 3] = 0
    return y


def _version(x):
    y = x.clone()
    y.add_(1)
    return y + y._version


# Code whose file has no name that a file could have.
_IN_TEXT = {"torch": torch}
exec("def storage(x): return x + x.untyped_storage().nbytes()", _IN_TEXT)

PROGRAMS = {
    "type_is_int": lambda x: x + 1 if type(x.shape[0]) is int else x - 1,
    "type_eq_int": lambda x: x + 1 if type(x.shape[0]) == int else x - 1,
    "in_set": lambda x: x + 1 if x.shape[0] in {3, 5} else x - 1,
    "in_list": lambda x: x + 1 if x.shape[0] in [3, 5] else x - 1,
    "in_range": lambda x: x + 1 if x.shape[0] in range(4, 9) else x - 1,
    "in_dict": lambda x: x * {3: 1.0, 5: 2.0}.get(x.shape[0], 3.0),
    "dict_by_tuple": lambda x: x * {(5, 2): 2.0}.get(tuple(x.shape), 3.0),
    "dict_by_shape": lambda x: x * {torch.Size([5, 2]): 2.0}.get(x.shape, 3.0),
    "integral": lambda x: (
        x + 1 if isinstance(x.shape[0], numbers.Integral) else x - 1),
    "gcd": lambda x: x + math.gcd(x.shape[0], 6),
    "comb": lambda x: x + math.comb(x.shape[0], 2),
    "factorial": lambda x: x + math.factorial(x.shape[0]),
    "isqrt": lambda x: x + math.isqrt(x.shape[0]),
    "log": lambda x: x + math.log(x.shape[0]),
    "logb": lambda x: x + math.log(x.shape[0], 3),
    "log10": lambda x: x + math.log10(x.shape[0]),
    "exp": lambda x: x + math.exp(x.shape[0] / 10),
    "hypot": lambda x: x + math.hypot(x.shape[0], x.shape[1]),
    "atan2": lambda x: x + math.atan2(x.shape[0], x.shape[1]),
    "prod": lambda x: x.reshape(math.prod(x.shape)),
    "npprod": lambda x: x.reshape(int(np.prod(x.shape))),
    "npsqrt": lambda x: x / np.sqrt(x.shape[0]),
    "nparray": lambda x: x + torch.tensor(np.array(x.shape).sum()),
    "bitlen": lambda x: x + x.shape[0].bit_length(),
    "popcount": lambda x: x + x.shape[0].bit_count(),
    "binf": lambda x: x + len(bin(x.shape[0])),
    "hexf": lambda x: x + len(hex(x.shape[0] * 10)),
    "pct": lambda x: x + len('%d' % (x.shape[0] * 3)),
    "pcts": lambda x: x + len('%s' % (x.shape[0] * 3)),
    "fmt": lambda x: x + len('{:d}'.format(x.shape[0] * 3)),
    "fmt2": lambda x: x + len('{0}'.format(x.shape[0] * 3)),
    "joined": lambda x: x + len(','.join(map(str, x.shape))),
    "reprl": lambda x: x + len(repr([x.shape[0] * 3])),
    "listmul": lambda x: x + sum([1] * x.shape[0]),
    "index": lambda x: (
        x * list(range(1, 20))[x.shape[0]]),
    "tupleslice": lambda x: x + sum((1, 2, 3, 4, 5, 6, 7)[:x.shape[0]]),
    "strslice": lambda x: x + len('abcdefghijklm'[:x.shape[0]]),
    "strmul": lambda x: x + len('ab' * x.shape[0]),
    "rjust": lambda x: x + len('a'.rjust(x.shape[0])),
    "bytesf": lambda x: x + len(bytes(x.shape[0])),
    "chrf": lambda x: x + ord(chr(60 + x.shape[0])),
    "hashf": lambda x: x + hash(x.shape[0]) % 7,
    "boolf": lambda x: x + 1 if x.shape[0] - 5 else x - 1,
    "notf": lambda x: x + 1 if not x.shape[0] - 5 else x - 1,
    "andf": lambda x: x + (x.shape[0] - 5 and 7),
    "orf": lambda x: x + (x.shape[0] - 5 or 7),
    "maxkey": lambda x: x + max([x.shape[0], 4], key=lambda v: -v),
    "sortedf": lambda x: x + sorted([x.shape[0], 4, 7])[1],
    "sumf": lambda x: x + sum([x.shape[0], 4, 7]),
    "minf": lambda x: x + min(x.shape[0], 4, 7),
    "allf": lambda x: x + 1 if all((s > 4 for s in x.shape[:1])) else x - 1,
    "anyf": lambda x: x + 1 if any((s == 5 for s in x.shape)) else x - 1,
    "bis": lambda x: x + bisect.bisect([2, 4, 6], x.shape[0]),
    "counter": lambda x: (
        x + collections.Counter([5, 3])[x.shape[0]] if True else x),
    "roundn": lambda x: x + round(x.shape[0], -1),
    "roundf": lambda x: x + round(x.shape[0] / 3, 1),
    "floorf": lambda x: x + x.shape[0] * 0.7 // 1,
    "modf": lambda x: x + x.shape[0] * 0.7 % 1,
    "mathmodf": lambda x: x + math.modf(x.shape[0] * 0.7)[0],
    "fmod": lambda x: x + math.fmod(x.shape[0], 3),
    "powf": lambda x: x + 2 ** x.shape[0],
    "powm": lambda x: x + pow(2, x.shape[0], 5),
    "shift": lambda x: x + (1 << x.shape[0]),
    "andb": lambda x: x + (x.shape[0] & 3),
    "xorb": lambda x: x + (x.shape[0] ^ 3),
    "inv": lambda x: x + ~x.shape[0],
    "absf": lambda x: x + abs(3 - x.shape[0]),
    "negf": lambda x: x[-x.shape[0] + 1:],
    "posf": lambda x: x + +x.shape[0],
    "asratio": lambda x: x + x.shape[0].as_integer_ratio()[0],
    "real": lambda x: x + x.shape[0].real,
    "numer": lambda x: x + x.shape[0].numerator,
    "conj": lambda x: x + x.shape[0].conjugate(),
    "intenum": lambda x: x + 1 if x.shape[0] == _Rows.FIVE else x - 1,
    "enumint": lambda x: x + 1 if _Rows.FIVE != x.shape[0] else x - 1,
    "enumless": lambda x: x + 1 if x.shape[0] < _Rows.FIVE else x - 1,
    "inenum": lambda x: x + 1 if x.shape[0] in list(_Rows) else x - 1,
    "enumsum": lambda x: x * (x.shape[0] + _Rows.SIX) * (
        _Rows.THREE - x.shape[0]) * (x.shape[0] // _Rows.FOUR),
    "intflag": lambda x: x + 1 if x.shape[0] & re.IGNORECASE else x - 1,
    "ofint": lambda x: x * (x.shape[0] % _Int(3)) * (x.shape[0] == _Int(5)),
    "offloat": lambda x: x * (x.shape[0] * _Float(0.5)) * (
        x.shape[0] // _Float(2.5)) * (x.shape[0] == _Float(5)),
    "complexeq": lambda x: x + 1 if x.shape[0] == 5 + 0j else x - 1,
    "decimal": lambda x: x + 1 if x.shape[0] == decimal.Decimal(5) else x - 1,
    "decimals": lambda x: x * float(decimal.Decimal(2) * x.shape[0] - 1),
    "istrue": lambda x: x + 1 if (x.shape[0] > 4) is True else x - 1,
    "isfalse": lambda x: _is_false(x.shape[0] == 5, x),
    "isint": lambda x: x + 1 if (x.shape[0] / 5).is_integer() else x - 1,
    "floatf": lambda x: x * float(x.shape[0]),
    "complexf": lambda x: (x * complex(x.shape[0], 1)).real,
    "lenx": lambda x: x + len(x),
    "zipx": lambda x: torch.stack([a + b for a, b in zip(x, [1, 2, 3])]),
    "enumx": lambda x: torch.stack([a * i for i, a in enumerate(x)]),
    "star": lambda x: torch.zeros(*x.shape) + x,
    "shapeeq": lambda x: x + 1 if x.shape == (5, 2) else x - 1,
    "shapeeq2": lambda x: x + 1 if list(x.shape) == [5, 2] else x - 1,
    "shapein": lambda x: x + 1 if x.shape in [(5, 2), (3, 2)] else x - 1,
    "shapelt": lambda x: x + 1 if tuple(x.shape) < (5, 3) else x - 1,
    "shapecount": lambda x: x + x.shape.count(5),
    "shapeindex": lambda x: x + list(x.shape).index(2),
    "numelf": lambda x: x + x.shape.numel(),
    "numel2": lambda x: x + x.numel(),
    "nbytes": lambda x: x + x.nbytes,
    "stridef": lambda x: x + x.t().stride(0),
    "attr": lambda x: x + getattr(math, 'pi' if x.shape[0] == 5 else 'e'),
    "lru": lambda x: x * _cached(x.shape[0]),
    "jsonf": lambda x: x + len(json.dumps(list(x.shape))),
    "structf": lambda x: x + len(struct.pack('i', x.shape[0])),
    "rng": lambda x: x + random.Random(x.shape[0]).random(),
    "enumc": lambda x: x + 1 if _Rows(x.shape[0]) is _Rows.FIVE else x - 1,
    "ternchain": lambda x: x + (1 if 3 < x.shape[0] < 7 else 2),
    "setf": lambda x: x + len({x.shape[0], 5}),
    "distinct": lambda x: x + len(set(x.shape)),
    "pad": lambda x: torch.nn.functional.pad(x, (0, 0, 0, -x.shape[0] % 4)),
    "chunks": lambda x: x.chunk(3)[-1],
    "splitf": lambda x: x.split(3)[-1],
    "tsplit": lambda x: x.tensor_split(3)[0],
    "unbindf": lambda x: x.unbind(0)[-1],
    "einops": lambda x: torch.einsum('nk,mk->nm', x, x),
    "opindex": lambda x: x + operator.index(x.shape[0]),
    "intf": lambda x: x + int(x.shape[0]),
    "inttext": lambda x: x + int(str(x.shape[0])),
    "evalf": lambda x: x + eval(f'{x.shape[0]}+1'),
    "copyf": lambda x: x + copy.copy(x.shape[0]),
    "deepcopyf": lambda x: x + copy.deepcopy(tuple(x.shape))[0],
    "torchtensor": lambda x: x + torch.tensor(x.shape[0]),
    "torchtensor2": lambda x: x + torch.tensor(x.shape).sum(),
    "astensor": lambda x: x + torch.as_tensor([x.shape[0] * 1.0]),
    "full": lambda x: x + torch.full((2,), x.shape[0]),
    "item": lambda x: x + torch.tensor(x.shape[0]).item(),
    "npint": lambda x: x + 1 if np.int64(5) == x.shape[0] else x - 1,
    "npint2": lambda x: x + 1 if x.shape[0] == np.int64(5) else x - 1,
    "floateq": lambda x: x + 1 if x.shape[0] == 5.0 else x - 1,
    "booleq": lambda x: x + 1 if (x.shape[0] == 5) == True else x - 1,
    "boolint": lambda x: x + int(x.shape[0] == 5),
    "boolmul": lambda x: x * (x.shape[0] == 5),
    "boolidx": lambda x: x + [10, 20][x.shape[0] == 5],
    "boolsum": lambda x: x + sum([x.shape[0] == 5, True]),
    "mask": lambda x: x[x.shape[0] > 3],
    "mask_dim": lambda x: x[:, x.shape[0] > 3],
    "mask_of_none": lambda x: x[None, x.shape[0] == 5],
    "mask_number": lambda x: x[x.shape[0] == 5, ..., 0],
    "mask_list": lambda x: x[:3][[x.shape[0] > 3, True, False]],
    "mask_set": _mask_set,
    "oftype": lambda x: x * type(x.shape[0])(2),
    "mean": lambda x: x + statistics.mean(x.shape),
    "base": lambda x: x + (x[:]._base is x),
    "isview": lambda x: x + x[:]._is_view(),
    "version": _version,
    "storage": _IN_TEXT["storage"],
    "offset": lambda x: x + x[1:].storage_offset(),
    "strides": lambda x: x + sum(x.stride()),
    "match_case": _match_case,
    "match_shape": _match_shape,
    "rangef": _rangef,
    "rangestep": _rangestep,
    "heap": _heap,
    "divm": _divm,
    "unpack": _unpack,
    "walrus": _walrus,
    "trycatch": _trycatch,
    "trycatch2": _trycatch2,
    "trycatch3": _trycatch3,
    "trycatch4": _trycatch4,
    "whilef": _whilef,
    "dc": _dc,
    "nt": _nt,
}


class Of(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def run(function, x):
    try:
        return function(x)
    except Exception:
        return None


def is_same(found, expected):
    return (expected is not None and found.dtype == expected.dtype
            and found.shape == expected.shape
            and torch.allclose(found, expected, equal_nan=True))


def exported(function, x):
    return proviso.export(Of(function), (x,), dynamic_shapes=[{0: Dim.AUTO}])


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - REFUSED))
def test_a_program_takes_eagers_way(name):
    program = PROGRAMS[name]
    module = exported(program, torch.randn(5, 2)).module()
    taken = []
    for rows in ROWS:
        x = torch.randn(rows, 2)
        found = run(module, x)
        if found is not None:
            taken.append(rows)
            assert is_same(found, run(program, x)), f"at {rows} rows"
    assert 5 in taken


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_form_is_an_error(name):
    with pytest.raises((NotImplementedError, TypeError, RuntimeError)):
        exported(PROGRAMS[name], torch.randn(5, 2))


def test_a_cache_keeps_no_traced_number():
    _cached.cache_clear()
    exported(lambda x: x * _cached(x.shape[0]), torch.randn(5, 2))
    assert type(_cached(5)) is int and _cached(5) == 10
    assert _cached.cache_info().currsize == 1


def test_the_storage_of_a_traced_tensor_is_refused():
    with pytest.raises(NotImplementedError, match="t.nbytes"):
        exported(lambda x: x + x.untyped_storage().nbytes(), torch.randn(5, 2))


@pytest.mark.parametrize("ask", [
    lambda x: torch.ones(2) * x.stride(0), lambda x: torch.ones(2) * x.stride()[0],
    lambda x: torch.ones(2) * x[1:].storage_offset()])
def test_strides_are_those_of_sizes_that_are_not_0(ask):
    module = proviso.export(
        Of(ask), (torch.ones(3, 5),),
        dynamic_shapes=[{0: Dim.AUTO, 1: Dim.AUTO}]).module()
    for shape in [(3, 5), (3, 1), (2, 7), (3, 0), (0, 5)]:
        x = torch.ones(shape)
        found = run(module, x)
        assert found is None or is_same(found, run(ask, x)), shape
    assert run(module, torch.ones(3, 1)) is not None


def test_a_key_from_data_is_an_error_that_says_so():
    with pytest.raises(TypeError, match="data alone knows it"):
        exported(lambda x: x * {5: 2}.get(int(x.sum()), 3),
                 torch.ones(5, 2, dtype=torch.int64))


# --- of a size n and its conditions, wherever a number or a bool is taken

OF_A_SIZE = {
    "causal": lambda x, n: F.scaled_dot_product_attention(
        x[None], x[None], x[None], is_causal=n > 3),
    "align": lambda x, n: F.interpolate(
        x[None], scale_factor=2, mode="linear", align_corners=n > 3),
    "keepdim": lambda x, n: x.sum(0, keepdim=n > 3),
    "keepdim2": lambda x, n: x.max(0, keepdim=n > 3)[0],
    "descending": lambda x, n: x.sort(descending=n > 3)[0],
    "dropout": lambda x, n: F.dropout(x, 0.0, training=n > 3),
    "unique": lambda x, n: x.unique(sorted=n > 3).shape[0] + x,
    "largest": lambda x, n: x.topk(1, largest=n > 3)[0],
    "argsort": lambda x, n: x.argsort(descending=n > 3, stable=True),
    "inplace": lambda x, n: F.relu(x.clone(), inplace=n > 3),
    "bn": lambda x, n: (
        F.batch_norm(x, torch.zeros(4), torch.ones(4), training=n > 3)),
    "unbiased": lambda x, n: x.var(0, unbiased=n > 3),
    "requires_grad": lambda x, n: (
        torch.zeros(2, requires_grad=n > 3).detach() + 1),
    "return_inv": lambda x, n: x.unique(return_inverse=n > 3)[0].shape[0] + x,
    "ceil_mode": lambda x, n: F.max_pool1d(x[None], 3, ceil_mode=n > 3),
    "tensor": lambda x, n: torch.tensor(n > 3),
    "where": lambda x, n: torch.where(torch.tensor(n > 3), x, -x),
    "mul": lambda x, n: x * (n > 3),
    "add": lambda x, n: x + (n > 3),
    "fill": lambda x, n: x.clone().fill_(n > 3),
    "eq": lambda x, n: x == (n > 3),
    "clamp": lambda x, n: x.clamp(min=n > 3),
    "pow": lambda x, n: x ** (n > 3),
    "maskfill": lambda x, n: x.masked_fill(x > 1, n > 3),
    "div": lambda x, n: x / (n > 0),
    "cumprod": lambda x, n: x.to(torch.float64, copy=n > 3),
    "nonblock": lambda x, n: x.to("cpu", non_blocking=n > 3),
    "contig": lambda x, n: x.std(0, correction=n > 3),
    "arange": lambda x, n: torch.arange(n > 3),
    "mods": lambda x, n: torch.nn.Linear(4, 2, bias=n > 3)(x).detach() * 0,
    "range": lambda x, n: sum(range(n > 3), 0) + x,
    "~b": lambda x, n: x + ~(n > 3),
    "-b": lambda x, n: x + -(n > 3),
    "+b": lambda x, n: x + +(n > 3),
    "b^c": lambda x, n: x + ((n > 3) ^ (n < 5)),
    "b|c": lambda x, n: x + ((n > 3) | (n < 5)),
    "b&c": lambda x, n: x + ((n > 3) & (n < 5)),
    "b/2": lambda x, n: x + (n > 3) / 2,
    "b//1": lambda x, n: x + (n > 3) // 1,
    "b**2": lambda x, n: x + (n > 3) ** 2,
    "b<c": lambda x, n: x + 1 if (n > 3) < (n > 2) else x,
    "b+1": lambda x, n: x + ((n > 3) + 1),
    "1+b": lambda x, n: x + (1 + (n > 3)),
    "b*n": lambda x, n: x + (n > 3) * n,
    "n*b": lambda x, n: x + n * (n > 3),
    "b-c": lambda x, n: x + ((n > 3) - (n > 2)),
    "sum": lambda x, n: x + sum([n > 3, n > 4]),
    "sumn": lambda x, n: x + sum([n > 3, n > 4], n),
    "pow3": lambda x, n: x + pow(n, 2, 5),
    "powb": lambda x, n: x + pow(2, n, 5),
    "divmod": lambda x, n: x + n.__divmod__(3)[1],
    "rdivmod": lambda x, n: x + n.__rdivmod__(30)[0],
    "to_bytes": lambda x, n: x + n.to_bytes(2, "big")[1],
    "bit_length": lambda x, n: x + n.bit_length(),
    "Fraction": lambda x, n: x + float(fractions.Fraction(n)),
    "Fraction2": lambda x, n: x + float(fractions.Fraction(n, 3)),
    "FractionF": lambda x, n: x + float(fractions.Fraction(n / 2)),
    "pickle": lambda x, n: x + pickle.loads(pickle.dumps(n)),
    "pickleF": lambda x, n: x + pickle.loads(pickle.dumps(n / 2)),
    "pickleb": lambda x, n: x + pickle.loads(pickle.dumps(n > 3)),
    "pickleshape": lambda x, n: (
        x + pickle.loads(pickle.dumps(tuple(x.shape)))[0]),
    "1j*n": lambda x, n: x * (1j * n),
    "n+1j": lambda x, n: x * (n + 1j),
    "n*1j": lambda x, n: x * (n * 1j),
    "f*1j": lambda x, n: x * (n / 2 * 1j),
    "1j-n": lambda x, n: x * (1j - n),
    "n/1j": lambda x, n: x * (n / 1j),
    "1j**n": lambda x, n: x * 1j ** n,
    "n**1j": lambda x, n: x * n ** 1j,
    "n==1j": lambda x, n: x * (n == 1j),
    "hex": lambda x, n: x + len((n / 2).hex()),
    "invf": lambda x, n: x + n * True,
    "b==1": lambda x, n: x + 1 if (n > 3) == 1 else x,
    "b>0": lambda x, n: x + 1 if (n > 3) > 0 else x,
    "max(b,c)": lambda x, n: x + max(n > 3, n > 4),
    "int(b)": lambda x, n: x + int(n > 3),
    "float(b)": lambda x, n: x + float(n > 3),
    "b%2": lambda x, n: x + (n > 3) % 2,
    "b<<1": lambda x, n: x + ((n > 3) << 1),
    "abs(b)": lambda x, n: x + abs(n > 3),
    "round(b)": lambda x, n: x + round(n > 3),
    "math.sqrt(b)": lambda x, n: x + math.sqrt(n > 3),
    "math.ceil(b)": lambda x, n: x + math.ceil(n > 3),
    "b.real": lambda x, n: x + (n > 3).real,
    "b!=c": lambda x, n: x + ((n > 3) != (n > 2)),
    "b^1": lambda x, n: x + ((n > 3) ^ 1),
    "b|0": lambda x, n: x + ((n > 3) | 0),
    "b&1": lambda x, n: x + ((n > 3) & 1),
    "1^b": lambda x, n: x + (1 ^ (n > 3)),
    "n^b": lambda x, n: x + (n ^ (n > 3)),
    "n<b": lambda x, n: x + 1 if n < (n > 3) else x,
    "2/b": lambda x, n: x + 2 / (n > 0),
    "b/c": lambda x, n: x + (n > 3) / (n > 0),
    "2**b": lambda x, n: x + 2 ** (n > 3),
    "n&1.0": lambda x, n: x + (n & True),
    "complex": lambda x, n: (x * complex(n, n)).real,
    "n.conj": lambda x, n: x + n.conjugate(),
    "fimag": lambda x, n: torch.full((2,), (n / 2).imag),
    "index bool": lambda x, n: x + [1, 2][n > 3],
    "str*b": lambda x, n: x + len("ab" * (n > 3)),
    "list*b": lambda x, n: x + len([1] * (n > 3)),
    "b in": lambda x, n: x + ((n > 3) in (True, 2)),
    "b is": lambda x, n: x + 1 if n > 3 and n < 9 else x,
    "not b": lambda x, n: x + (not n > 3),
    "format": lambda x, n: x + len(f"{n > 3:>7}"),
    "divmodb": lambda x, n: x + divmod(n > 3, 2)[1],
    "fsum": lambda x, n: x + math.fsum([n, n / 2]),
    "math.prod": lambda x, n: x + math.prod([n > 3, n]),
    "math.dist": lambda x, n: x + math.dist([n], [1]),
    "statist": lambda x, n: x + math.ldexp(n / 2, 2),
    "round2": lambda x, n: x + round(n, 1),
    "trunc": lambda x, n: x + math.trunc(n),
    "b.bitlen": lambda x, n: x + (n > 3).bit_length(),
    "n.bitlen": lambda x, n: x + (n * 2).bit_length(),
    "frombytes": lambda x, n: (
        x + type(5).from_bytes(n.to_bytes(1, "little"), "little")),
}
# Those whose guards are conditions, not the size itself.
DECIDED = ("keepdim", "descending", "dropout", "causal", "unique", "~b", "-b",
           "b/2", "b//1", "b**2", "b<c", "max(b,c)", "abs(b)", "2/b", "b^c")


@pytest.mark.parametrize("name", OF_A_SIZE)
@pytest.mark.filterwarnings("ignore")
def test_a_number_or_a_condition_stands_as_in_eager(name):
    def program(x):
        return OF_A_SIZE[name](x, x.shape[0])

    def filled(rows):
        return torch.arange(rows * 4.0).reshape(rows, 4)

    module = exported(program, filled(5)).module()
    taken = []
    for rows in ROWS:
        found = run(module, filled(rows))
        if found is not None:
            taken.append(rows)
            assert is_same(found, run(program, filled(rows))), f"{rows} rows"
    assert 5 in taken
    assert len(taken) >= 3 or name not in DECIDED


@pytest.mark.parametrize("program, words", [
    (lambda x: x + float(decimal.Decimal(x.shape[0])),
     r"conversion from SymInt to Decimal(.|\n)*operator.index\(n\)"),
    (lambda x: x + float(decimal.Decimal(x.shape[0] / 2)), r"float\(f\)"),
    (lambda x: torch.tensor(x.detach().numpy()), "compute with torch's"),
    (lambda x: x + np.asarray(x).sum(), "compute with torch's"),
])
def test_where_only_pythons_numbers_stand_the_error_has_a_remedy(program, words):
    with pytest.raises((TypeError, NotImplementedError, RuntimeError),
                       match=words):
        exported(program, torch.randn(5, 2))


def test_a_condition_on_data_where_a_bool_is_taken_is_an_error():
    with pytest.raises(TypeError, match=r"bool\(c\) for a condition"):
        exported(lambda x: x.sum(0, keepdim=x.sum().item() > 3),
                 torch.ones(5, 2))
