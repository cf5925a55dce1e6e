"""Python's numbers, where a SymInt or a SymFloat stands for one.

math.sqrt(s) and its like stay symbolic: the functions of the module are ours
while a program is traced.  float(u), int(u) and len(y) cannot, as Python takes
nothing but a float and an int from them.  The program is then traced again, with
a `float`, an `int` or a `len` of ours in the module that asked.
"""

import builtins
import contextlib
import copy
import decimal
import functools
import json
import math
import operator
import sys

import torch
from torch.fx.experimental import sym_node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from proviso import _number_types, _numpy, _proviso
from proviso._errors import DataDependentError
from proviso._not_traced import NotTraced
from proviso._number_types import is_symbolic as _is_symbolic, number_of


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


# --- divmod

_divmod = builtins.divmod


def _symbolic_divmod(a, b, /):
    if _is_symbolic(a) or _is_symbolic(b):
        return a // b, a % b
    return _divmod(a, b)


# --- pow of three, for which Python asks no number but its own

_power = builtins.pow


def _symbolic_power(base, exp, mod=None):
    if mod is None:
        return _power(base, exp)
    return _power(*map(number_of, (base, exp, mod)))


# --- the math module

def _unary(name):
    original, symbolic = getattr(math, name), getattr(torch, f"_sym_{name}")

    @functools.wraps(original)
    def function(x, /):
        if _is_symbolic(x) and not isinstance(x, torch.SymBool):
            return symbolic(x)
        return original(x)

    return (math, name, function)


_pow, _fabs = math.pow, math.fabs


def _symbolic_pow(x, y, /):
    if _is_symbolic(x) or _is_symbolic(y):
        return torch.sym_float(x) ** torch.sym_float(y)
    return _pow(x, y)


def _symbolic_fabs(x, /):
    return abs(torch.sym_float(x)) if _is_symbolic(x) else _fabs(x)


_fmod, _modf = math.fmod, math.modf


def _symbolic_fmod(x, y, /):
    """C's remainder, which is Python's of what is not negative."""
    if _is_natural(x) and not _is_symbolic(y) and y > 0:
        return torch.sym_float(x) % y
    return _fmod(*map(number_of, (x, y)))


def _symbolic_modf(x, /):
    if _is_natural(x):
        return torch.sym_float(x) % 1, torch.sym_float(math.floor(x))
    return _modf(number_of(x))


def _is_natural(x):
    return (_is_symbolic(x) and not isinstance(x, torch.SymBool)
            and statically_known_true(x >= 0))


# --- what torch's SymInt and SymFloat do otherwise than Python's numbers

def _in_parts(operation, a, b):
    """(n/2) % 1 is (n % 2)/2, n % 2.5 is (2*n % 5)/2 and n // 2.5 is
    float(2*n // 5): nothing rounds.  None where something may."""
    if type(b) is float and not math.isfinite(b):
        return None
    divisor = sym_node.to_node(a.node, b)
    if not a.node.divides_in_parts(divisor):
        return None
    return sym_node.wrap_node(getattr(a.node, operation)(divisor))


def _dividing(kind, name):
    """Python's 1.0 // 0.1 is 9.0, and torch's is floor(1.0 / 0.1)."""
    original = getattr(kind, name)
    of_floats = getattr(builtins.float, name)

    def method(self, other):
        if _is_symbolic(self) and _numpy.is_number(other):
            return NotImplemented  # numpy's is asked then
        if not _is_symbolic(self) or not isinstance(
                other, _FLOATS if isinstance(self, torch.SymInt) else _REALS):
            return original(self, other)
        exact = (None if name.startswith("__r")
                 else _in_parts(name.strip("_"), self, other))
        if exact is not None:
            return exact
        if _is_of_data(self) or _is_of_data(other):
            raise NotTraced(
                f"{name.strip('_')} of symbolic floats from data is not "
                "supported: Python rounds it in its own way; take it of "
                "integers, or write math.floor(a / b), which rounds a / b "
                "first")
        return of_floats(builtins.float(number_of(self)), number_of(other))

    return (kind, name, method)


