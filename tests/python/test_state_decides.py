"""State by which the next call of a program goes another way: the exported program
takes the first call's way each time, and an export says so; of a cache that is
filled it says nothing."""

import warnings

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
