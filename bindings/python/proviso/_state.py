"""What a traced program may change, put back as it was: the objects that it
reaches, and the modes of torch that Python keeps (C++ keeps the others)."""

import array
import collections
import concurrent.futures
import contextlib
import contextvars
import functools
import io
import itertools
import logging
import operator
import queue
import random
import re
import sys
import threading
import types
import warnings
import weakref

import torch
from torch.nn.modules import module as _global_hooks

from proviso import _iterators, _modules, _process
from proviso._kinds_of_state import (
    ALWAYS,
    ARRAY,
    ATTRIBUTES,
    BUFFER,
    BYTES,
    CACHE,
    CELL,
    CLASS,
    CONSUMED,
    CONTAINERS,
    DICT,
    ENTRIES,
    ERROR,
    FACTORY,
    FUNCTION,
    ITEMS,
    LOCK,
    LOGGER,
    NAMES,
    NOTHING,
    NUMBERS,
    NUMPY_RANDOM,
    PARTIAL,
    QUEUE,
    RANDOM,
    SLOTS,
    TENSOR,
    TORCH_RANDOM,
    Entries,
    Names,
    all_same,
    holds_traced,
    same,
    slots_of,
)
from proviso._libraries import is_installed, is_library
from proviso._names_in_code import found_at, names_in, writes_in

_id = id  # while tracing, builtins.id refuses traced tensors


# --- the walk

_CALLED_BY_PYTHON = {"forward", "__torch_function__"}.union(*(
    dir(kind) for kind in (float, dict, property, contextlib.ExitStack)))

_LEAVES = NUMBERS | {type(None), type(...), torch.dtype, torch.device,
                     torch.Size, range, slice, types.CodeType}
_LRU_CACHE = type(functools.lru_cache(operator.neg))
# Of the libraries' own objects these are walked.
_WALKED = (torch.nn.Module, torch.Tensor, types.SimpleNamespace,
           weakref.WeakKeyDictionary, weakref.WeakValueDictionary,
           weakref.WeakSet, threading.local, threading.Event,
           threading.Semaphore, threading.Condition,
           collections.UserDict, collections.UserList, collections.ChainMap,
           queue.Queue, concurrent.futures.Future, functools.partialmethod,
           BaseException, torch.optim.Optimizer)

_BLOCKING = (LOCK, QUEUE)


@functools.lru_cache(1024)
def _modules_of_code(cls):
    """Of the class and of those whose forward() it may call."""
    return {cls.__module__} | {base.__module__ for base in cls.__mro__
                               if "forward" in vars(base)}


def _package_of(module):
    return "" if is_library(module) else module.rpartition(".")[0]