def _is_of_data(value):
    return _is_symbolic(value) and value.node.hint is None


_FLOATS = (float, torch.SymFloat)
_REALS = (int, bool, torch.SymInt, *_FLOATS)


_float_power = torch.SymFloat.__pow__


def _power_of_float(self, other):
    """torch's asserts that the base is not negative: of a whole power it may
    be."""
    is_whole = type(other) is int or type(other) is float and other.is_integer()
    if is_whole and _is_symbolic(self):
        return self.__float_pow__(builtins.float(other))
    return _float_power(self, other)


_reflected_power = torch.SymInt.__rpow__


def _reflected_power_of_int(self, other):
    """(-2.0)**n, of which torch's asserts that the base is not negative."""
    if type(other) is float and other < 0 and _is_symbolic(self):
        return _reflected_power(self, -other) * (1 - 2 * (self % 2))
    return _reflected_power(self, other)


def _with_others(kind, name, original):
    """There is no symbolic complex number and no Decimal: n * 1j is that of the
    number."""
    is_reflected = name in _REFLECTED
    of_numbers = getattr(operator, name.strip("_")[is_reflected:])

    def method(self, other):
        kind = type(other)
        if kind in _REALS or not _is_symbolic(self):
            return original(self, other)
        if _numpy.is_number(other):
            return NotImplemented  # numpy's is asked then
        if kind in _OTHERS:
            operands = (number_of(self), other)
            return of_numbers(*(operands[::-1] if is_reflected else operands))
        return original(self, other)

    return (kind, name, method)


_OTHERS = (complex, decimal.Decimal)
_REFLECTED = ("__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rpow__")


_to_node = sym_node.to_node


def _node_of_number(self, number):
    """torch's takes no number of a subclass: E.A of an enum.IntEnum."""
    kind = type(number)
    if kind is int:
        return self.wrap_int(number)
    if kind not in _REALS:
        if isinstance(number, int):
            return self.wrap_int(builtins.int(number))
        if isinstance(number, float):
            return self.wrap_float(builtins.float(number))
    return _to_node(self, number)


def _with_truth(name):
    """n & True is n & 1."""
    original = getattr(torch.SymInt, name)

    def method(self, other):
        if _is_symbolic(self) and isinstance(other, (bool, torch.SymBool)):
            other = builtins.int(builtins.bool(other))
        return original(self, other)

    return (torch.SymInt, name, method)


def _pickled(kind):
    """As the number, which that fixes; copy.copy() gives what it copies."""
    original = kind.__reduce_ex__

    def __reduce_ex__(self, protocol):
        asker = sys._getframe(1).f_globals.get("__name__")
        if not _is_symbolic(self) or asker == copy.__name__:
            return original(self, protocol)
        return _PLAIN[kind], (number_of(self),)

    return (kind, "__reduce_ex__", __reduce_ex__)


def _of_ours(function):
    """function(n) of a number that is traced; of torch's own, what it lacks."""

    @functools.wraps(function)
    def method(self, *args):
        if not _is_symbolic(self):
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute "
                f"'{function.__name__}'")
        return function(self, *args)

    return method


def _invert(n):
    return -n - 1


def _truth_index(b):
    return builtins.int(builtins.bool(b))


_PLAIN = {torch.SymInt: builtins.int, torch.SymFloat: builtins.float,
          torch.SymBool: builtins.bool}
_BY_NAME = ("__divmod__", "__rdivmod__")  # n.__divmod__(3)
_ITSELF = {torch.SymInt: ("real", "numerator"), torch.SymFloat: ("real",),
           torch.SymBool: ()}


