"""What numpy gives of a symbolic number: a np.int64 or a np.float64, symbolic.

    torch.tensor(np.ceil(n / 2)).dtype    torch.float64, and float32 of a float
    np.prod([n, 2]).astype(float)         has numpy's methods
"""

import operator
import sys

import torch

from proviso import _proviso
from proviso._number_types import class_of, is_symbolic, number_of


def numpy():
    """The module, which is never imported for the program."""
    return sys.modules["numpy"]


def of_numpy(value):
    """Of numpy's type, what Python's operators gave."""
    kind = type(value)
    if kind in (torch.SymInt, torch.SymFloat) and is_symbolic(value):
        return _SYMBOLIC_OF[kind](value.node)
    return _NUMPYS[kind](value) if kind in _NUMPYS else value


def python_number(value):
    """Of Python's type, what numpy gave: 5 of np.int64(5)."""
    kind = type(value)
    if kind in _SYMBOLIC:
        return kind.__base__(value.node)
    return value.item() if isinstance(value, numpy().generic) else value


def kind_of(value):
    """int or float, of a number that numpy takes for an int64 or a float64."""
    return _KINDS.get(type(value))


def kind_of_type(dtype):
    """int or float, of what numpy takes for int64 or float64."""
    try:
        name = numpy().dtype(dtype).name
    except TypeError:
        return None
    return {"int64": int, "float64": float}.get(name)


def converted(value, kind):
    """The number as an int64 or a float64, of Python's type."""
    value = python_number(value)
    if kind is float:
        return torch.sym_float(value) if is_symbolic(value) else float(value)
    if isinstance(value, torch.SymFloat):
        return torch.sym_int(value)
    return value if is_symbolic(value) else int(value)


def _operation(name):
    def method(self, *others):
        if name in _DIVIDING and _may_be_zero(others[0]):
            return getattr(self._number(), name)(*map(number_of, others))
        base = type(self).__base__
        result = getattr(base, name)(
            base(self.node), *map(python_number, others))
        return of_numpy(result)

    return name, method


def _may_be_zero(value):
    """numpy's quotient by 0 is no error."""
    return not isinstance(value, torch.Tensor) and bool(value == 0)


def _comparison(name):
    """numpy's truths are no bools: ~(n > 3) is not -2."""
    def method(self, other):
        base = type(self).__base__
        result = getattr(base, name)(base(self.node), python_number(other))
        return (result if result is NotImplemented
                else numpy().bool_(bool(result)))

    return name, method


_RELATIONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_DIVIDING = ("__truediv__", "__floordiv__", "__mod__")
_OPERATIONS = [f"__{prefix}{name}__" for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod") for prefix in ("", "r")
    ] + ["__neg__", "__pos__", "__abs__"]


def _power(self, exponent):
    """numpy's has no negative whole power of an integer."""
    exponent = python_number(exponent)
    if type(exponent) is int and exponent >= 0:
        base = type(self).__base__
        return of_numpy(base(self.node) ** exponent)
    return self._number() ** number_of(exponent)


def _astype(self, dtype, **options):
    kind = kind_of_type(dtype)
    if kind is None or options:
        return self._number().astype(dtype, **options)
    return of_numpy(converted(self, kind))


def _attribute(self, name):
    if name == "node" or name.startswith("__") or not is_symbolic(self):
        raise AttributeError(name)
    return getattr(self._number(), name)


def _no_attribute(numpys, name):
    def get(self):
        raise AttributeError(
            f"'numpy.{numpys.__name__}' object has no attribute '{name}'")

    return get


def _make(base, numpys):
    """The class of symbolic numbers of this type of numpy's."""
    def _number(self):
        return numpys(number_of(python_number(self)))

    names = {
        "_number": _number,
        "astype": _astype,
        "item": python_number,
        "dtype": property(lambda self: numpy().dtype(numpys)),
        "ndim": 0, "shape": (), "size": 1,
        "__pow__": _power,
        "__getattr__": _attribute,
        "__hash__": lambda self: base.__hash__(self),  # as it is patched
        **dict(map(_operation, _OPERATIONS)),
        **dict(map(_comparison, _RELATIONS)),
        **{name: property(_no_attribute(numpys, name)) for name in dir(base)
           if not name.startswith("_") and not hasattr(numpys, name)
           and name != "node"},
    }
    kind = type(numpys.__name__, (base,), names)
    _proviso.set_in_class(kind, "__class__", class_of(kind, numpys))
    return kind


_NUMPYS, _SYMBOLIC_OF = {}, {}
_KINDS = {int: int, float: float, torch.SymInt: int, torch.SymFloat: float}
if "numpy" in sys.modules:
    _NUMPYS = {int: numpy().int64, float: numpy().float64}
    _SYMBOLIC_OF = {torch.SymInt: _make(torch.SymInt, _NUMPYS[int]),
                    torch.SymFloat: _make(torch.SymFloat, _NUMPYS[float])}
    for _kind, _numpys in _NUMPYS.items():
        _KINDS[_numpys] = _kind
    for _base, _kind in _SYMBOLIC_OF.items():
        _KINDS[_kind] = _KINDS[_base]
_SYMBOLIC = tuple(_SYMBOLIC_OF.values())


def is_numpys(value):
    return type(value) in _SYMBOLIC


# --- functions of numpy's that are Python's operators

def _powers(a, b):
    return a ** b if type(b) is int and b >= 0 else None


def _quotient(function):
    return lambda a, b: None if bool(b == 0) else function(a, b)


def _relation(function):
    return lambda a, b: numpy().bool_(bool(function(a, b)))


_OF_NUMBERS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "negative": operator.neg, "positive": lambda a: a, "absolute": abs,
    "square": lambda a: a * a, "divide": _quotient(operator.truediv),
    "equal": _relation(operator.eq), "not_equal": _relation(operator.ne),
    "less": _relation(operator.lt), "less_equal": _relation(operator.le),
    "greater": _relation(operator.gt),
    "greater_equal": _relation(operator.ge),
}
_OF_INTEGERS = {
    "floor_divide": _quotient(operator.floordiv),
    "remainder": _quotient(operator.mod), "power": _powers,
    "maximum": torch.sym_max, "minimum": torch.sym_min,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}
AS_IN_PYTHON = {float: _OF_NUMBERS, int: {**_OF_NUMBERS, **_OF_INTEGERS}}
