"""Kinds of state: how each is read before a program runs, and put back.

    keys, items = DICT.read(value)
    ...
    DICT.write(value, keys, items)
"""

import collections
import contextlib
import functools
import itertools
import operator
import queue
import random
import sys
import types

import torch

from proviso import _proviso

_MISSING = object()
NOTHING = ((), ())
_id = id  # while tracing, builtins.id refuses traced tensors
NUMBERS = {int, float, str, bool, complex, bytes}


def is_traced(value):
    """Whether the value means nothing outside of its trace."""
    if isinstance(value, torch.Tensor):
        return _proviso.is_fake(value)
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def holds_traced(value, depth=4):
    if is_traced(value):
        return True
    if depth == 0 or isinstance(value, (str, bytes, type, types.ModuleType)):
        return False
    if isinstance(value, dict):
        items = dict.values(value)
    elif isinstance(value, _SEQUENCES):
        base = next(base for base in _SEQUENCES if isinstance(value, base))
        items = base.__iter__(value)
    else:
        items = _attributes_of(value).values()
    return any(holds_traced(item, depth - 1) for item in list(items))


_SEQUENCES = (list, tuple, set, frozenset)


def _attributes_of(value):
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


# --- what is looked into

# read(object) is (keys, items), write() puts them back; where those are that is
# said in error messages.
_Kind = collections.namedtuple("_Kind", "read write where")


_BASES = (collections.OrderedDict, dict, list, set, collections.deque)


@functools.lru_cache(1024)
def _base_of(cls):
    """The type whose methods read and write the items, for those of a user's
    class may do anything."""
    return next(base for base in _BASES if issubclass(cls, base))


def _read_dict(value):
    base = _base_of(type(value))
    if not base.__len__(value):
        return NOTHING
    return list(base.__iter__(value)), list(base.values(value))


def _write_dict(value, keys, items):
    base = _base_of(type(value))
    base.clear(value)
    for key, item in zip(keys, items):
        base.__setitem__(value, key, item)


def _read_items(value):
    return (), list(_base_of(type(value)).__iter__(value))


def _write_items(value, keys, items):
    base = _base_of(type(value))
    base.clear(value)
    (base.update if base is set else base.extend)(value, items)


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


@functools.lru_cache(1024)
def slots_of(cls):
    """By their descriptors, for the name of a private one is not what
    __slots__ says."""
    return [slot for base in cls.__mro__ if "__slots__" in vars(base)
            for slot in vars(base).values()
            if isinstance(slot, types.MemberDescriptorType)]


def _read_slot(slot, value):
    try:
        return slot.__get__(value)
    except AttributeError:
        return _MISSING


def _read_slots(value):
    slots = slots_of(type(value))
    return ([slot.__name__ for slot in slots],
            [_read_slot(slot, value) for slot in slots])


def _write_slots(value, names, items):
    for slot, item in zip(slots_of(type(value)), items):
        if item is not _MISSING:
            slot.__set__(value, item)
        elif _read_slot(slot, value) is not _MISSING:
            slot.__delete__(value)


def _named(*names):
    """The kind of objects with these attributes."""
    read = operator.attrgetter(*names)

    def write(value, names, items):
        for name, item in zip(names, items):
            if object.__getattribute__(value, name) is not item:
                object.__setattr__(value, name, item)

    return _Kind((lambda value: (names, read(value))) if len(names) > 1 else
                 (lambda value: (names, (read(value),))), write, ".{}")


def _write_partial(partial, names, items):
    partial.__setstate__(tuple(items))


_OF_LEAVES = ("requires_grad", "grad", "_backward_hooks",
              "_post_accumulate_grad_hooks")
_read_leaf = operator.attrgetter(*_OF_LEAVES)


def _read_tensor(tensor):
    return (_OF_LEAVES, _read_leaf(tensor)) if tensor.is_leaf else ((), ())


