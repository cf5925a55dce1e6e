"""Of which type Python takes a symbolic number to be: of a plain one's.

    isinstance(n, int)      the type's __class__ says so, to a program alone
    type(n) is int          `type` is ours in the modules of a program that
                            compare the types of numbers
"""

import builtins
import contextlib
import functools
import inspect
import sys
import types

import torch

from proviso import _proviso


def is_symbolic(value):
    return (isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
            and isinstance(value.node, _proviso.SymNode))


class NumberType(type):
    """Is to isinstance() and == what the number's own type is."""

    def __instancecheck__(cls, value):
        return isinstance(value, cls.plain)

    def __subclasscheck__(cls, other):
        return other is cls or issubclass(other, cls.plain)

    def __eq__(cls, other):
        return other is cls or other is cls.plain

    def __hash__(cls):
        return hash(cls.plain)

    def __getattr__(cls, name):
        return getattr(cls.plain, name)


# --- isinstance(n, int)

_TYPES = {torch.SymInt: builtins.int, torch.SymFloat: builtins.float,
          torch.SymBool: builtins.bool}
# Whose own questions tell a symbolic number from a plain one.
_KNOWING = ("torch", "proviso")


def _class_of(kind, plain):
    """The __class__ of a symbolic number: isinstance() asks for it where the
    type alone says no, and a program would else take the branch of what is no
    number."""
    def __class__(self):
        asker = sys._getframe(1).f_globals.get("__name__") or ""
        is_ours = type(self.node) is _proviso.SymNode  # isinstance asks us
        if is_ours and asker.partition(".")[0] not in _KNOWING:
            return plain
        return kind

    return property(__class__)


@contextlib.contextmanager
def of_their_types():
    """isinstance(n, int) of a traced number is in a program what it is of the
    number; torch still sees that it is symbolic."""
    with contextlib.ExitStack() as stack:
        for kind, plain in _TYPES.items():
            before = vars(kind).get("__class__")  # of the export around this one
            _proviso.set_in_class(kind, "__class__", _class_of(kind, plain))
            stack.callback(_proviso.set_in_class, kind, "__class__", before)
        yield


# --- type(n) is int

class _Type(NumberType):
    """Is to isinstance() and == what `type` is, and says of a symbolic number
    what the number's own type is called in the module that asks."""

    def __call__(cls, *args, **options):
        if len(args) != 1 or options:
            return cls.plain(*args, **options)
        kind = cls.plain(args[0])
        if kind in _TYPES and is_symbolic(args[0]):
            kind = _TYPES[kind]
        if kind in _NAMED:
            return cls.module.get(kind.__name__, kind)
        return kind


_NAMED = (builtins.int, builtins.float, builtins.bool)


def type_of(module):
    """type, for a module that asks for the types of numbers."""
    return _Type("type", (), {"plain": builtins.type, "module": module})


_MOST_FUNCTIONS = 5000  # of a program that are looked at


def askers_for_types(mod):
    """(globals of functions, "type") of the functions of a program that compare
    a type with int, float or bool."""
    found, seen = {}, set()
    left = [getattr(mod, "__func__", mod)]
    if isinstance(mod, torch.nn.Module):
        modules = list(mod.modules())
        left = [base for kind in dict.fromkeys(map(type, modules))
                for base in kind.__mro__]
        left += [value for m in modules for value in vars(m).values()
                 if isinstance(value, (types.FunctionType, types.MethodType))]
    while left and len(seen) < _MOST_FUNCTIONS:
        one = left.pop()
        if id(one) in seen or _is_of_library(getattr(one, "__module__", "")):
            continue
        seen.add(id(one))
        if isinstance(one, type):
            left += vars(one).values()
            continue
        one = inspect.unwrap(getattr(one, "__func__", one))
        if isinstance(one, types.FunctionType):
            names = _names_in(one.__code__)
            if "type" in names and not names.isdisjoint(("int", "float",
                                                         "bool")):
                found[id(one.__globals__)] = (one.__globals__, "type")
            left += _named_by(sorted(names), one.__globals__)
            left += inspect.getclosurevars(one).nonlocals.values()
    return list(found.values())


def _is_of_library(module):
    top = (module or "").partition(".")[0]
    return top in _KNOWING or top in sys.stdlib_module_names


def _named_by(names, space):
    """The functions and classes that a function's names may stand for."""
    for name in names:
        value = space.get(name)
        if isinstance(value, types.ModuleType):
            if not _is_of_library(value.__name__):
                yield from (vars(value).get(other) for other in names)
        elif isinstance(value, (type, types.FunctionType)):
            yield value


@functools.lru_cache(4096)
def _names_in(code):
    """The names that a function and those within it use."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return frozenset(code.co_names).union(*map(_names_in, inner))
