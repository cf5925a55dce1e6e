"""The text of a size: f"{x.shape[0]}" in a program.

Eager writes the number, 7; a trace writes the symbol, s0, which says more in a
log.  A program that looks its text up does another thing then:

    key = f"{x.shape[0]}"
    return x * self.scales[key] if key in self.scales else x

So a program that asks for such a text, but to print, log or warn, is traced a
second time with the text that eager writes for the examples.  Where the two
programs are one, the text decides nothing; else the program keeps the size, as
it does where it asks for the number itself.  (A text that is compared with that
of another size than the example's is not noticed.)
"""

import builtins
import contextlib
import enum
import logging
import sys
import warnings

import torch

from proviso import _branches, _proviso


class _Form(enum.Enum):
    SYMBOL = 0   # s0
    EXAMPLE = 1  # 7; the size stays symbolic
    NUMBER = 2   # 7; the size is 7 from here on


_form = _Form.SYMBOL
_asked = False  # for the text of a symbolic number, which may decide something

_KINDS = (torch.SymInt, torch.SymFloat, torch.SymBool)
_FORMAT = object.__format__


@contextlib.contextmanager
def _written_as(form):
    global _form, _asked
    before, (_form, _asked) = (_form, _asked), (form, False)
    try:
        yield
    finally:
        _form, _asked = before


def settled(trace):
    """trace(), in which no text of a size decides what only the number may.
    What trace() gives is (program, the tree of its outputs)."""
    with _written_as(_Form.SYMBOL):
        traced = _Outcome(trace)
        asked = _asked
    if asked:
        with _written_as(_Form.EXAMPLE):
            as_eager = _Outcome(trace)
        if not traced.is_same(as_eager):
            with _written_as(_Form.NUMBER):
                return trace()
    return traced.get()


class _Outcome:
    """What a trace gave or raised."""

    def __init__(self, trace):
        self._result = self._error = None
        try:
            self._result = trace()
        except Exception as error:
            self._error = error

    def get(self):
        if self._error is not None:
            raise self._error
        return self._result

    def is_same(self, other):
        if self._error is not None or other._error is not None:
            return type(self._error) is type(other._error)
        (mine, my_tree), (others, other_tree) = self._result, other._result
        return (my_tree == other_tree
                and _description(mine) == _description(others)
                and _are_equal(mine.constants(), others.constants()))


def _description(program):
    return (str(program), program.signature_repr(), program.guards_code(),
            program.conditions_code(), repr(program.outputs()))


def _are_equal(mine, others):
    """Of constants by name: (name, tensor)."""
    return len(mine) == len(others) and all(
        name == other_name and _is_equal(value, other)
        for (name, value), (other_name, other) in zip(mine, others))


def _is_equal(a, b):
    if a is b:
        return True
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return type(a) is type(b) and a == b
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return torch.equal(a, b) or (
        (a.is_floating_point() or a.is_complex())
        and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True))


# --- what symbolic numbers write

def _is_traced(number):
    return isinstance(number.node, _proviso.SymNode)


def _may_decide(frame):
    """Whether more is done with a text that this frame asks for than to show
    it."""
    name = frame.f_globals.get("__name__") or ""
    if (name.partition(".")[0] in ("torch", "proviso", logging.__name__)
            or frame.f_globals is vars(warnings)):
        return False
    return not _branches.Asking(frame).is_only_spoken()


def _number(value):
    """The number itself, which fixes it."""
    if isinstance(value, torch.SymInt):
        return value.__index__()
    if isinstance(value, torch.SymFloat):
        return value.node.guard_float("", 0)
    return value.node.bool_()


def _written(value, frame, symbol, spec=""):
    """The text of `value`, for which the frame asks."""
    global _asked
    if _may_decide(frame):
        _asked = True
        if _form is _Form.NUMBER:
            return builtins.format(_number(value), spec)
        hint = value.node.hint
        if _form is _Form.EXAMPLE:  # of data, any number
            return builtins.format(1 if hint is None else hint, spec)
    if not spec:
        return symbol
    builtins.format(1.0 if isinstance(value, torch.SymFloat) else 1, spec)
    return symbol  # for a spec that numbers have


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
