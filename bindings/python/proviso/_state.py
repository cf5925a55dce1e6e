"""What a traced program may change, put back as it was: the objects that it
reaches, and the modes of torch that Python keeps (C++ keeps the others)."""

import collections
import contextlib
import functools
import itertools
import operator
import os
import random
import re
import sys
import types
import warnings
import weakref

import torch
from torch.nn.modules import module as _global_hooks

from proviso import _proviso

_MISSING = object()
_id = id  # while tracing, builtins.id refuses traced tensors


def is_traced(value):
    """Whether the value means nothing outside of its trace."""
    if isinstance(value, torch.Tensor):
        return _proviso.is_fake(value)
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def _holds_traced(value, depth=4):
    if is_traced(value):
        return True
    if depth == 0 or isinstance(value, (str, bytes, type, types.ModuleType)):
        return False
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple, set, frozenset)):
        value = getattr(value, "__dict__", {}).values()
    return any(_holds_traced(item, depth - 1) for item in list(value))


# --- kinds of state: read(object) is (keys, values), write() puts them back

_Kind = collections.namedtuple("_Kind", "read write where")


def _write_dict(value, keys, items):
    ordered = isinstance(value, collections.OrderedDict)
    kind = collections.OrderedDict if ordered else dict
    kind.clear(value)
    for key, item in zip(keys, items):
        kind.__setitem__(value, key, item)


def _write_items(value, keys, items):
    value.clear()
    (value.update if isinstance(value, set) else value.extend)(items)


def _read_cell(cell):
    try:
        return [""], [cell.cell_contents]
    except ValueError:
        return [""], [_MISSING]


def _write_cell(cell, keys, items):
    if items[0] is not _MISSING:
        cell.cell_contents = items[0]
    else:
        del cell.cell_contents


def _slots_of(cls):
    names = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return [n for n in names if n not in ("__dict__", "__weakref__")]


def _read_slots(value):
    names = _slots_of(type(value))
    return names, [getattr(value, name, _MISSING) for name in names]


def _write_names(value, names, items):
    for name, item in zip(names, items):
        if item is not _MISSING:
            object.__setattr__(value, name, item)
        elif hasattr(value, name):
            object.__delattr__(value, name)


def _read_tensor(tensor):
    names = ["requires_grad", "grad", "_backward_hooks",
             "_post_accumulate_grad_hooks"] if tensor.is_leaf else []
    return names, [getattr(tensor, name) for name in names]


def _write_tensor(tensor, names, items):
    for name, item in zip(names, items):
        if getattr(tensor, name) is not item:
            setattr(tensor, name, item)


def _read_random(source):
    if isinstance(source, random.Random):
        return [""], [source.getstate()]
    if hasattr(source, "bit_generator"):  # numpy's Generator
        return [""], [source.bit_generator.state]
    return [""], [source.get_state()]


def _write_random(source, keys, items):
    if isinstance(source, random.Random):
        source.setstate(items[0])
    elif hasattr(source, "bit_generator"):
        source.bit_generator.state = items[0]
    else:
        source.set_state(items[0])


def _is_random(value):
    return (isinstance(value, (torch.Generator, random.Random))
            or type(value).__module__.startswith("numpy.random"))


class _Names:
    """Those of the `mentioned` names that a module's globals or a class have,
    or come to have."""

    def __init__(self, owner, mentioned):
        self.owner = owner
        self.mentioned = mentioned
        self.keys = set(self._space())
        self.names = set()

    def _space(self):
        return self.owner if isinstance(self.owner, dict) else vars(self.owner)

    def new_names(self):
        """Of what is mentioned by now, what was not looked at before."""
        new = (self.mentioned & self.keys) - self.names
        self.names |= new
        return new

    def find(self, name):
        return self._space().get(name, _MISSING)

    def read(self):
        added = (self._space().keys() - self.keys) & self.mentioned
        names = [*sorted(self.names), *sorted(added)]
        return names, [self.find(name) for name in names]

    def write(self, names, items):
        owner, is_class = self.owner, isinstance(self.owner, type)
        for name in set(self.read()[0]) - set(names):
            (delattr if is_class else dict.pop)(owner, name)
        for name, item in zip(names, items):
            if self.find(name) is not item:
                (setattr if is_class else dict.__setitem__)(owner, name, item)


