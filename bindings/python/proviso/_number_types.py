"""Of which type Python takes a symbolic number to be: of a plain one's.

    isinstance(n, int)      the type's __class__ says so, to a program alone
    type(n) is int          `type` is ours in the modules of a program that
                            compare the types of numbers
"""

import builtins
import contextlib
import dis
import functools
import sys
import types

import torch

from proviso import _proviso
from proviso._libraries import is_library


def is_symbolic(value):
    return (isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
            and isinstance(value.node, _proviso.SymNode))


def number_of(value):
    """The number itself, which fixes it."""
    if isinstance(value, torch.SymInt):
        return value.__index__()
    if isinstance(value, torch.SymFloat):
        return value.node.guard_float("", 0)
    return bool(value) if isinstance(value, torch.SymBool) else value


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
_KNOWING = ("torch", "proviso")


def is_known_to(frame):
    """Whether the frame's questions tell a symbolic number from a plain one."""
    name = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0] in _KNOWING


def class_of(kind, plain):
    """The __class__ of a symbolic number: isinstance() asks for it where the
    type alone says no, and a program would else take the branch of what is no
    number."""
    def __class__(self):
        is_ours = type(self.node) is _proviso.SymNode  # isinstance asks us
        if is_ours and not is_known_to(sys._getframe(1)):
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
            _proviso.set_in_class(kind, "__class__", class_of(kind, plain))
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


_MOST_FUNCTIONS = 2000  # of a program that are looked at
_MOST_SCANS = 64  # that are kept
_FUNCTIONS = (types.FunctionType, types.MethodType)
_LEADING = (*_FUNCTIONS, types.ModuleType, type)
_scans = {}  # by what they began with


def scan_of(mod):
    """What the functions of a program are, that the names in forward() lead to:
    .askers, (globals of functions, "type") of those that ask for the type of
    something; .identities, the code that asks whether something is
    True or is False."""
    functions, kinds = [mod], ()
    if isinstance(mod, torch.nn.Module):
        modules = list(mod.modules())
        kinds = tuple(dict.fromkeys(map(type, modules)))
        own = {kind for kind in kinds if not is_library(kind.__module__)}
        functions = [value for m in modules if type(m) in own
                     for value in vars(m).values()
                     if isinstance(value, _FUNCTIONS)]
    key = kinds, tuple(map(_python_function, functions))
    scan = _scans.get(key)
    if scan is None or not scan.is_current():
        if len(_scans) >= _MOST_SCANS:
            _scans.clear()
        scan = _scans[key] = _Scan(*key)
    return scan


class _Scan:
    """kinds: the classes of a program's modules."""

    def __init__(self, kinds, functions):
        self._lookups = []  # (names of a module or a class, name, value)
        self._classes = [vars(base) for base in dict.fromkeys(
            base for kind in kinds for base in kind.__mro__)
            if not is_library(base.__module__)]
        found, seen, named = {}, set(), set()
        self.identities = set()
        left = [*functions, *(kind.forward for kind in kinds)]
        while left and len(seen) < _MOST_FUNCTIONS:
            one = _python_function(left.pop())
            if one is None or one in seen:
                continue
            seen.add(one)
            names = _names_in(one.__code__)
            self.identities.update(_identities_in(one.__code__))
            if "type" in names and _asks_for_types(one.__code__):
                found[id(one.__globals__)] = (one.__globals__, "type")
            for cell in one.__closure__ or ():
                if isinstance(_content_of(cell), _FUNCTIONS):
                    left.append(cell.cell_contents)
            for name in sorted(names):
                left += self._global(name, one.__globals__, names)
                if name not in named:
                    left += [self._look_up(c, name) for c in self._classes]
            named |= names
        self.askers = list(found.values())

    def is_current(self):
        """Whether the names stand for the functions that they stood for."""
        return all(space.get(name) is value
                   for space, name, value in self._lookups)

    def _look_up(self, space, name):
        """What is not there, no program has called."""
        value = space.get(name)
        if isinstance(value, _LEADING):
            self._lookups.append((space, name, value))
        return value

    def _global(self, name, space, names):
        """The functions that a name of a function's globals may lead to."""
        value = self._look_up(space, name)
        if isinstance(value, types.ModuleType):
            if not is_library(value.__name__):
                return [self._look_up(vars(value), n) for n in sorted(names)]
        elif isinstance(value, type):
            if not is_library(value.__module__):
                return [self._look_up(vars(value), n)
                        for n in ("__init__", "__call__", "apply")]
        elif isinstance(value, _FUNCTIONS):
            return [value]
        return []


def _python_function(value):
    """What is wrapped and bound; None for a library's and for no function."""
    while isinstance(value, _FUNCTIONS):
        inner = getattr(value, "__func__", None) or getattr(
            value, "__wrapped__", None)
        if inner is None:
            return None if is_library(value.__module__) else value
        value = inner
    return None


def _content_of(cell):
    try:
        return cell.cell_contents
    except ValueError:  # of a variable that has no value yet
        return None


@functools.lru_cache(4096)
def _names_in(code):
    """The names that a function and those within it use."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return frozenset(code.co_names).union(*map(_names_in, inner))


@functools.lru_cache(4096)
def _asks_for_types(code):
    """Whether `type` in a function, or in those within it, is Python's: it is
    an attribute's name, too."""
    return any(
        _asks_for_types(c) for c in code.co_consts
        if isinstance(c, types.CodeType)) or any(
        operation.argval == "type" and operation.opname == "LOAD_GLOBAL"
        for operation in dis.get_instructions(code))


_IS, _CONSTANT = (dis.opmap[name] for name in ("IS_OP", "LOAD_CONST"))


@functools.lru_cache(4096)
def _identities_in(code):
    """Of a function and those within it, those with `c is True` in them."""
    found = [one for c in code.co_consts if isinstance(c, types.CodeType)
             for one in _identities_in(c)]
    operations = code.co_code
    for i in range(2, len(operations), 2):
        if (operations[i] == _IS and operations[i - 2] == _CONSTANT
                and type(code.co_consts[operations[i - 1]]) is bool):
            return [code, *found]
    return found