class ObjectState:
    """The objects that a program reaches from `roots`, [(path, object)], by
    attributes, items, closures and the names in its code: the user's, and that
    of the `modules` of these names and of the `package` of this name.

    Nearly all of what is reached are dicts, most of them empty (the hooks of
    modules): as little as possible is done for each, and what is of one kind
    is compared at once."""

    def __init__(self, roots, modules=(), package=""):
        self._modules = {name for name in modules if not is_library(name)}
        self._package = package
        self.has_changed = False  # as put_back() found
        self.is_taken = False  # a lock, or an item of a queue, likewise
        self._kept = {}  # by kind: [(object, (keys, items), place)]
        self._empty = []  # object, *place; and the next
        self._classes = []  # (object, its class, place)
        self._copies = []  # (kind, object, copy)
        self._iterators = []  # (iterator, position, place)
        self._written = {}  # by id: (library's module or class, names, place)
        self._seen = {}  # by id, so that they stay alive
        self._visits = {}  # by type
        self._mentioned = set()  # the names in the code met so far
        # Since the last look, and at first those that Python calls unasked.
        self._new_names = set(_CALLED_BY_PYTHON)
        self._spaces = {}  # by id: (Names, place)
        self._todo = []  # (object, place); a place is (of what, where, key)
        self._reach((), "{}", *zip(*roots))
        while self._todo:
            while self._todo:
                value, place = self._todo.pop()
                for visit in self._visits_of(type(value)):
                    visit(self, value, place)
            self._look_up_names()
        self.names = self._mentioned  # in the code
        for names, place in self._spaces.values():
            self._keep(NAMES, names, place)
        for owner, names, place in self._written.values():
            self._keep(ENTRIES, Entries(owner, names), place)

    def put_back(self, all_changes):
        """Where traced values were left, all changes or none.  Returns their
        paths, for they cannot be kept, the _counts() that were put back, the
        paths of the other changes, and whether random numbers were drawn."""
        left, counts, others, is_drawn = [], [], [], False
        for kind, value, before, place in self._changed():
            self.has_changed = True
            known = set(map(_id, before[1]))
            now = _read(kind, value)
            counted = _counts(kind, value, before, now, place)
            traced = [_path((place, kind.where or "[{}]", key))
                      for key, item in zip(now[0] or itertools.count(), now[1])
                      if _id(item) not in known and holds_traced(item)]
            if traced or all_changes:
                self._write(kind, value, place, *before)
            if all_changes:
                counts += counted
            if not traced and not counted:
                others.append(_path(place))
            left += traced
        for kind, value, copy, place in self._copies:
            if all_changes or kind in ALWAYS:
                said = self._write(kind, value, place, copy)
                if kind is ARRAY and said is not None:
                    counts.append((_path(place), copy[0], said))
                elif kind in CONSUMED and said:
                    others.append(_path(place))
                    self.is_taken |= kind in _BLOCKING
                is_drawn |= kind in (RANDOM, NUMPY_RANDOM) and bool(said)
                # An emptied cache counts from 0 again.
                self.has_changed |= kind is CACHE and not said
        return left, counts, others, is_drawn

    def may_block(self):
        """Whether a call that finds another state may wait for ever."""
        return any(kind in _BLOCKING for kind, *_ in self._copies)

    def _write(self, kind, value, place, *before):
        """Whatever it raises, the others are put back."""
        try:
            return kind.write(value, *before)
        except Exception as error:
            _process.warn_of_what_stays(_path(place), error)

    def put_back_iterators(self):
        """Returns those that were advanced: (path, whether it is back)."""
        advanced = []
        for iterator, before, place in self._iterators:
            if not _iterators.is_at(iterator, before):
                again = _iterators.renewed(before)
                is_back = again is not None and self._replace(iterator, again)
                advanced.append((_path(place), is_back))
        return advanced

    def _replace(self, value, other):
        """Where `value` was before; whether anywhere."""
        found = [(kind, holder, before) for kind, rows in self._kept.items()
                 for holder, before, _ in rows
                 if any(item is value for item in before[1])]
        for kind, holder, (keys, items) in found:
            self._write(kind, holder, ((), "{}", "its holder"), keys,
                        [other if item is value else item for item in items])
        return bool(found)

    def _changed(self):
        for kind, rows in self._kept.items():
            with contextlib.suppress(Exception):
                read = kind.read
                if all_same([read(value) for value, _, _ in rows],
                            [before for _, before, _ in rows]):
                    continue
            for value, before, place in rows:
                if not same(_read(kind, value), before):
                    yield kind, value, before, place
        for value, cls, place in self._classes:
            if type(value) is not cls:
                yield CLASS, value, (("__class__",), (cls,)), place
        if any(self._empty[::4]):
            for value, *place in zip(*(self._empty[i::4] for i in range(4))):
                if value:
                    yield CONTAINERS[type(value)], value, NOTHING, place

    def _keep(self, kind, value, place):
        before = _read(kind, value)
        self._kept.setdefault(kind, []).append((value, before, place))
        return before

    def _reach(self, place, where, keys, items):
        seen = self._seen
        for key, item in zip(keys, items):
            if type(item) in _LEAVES:
                continue
            if type(item) in CONTAINERS and not item:
                self._empty += (item, place, where, key)
            elif _id(item) not in seen:
                seen[_id(item)] = item
                self._todo.append((item, (place, where, key)))

    def _reach_all(self, items, place):
        self._reach(place, "", itertools.repeat(""), items)

    def _visits_of(self, kind):
        """What is done with each object of this type."""
        found = self._visits.get(kind)
        if found is None:
            found, is_walked = _fitting(kind)
            self._visits[kind] = found
            if is_walked:
                self._visit_class(kind)
        return found

    def _follows(self, module):
        return (not is_installed(module) or module in self._modules
                or self._package
                and str(module).rpartition(".")[0] == self._package)

    def _note_class(self, value, place):
        self._classes.append((value, type(value), place))

    def _visit_attributes(self, value, place):
        base = threading.local if isinstance(value, threading.local) else object
        attributes = base.__getattribute__(value, "__dict__")
        if attributes:
            self._seen[_id(attributes)] = attributes
        self._reach(place, ".{}", *self._keep(ATTRIBUTES, attributes, place))

    def _visit_function(self, function, place):
        if function.__closure__:
            self._reach((), "{}", function.__code__.co_freevars,
                        function.__closure__)
        if not self._follows(function.__module__):
            return
        self._new_names.update(names_in(function.__code__))
        if writes_in(function.__code__) is not None:
            self._watch_libraries(function)
        self._add_space(function.__globals__, function.__module__)
        self._reach(place, ".{}", *self._keep(FUNCTION, function, place))
        self._reach_all((function.__dict__,), place)

    def _visit_module(self, module, place):
        if self._follows(module.__name__):
            self._add_space(module.__dict__, module.__name__)

    def _visit_class(self, cls, place=None):
        for base in cls.__mro__:
            if self._follows(base.__module__):
                self._add_space(base, base.__name__)
        if type(cls) is not type:
            self._visit_class(type(cls))

    def _add_space(self, owner, name):
        if _id(owner) not in self._spaces:
            self._spaces[_id(owner)] = (Names(owner, self._mentioned),
                                        ((), "{}", name))

    def _watch_libraries(self, function):
        """The names that the function may write in a library's module or
        class: F.relu = f."""
        paths, names = writes_in(function.__code__)
        for path in paths:
            owner = found_at(path, function.__globals__)
            if (isinstance(owner, types.ModuleType)
                    and not self._follows(owner.__name__)
                    or isinstance(owner, type)
                    and not self._follows(owner.__module__)):
                is_class = isinstance(owner, type)
                _, watched, _ = self._written.setdefault(_id(owner), (
                    owner if is_class else vars(owner), set(),
                    ((), "{}", owner.__name__)))
                watched |= names

    def _look_up_names(self):
        """What code calls by name, in all globals and classes met so far."""
        new, self._new_names = self._new_names - self._mentioned, set()
        self._mentioned |= new
        for names, place in self._spaces.values():
            found = names.look_up(new)
            self._reach(place, ".{}", found.keys(), found.values())


