"""Strides and quotients of Inductor's index expressions, by polynomials.

    with proviso.torch.shape_env(inductor=True): ...     # or PROVISO_INDUCTOR=1

Of what Inductor spends on symbols, most goes into SymPy's general `simplify`,
for questions that are about polynomials over atoms:

    stride_at(64*x0 + (x1//4), x0)            64: the atom x1//4 cancels
    FloorDiv(s0*s1 + s1, s0 + 1)              s1: the divisor divides the base

These go to proviso._core.IndexForms.  FloorDiv, ModularIndexing and Identity
are atoms and stay as Inductor matches them.  What the forms do not answer goes
to torch's own function.
"""

import functools
import random
import sys

import sympy
from torch._inductor import sizevars
from torch.utils._sympy import functions
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

from proviso import _core
from proviso.torch import _differences, _sympy_classes

_sympy_classes.register()
_forms = _core.IndexForms()


class _Settings:
    verify = False


settings = _Settings()


# ---- what is equal ---------------------------------------------------------


def _values_differ(ours, theirs):
    """A random point at which two expressions have different values."""
    symbols = sorted((ours - theirs).free_symbols, key=str)
    rng = random.Random(0)
    for _ in range(20):
        point = {s: sympy.Integer(rng.randint(1, 60)) for s in symbols}
        try:
            a, b = ours.xreplace(point), theirs.xreplace(point)
        except ZeroDivisionError:
            continue
        if a != b and a.is_number and b.is_number:
            return point
    return None


def _checked(what, args, ours, theirs):
    """Under verify: torch's result, after both were compared."""
    name = f"inductor {what}{tuple(map(str, args))}"
    point = _values_differ(sympy.sympify(ours), sympy.sympify(theirs))
    _differences.compare_forms(name, ours, theirs, point)
    return theirs


# ---- strides ---------------------------------------------------------------

_torch_stride_at = sizevars.stride_at
_torch_stride_at_vec_range = sizevars.stride_at_vec_range


@functools.lru_cache(8192)
def _stride_at(index, var):
    """As torch's: what `index` grows by when `var` does by 1."""
    ours = _forms.stride(index, var)
    if ours is NotImplemented:
        return _torch_stride_at(index, var)
    if settings.verify:
        theirs = _torch_stride_at(index, var)
        return _checked("stride_at", (index, var), ours, theirs)
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
    if not settings.verify:
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


# ---- quotients -------------------------------------------------------------

_torch_floor_div = FloorDiv.eval.__func__
_SUMS = (sympy.Add, sympy.Mul, sympy.Symbol)


def _without_common_factor(base, divisor):
    """base // divisor with what divides both taken out, as torch does; None
    where nothing does, NotImplemented where torch is to look."""
    if not isinstance(base, _SUMS) or not isinstance(divisor, _SUMS):
        return NotImplemented
    if base == divisor or base.is_zero or divisor.is_zero:
        return NotImplemented
    if isinstance(divisor, sympy.Add):
        quotient = _forms.exact_quotient(base, divisor)
        if quotient is not None:
            return quotient
    try:
        factor = functions.simple_floordiv_gcd(base, divisor)
        if factor == 1 and isinstance(divisor, sympy.Add):
            factor = functions.safe_gcd(base, divisor)
    except sympy.PolynomialError:
        return None
    if factor == 1:
        return None
    parts = [
        _forms.exact_quotient(part, sympy.sympify(factor))
        for part in (base, divisor)
    ]
    if any(part is None or part is NotImplemented for part in parts):
        return NotImplemented
    return FloorDiv(*parts)


@functools.lru_cache(8192)
def _floor_div(base, divisor):
    ours = _without_common_factor(base, divisor)
    if ours is NotImplemented:
        return _torch_floor_div(FloorDiv, base, divisor)
    if settings.verify:
        theirs = _torch_floor_div(FloorDiv, base, divisor)
        plain = FloorDiv(base, divisor, evaluate=False)
        _checked(
            "FloorDiv", (base, divisor),
            *(plain if one is None else one for one in (ours, theirs)),
        )
        return theirs
    return ours


def _eval_floor_div(cls, base, divisor):
    return _floor_div(base, divisor)


# ---- where torch's stand ---------------------------------------------------


_SERVED = (
    (_torch_stride_at, _stride_at),
    (_torch_stride_at_vec_range, _stride_at_vec_range),
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


def bind(wanted, verify=False):
    """Puts these functions where torch's are, or torch's back."""
    global _is_bound
    if settings.verify != verify:
        settings.verify = verify
        for cached in (_stride_at, _stride_at_vec_range, _floor_div):
            cached.cache_clear()
    if wanted == _is_bound:
        return
    _is_bound = wanted
    for theirs, ours in _SERVED:
        _rebind(*((theirs, ours) if wanted else (ours, theirs)))
    FloorDiv.eval = classmethod(
        _eval_floor_div if wanted else _torch_floor_div
    )
