"""numpy's functions of symbolic numbers: np.ceil(x.shape[0] / 2).

numpy takes a symbolic number for an object, and computes with Python's
operators; where that gives the value and the type that it gives of a number the
size stays symbolic, and else the number itself is taken, which fixes it.
"""

import functools
import math
import sys

import torch

from proviso._number_types import is_symbolic, number_of

_FLOATS = frozenset(
    "add subtract multiply divide negative positive absolute square "
    "equal not_equal less less_equal greater greater_equal".split())
_INTEGERS = _FLOATS | frozenset(
    "floor_divide remainder power maximum minimum bitwise_and bitwise_or "
    "bitwise_xor".split())
_AS_IN_PYTHON = {int: _INTEGERS, float: _FLOATS}  # numpy's function
_ROUNDED = {"ceil": math.ceil, "floor": math.floor, "trunc": math.trunc,
            "rint": round, "fix": math.trunc}
# numpy asks an object that is no number of its own for these methods.
_METHODS = frozenset(
    "exp exp2 log log2 log10 log1p expm1 sin cos tan sinh cosh tanh "
    "arcsin arccos arctan arcsinh arccosh arctanh radians degrees cbrt".split())


def _numpy():
    return sys.modules["numpy"]


def _kind(value):
    """int or float, of a number that numpy takes for an int64 or a float64."""
    numpy = _numpy()
    if type(value) in (int, torch.SymInt, numpy.int64):
        return int
    if type(value) in (float, torch.SymFloat, numpy.float64):
        return float
    if isinstance(value, numpy.ndarray) and value.dtype.name in (
            "int64", "float64", "object"):
        return float
    return None


def _of_symbols(self, ufunc, method, *inputs, **options):
    """__array_ufunc__ of a symbolic number."""
    numpy, name = _numpy(), ufunc.__name__
    kinds = [_kind(value) for value in inputs]
    kind = None if None in kinds else float if float in kinds else int
    if method == "__call__" and not options and kind is not None:
        if name in _ROUNDED and is_symbolic(inputs[0]):
            return _rounded(name, inputs[0])
        if name == "sqrt":
            return _root(inputs[0])
        if name in _AS_IN_PYTHON[kind]:
            return ufunc(*(numpy.asarray(value, dtype=object)
                           if is_symbolic(value) else value
                           for value in inputs))
    return getattr(ufunc, method)(*map(number_of, inputs), **options)


def _rounded(name, value):
    function = getattr(_numpy(), name)
    if isinstance(value, torch.SymInt) and not isinstance(function(1), float):
        return value
    if not value >= 0:  # -0.0 is ceil(-0.5)
        return function(number_of(value))
    return torch.sym_float(_ROUNDED[name](value))


def _root(value):
    if not value >= 0:  # numpy's is nan, and Python's an error
        return _numpy().sqrt(number_of(value))
    return math.sqrt(value)


def _of_arrays(name):
    """An array of sizes is one of objects, of which numpy's ceil is Python's."""
    original = getattr(_numpy(), name)

    @functools.wraps(original)
    def function(x, *args, **options):
        if _holds_symbols(x) and not args and not options:
            array = _numpy().array(x, dtype=object)
            flat = [_rounded(name, value) if is_symbolic(value)
                    else original(value) for value in array.flat]
            result = _numpy().empty(len(flat), dtype=object)
            result[:] = flat
            return result.reshape(array.shape)
        return original(x, *args, **options)

    return (_numpy(), name, function)


def _holds_symbols(x):
    if isinstance(x, _numpy().ndarray):
        return x.dtype == object and any(map(is_symbolic, x.flat))
    return isinstance(x, (list, tuple)) and any(map(is_symbolic, x))


def method_of(number, name):
    """For which numpy asks an object of an array; None where it does not."""
    if name == "sqrt":
        return functools.partial(_root, number)
    if name == "rint":
        return functools.partial(_rounded, name, number)
    if name in _METHODS:
        return lambda: float(getattr(_numpy(), name)(number_of(number)))
    return None


PATCHES = []
if "numpy" in sys.modules:
    PATCHES += [(kind, "__array_ufunc__", _of_symbols)
                for kind in (torch.SymInt, torch.SymFloat, torch.SymBool)]
    PATCHES += map(_of_arrays, _ROUNDED)
