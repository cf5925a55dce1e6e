"""The text of a size: f"{x.shape[0]}" in a program.

Eager writes the number, 7; a trace writes the symbol, s0, which says more in a
log.  A program that looks its text up does another thing then:

    key = f"{x.shape[0]}"
    return x * self.scales[key] if key in self.scales else x

So only what shows a text gets the symbol (_shown.py); elsewhere the text is the
number's, and the program keeps the size as it does where it asks for the number
itself.
"""

import builtins
import logging
import sys
import warnings

import torch

from proviso import _proviso, _shown
from proviso._number_types import number_of

_KINDS = (torch.SymInt, torch.SymFloat, torch.SymBool)
_FORMAT = object.__format__
# What they call of a program's, tree_map(str, x.shape), the program asks.
_CALL_FOR_A_PROGRAM = ("torch.utils._pytree", "torch.utils._cxx_pytree")


def _is_traced(number):
    return isinstance(number.node, _proviso.SymNode)


def _may_decide(frame):
    """Whether more is done with a text that this frame asks for than to show
    it."""
    name = frame.f_globals.get("__name__") or ""
    if name not in _CALL_FOR_A_PROGRAM and (
            name.partition(".")[0] in ("torch", "proviso", logging.__name__)
            or frame.f_globals is vars(warnings)):
        return False
    return not _shown.is_only_shown(frame)


def _written(value, frame, symbol, spec=""):
    """The text of `value`, for which the frame asks."""
    if _may_decide(frame):
        return builtins.format(number_of(value), spec)
    if spec:  # one that numbers have
        builtins.format(1.0 if isinstance(value, torch.SymFloat) else 1, spec)
    return symbol


def _repr_of(original):
    def __repr__(self):
        symbol = original(self)
        if not _is_traced(self):
            return symbol
        return _written(self, sys._getframe(1), symbol)

    return __repr__


def _format_of(original):
    def __format__(self, spec):
        if not _is_traced(self):
            return _FORMAT(self, spec)
        return _written(self, sys._getframe(1), original(self), spec)

    return __format__


PATCHES = [(kind, name, of(kind.__repr__)) for kind in _KINDS
           for name, of in (("__repr__", _repr_of), ("__format__", _format_of))]
