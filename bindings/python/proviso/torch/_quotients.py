"""Quotients of sizes, by polynomials.

    FloorDiv(s0*s1 + s1, s0 + 1)              s1: the divisor divides the base

torch looks for a common factor of base and divisor with SymPy's general `gcd`
and `simplify`, in each `//` of a size.  That the divisor divides the base, and
what is left of both without a common factor, is a division of polynomials, in
which FloorDiv, ModularIndexing and so on are atoms (proviso._core.IndexForms).
What that does not answer goes to torch's own function.
"""

import functools
import math
import random

import sympy
from torch.utils._sympy import functions
from torch.utils._sympy.functions import FloorDiv

from proviso import _core
from proviso.torch import _differences, _settings, _sympy_classes

_sympy_classes.register()
forms = _core.IndexForms()


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


def checked(what, args, ours, theirs):
    """Under verify: torch's result, after both were compared."""
    name = f"inductor {what}{tuple(map(str, args))}"
    point = _values_differ(sympy.sympify(ours), sympy.sympify(theirs))
    _differences.compare_forms(name, ours, theirs, point)
    return theirs


# ---- FloorDiv --------------------------------------------------------------

_torch_floor_div = FloorDiv.eval.__func__
_SUMS = (sympy.Add, sympy.Mul, sympy.Symbol)


def _without_common_factor(base, divisor):
    """base // divisor with what divides both taken out, as torch does; None
    where nothing does, NotImplemented where torch is to look."""
    if isinstance(divisor, sympy.Integer) and isinstance(base, sympy.Mul):
        return _of_a_product(base, divisor)
    if not isinstance(base, _SUMS) or not isinstance(divisor, _SUMS):
        return NotImplemented
    if base == divisor or base.is_zero or divisor.is_zero:
        return NotImplemented
    if isinstance(divisor, sympy.Add):
        quotient = forms.exact_quotient(base, divisor)
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
        forms.exact_quotient(part, sympy.sympify(factor))
        for part in (base, divisor)
    ]
    if any(part is None or part is NotImplemented for part in parts):
        return NotImplemented
    return FloorDiv(*parts)


def _of_a_product(base, divisor):
    """16*x*y // 256 is x*y // 16, where the number alone has a common factor:
    torch would put the rest through `simplify`."""
    number, *rest = base.args
    if not isinstance(number, sympy.Integer) or not divisor.is_positive:
        return NotImplemented
    factor = math.gcd(int(number), int(divisor))
    if factor == 1 or factor == divisor or not all(
        x.is_integer for x in rest
    ):
        return NotImplemented
    return FloorDiv(sympy.Mul(number // factor, *rest), divisor // factor)


@functools.lru_cache(8192)
def _floor_div(base, divisor):
    ours = _without_common_factor(base, divisor)
    if ours is NotImplemented:
        return _torch_floor_div(FloorDiv, base, divisor)
    if _settings.verify:
        theirs = _torch_floor_div(FloorDiv, base, divisor)
        plain = FloorDiv(base, divisor, evaluate=False)
        checked(
            "FloorDiv", (base, divisor),
            *(plain if one is None else one for one in (ours, theirs)),
        )
        return theirs
    return ours


def _eval_floor_div(cls, base, divisor):
    return _floor_div(base, divisor)


_is_bound = False
_verified = False  # what the cache holds


def bind(wanted):
    """Puts this FloorDiv.eval where torch's is, or torch's back."""
    global _is_bound, _verified
    if _settings.verify != _verified:
        _verified = _settings.verify
        _floor_div.cache_clear()
    if wanted == _is_bound:
        return
    _is_bound = wanted
    FloorDiv.eval = classmethod(
        _eval_floor_div if wanted else _torch_floor_div
    )
