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
import concurrent.futures
import logging
import sys
import warnings

import torch

from proviso import _proviso, _shown
from proviso._not_traced import NotTraced
from proviso._number_types import number_of
from proviso._owned_tensors import may_change

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


_repr = torch.Tensor.__repr__
_format = torch.Tensor.__format__


def _repr_of_tensor(self, *, tensor_contents=None):
    return _text_of(self, sys._getframe(1), tensor_contents)


def _format_of_tensor(self, spec):
    if not _proviso.is_tracing():
        return _format(self, spec)
    frame = sys._getframe(1)
    if self.dim() != 0 or not may_change(self):
        text = _text_of(self, frame)
        return _FORMAT(text, spec) if spec else text
    number = self.item()
    if not isinstance(number, _KINDS):
        return builtins.format(number, spec)
    return _written(number, frame, str(number.node), spec)


def _text_of(t, frame, contents=None):
    if not _proviso.is_tracing():
        return _repr(t, tensor_contents=contents)
    if may_change(t) and _may_decide(frame):
        raise NotTraced(
            "the text of a traced tensor, a parameter or a buffer has no "
            "numbers that a program could decide by; ask for t.item(), or only "
            "print the text, log it or raise an error with it")
    if _proviso.is_fake(t):
        size = ", ".join(str(s) for s in t.shape)
        return f"traced tensor(size=({size}), dtype={t.dtype})"
    # What torch computes for it is no part of the program.
    with concurrent.futures.ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(
            _repr, t, tensor_contents=contents).result()


PATCHES = [
    *((kind, name, of(kind.__repr__)) for kind in _KINDS
      for name, of in (("__repr__", _repr_of), ("__format__", _format_of))),
    (torch.Tensor, "__repr__", _repr_of_tensor),
    (torch.Tensor, "__format__", _format_of_tensor),
]
