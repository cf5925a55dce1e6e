"""State by which the next call of a program goes another way: the exported program
takes the first call's way each time, and an export says so; of a cache that is
filled it says nothing."""

import array
import collections
import dataclasses
import enum
import fractions
import io
import queue
import random
import threading
import warnings

import numpy
import pytest
import torch

import proviso
from proviso import Dim

X = torch.randn(4, 3)
ROWS = {"x": {0: Dim.AUTO}}
COUNT = 0


class Module(torch.nn.Module):
    steps = 0

    def __init__(self, act):
        super().__init__()
        self.act = act
        self.ready, self.known, self.mode, self.first = False, None, "a", {}
        self.numbers, self.items, self.tensor = {"n": 1}, [], None

    def forward(self, x):
        return self.act(self, x) or x + 1


def _global(m, x):
    global COUNT
    COUNT += 1


def _missing(m, x):
    if not getattr(m, "done", False):
        m.done = True


CHANGES = {
    "flag": (lambda m, x: setattr(m, "ready", True),
             "self.ready was changed during export from False to True"),
    "flag of None": (lambda m, x: setattr(m, "known", True),
                     "self.known was changed during export from None to True"),
    "new flag": (_missing, "self.done was .* from nothing to True"),
    "text": (lambda m, x: setattr(m, "mode", "b"),
             "self.mode was .* from a to b"),
    "another type": (lambda m, x: setattr(m, "mode", 3),
                     "self.mode was .* from a to 3"),
    "None": (lambda m, x: setattr(m, "first", None),
             "self.first was .* to None"),
    "count in a dict": (lambda m, x: m.numbers.update(n=2),
                        r"self.numbers\['n'\] was .* from 1 to 2"),
    "length": (lambda m, x: m.items.append(0),
               "self.items was .* from 0 items to 1 items"),
    "class": (lambda m, x: setattr(type(m), "steps", 1),
              "Module.steps was .* from 0 to 1"),
    "global": (_global, "COUNT was .* from 0 to 1"),
}


def _said(act):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        proviso.export(Module(act), (X,), dynamic_shapes=ROWS)
    return [str(warning.message) for warning in noted]


@pytest.mark.parametrize("name", CHANGES)
def test_what_the_next_call_decides_by_is_warned_of_once(name):
    act, words = CHANGES[name]
    with pytest.warns(UserWarning, match=words) as noted:
        proviso.export(Module(act), (X,), dynamic_shapes=ROWS)
    assert len(noted) == 1
    assert "takes the way of the first call each time" in str(
        noted[0].message)


def test_an_array_that_changes_is_warned_of():
    numpy = pytest.importorskip("numpy")
    kept = numpy.zeros(1)
    said, = _said(lambda m, x: kept.__iadd__(1) and None)
    assert "[0.] to [1.]" in said and kept[0] == 0


@pytest.mark.parametrize("act", [
    lambda m, x: setattr(m, "known", 3),
    lambda m, x: setattr(m, "known", "text"),
    lambda m, x: setattr(m, "late", (1, 2)),
    lambda m, x: m.first.setdefault("key", 3) and None,
    lambda m, x: setattr(m, "ready", False),
    lambda m, x: m.numbers.update(n=1),
], ids=["number", "text", "tuple", "dict", "same flag", "same number"])
def test_a_cache_of_constants_is_not_warned_of(act):
    assert not _said(act)


# --- state of which no number can be said

class _Phase(enum.Enum):
    FIRST, SECOND = 0, 1


@dataclasses.dataclass(frozen=True)
class _Step:
    n: int = 0


def _add(m):
    m.add = m.state.__len__()
    m.state.add(m.add)
    return m.add


def _closure():
    n = 0

    def count(m):
        nonlocal n
        n += 1
        return n

    return count


def _of_defaults():
    def count(m, n=1):
        count.__defaults__ = (n + 1,)
        return n

    return count


def _set(make):
    def act(m):
        before, m.state = str(m.state), make(m.state)
        return len(before) + sum(before.encode())

    return act


def _swap(m):
    m.count = lambda m: 7
    return 1