# --- what is done with the objects of a type

def _is_walked(kind):
    """Whether the attributes of its objects are looked into: not of most
    that are the libraries', nor of what names in code lead into."""
    return issubclass(kind, _WALKED) or not (
        is_library(kind.__module__)
        or issubclass(kind, (type, types.ModuleType)))


@functools.lru_cache(1024)
def _fitting(kind):
    """(what is done with an object of this type, whether its class is looked
    at)."""
    found = [visit for bases, visit in _VISITS if issubclass(kind, bases)]
    is_walked = _is_walked(kind)
    if is_walked:
        found.append(ObjectState._note_class)
        if kind.__dictoffset__ or issubclass(kind, threading.local):
            found.append(ObjectState._visit_attributes)
        if slots_of(kind):
            found.append(_keeping(SLOTS))
    if str(kind.__module__).startswith("numpy"):
        found.append(_visit_numpy)
    return found, is_walked


def _read(kind, value):
    """What cannot be read is nothing."""
    try:
        return kind.read(value)
    except Exception:
        return NOTHING


def _keeping(kind):
    def visit(state, value, place):
        keys, items = state._keep(kind, value, place)
        state._reach(place, kind.where, keys or itertools.repeat(""), items)
    return visit


def _copying(kind):
    def visit(state, value, place):
        with contextlib.suppress(Exception):  # what cannot be read is left out
            state._copies.append((kind, value, kind.read(value), place))
    return visit


