"""Traced tensors that outlive their trace: in a cache of an installed package,
say, whose modules _state does not look into."""

import collections
import contextlib
import functools
import gc
import operator
import sys
import threading
import traceback
import warnings

from proviso import _proviso
from proviso._kinds_of_state import holds_traced

_LRU_CACHE = type(functools.lru_cache(operator.neg))
_PARTS = (tuple, frozenset)  # of which nothing is taken out
_MOST = 100  # holders that are looked at


@contextlib.contextmanager
def taken_out():
    """What is traced inside is afterwards in no container that a module or a
    class names; warns of each, and of names from which it is not taken."""
    _proviso.note_new_fakes()
    try:
        yield
    except Exception as error:
        if getattr(_trial, "is_on", False):
            _forget_locals(error)
        raise
    finally:
        living = _proviso.take_living_fakes()
        for holder, name in _named_holders(living) if living else ():
            warnings.warn(
                f"{name} kept tensors of the export, which mean nothing "
                "after it, and " + (
                    "they were taken out" if _take_out_of(holder) else
                    "cannot be put back: give it another value")
                + "; the exported program does not keep them.",
                stacklevel=2)


_trial = threading.local()


@contextlib.contextmanager
def trial():
    """Nobody looks at an error that ends a trace inside: what its frames hold is
    let go, which is faster than to look for who holds it."""
    _trial.is_on = True
    try:
        yield
    finally:
        _trial.is_on = False


def _forget_locals(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _holders_of(living):
    found = gc.get_referrers(*living)[:_MOST]
    parts = [one for one in found if isinstance(one, _PARTS)]
    if parts:
        found += gc.get_referrers(*parts)[:_MOST]
    return {id(one): one for one in found
            if isinstance(one, (dict, list, set, collections.deque, _LRU_CACHE))
            and one is not living}


def _named_holders(living):
    """[(holder, "somelib.util.CACHE")], of those that a module or a class names.
    To ask for referrers is to look at every object: once for all."""
    named, others = [], {}
    for key, holder in _holders_of(living).items():
        owner = _owner_of(holder)
        if isinstance(holder, _LRU_CACHE):
            named.append(
                (holder, f"{holder.__module__}.{holder.__qualname__}"))
        elif owner is not None:
            named.append((holder, owner + _keys(holder, holds_traced)))
        else:
            others[key] = holder
    for space in gc.get_referrers(*others.values()) if others else ():
        owner = _owner_of(space)
        if owner is not None:
            found = {id(item) for item in list(space.values())} & set(others)
            named += [(others[key], owner + _keys(
                space, lambda item, key=key: id(item) == key)) for key in found]
            for key in found:
                del others[key]
    return named


def _keys(space, is_meant):
    return "".join(f".{key}" for key, item in list(space.items())
                   if is_meant(item))


def _owner_of(space):
    """The module or class whose names these are."""
    if type(space) is not dict or "__module__" not in space and (
            "__name__" not in space):
        return None
    module = sys.modules.get(space.get("__name__"))
    if module is not None and vars(module) is space:
        return module.__name__
    return next((f"{one.__module__}.{one.__qualname__}"
                 for one in gc.get_referrers(space) if isinstance(one, type)
                 and one.__dict__.keys() == space.keys()), None)


def _take_out_of(holder):
    """Whether it was possible."""
    if isinstance(holder, _LRU_CACHE):
        holder.cache_clear()
    elif _owner_of(holder) is not None:
        return False
    elif isinstance(holder, dict):
        for key in [k for k, item in dict.items(holder) if holds_traced(item)]:
            dict.pop(holder, key)
    elif isinstance(holder, set):
        set.difference_update(
            holder, [item for item in set.__iter__(holder)
                     if holds_traced(item)])
    else:
        base = list if isinstance(holder, list) else collections.deque
        kept = [item for item in base.__iter__(holder)
                if not holds_traced(item)]
        base.clear(holder)
        base.extend(holder, kept)
    return True
