"""Expressions: what proviso._core makes, with what is simpler in Python."""

from typing import Optional, Tuple

from proviso import _core, _latex, _sympy

Expr = _core.Expr
Expr.__module__ = "proviso"
Expr._repr_latex_ = _latex.to_latex
Expr.latex = _latex.to_latex
Expr.sympy = Expr._sympy_ = _sympy.to_sympy
Expr.__reduce__ = lambda self: (_from_rows, (self._rows(),))


def _from_rows(rows):
    return _core.from_rows(rows)


def symbol(name: str, kind: Optional[str] = None, source: str = "") -> Expr:
    """A symbol: the size of a dimension, or a number read from data.

    kind: backed_size, backed_int, backed_float, unbacked_int, unbacked_float
        or unbacked_bool.  Without it the name's prefix says, as in PyTorch: s0
        is a backed_size, u0 an unbacked_int, anything else a backed_int.
    source: where the value comes from, for people: "L['x'].size()[0]".

    >>> symbol("batch") * 2
    batch*2
    """
    return _core.symbol(name, kind, source)


def symbols(names: str, kind: Optional[str] = None) -> Tuple[Expr, ...]:
    """The symbols of the names, which blanks or commas part.

    >>> n, m = symbols("n m")
    >>> n + m
    n + m
    """
    if not isinstance(names, str):
        raise TypeError(f"symbols: names is {_core.shown(names)}; give a str, "
                        "such as 'n m'")
    return tuple(_core.symbols_in_one_pool(
        names.replace(",", " ").split(), kind))


def Eq(a, b) -> Expr:
    """a == b, as a condition."""
    return _core.make("Eq", a, b)


def Ne(a, b) -> Expr:
    """a != b, as a condition."""
    return _core.make("Ne", a, b)


def And(*conditions) -> Expr:
    """All of the conditions hold."""
    return _core.make("And", *conditions)


def Or(*conditions) -> Expr:
    """One of the conditions holds."""
    return _core.make("Or", *conditions)


def Not(condition) -> Expr:
    """The condition does not hold."""
    return _core.make("Not", condition)


def Min(*numbers) -> Expr:
    """The least of the numbers."""
    return _core.make("Min", *numbers)


def Max(*numbers) -> Expr:
    """The greatest of the numbers."""
    return _core.make("Max", *numbers)


def CeilDiv(a, b) -> Expr:
    """a / b rounded up.

    >>> n, = symbols("n")
    >>> CeilDiv(n, 8).evaluate({n: 9})
    2
    """
    return _core.make("CeilDiv", a, b)


def Where(condition, a, b) -> Expr:
    """a where the condition holds, else b."""
    return _core.make("Where", condition, a, b)