_DICT = _Kind(lambda d: (list(d), list(dict.values(d))), _write_dict, "[{!r}]")
_ATTRIBUTES = _DICT._replace(where=".{}")
_ITEMS = _Kind(lambda v: ([], list(v)), _write_items, "")
_CELL = _Kind(_read_cell, _write_cell, "")
_SLOTS = _Kind(_read_slots, _write_names, ".{}")
_TENSOR = _Kind(_read_tensor, _write_tensor, ".{}")
_NAMES = _Kind(_Names.read, _Names.write, ".{}")
_RANDOM = _Kind(_read_random, _write_random, "")
# What a functools.lru_cache holds cannot be read: it is emptied if it grew.
_CACHE = _Kind(lambda f: ([""], [f.cache_info().misses]),
               lambda f, keys, items: f.cache_clear(), "")
# A copy is put back whether or not there is a change.
_ARRAY = _Kind(lambda a: ([""], [a.copy()]),
               lambda a, keys, items: operator.setitem(a, ..., items[0]), "")


def _same(now, before):
    return len(now[1]) == len(before[1]) and all(
        a is b or type(a) is type(b) and type(a) in _NUMBERS and a == b
        for a, b in zip(now[0] + now[1], before[0] + before[1]))


# --- the walk

_CALLED_BY_PYTHON = {"forward", "__torch_function__"}.union(*(
    dir(kind) for kind in (float, dict, property, contextlib.ExitStack)))

_NUMBERS = {int, float, str, bool, complex, bytes}
_LEAVES = _NUMBERS | {type(None), type(...), torch.dtype, torch.device,
                      torch.Size, range, slice, types.CodeType,
                      types.BuiltinFunctionType}
_LRU_CACHE = type(functools.lru_cache(operator.neg))
# Of the libraries' own objects these are walked.
_WALKED = (torch.nn.Module, types.SimpleNamespace, weakref.WeakKeyDictionary,
           weakref.WeakValueDictionary, collections.UserDict,
           collections.UserList)
_PACKAGES = {"torch", "proviso", "numpy"}.union(sys.stdlib_module_names)


def _is_library(name):
    return str(name).partition(".")[0] in _PACKAGES


@functools.cache
def _is_installed(name):
    """Whether the module of this name is no code of the user's."""
    path = getattr(sys.modules.get(name), "__file__", None) or ""
    return _is_library(name) or "site-packages" in path.split(os.sep)