def _lacking(kind, plain):
    """What a plain number has and torch's lacks is the number's own, which
    fixes it, but for what is known of every number."""

    def __getattr__(self, name):
        if name != "node" and _is_symbolic(self):
            if name in _ITSELF[kind]:
                return self
            if name == "imag" and plain is not builtins.bool:
                return plain(0)
            if name == "denominator" and plain is builtins.int:
                return 1
            found = _numpy.method_of(self, name)
            if found is not None:
                return found
            if hasattr(plain, name) and (
                    not name.startswith("__") or name in _BY_NAME):
                return getattr(number_of(self), name)
        raise AttributeError(
            f"'{kind.__name__}' object has no attribute '{name}'")

    return (kind, "__getattr__", __getattr__)


_LACKING = [
    (torch.SymInt, "__invert__", _of_ours(_invert)),
    (torch.SymBool, "__index__", _of_ours(_truth_index)),
    *(_lacking(*row) for row in _PLAIN.items())]


def _only_of_nodes(kind):
    """kind(node); type(n)(2), which is int(2) of a plain n, is refused."""
    original = kind.__init__

    def __init__(self, node):
        if (type(node) is not _proviso.SymNode
                and not hasattr(node, "is_symbolic")):
            raise NotTraced(
                f"type(n)({node!r}) of a symbolic number n is not supported; "
                "write int(..), float(..) or bool(..)")
        original(self, node)

    return (kind, "__init__", __init__)


_default_of_json = json.JSONEncoder.default


def _number_of_json(self, value):
    """json asks for what it does not know."""
    if _is_symbolic(value):
        return number_of(value)
    return _default_of_json(self, value)


_round = torch.SymInt.__round__


def _round_of_int(self, ndigits=None):
    """round(1234, -2) is 1200, and torch's is 1234."""
    if _is_symbolic(self) and ndigits is not None and ndigits < 0:
        if _is_of_data(self):
            raise NotTraced(
                f"round({self}, {ndigits}) of a symbolic number from data is "
                "not supported; divide by a power of ten and round")
        return builtins.round(number_of(self), ndigits)
    return _round(self, ndigits)


# --- float() and int()

class _NumberOfData(DataDependentError):
    """float(), int() or len() was asked for a number that is not known."""

    def __init__(self, text, asker):
        super().__init__(text)
        self.asker = asker  # (the globals of the function that asked, "float")


# Whether int() of an input's size stays symbolic too, where it can.
_keeps_ints = False


@contextlib.contextmanager
def ints_kept_symbolic():
    """int(x.shape[0] / 2) is then no guard on the size."""
    global _keeps_ints
    before, _keeps_ints = _keeps_ints, True
    try:
        yield
    finally:
        _keeps_ints = before


