"""An array of sizes, as np.array([n, 3]) makes it, that keeps them symbolic.

It has one dimension; of what it does not know itself it makes numpy's own array
of the numbers, which fixes the sizes, and is that array from then on.
"""

import functools
import operator
import sys

import torch

from proviso._number_types import is_known_to, is_symbolic, number_of
from proviso._numpy_numbers import (
    converted,
    kind_of,
    kind_of_type,
    numpy,
    of_numpy,
)

_MOST_ITEMS = 7  # numpy adds more in another order


def holds(x):
    """Whether sizes are among the items of a list or a tuple."""
    return isinstance(x, (list, tuple)) and any(map(is_symbolic, x))


def array_of(x, kind=None):
    """The array of a list, or of another array, with items of this kind; None
    where numpy has to make it."""
    if isinstance(x, Array):
        if x.is_plain():
            return None
        return Array(x.items, kind or x.kind)
    kinds = list(map(kind_of, x))
    if None in kinds or not 0 < len(kinds) <= _MOST_ITEMS:
        return None
    return Array(x, kind or (float if float in kinds else int))


def plain(value):
    """numpy's own, where there are arrays of ours."""
    if isinstance(value, Array):
        return value.plain()
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return value


def as_arrays(inputs):
    """All of one length, where one is an array of ours; None where none is, or
    another is none of numbers of 64 bits."""
    if not any(isinstance(value, Array) for value in inputs):
        return None
    found = []
    for value in inputs:
        if isinstance(value, Array):
            found.append(None if value.is_plain() else value)
        elif isinstance(value, numpy().ndarray):
            kind = kind_of_type(value.dtype)
            found.append(Array(value.tolist(), kind)
                         if kind and value.ndim == 1 else None)
        else:
            found.append(Array([value], kind_of(value))
                         if kind_of(value) else None)
    if any(array is None for array in found):
        return None
    length = max(len(array.items) for array in found)
    if any(len(array.items) not in (1, length) for array in found):
        return None
    return [Array(array.items * (length // len(array.items)), array.kind)
            for array in found]


def elementwise(function, arrays):
    results = [function(*items)
               for items in zip(*(array.items for array in arrays))]
    if any(result is None for result in results):
        return None
    kinds = set(map(kind_of, results))
    if len(kinds) == 1 and None not in kinds:
        return Array(results, kinds.pop())
    return numpy().array(results)  # of truths


def _to_numpy(name):
    """A method of the array that numpy makes."""
    def method(self, *args):
        result = getattr(self.plain(), name)(*map(plain, args))
        return self if name in _IN_PLACE else result

    return method


def _operator(name):
    function = getattr(operator, name)

    def method(self, other):
        return _binary(function, self, other)

    def reflected(self, other):
        return _binary(function, other, self)

    return method, reflected


def _binary(function, a, b):
    """By numpy's functions, or torch's of its tensors."""
    ufunc = getattr(numpy(), _UFUNCS[function.__name__])
    if not any(isinstance(value, torch.Tensor) for value in (a, b)):
        return ufunc(a, b)
    return function(plain(a), plain(b))


_UFUNCS = {"add": "add", "sub": "subtract", "mul": "multiply",
           "truediv": "divide", "floordiv": "floor_divide",
           "mod": "remainder", "pow": "power", "eq": "equal",
           "ne": "not_equal", "lt": "less", "le": "less_equal",
           "gt": "greater", "ge": "greater_equal"}
_RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
_IN_PLACE = tuple(f"__i{name}__" for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or",
    "xor", "lshift", "rshift", "matmul"))


class Array:
    __array_priority__ = 0.0
    __hash__ = None

    @property
    def __class__(self):
        """isinstance(a, np.ndarray) is true in a program."""
        return Array if is_known_to(sys._getframe(1)) else numpy().ndarray

    def __init__(self, items, kind):
        self.items = [converted(item, kind) for item in items]
        self.kind = kind
        self._plain = None

    def is_plain(self):
        return self._plain is not None

    def plain(self):
        """numpy's own array, which this one is from here on."""
        if self._plain is None:
            self._plain = numpy().array(
                list(map(number_of, self.items)), dtype=self.kind)
        return self._plain

    def __array__(self, dtype=None, copy=None):
        return numpy().array(self.plain(), dtype=dtype)

    def __getattr__(self, name):
        if name.startswith("__") and name != "__array_interface__":
            raise AttributeError(name)
        return getattr(self.plain(), name)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        if self.is_plain():
            return iter(self._plain)
        return iter(list(map(of_numpy, self.items)))

    def __getitem__(self, index):
        if type(index) is int and not self.is_plain():
            return of_numpy(self.items[index])
        return self.plain()[plain(index)]

    def __setitem__(self, index, value):
        self.plain()[plain(index)] = plain(value)

    @property
    def dtype(self):
        return numpy().dtype(self.kind)

    shape = property(lambda self: (len(self.items),))
    size = property(lambda self: len(self.items))
    ndim = 1

    def tolist(self):
        return self.plain().tolist() if self.is_plain() else list(self.items)

    def copy(self, *args):
        if self.is_plain() or args:
            return self.plain().copy(*args)
        return Array(self.items, self.kind)

    def astype(self, dtype, **options):
        kind = kind_of_type(dtype)
        if self.is_plain() or options or kind is None:
            return self.plain().astype(dtype, **options)
        return Array(self.items, kind)

    def reduced(self, name):
        """np.prod(self) and its like; None where numpy has to say it."""
        function = _REDUCED[name.replace("amax", "max").replace("amin", "min")]
        if self.is_plain() or function is None:
            return None
        result = function(self.items)
        return None if result is None else of_numpy(result)


def _extreme(function):
    """Of floats, one may be nan."""
    def of(items):
        if any(kind_of(item) is float for item in items):
            return None
        return functools.reduce(function, items)

    return of


_REDUCED = {
    "prod": lambda items: functools.reduce(operator.mul, items),
    "sum": lambda items: functools.reduce(operator.add, items),
    "mean": lambda items: functools.reduce(operator.add, items) / len(items),
    "max": _extreme(torch.sym_max), "min": _extreme(torch.sym_min),
}


def _reducing(name):
    def method(self, *args, **options):
        result = None if args or options else self.reduced(name)
        if result is None:
            return getattr(self.plain(), name)(*args, **options)
        return result

    return method


for _name in _REDUCED:
    setattr(Array, _name, _reducing(_name))
for _name in _UFUNCS:
    _method, _reflected = _operator(_name)
    setattr(Array, f"__{_name}__", _method)
    if _name not in _RELATIONS:
        setattr(Array, f"__r{_name}__", _reflected)
for _name in _IN_PLACE + (
        "__and__", "__or__", "__xor__", "__invert__", "__matmul__",
        "__rmatmul__", "__bool__", "__int__", "__float__", "__index__",
        "__contains__", "__complex__", "__divmod__", "__lshift__",
        "__rshift__", "__rand__", "__ror__", "__rxor__", "__deepcopy__",
        "__copy__", "__reduce__", "__repr__", "__str__", "__format__"):
    setattr(Array, _name, _to_numpy(_name))

Array.__neg__ = lambda self: numpy().negative(self)
Array.__pos__ = lambda self: numpy().positive(self)
Array.__abs__ = lambda self: numpy().absolute(self)