class ObjectState:
    """The objects that a program reaches from `roots`, {path: object}, by
    attributes, items, closures and the names in its code: the user's, and that
    of the `modules` of these names."""

    def __init__(self, roots, modules=()):
        self._modules = {name for name in modules if not _is_library(name)}
        self._kept = []  # (kind, object, what was read, path), in order
        self._seen = {}  # by id, so that they stay alive
        # Names in the code met so far, and those that Python calls unasked.
        self._mentioned = set(_CALLED_BY_PYTHON)
        self._spaces = []  # (_Names, path)
        self._owners = set()  # their ids
        self._todo = [(value, path) for path, value in roots.items()]
        while self._todo:
            while self._todo:
                self._visit(*self._todo.pop())
            self._look_up_names()
        for names, path in self._spaces:
            self._keep(_NAMES, names, path)

    def put_back(self, all_changes):
        """Where traced values were left, all changes or none.  Returns their
        paths: they cannot be kept."""
        left = []
        for kind, value, before, path in self._kept:
            now = kind.read(value)
            if _same(now, before):
                continue
            known = set(map(_id, before[1]))
            traced = [path + (kind.where or "[{}]").format(key)
                      for key, item in zip(now[0] or itertools.count(), now[1])
                      if _id(item) not in known and _holds_traced(item)]
            if traced or all_changes or kind is _CACHE:
                kind.write(value, *before)
            left += traced
        return left

    def _keep(self, kind, value, path):
        read = kind.read(value)
        self._kept.append((kind, value, read, path))
        if kind in (_RANDOM, _ARRAY, _CACHE):
            return  # a copy is not what the program reaches
        if kind.where:
            self._todo += [(item, path + kind.where.format(key))
                           for key, item in zip(*read)]
        else:
            self._todo += [(item, path) for item in read[1]]

    def _visit(self, value, path):
        if type(value) in _LEAVES or _id(value) in self._seen:
            return
        self._seen[_id(value)] = value
        if isinstance(value, dict):
            self._keep(_DICT, value, path)
        elif isinstance(value, (list, set, collections.deque)):
            self._keep(_ITEMS, value, path)
        elif isinstance(value, (tuple, frozenset)):
            self._todo += [(item, path) for item in value]
        elif isinstance(value, types.CellType):
            self._keep(_CELL, value, path)
        elif isinstance(value, types.FunctionType):
            self._visit_function(value, path)
        elif isinstance(value, types.ModuleType):
            if self._follows(value.__name__):
                self._add_space(value.__dict__, value.__name__)
        elif isinstance(value, type):
            self._visit_class(value)
        else:
            self._visit_instance(value, path)

    def _follows(self, module):
        return module in self._modules or not _is_installed(module)

    def _visit_function(self, function, path):
        if not self._follows(function.__module__):
            return
        self._mention(function.__code__)
        self._add_space(function.__globals__, str(function.__module__))
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or ()):
            self._todo.append((cell, name))
        self._todo += [(function.__dict__, path), (function.__defaults__, path),
                       (function.__kwdefaults__, path)]

    def _mention(self, code):
        self._mentioned.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._mention(constant)

    def _visit_class(self, cls):
        for base in cls.__mro__:
            if self._follows(base.__module__):
                self._add_space(base, base.__name__)

    def _visit_instance(self, value, path):
        if isinstance(value, types.MethodType):
            self._todo += [(value.__self__, path), (value.__func__, path)]
        elif isinstance(value, (staticmethod, classmethod)):
            self._todo.append((value.__func__, path))
        elif isinstance(value, property):
            self._todo += [(value.fget, path), (value.fset, path)]
        elif isinstance(value, functools.cached_property):
            self._todo.append((value.func, path))
        elif isinstance(value, functools.partial):
            self._todo.append(((value.func, value.args, value.keywords), path))
        elif isinstance(value, _LRU_CACHE):
            self._keep(_CACHE, value, path)
            self._todo.append((value.__wrapped__, path))
        elif _is_random(value):
            self._keep(_RANDOM, value, path)
        elif isinstance(value, torch.Tensor):
            self._keep(_TENSOR, value, path)
        elif type(value).__module__ == "numpy":
            if hasattr(value, "flags") and value.flags.writeable:
                self._keep(_ARRAY, value, path)
        if (isinstance(value, _WALKED + (torch.Tensor,))
                or not _is_library(type(value).__module__)):
            if hasattr(value, "__dict__"):
                attributes = object.__getattribute__(value, "__dict__")
                self._seen[_id(attributes)] = attributes
                self._keep(_ATTRIBUTES, attributes, path)
            if _slots_of(type(value)):
                self._keep(_SLOTS, value, path)
            self._visit_class(type(value))

    def _add_space(self, owner, path):
        if _id(owner) not in self._owners:
            self._owners.add(_id(owner))
            self._spaces.append((_Names(owner, self._mentioned), path))

    def _look_up_names(self):
        """What code calls by name, in all globals and classes met so far."""
        for names, path in list(self._spaces):
            self._todo += [(names.find(name), f"{path}.{name}")
                           for name in sorted(names.new_names())]


# --- around a trace

@contextlib.contextmanager
def kept_as_it_is(program):
    """Whatever happens inside, what `program` reaches and torch's modes are
    afterwards as before.  What a mere function reaches is its caller's too:
    there only what traced values were put into is put back.  Warns of tensors
    that the program meant to keep."""
    numpy = sys.modules.get("numpy")
    all_changes = isinstance(getattr(program, "__self__", program),
                             torch.nn.Module)
    parts = (program.modules() if isinstance(program, torch.nn.Module)
             else [program])
    objects = ObjectState({"self": program},
                          {type(part).__module__ for part in parts})
    modes = ObjectState({
        "torch": [value for name, value in vars(_global_hooks).items()
                  if name.startswith("_global_")],
        "printing": vars(torch._tensor_str.PRINT_OPTS),
        "random": [random._inst, numpy and numpy.random.mtrand._rand]})
    device = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    precision = torch.get_float32_matmul_precision()
    try:
        yield
    finally:
        left = objects.put_back(all_changes)
        modes.put_back(True)
        torch._GLOBAL_DEVICE_CONTEXT.device_context = device
        if torch.get_float32_matmul_precision() != precision:
            torch.set_float32_matmul_precision(precision)
    for path in left:
        warnings.warn(
            f"The tensor attribute {_attribute(path)} was assigned during "
            "export, and is now as it was before: the exported program does "
            "not keep it. Such attributes must be registered as buffers using "
            "the `register_buffer` API.", stacklevel=2)


def _attribute(path):
    """self._modules['a'].b is self.a.b."""
    return re.sub(r"\._(?:modules|parameters|buffers)\['(\w+)'\]", r".\1", path)
