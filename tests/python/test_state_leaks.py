"""Traced tensors in caches of installed packages, where the walk over a program's
objects does not come: taken out, and warned of by name."""

import importlib
import sys
import warnings

import pytest
import torch

import proviso
from proviso import Dim, _libraries
from proviso._kinds_of_state import is_traced

X = torch.randn(4, 3)
ROWS = {"x": {0: Dim.AUTO}}
LIBRARY = """
import functools, torch
TABLE, PAIRS, ITEMS, LAST = {}, {}, [], None
class Base(torch.nn.Module):
    kept = None
    def forward(self, x):
        Base.kept = x
        return x + table(x)
class Helper:
    shared = {}
    def __call__(self, x):
        self.shared["x"] = x
        return x + 1
def table(x):
    if "t" not in TABLE:
        TABLE["t"] = x.new_ones(3)
    return x + TABLE["t"]
def pair(x):
    PAIRS.setdefault("t", (x, 1))
    return x + PAIRS["t"][1]
def item(x):
    ITEMS.append(x)
    return x + 1
@functools.lru_cache
def ones(n):
    return torch.ones(n)
def cached(x):
    return x + ones(3)
def last(x):
    global LAST
    LAST = x
    return x + 1
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "of_an_installation.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(folder)
    _libraries.is_installed.cache_clear()
    yield importlib.import_module("of_an_installation")
    del sys.modules["of_an_installation"]
    _libraries.is_installed.cache_clear()


@pytest.mark.parametrize("name, holder", [
    ("table", "TABLE"), ("pair", "PAIRS"), ("item", "ITEMS"),
    ("cached", "ones"), ("Helper", "Helper.shared")])
def test_a_cache_of_an_installed_package_is_emptied(name, holder, library):
    function = getattr(library, name)
    function = function() if name == "Helper" else function

    class Program(torch.nn.Module):
        def forward(self, x):
            return function(x)

    for _ in range(2):
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            ep = proviso.export(Program(), (X,), dynamic_shapes=ROWS)
        assert not (library.TABLE or library.PAIRS or library.ITEMS
                    or library.Helper.shared
                    or library.ones.cache_info().currsize)
        for warning in noted:  # a collection may speak of others' files
            assert (holder in str(warning.message)
                    or warning.category is ResourceWarning)
    torch.testing.assert_close(ep.module()(X), function(X))


def test_a_name_that_cannot_be_put_back_is_warned_of(library):
    class Program(torch.nn.Module):
        def forward(self, x):
            return library.last(x)

    with pytest.warns(UserWarning, match="of_an_installation.LAST"):
        proviso.export(Program(), (X,), dynamic_shapes=ROWS)


def test_the_module_of_a_base_class_is_looked_into(library):
    class Derived(library.Base):
        def forward(self, x):
            return super().forward(x) * 2

    with pytest.warns(UserWarning, match="Base.kept was assigned"):
        proviso.export(Derived(), (X,), dynamic_shapes=ROWS)
    assert library.Base.kept is None and not library.TABLE
    assert not is_traced(library.LAST)
