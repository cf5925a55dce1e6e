"""numpy's numbers and arrays of sizes: np.ceil(x.shape[0] / 2), np.array([n, 3]).

numpy's own code takes a symbolic number for the number itself, which fixes the
size (__array__).  A few functions keep it symbolic, where Python's operators give
numpy's value: of numpy's type (_numpy_numbers.py), or an array of such
(_numpy_arrays.py).
"""

import functools
import math
import sys

import torch

from proviso import _numpy_arrays, _numpy_memory
from proviso._number_types import is_symbolic, number_of
from proviso._numpy_arrays import Array, plain
from proviso._numpy_numbers import (
    AS_IN_PYTHON,
    is_numpys,
    kind_of,
    kind_of_type,
    numpy,
    of_numpy,
    python_number,
)

_ROUNDED = {"ceil": math.ceil, "floor": math.floor, "trunc": math.trunc,
            "rint": round, "fix": math.trunc}
# numpy asks an object that is no number of its own for these methods.
_METHODS = frozenset(
    "exp exp2 log log2 log10 log1p expm1 sin cos tan sinh cosh tanh "
    "arcsin arccos arctan arcsinh arccosh arctanh radians degrees cbrt".split())


def _array_of(self, dtype=None, copy=None):
    """__array__ of a symbolic number."""
    return numpy().array(number_of(self), dtype=dtype)


def _of_symbols(self, ufunc, method, *inputs, **options):
    """__array_ufunc__ of a symbolic number, and of an array of them."""
    result = None
    if method == "__call__" and not options:
        result = _called(ufunc, inputs)
    if result is not None:
        return result
    return getattr(ufunc, method)(
        *map(_fixed, inputs),
        **{name: _fixed(value) for name, value in options.items()})


def _fixed(value):
    """With numbers of Python's, which numpy promotes otherwise than arrays."""
    if is_symbolic(value):
        return value._number() if is_numpys(value) else number_of(value)
    if type(value) in (list, tuple):
        return type(value)(map(_fixed, value))
    return plain(value)


def _of_functions(self, function, types, args, kwargs):
    """__array_function__ of both."""
    return function(*map(_fixed, args),
                    **{name: _fixed(value) for name, value in kwargs.items()})


def _called(ufunc, inputs):
    """What Python's operators give; None where they do not give numpy's."""
    name, arrays = ufunc.__name__, _numpy_arrays.as_arrays(inputs)
    kinds = ([array.kind for array in arrays] if arrays
             else list(map(kind_of, inputs)))
    if None in kinds:
        return None
    if name in _ROUNDED:
        function = functools.partial(_rounded, name)
    elif name == "sqrt":
        function = _root
    else:
        function = AS_IN_PYTHON[float if float in kinds else int].get(name)
    if function is None:
        return None
    if arrays:
        return _numpy_arrays.elementwise(function, arrays)
    return of_numpy(function(*map(python_number, inputs)))


def _rounded(name, value):
    function = getattr(numpy(), name)
    if not is_symbolic(value):
        return function(value).item()
    if isinstance(value, torch.SymInt) and not isinstance(function(1), float):
        return value
    if not value >= 0:  # -0.0 is ceil(-0.5)
        return function(number_of(value)).item()
    return torch.sym_float(_ROUNDED[name](value))


def _root(value):
    if not is_symbolic(value) or not value >= 0:  # numpy's is nan
        return numpy().sqrt(number_of(value)).item()
    return math.sqrt(value)


def _rounding(name):
    """np.fix asks for the array first."""
    original = getattr(numpy(), name)

    @functools.wraps(original)
    def function(x, *args, **options):
        if not args and not options and kind_of(x) and is_symbolic(x):
            return of_numpy(_rounded(name, python_number(x)))
        return original(x, *args, **options)

    return (numpy(), name, function)


def is_number(value):
    """Whether it is one of numpy's own."""
    return "numpy" in sys.modules and isinstance(value, numpy().generic)


def method_of(number, name):
    """For which numpy asks an object of an array; None where it does not."""
    if name == "sqrt":
        return functools.partial(_root, number)
    if name == "rint":
        return functools.partial(_rounded, name, number)
    if name in _METHODS:
        return lambda: float(getattr(numpy(), name)(number_of(number)))
    return None


# --- functions that make arrays of lists

def _making(name, copies):
    """np.array and its like."""
    original = getattr(numpy(), name)

    @functools.wraps(original)
    def function(x, dtype=None, **options):
        if not options and (isinstance(x, Array) or _numpy_arrays.holds(x)):
            kind = None if dtype is None else kind_of_type(dtype)
            array = (None if dtype is not None and kind is None
                     else _numpy_arrays.array_of(x, kind))
            if array is not None:
                is_same = (isinstance(x, Array) and not copies
                           and array.kind is x.kind)
                return x if is_same else array
        return original(plain(x), dtype=dtype, **options)

    return (numpy(), name, function)


def _of_index(kind):
    """np.r_[n, 2]"""
    original = kind.__getitem__
    return (kind, "__getitem__", lambda self, key: original(self, _fixed(key)))


def _reducing(name):
    """np.prod and its like, of a list too."""
    original = getattr(numpy(), name)

    @functools.wraps(original)
    def function(x, *args, **options):
        if not args and not options and (
                isinstance(x, Array) or _numpy_arrays.holds(x)):
            array = _numpy_arrays.array_of(x)
            result = None if array is None else array.reduced(name)
            if result is not None:
                return result
        return original(plain(x), *args, **options)

    return (numpy(), name, function)


# --- torch's functions that take numpy's numbers for float64

def _of_plain(name):
    original = getattr(torch, name)

    @functools.wraps(original)
    def function(data, *args, **options):
        data = _without_numpys(data)
        if isinstance(data, numpy().ndarray):
            return _numpy_memory.tensor_of(
                data, lambda array: original(array, *args, **options))
        return original(data, *args, **options)

    return (torch, name, function)


def _without_numpys(data):
    if is_numpys(data):
        return data._number()
    if type(data) in (list, tuple):
        return type(data)(map(_without_numpys, data))
    return plain(data)


PATCHES = []
if "numpy" in sys.modules:
    for _kind in (torch.SymInt, torch.SymFloat, torch.SymBool):
        PATCHES += [(_kind, "__array_ufunc__", _of_symbols),
                    (_kind, "__array_function__", _of_functions),
                    (_kind, "__array__", _array_of)]
    PATCHES += map(_rounding, _ROUNDED)
    PATCHES += [_making("array", True), _making("asarray", False),
                _making("asanyarray", False)]
    PATCHES += map(_reducing, ("prod", "sum", "max", "min", "amax", "amin",
                               "mean"))
    PATCHES += map(_of_plain, ("as_tensor", "asarray", "from_numpy"))
    PATCHES.append(_of_index(type(numpy().r_).__base__))
    Array.__array_ufunc__ = _of_symbols
    Array.__array_function__ = _of_functions