def _write_tensor(tensor, names, items):
    for name, item in zip(names, items):
        if getattr(tensor, name) is not item:
            setattr(tensor, name, item)


class Names:
    """Those of the `mentioned` names that a module's globals or a class have,
    or come to have."""

    def __init__(self, owner, mentioned):
        self.owner = owner
        self.mentioned = mentioned
        self.space = owner if isinstance(owner, dict) else vars(owner)
        self.keys = set(self.space)
        self.found = None

    def look_up(self, new):
        """{name: value} of what was not looked at before; `new` of the
        mentioned names are since then."""
        if self.found is None:
            self.found, new = {}, self.mentioned
        found = {name: self.space[name]
                 for name in sorted(self.keys.intersection(new))}
        self.found.update(found)
        return found

    def read(self):
        names = list(self.found)
        if self.space.keys() != self.keys:
            names += sorted(
                name for name in self.space.keys() - self.keys
                if name in self.mentioned or is_traced(self.space[name]))
        return names, [self.space.get(name, _MISSING) for name in names]

    def write(self, names, items):
        for name in set(self.read()[0]) - set(names):
            _put_name(self.owner, name, _MISSING)
        for name, item in zip(names, items):
            if self.space.get(name, _MISSING) is not item:
                _put_name(self.owner, name, item)


def _put_name(owner, name, item):
    """In the globals of a module or in a class, whose metaclass does not see
    it."""
    is_class = isinstance(owner, type)
    if item is not _MISSING:
        (type.__setattr__ if is_class else dict.__setitem__)(owner, name, item)
    elif name in (vars(owner) if is_class else owner):
        (type.__delattr__ if is_class else dict.pop)(owner, name)


class Entries:
    """Those names of a library's module or class that a program may write."""

    def __init__(self, owner, names):
        self.owner = owner
        self.names = sorted(names)

    def read(self):
        space = self.owner if type(self.owner) is dict else vars(self.owner)
        return self.names, [space.get(name, _MISSING) for name in self.names]

    def write(self, names, items):
        for name, item in zip(names, items):
            _put_name(self.owner, name, item)


DICT = _Kind(_read_dict, _write_dict, "[{!r}]")
ATTRIBUTES = _Kind(_read_dict, _write_dict, ".{}")
ITEMS = _Kind(_read_items, _write_items, "")
CELL = _Kind(_read_cell, _write_cell, "")
SLOTS = _Kind(_read_slots, _write_slots, ".{}")
CLASS = _named("__class__")
FACTORY = _named("default_factory")
FUNCTION = _named("__code__", "__defaults__", "__kwdefaults__")
ERROR = _named("args", "__cause__", "__context__", "__traceback__")
PARTIAL = _named("func", "args", "keywords", "__dict__")._replace(write=_write_partial)
TENSOR = _Kind(_read_tensor, _write_tensor, ".{}")
NAMES = _Kind(Names.read, Names.write, ".{}")
ENTRIES = _Kind(Entries.read, Entries.write, ".{}")
CONTAINERS = {dict: DICT, collections.OrderedDict: DICT, list: ITEMS,
               set: ITEMS, collections.deque: ITEMS}

# What cannot be looked into: read(object) is a copy, write(object, copy) puts it
# back whether or not there is a change; of random numbers and of what is
# CONSUMED it says whether there is one.
_Copy = collections.namedtuple("_Copy", "read write")


def _write_random(generator, state):
    is_drawn = generator.getstate() != state
    if is_drawn:
        generator.setstate(state)
    return is_drawn


def _read_numpy_random(generator):
    """(the source of its bits, the state)."""
    if hasattr(generator, "get_state"):  # a RandomState, whose source may change
        return generator._bit_generator, generator.get_state(legacy=False)
    source = getattr(generator, "bit_generator", generator)
    return source, source.state