def _visit_iterator(state, value, place):
    before = _iterators.position(value)
    if before is not None:
        state._iterators.append((value, before, place))


def _visit_variable(state, value, place):
    with contextlib.suppress(LookupError):  # it may have no value
        state._reach_all((value.get(),), place)


def _going_on(*names):
    """To what these attributes are."""
    def visit(state, value, place):
        state._reach_all([getattr(value, name) for name in names], place)
    return visit


def _visit_numpy(state, value, place):
    if type(value).__module__.startswith("numpy.random"):
        _copying(NUMPY_RANDOM)(state, value, place)
    elif isinstance(value, sys.modules["numpy"].ndarray) and (
            value.flags.writeable or value.flags.owndata):
        _copying(ARRAY)(state, value, place)


# Of the types that fit an object, all that is said is done.
_VISITS = (
    (dict, _keeping(DICT)),
    (collections.defaultdict, _keeping(FACTORY)),
    ((list, set, collections.deque), _keeping(ITEMS)),
    (tuple, lambda state, value, place: state._reach_all(
        tuple.__iter__(value), place)),
    (frozenset, lambda state, value, place: state._reach_all(
        frozenset.__iter__(value), place)),
    (types.CellType, _keeping(CELL)),
    (types.FunctionType, ObjectState._visit_function),
    (types.ModuleType, ObjectState._visit_module),
    (type, ObjectState._visit_class),
    (types.MethodType, _going_on("__self__", "__func__")),
    ((staticmethod, classmethod), _going_on("__func__")),
    (property, _going_on("fget", "fset")),
    (functools.cached_property, _going_on("func")),
    (functools.partial, _keeping(PARTIAL)),
    (BaseException, _keeping(ERROR)),
    (memoryview, _going_on("obj")),
    (_LRU_CACHE, _copying(CACHE)),
    (_LRU_CACHE, _going_on("__wrapped__")),
    (random.Random, _copying(RANDOM)),
    (torch.Generator, _copying(TORCH_RANDOM)),
    (torch.Tensor, _keeping(TENSOR)),
    ((types.BuiltinFunctionType, types.MethodWrapperType),
     _going_on("__self__")),
    (weakref.ref,
     lambda state, value, place: state._reach_all((value(),), place)),
    (contextvars.ContextVar, _visit_variable),
    ((bytearray, array.array), _copying(BYTES)),
    ((io.StringIO, io.BytesIO), _copying(BUFFER)),
    (queue.SimpleQueue, _copying(QUEUE)),
    (type(threading.Lock()), _copying(LOCK)),
    (logging.Logger, _copying(LOGGER)),
    ((*_iterators.TYPES, _iterators.GENERATOR), _visit_iterator),
)


_DECIDING = (int, float, bool, str, type(None))


def _counts(kind, value, before, now, place):
    """[(path, what it was, what it became)] of the numbers, flags and texts
    that changed, and of the lists that have another length: what the next call
    may decide by.  What was None or nothing is a cache that was filled, unless
    it is a flag."""
    if kind is ITEMS:
        lengths = [f"{len(items)} items" for _, items in (before, now)]
        is_other = isinstance(value, list) and lengths[0] != lengths[1]
        return [(_path(place), *lengths)] * is_other
    if kind not in (ATTRIBUTES, DICT, NAMES, SLOTS):
        return []
    were = dict(zip(*before))
    return [(_path((place, kind.where, key)), were.get(key, "nothing"), item)
            for key, item in zip(*now)
            if _decides(were.get(key), item)]


def _decides(old, new):
    if old is None:
        return type(new) is bool
    return type(new) in _DECIDING and (
        type(old) in _DECIDING and old != new or new is None)


def _path(place):
    """What ((((), "{}", "self"), ".{}", "items"), "[{}]", 2) says:
    self.items[2]."""
    before, where, key = place
    return (_path(before) if before else "") + where.format(key)


