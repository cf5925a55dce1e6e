"""Python's numbers, where a SymInt or a SymFloat stands for one.

math.sqrt(s) and its like stay symbolic: the functions of the module are ours
while a program is traced.  float(u) cannot, as Python takes nothing but a float
from it.  The program is then traced again, with a `float` of ours in the module
that asked.
"""

import builtins
import contextlib
import functools
import math
import sys

import torch

from proviso import _proviso
from proviso._errors import DataDependentError


def _is_symbolic(value):
    return (isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
            and isinstance(value.node, _proviso.SymNode))


# --- max and min

def _extreme(original, symbolic):
    """`original`, which would compare symbolic numbers and so fix their order;
    of numbers of one type it is `symbolic` of them."""

    @functools.wraps(original)
    def function(*args, **options):
        if options or not args:
            return original(*args, **options)
        values = args if len(args) > 1 else args[0]
        if not isinstance(values, (list, tuple)):
            values = list(values)
        if (any(map(_is_symbolic, values))
                and (all(map(_is_integer, values))
                     or all(map(_is_finite_float, values)))):
            return functools.reduce(symbolic, values)
        return original(values)

    return (builtins, original.__name__, function)


def _is_integer(value):
    return type(value) in (int, torch.SymInt)


def _is_finite_float(value):
    return isinstance(value, torch.SymFloat) or (
        type(value) is float and math.isfinite(value))


# --- the math module

def _unary(name):
    original, symbolic = getattr(math, name), getattr(torch, f"_sym_{name}")

    @functools.wraps(original)
    def function(x, /):
        return symbolic(x) if _is_symbolic(x) else original(x)

    return (math, name, function)


_pow, _fabs = math.pow, math.fabs


def _symbolic_pow(x, y, /):
    if _is_symbolic(x) or _is_symbolic(y):
        return torch.sym_float(x) ** torch.sym_float(y)
    return _pow(x, y)


def _symbolic_fabs(x, /):
    return abs(torch.sym_float(x)) if _is_symbolic(x) else _fabs(x)


# --- what torch's SymInt and SymFloat do otherwise than Python's numbers

def _floor_of_floats(original):
    """Python's 1.0 // 0.1 is 9.0, and torch's is floor(1.0 / 0.1)."""
    def method(self, other):
        if _is_symbolic(self) and (
                isinstance(self, torch.SymFloat)
                or isinstance(other, (float, torch.SymFloat))):
            raise NotImplementedError(
                "the floored quotient of symbolic floats is not supported; "
                "take it of integers, or write math.floor(a / b), which rounds "
                "a / b first")
        return original(self, other)

    return method


_round = torch.SymInt.__round__


def _round_of_int(self, ndigits=None):
    """round(1234, -2) is 1200, and torch's is 1234."""
    if _is_symbolic(self) and ndigits is not None and ndigits < 0:
        raise NotImplementedError(
            f"round({self}, {ndigits}) of a symbolic number is not supported; "
            "divide by a power of ten and round")
    return _round(self, ndigits)


# --- float()

class _FloatOfData(DataDependentError):
    """float() was asked for a number that only the data decides."""

    def __init__(self, text, asker):
        super().__init__(text)
        self.asker = asker  # the globals of the function that asked


def _asking(original):
    """`original`, which gives the number itself, for __float__."""

    def __float__(self):
        try:
            return original(self)
        except RuntimeError as error:
            if "data-dependent expression" not in str(error):
                raise
            asker = sys._getframe(1).f_globals
            raise _FloatOfData(str(error), asker) from None

    return __float__


def _float_of_int(self):
    return builtins.float(self.__index__())


class _Float(type):
    """Is to isinstance() and == what float is."""

    def __call__(cls, *args):
        value = args[0] if len(args) == 1 else None
        if isinstance(value, torch.Tensor) and _proviso.is_fake(value):
            value = value.item()
        if _is_symbolic(value):
            return torch.sym_float(value)
        return builtins.float(*args)

    def __instancecheck__(cls, value):
        return isinstance(value, builtins.float)

    def __subclasscheck__(cls, other):
        return other is cls or issubclass(other, builtins.float)

    def __eq__(cls, other):
        return other is cls or other is builtins.float

    def __hash__(cls):
        return hash(builtins.float)

    def __getattr__(cls, name):
        return getattr(builtins.float, name)


class SymbolicFloat(metaclass=_Float):
    """float, for a module whose float() must take symbolic numbers."""


@contextlib.contextmanager
def symbolic_float_in(modules):
    """`modules` are globals of functions."""
    with contextlib.ExitStack() as stack:
        for module in modules:
            if "float" in module:
                continue  # the module's own float is not Python's
            module["float"] = SymbolicFloat
            stack.callback(module.pop, "float")
        yield


def asker_of_float(error):
    """The globals of the function whose float() failed, or None."""
    cause = error.__cause__
    return cause.asker if isinstance(cause, _FloatOfData) else None


PATCHES = [_unary(name) for name in (
    "sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos",
    "atan", "log2")] + [
    _extreme(max, torch.sym_max), _extreme(min, torch.sym_min),
    (math, "pow", _symbolic_pow),
    (math, "fabs", _symbolic_fabs),
    (torch.SymInt, "__round__", _round_of_int),
    (torch.SymInt, "__float__", _asking(_float_of_int)),
    (torch.SymFloat, "__float__", _asking(torch.SymFloat.__float__)),
    (torch.Tensor, "__float__", _asking(torch.Tensor.__float__)),
] + [
    (kind, name, _floor_of_floats(getattr(kind, name)))
    for kind in (torch.SymInt, torch.SymFloat)
    for name in ("__floordiv__", "__rfloordiv__")]
