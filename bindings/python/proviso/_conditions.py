"""Conditions on sizes where only a bool will do: x.sum(0, keepdim=n > 3), ~(n > 3).

torch and Python refuse a torch.SymBool there.  The program is then traced again,
and each condition on sizes is decided where it is made: it is a guard, and the
program goes on with a bool.  So it is at once of those that a function makes which
asks `c is True`: no condition is.

A program that catches the refusal goes a way that eager does not go: what it
caught is known by its traceback, which ends where it was caught.
"""

import contextlib
import pickle
import re
import sys

import torch
from torch.fx.experimental import sym_node

from proviso import _proviso
from proviso._libraries import is_library

_wrap_node = sym_node.wrap_node


def _decided(node):
    result = _wrap_node(node)
    if (isinstance(result, torch.SymBool)
            and isinstance(result.node, _proviso.SymNode)
            and result.node.hint is not None):
        return result.node.bool_()
    return result


def _decided_in(codes):
    """Of the conditions that these functions make: they ask for identity."""
    def wrap_node(node):
        result = _wrap_node(node)
        if isinstance(result, torch.SymBool) and _maker() in codes:
            return _decided(node)
        return result

    return wrap_node


def _maker():
    """The code of the program that asks torch for a condition."""
    frame = sys._getframe(2)
    while frame.f_back is not None and is_library(
            frame.f_globals.get("__name__") or ""):
        frame = frame.f_back
    return frame.f_code


@contextlib.contextmanager
def decided_where_made(all_of_them, codes):
    """Only those on sizes: those on data have no answer."""
    before = sym_node.wrap_node
    if all_of_them or codes:
        sym_node.wrap_node = _decided if all_of_them else _decided_in(codes)
    try:
        yield
    finally:
        sym_node.wrap_node = before


def is_refusal(error):
    """Whether the error may be one that a bool would not raise."""
    text = str(error)
    return (isinstance(error, (TypeError, NotImplementedError))
            and "SymBool" in text
            or "this operator does not take it" in text  # (n > 3) | 0
            or "expected int" in text)  # torch.arange(n > 3)


_KINDS = {"SymInt": "operator.index(n) for a size n",
          "SymFloat": "float(f) for a quotient f of sizes",
          "SymBool": "bool(c) for a condition c"}


_WITH_REMEDY = (TypeError, NotImplementedError, pickle.PicklingError)


# What PyTorch says where a kernel in C++ reads the sizes of a tensor that
# torch.func has wrapped, as numbers.
_SIZES_OF_WRAPPED = "dispatch_on_subclass called with NO overloaded args"


def with_remedy(error):
    """The error, which says what to write where it names symbolic numbers, or
    where PyTorch's own says nothing."""
    text = str(error)
    if _SIZES_OF_WRAPPED in text:
        return NotImplementedError(
            "Proviso: inside torch.func.grad, jvp or vmap PyTorch's kernel of "
            "this operator reads the sizes of its tensor as numbers, and they "
            "are symbolic. Fix the sizes that it reads (Dim.STATIC), or call "
            "an operator that takes symbolic ones: the kernels of "
            "torch.nn.functional.interpolate do not"
        ).with_traceback(error.__traceback__)
    named = [way for kind, way in _KINDS.items() if kind in text]
    if (type(error) not in _WITH_REMEDY or not named
            or len(error.args) != 1):
        return error
    return type(error)(
        f"{text}\n\nWhile a program is traced its sizes are symbolic, and this "
        f"takes Python's own numbers: write {', '.join(named)}, which fixes "
        "the size.").with_traceback(error.__traceback__)


# --- refusals that a program catches

_heard = []  # of the trace under way, the innermost last: its errors


def _hear(error):
    if _heard:
        _heard[-1].append(error)


_proviso.watch_errors(_hear)


@contextlib.contextmanager
def caught_refusals_noted():
    """A refusal that the block's program caught ends the export."""
    _heard.append([])
    try:
        yield
        for error in _heard[-1]:
            if _is_caught_by_a_program(error):
                _proviso.note_refusal(str(error))
                break
    finally:
        _heard.pop()


# What is said of a plain number too: `iter(n)`, `n + "a"`.
_OF_NUMBERS = re.compile(
    r"object is not \w+|is not iterable|non-iterable"
    r"|must be an? (iterable|mapping)|has no len\(\)|does not support"
    r"|can only concatenate|(must be|expected) str"
    r"|(unsupported operand|not supported between).*"
    r"'(str|NoneType|list|tuple|dict|set|bytes|range|type|function)'")


def _is_caught_by_a_program(error):
    last = error.__traceback__  # of the outermost frame
    return (last is not None
            and not is_library(last.tb_frame.f_globals.get("__name__") or "")
            and _OF_NUMBERS.search(str(error)) is None)