def _write_numpy_random(generator, before):
    now, (source, state) = _read_numpy_random(generator), before
    if now[0] is source and _is_same_state(now[1], state):
        return False
    if now[0] is not source:
        sys.modules["numpy"].random.set_bit_generator(source)
    if hasattr(generator, "set_state"):
        generator.set_state(state)
    else:
        source.state = state
    return True


def _is_same_state(now, before):
    if isinstance(before, dict):
        return all(_is_same_state(now[key], before[key]) for key in before)
    return sys.modules["numpy"].array_equal(now, before)


def _write_array(array, before):
    """What it became, where that is another."""
    copy, is_writeable = before
    if (array.shape == copy.shape and array.flags.writeable == is_writeable
            and array.tobytes() == copy.tobytes()):
        return None
    now = array.copy()
    if not array.flags.writeable:
        array.flags.writeable = True
    if array.shape != copy.shape:
        array.resize(copy.shape, refcheck=False)
    array[...] = copy
    if not is_writeable:
        array.flags.writeable = False
    return now


RANDOM = _Copy(random.Random.getstate, _write_random)
TORCH_RANDOM = _Copy(lambda g: g.get_state(), lambda g, s: g.set_state(s))
NUMPY_RANDOM = _Copy(_read_numpy_random, _write_numpy_random)
ARRAY = _Copy(lambda a: (a.copy(), a.flags.writeable), _write_array)
# What a functools.lru_cache holds cannot be read: it is emptied if it grew.
CACHE = _Copy(lambda f: f.cache_info().misses,
               lambda f, misses: (f.cache_info().misses == misses
                                  or f.cache_clear()))


def _write_bytes(array, copy):
    is_other = array != copy
    array[:] = copy
    return is_other


BYTES = _Copy(lambda a: a[:], _write_bytes)


def _read_buffer(buffer):
    return None if buffer.closed else buffer.__getstate__()


def _write_buffer(buffer, state):
    if state is None or buffer.closed:
        return False
    is_other = buffer.__getstate__() != state
    buffer.__setstate__(state)
    return is_other


def _read_queue(queue_):
    items = []
    with contextlib.suppress(queue.Empty):
        while True:
            items.append(queue_.get_nowait())
    for item in items:
        queue_.put(item)
    return items


def _write_queue(queue_, items):
    if list(map(_id, _read_queue(queue_))) == list(map(_id, items)):
        return False
    with contextlib.suppress(queue.Empty):
        while True:
            queue_.get_nowait()
    for item in items:
        queue_.put(item)
    return True


def _write_lock(lock, was_locked):
    is_other = lock.locked() != was_locked
    if lock.locked() and not was_locked:
        lock.release()
    elif was_locked:
        lock.acquire(blocking=False)
    return is_other


def _read_logger(logger):
    return (logger.level, logger.disabled, logger.propagate,
            logger.handlers[:], logger.filters[:])


def _write_logger(logger, state):
    if _read_logger(logger) != state:
        (level, logger.disabled, logger.propagate, logger.handlers[:],
         logger.filters[:]) = state
        logger.setLevel(level)


BUFFER = _Copy(_read_buffer, _write_buffer)
QUEUE = _Copy(_read_queue, _write_queue)
LOCK = _Copy(lambda lock: lock.locked(), _write_lock)
LOGGER = _Copy(_read_logger, _write_logger)
CONSUMED = (BYTES, BUFFER, QUEUE, LOCK)
ALWAYS = (CACHE, QUEUE)  # put back also where a mere function reaches them


def same(now, before):
    """Whether these are the same keys and items, in this order."""
    return all(
        len(a) == len(b) and all(
            x is y or type(x) is type(y) and type(x) in NUMBERS and x == y
            for x, y in zip(a, b))
        for a, b in zip(now, before))


def all_same(now, before):
    """The same of lists of (keys, items), in one sweep; may say no of equal
    numbers."""
    chain = itertools.chain.from_iterable
    return (list(map(len, chain(now))) == list(map(len, chain(before)))
            and all(map(operator.is_, chain(chain(now)), chain(chain(before)))))
