"""A size as the key of a dict or a set: self.cache[x.shape[0]], lru_cache.

Python looks a key up by its hash, which is the number's.  A program that asks
for the hash of a size is traced again with the inputs' sizes that it depends
on fixed from the start: they are plain integers then, and nothing that lasts (a
cache) keeps a traced number.
"""

import contextlib
import re

import torch

from proviso import _proviso

_looked_up = None  # names of the symbols whose hash was asked for; or no trace

_SYMBOLS = re.compile(r"\b[a-z]+\d+\b")


@contextlib.contextmanager
def _noticed():
    global _looked_up
    before, _looked_up = _looked_up, set()
    try:
        yield _looked_up
    finally:
        _looked_up = before


def settled(trace):
    """trace(assumed), with conditions that fix the sizes that are keys."""
    assumed = ()
    while True:
        with _noticed() as symbols:
            result = error = None
            try:
                result = trace(assumed)
            except Exception as raised:
                error = raised
        fixed = tuple(sorted(symbols.difference(assumed)))
        if not fixed:
            if error is not None:
                raise error
            return result
        assumed += fixed


def fix_looked_up(inputs):
    """At the end of a trace: puts conditions on the sizes of its inputs
    (_input_conditions.Conditions) in the place of the symbols that were looked
    up."""
    if not _looked_up or inputs is None:
        return
    conditions = [condition for symbol in sorted(_looked_up)
                  for condition in inputs.examples.get(symbol, ())]
    _looked_up.clear()
    _looked_up.update(conditions)


def _hash_of(original):
    def __hash__(self):
        if not isinstance(self.node, _proviso.SymNode):
            return original(self)
        name = self.node._graph_repr()
        if _looked_up is not None:
            _looked_up.update(_SYMBOLS.findall(name))
        text = (
            f"{name} is looked up in a dict or a set, which takes its number; "
            "data alone knows it. Compare it (n == 3, n in (3, 5)), or give "
            "what depends on it a key of its own")
        _proviso.note_refusal(text)
        raise TypeError(text)

    return __hash__


PATCHES = [(kind, "__hash__", _hash_of(kind.__hash__))
           for kind in (torch.SymInt, torch.SymFloat, torch.SymBool)]