def _asking_globals():
    """Of the function that called float() or int()."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals in (
            globals(), vars(torch)):
        frame = frame.f_back
    return frame.f_globals


def _asking(original, name):
    """`original`, which gives the number itself, for __float__ or __int__."""

    def method(self):
        if (name == "int" and _keeps_ints and _is_symbolic(self)
                and not _is_known(self)):
            asker = _asking_globals()
            if "int" not in asker:
                raise _NumberOfData(f"int({self}) is asked for",
                                    (asker, name))
        try:
            return original(self)
        except RuntimeError as error:
            if (isinstance(error, _NumberOfData)
                    or "data-dependent expression" not in str(error)):
                raise
            raise _NumberOfData(str(error),
                                (_asking_globals(), name)) from error

    return method


def _is_known(number):
    return (isinstance(number, torch.SymInt)
            and number.node.maybe_as_int() is not None)


def _float_of_int(self):
    return builtins.float(self.__index__())


class _OfValue(_number_types.NumberType):
    """Called, gives a number; of a symbolic one, a symbolic one."""

    def __call__(cls, *args, **options):
        value = args[0] if len(args) == 1 and not options else None
        if isinstance(value, torch.Tensor) and _proviso.is_fake(value):
            value = value.item()
        if _is_symbolic(value):
            return cls.symbolic(value)
        return cls.plain(*args, **options)


class SymbolicFloat(metaclass=_OfValue):
    """float, for a module whose float() must take symbolic numbers."""

    plain = builtins.float
    symbolic = staticmethod(torch.sym_float)


def _symbolic_int(value):
    if isinstance(value, torch.SymBool):
        return torch.sym_ite(value, 1, 0)
    return torch.sym_int(value)


class SymbolicInt(metaclass=_OfValue):
    """int, for a module whose int() must take symbolic numbers."""

    plain = builtins.int
    symbolic = staticmethod(_symbolic_int)


_len = torch.Tensor.__len__


def _asking_len(self):
    """len() takes nothing but an int, which would fix the size."""
    size = self.shape[0] if self.dim() else None
    if _is_symbolic(size) and not _is_known(size):
        asker = _asking_globals()
        if "len" not in asker:
            raise _NumberOfData(f"len() of {size} rows is asked for",
                                (asker, "len"))
    return _len(self)


def _symbolic_len(value, /):
    """len, for a module whose len() must give symbolic sizes."""
    if isinstance(value, torch.Tensor) and value.dim():
        return value.shape[0]
    return builtins.len(value)


_SYMBOLIC_TYPES = {"float": SymbolicFloat, "int": SymbolicInt,
                   "len": _symbolic_len}


@contextlib.contextmanager
def symbolic_types_in(askers):
    """askers: (globals of functions, "float", "int", "len" or "type")."""
    with contextlib.ExitStack() as stack:
        for module, name in askers:
            for name in {name, "type"}:  # which knows what int is called now
                if name in module:
                    continue  # the module's own is not Python's
                module[name] = (_number_types.type_of(module) if name == "type"
                                else _SYMBOLIC_TYPES[name])
                stack.callback(module.pop, name)
        yield


def asker_of(error):
    """(globals, "float", "int" or "len") of the function whose call failed, or
    None."""
    while error is not None:
        if isinstance(error, _NumberOfData):
            return error.asker
        error = error.__cause__
    return None


PATCHES = [_unary(name) for name in (
    "sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos",
    "atan", "log2")] + [
    _extreme(max, torch.sym_max), _extreme(min, torch.sym_min),
    (builtins, "divmod", _symbolic_divmod),
    (sym_node, "to_node", _node_of_number),
    (builtins, "pow", _symbolic_power),
    (math, "pow", _symbolic_pow),
    (math, "fabs", _symbolic_fabs),
    (math, "fmod", _symbolic_fmod),
    (math, "modf", _symbolic_modf),
    (torch.SymInt, "__round__", _round_of_int),
    (json.JSONEncoder, "default", _number_of_json),
    (torch.SymInt, "__float__", _asking(_float_of_int, "float")),
    (torch.Tensor, "__len__", _asking_len),
] + [
    (kind, f"__{name}__", _asking(getattr(kind, f"__{name}__"), name))
    for kind, name in ((torch.SymFloat, "float"), (torch.Tensor, "float"),
                       (torch.SymInt, "int"), (torch.SymFloat, "int"),
                       (torch.SymBool, "int"), (torch.Tensor, "int"))
] + [
    _dividing(kind, name)
    for kind in (torch.SymInt, torch.SymFloat)
    for name in ("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__")] + [
    _with_others(kind, name, getattr(kind, name))
    for kind in (torch.SymInt, torch.SymFloat)
    for name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__",
                 "__rmul__", "__truediv__", "__rtruediv__", "__eq__",
                 "__ne__")] + [
    _with_others(torch.SymInt, "__rpow__", _reflected_power_of_int),
    _with_others(torch.SymFloat, "__rpow__", torch.SymFloat.__rpow__),
    _with_others(torch.SymInt, "__pow__", torch.SymInt.__pow__),
    _with_others(torch.SymFloat, "__pow__", _power_of_float),
] + [_with_truth(name) for name in (
    "__and__", "__or__", "__xor__", "__rand__", "__ror__", "__rxor__")] + [
    _pickled(kind) for kind in _PLAIN] + [
    _only_of_nodes(kind)
    for kind in (torch.SymInt, torch.SymFloat, torch.SymBool)] + _LACKING