# --- around a trace

class ProgramState:
    """What `program` and the `constants` among its arguments reach, and torch's
    modes, as they are.  They are looked at once for many traces, as long as no
    trace changes them."""

    def __init__(self, program, constants=()):
        self._program, self._constants = program, constants
        self._looked_at = None
        self.unsaid = []  # paths of what changed in kept(), without a warning

    def _look(self):
        program, numpy = self._program, sys.modules.get("numpy")
        kinds = ({type(part) for _, part in _modules.named_modules(program)}
                 if isinstance(program, torch.nn.Module) else {type(program)})
        roots = [("self", program)] + [(type(value).__name__, value)
                                       for value in self._constants]
        objects = ObjectState(
            roots, set().union(*map(_modules_of_code, kinds)),
            _package_of(type(program).__module__))
        modes = ObjectState((
            ("torch", [value for name, value in vars(_global_hooks).items()
                       if name.startswith("_global_")]),
            ("printing", vars(torch._tensor_str.PRINT_OPTS)),
            ("random", [random._inst, numpy and numpy.random.mtrand._rand])))
        return objects, modes

    @contextlib.contextmanager
    def kept(self):
        """Whatever happens inside, all of it is afterwards as before.  What a
        mere function reaches is its caller's too: there only what traced values
        were put into is put back.  Warns of tensors that the program meant to
        keep."""
        all_changes = isinstance(
            getattr(self._program, "__self__", self._program), torch.nn.Module)
        objects, modes = self._looked_at or self._look()
        self._looked_at = None
        advanced = []
        try:
            with _process.kept_as_it_is(objects.names):
                yield
        finally:
            left, counts, others, *is_drawn = objects.put_back(all_changes)
            if all_changes:
                advanced = objects.put_back_iterators()
            is_drawn += modes.put_back(True)[-1:]
            if not (objects.has_changed or modes.has_changed or advanced):
                self._looked_at = objects, modes
        if objects.is_taken:
            warn_of_next_call(others)
        is_said = left or counts or advanced or any(is_drawn)
        # What a mere function changed is still so: another call would change
        # it again.
        is_compared = all_changes and not is_said and not objects.may_block()
        self.unsaid = others if is_compared else []
        _warn_of_changes(left, counts, advanced, any(is_drawn))


def _warn_of_changes(left, counts, advanced, is_drawn):
    for path in left:
        warnings.warn(
            f"The tensor attribute {_attribute(path)} was assigned during "
            "export, and is now as it was before: the exported program does "
            "not keep it. Such attributes must be registered as buffers using "
            "the `register_buffer` API.", stacklevel=3)
    for path, old, new in counts:
        warnings.warn(
            f"The attribute {_attribute(path)} was changed during export from "
            f"{old} to {new}, and is {old} again: the exported program neither "
            "changes it nor sees it change, and takes the way of the first "
            "call each time. A number that the program counts must be a tensor "
            "that is registered as a buffer.", stacklevel=3)
    for path, is_back in advanced:
        warnings.warn(
            f"The iterator {_attribute(path)} was advanced during export, and "
            + ("is where it was again" if is_back else "cannot be put back")
            + ": the exported program has what it gave then in every call.",
            stacklevel=3)
    if is_drawn:
        warnings.warn(
            "The program drew numbers from Python's or numpy's random during "
            "export: the exported program has these numbers in every call. "
            "Draw them with torch.", stacklevel=3)


def warn_of_next_call(paths):
    names = ", ".join(dict.fromkeys(map(_attribute, paths[:3])))
    warnings.warn(
        f"The program changed {names} during export, which is as it was again: "
        "the next call would be another program, and the exported one takes "
        "the way of the first call each time. A number that the program "
        "counts must be a tensor that is registered as a buffer.",
        stacklevel=3)


def _attribute(path):
    """self._modules['a'].b is self.a.b."""
    return re.sub(r"\._(?:modules|parameters|buffers)\['(\w+)'\]", r".\1", path)
