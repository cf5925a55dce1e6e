"""Conditions on sizes where only a bool will do: x.sum(0, keepdim=n > 3), ~(n > 3).

torch and Python refuse a torch.SymBool there.  The program is then traced again,
and each condition on sizes is decided where it is made: it is a guard, and the
program goes on with a bool.
"""

import contextlib
import pickle

import torch
from torch.fx.experimental import sym_node

from proviso import _proviso

_wrap_node = sym_node.wrap_node


def _decided(node):
    result = _wrap_node(node)
    if (isinstance(result, torch.SymBool)
            and isinstance(result.node, _proviso.SymNode)
            and result.node.hint is not None):
        return result.node.bool_()
    return result


@contextlib.contextmanager
def decided_where_made(wanted):
    """Only those on sizes: those on data have no answer."""
    before = sym_node.wrap_node
    sym_node.wrap_node = _decided if wanted else before
    try:
        yield
    finally:
        sym_node.wrap_node = before


def is_refusal(error):
    """Whether the error may be one that a bool would not raise."""
    text = str(error)
    return (isinstance(error, TypeError) and "SymBool" in text
            or "this operator does not take it" in text  # (n > 3) | 0
            or "expected int" in text)  # torch.arange(n > 3)


_KINDS = {"SymInt": "operator.index(n) for a size n",
          "SymFloat": "float(f) for a quotient f of sizes",
          "SymBool": "bool(c) for a condition c"}


def with_remedy(error):
    """The error, which says what to write where it names symbolic numbers."""
    text = str(error)
    named = [way for kind, way in _KINDS.items() if kind in text]
    if (type(error) not in (TypeError, pickle.PicklingError) or not named
            or len(error.args) != 1):
        return error
    return type(error)(
        f"{text}\n\nWhile a program is traced its sizes are symbolic, and this "
        f"takes Python's own numbers: write {', '.join(named)}, which fixes "
        "the size.").with_traceback(error.__traceback__)