def _item(m):
    m.state[0] += 1
    return m.state[0]


SILENT = {  # (what a call counts, the state at first)
    "random.Random": (lambda m: m.state.random(), lambda: random.Random(3)),
    "numpy.random": (lambda m: float(m.state.random()),
                     lambda: numpy.random.default_rng(3)),
    "item of a list": (_item, lambda: [0]),
    "item of a deque": (_item, lambda: collections.deque([0])),
    "bytearray": (_item, lambda: bytearray(1)),
    "array": (_item, lambda: array.array("i", [0])),
    "set": (_add, set),
    "turned list": (lambda m: m.state.append(m.state.pop(0)) or m.state[0],
                    lambda: [1, 2, 3]),
    "turned deque": (lambda m: m.state.rotate(1) or m.state[0],
                     lambda: collections.deque([1, 2, 3])),
    "tuple": (_set(lambda s: (s[0] + 1,)), lambda: (0,)),
    "dataclass": (_set(lambda s: _Step(s.n + 1)), _Step),
    "enum": (_set(lambda s: _Phase.SECOND), lambda: _Phase.FIRST),
    "numpy's number": (_set(lambda s: s + 1), lambda: numpy.int64(0)),
    "fraction": (_set(lambda s: s / 2), lambda: fractions.Fraction(1)),
    "complex": (_set(lambda s: s * 3), lambda: 1j),
    "bytes": (_set(lambda s: s + b"a"), lambda: b""),
    "dtype": (_set(lambda s: torch.float64), lambda: torch.float32),
    "slice": (_set(lambda s: slice(s.stop, s.stop + 1)), lambda: slice(1)),
    "closure": (_closure, None),
    "defaults": (_of_defaults, None),
    "function": (_swap, int),
    "text that is read": (lambda m: int(m.state.read(1)),
                          lambda: io.StringIO("123456789")),
    "queue": (lambda m: m.state.get(), lambda: _queue_of(1, 2, 3, 4)),
    "lock": (lambda m: 1 + m.state.acquire(blocking=False), threading.Lock),
    "counter": (lambda m: m.state.update("a") or m.state["a"],
                collections.Counter),
    "dict": (lambda m: m.state.setdefault(len(m.state), 0) + len(m.state),
             dict),
    "deleted": (lambda m: (hasattr(m, "state") and not delattr(m, "state")) * 2,
                int),
    "None": (lambda m: 1 if m.state is None and not setattr(m, "state", ())
             else 2, lambda: None),
}


def _queue_of(*items):
    made = queue.SimpleQueue()
    for item in items:
        made.put(item)
    return made


class Counting(torch.nn.Module):
    def __init__(self, count, make):
        super().__init__()
        self.count = count() if make is None else count
        if make is not None:
            self.state = make()

    def forward(self, x):
        return x * self.count(self)


@pytest.mark.parametrize("name", SILENT)
def test_another_program_in_the_next_call_is_warned_of(name):
    with pytest.warns(UserWarning) as caught:
        ep = proviso.export(Counting(*SILENT[name]), (X,), dynamic_shapes=ROWS)
    said = [str(one.message) for one in caught]
    assert len(said) == 1 and ("the way of the first call" in said[0]
                               or "drew numbers" in said[0]), said
    assert torch.equal(ep.module()(X), Counting(*SILENT[name])(X))
    assert torch.equal(ep.module()(X), ep.module()(X))


def test_what_a_mere_function_changes_is_changed_once():
    calls = [0]

    def program(x):
        calls[0] += 1
        return x * calls[0]

    proviso.export(program, (X,), dynamic_shapes=ROWS)
    assert calls == [1]


@pytest.mark.parametrize("act", [
    lambda m: m.state.setdefault("k", 3), lambda m: m.state.setdefault("k", (3,))[0],
    lambda m: [m.state.update(k=3), m.state["k"]][1],
    lambda m: [setattr(m, "state", {"k": 3}), m.state["k"]][1]])
def test_a_cache_that_changes_no_call_is_not_warned_of(act):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proviso.export(Counting(act, dict), (X,), dynamic_shapes=ROWS)
