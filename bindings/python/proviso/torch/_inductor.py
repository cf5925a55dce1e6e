"""Strides and dimensions of Inductor's index expressions.

    with proviso.torch.shape_env(inductor=True): ...     # or PROVISO_INDUCTOR=1

Of what Inductor spends on symbols, most goes into SymPy's general `simplify`,
for questions that are about polynomials over atoms:

    stride_at(64*x0 + (x1//4), x0)            64: the atom x1//4 cancels

These go to proviso._core.IndexForms.  FloorDiv, ModularIndexing and Identity
are atoms and stay as Inductor matches them.  What the forms do not answer goes
to torch's own function.

    join_dimensions(x0 % 8 + 8*((x0//8) % 4))    x0 % 32

looks for two terms that fit, factor by factor, instead of SymPy's `match`.
"""

import functools
import random
import sys

import sympy
from torch._inductor import sizevars
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

from proviso.torch import _differences, _settings
from proviso.torch._quotients import checked, forms


# ---- strides ---------------------------------------------------------------

_torch_stride_at = sizevars.stride_at
_torch_stride_at_vec_range = sizevars.stride_at_vec_range


@functools.lru_cache(8192)
def _stride_at(index, var):
    """As torch's: what `index` grows by when `var` does by 1."""
    ours = forms.stride(index, var)
    if ours is NotImplemented:
        return _torch_stride_at(index, var)
    if _settings.verify:
        theirs = _torch_stride_at(index, var)
        return checked("stride_at", (index, var), ours, theirs)
    return ours


@functools.lru_cache(8192)
def _divides(number, expr):
    if isinstance(expr, sympy.Integer):
        return int(expr) % number == 0
    return sympy.gcd(expr, number) == number


def _in_vector(index, var, length):
    """`index` while `var` runs through one vector of `length` elements: a
    quotient or remainder that stands still there is a symbol of its own."""
    standing = {}

    def still(kind):
        name = f"{var}_{kind}_c{len(standing)}"
        return sympy.Symbol(name, integer=True)

    for node in sorted(index.atoms(FloorDiv, ModularIndexing), key=str):
        if node.args[0] != var:
            continue
        if _divides(length, node.args[1]):
            kind = "div" if isinstance(node, FloorDiv) else "mod"
            standing[node] = still(kind)
        elif (
            isinstance(node, ModularIndexing)
            and node.args[1] == 1
            and _divides(length, node.args[2])
        ):
            # It begins at a multiple of the length and cannot turn over.
            standing[node] = var + still("mod")
    return index.xreplace(standing) if standing else index


def _differs_in_a_vector(index, var, length, stride):
    """A point from which on `index` grows by another number than `stride`."""
    rng = random.Random(0)
    symbols = sorted(index.free_symbols - {var}, key=str)
    for _ in range(5):
        point = {s: sympy.Integer(rng.randint(1, 60)) for s in symbols}
        begin = length * rng.randint(0, 9)
        try:
            values = [
                index.xreplace({**point, var: sympy.Integer(begin + i)})
                for i in range(length)
            ]
        except ZeroDivisionError:
            continue
        if any(b - a != stride for a, b in zip(values, values[1:])):
            return {**point, var: begin}
    return None


@functools.lru_cache(8192)
def _stride_at_vec_range(index, var, vec_length=None):
    """As torch's, of which the intermediate form is for analysis alone."""
    if not vec_length or not index.has(FloorDiv, ModularIndexing):
        return _stride_at(index, var)
    ours = _stride_at(_in_vector(index, var, vec_length), var)
    if not _settings.verify:
        return ours
    point = None
    if ours.is_number:  # else it has symbols that stand for quotients
        point = _differs_in_a_vector(index, var, vec_length, ours)
    theirs = _torch_stride_at_vec_range(index, var, vec_length)
    _differences.compare_forms(
        f"inductor stride_at_vec_range{(str(index), str(var), vec_length)}",
        ours, theirs, point,
    )
    return theirs


# ---- dimensions ------------------------------------------------------------

_torch_join_dimensions = sizevars.join_dimensions


def _remainders(term):
    """(scale, remainder) for each ModularIndexing that is a factor."""
    factors = sympy.Mul.make_args(term)
    for i, factor in enumerate(factors):
        if isinstance(factor, ModularIndexing):
            yield sympy.Mul(*factors[:i], *factors[i + 1:]), factor


def _first_pair(expr):
    """Two terms of a sum, and what they are together; None if none fit.

    A remainder fits the same index's next remainder, or its quotient."""
    found = [
        (term, scale, remainder)
        for term in expr.args
        for scale, remainder in _remainders(term)
    ]
    for low, scale, remainder in found:
        base, divisor, modulus = remainder.args
        for high, above, other in found:
            if high == low or above != scale * modulus:
                continue
            end = other.args[2]
            if other == ModularIndexing(base, divisor * modulus, end):
                joined = ModularIndexing(base, divisor, modulus * end)
                return low, high, scale * joined
    terms = set(expr.args)
    for low, scale, remainder in found:
        base, divisor, modulus = remainder.args
        high = scale * modulus * FloorDiv(base, divisor * modulus)
        if high in terms:
            return low, high, scale * FloorDiv(base, divisor)
    return None


@functools.lru_cache(8192)
def _joined(expr):
    result = expr
    while isinstance(result, sympy.Add):
        pair = _first_pair(result)
        if pair is None:
            break
        low, high, joined = pair
        result = result - low - high + joined
    if _settings.verify:
        theirs = _torch_join_dimensions(expr)
        return checked("join_dimensions", (expr,), result, theirs)
    return result


def _join_dimensions(expr):
    """As torch's: the pieces of one index in a sum, put together."""
    if not isinstance(expr, sympy.Add) or not expr.has(ModularIndexing):
        return expr
    return _joined(expr)


# ---- where torch's stand ---------------------------------------------------


_SERVED = (
    (_torch_stride_at, _stride_at),
    (_torch_stride_at_vec_range, _stride_at_vec_range),
    (_torch_join_dimensions, _join_dimensions),
)


def _rebind(old, new):
    """Puts `new` where a module of Inductor has `old`."""
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if not name.startswith("torch._inductor") or names is None:
            continue
        if names.get(old.__name__.lstrip("_")) is old:
            names[old.__name__.lstrip("_")] = new


_is_bound = False
_verified = False  # what the caches hold


def bind(wanted):
    """Puts these functions where torch's are, or torch's back."""
    global _is_bound, _verified
    if _settings.verify != _verified:
        _verified = _settings.verify
        for cached in (_stride_at, _stride_at_vec_range, _joined):
            cached.cache_clear()
    if wanted == _is_bound:
        return
    _is_bound = wanted
    for theirs, ours in _SERVED:
        _rebind(*((theirs, ours) if wanted else (ours, theirs)))
