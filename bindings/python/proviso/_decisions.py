"""Questions with two answers, as a program asks them: `if n > 3:`,
`if x.any():`, `assert`, torch._check.
"""

import sys

import torch
from torch.fx.experimental import symbolic_shapes

from proviso import _branches, _proviso
from proviso._tensors import is_fake

_sym_ite = torch.SymBool.__sym_ite__


def _our_sym_ite(self, then_value, else_value):
    if not isinstance(self.node, _proviso.SymNode):
        return _sym_ite(self, then_value, else_value)
    to_node = torch.fx.experimental.sym_node.to_node
    result = torch.fx.experimental.sym_node.wrap_node(self.node.sym_ite(
        to_node(self.node, then_value), to_node(self.node, else_value)))
    return result


_bool_of = torch.SymBool.__bool__


def _our_bool(self):
    """A branch that only warns is none; `x.shape == y.shape` is one question."""
    if not isinstance(self.node, _proviso.SymNode):
        return _bool_of(self)
    asking = _branches.Asking(sys._getframe(1))
    if asking.only_speaks():
        return bool(self.node.hint)
    whole = asking.compared()
    if whole is not None:
        return whole if type(whole) is bool else _bool_of(whole)
    return _answer(self, asking)


def _answer(condition, asking):
    """`assert u0 > 3` on data, or another error, is checked when the program
    runs."""
    try:
        return _bool_of(condition)
    except RuntimeError as error:
        if not str(error).startswith("Could not guard on data-dependent"):
            raise
        if asking.demand is None:
            raise
    value, text = asking.demand
    _proviso.forget_refusal()
    _proviso.assert_at_run_time(
        condition if value else torch.sym_not(condition), text)
    return value


_bool_of_tensor = torch.Tensor.__bool__


def _our_bool_of_tensor(self):
    """The same of a branch on a tensor: `if torch.any(x < 0): raise ..`"""
    if not is_fake(self) or self.dim() > 0:
        return _bool_of_tensor(self)
    asking = _branches.Asking(sys._getframe(1))
    if asking.only_speaks():
        return False
    if asking.demand is None:
        return _bool_of_tensor(self)
    value = self.item()
    is_truth = isinstance(value, (bool, torch.SymBool))
    condition = value if is_truth else value != 0
    return condition if type(condition) is bool else _answer(condition, asking)


_check_with = torch._check_with


def _our_check_with(error_type, cond, message):
    """A check that is known not to hold says what it contradicts."""
    try:
        _check_with(error_type, cond, message)
    except Exception as error:
        ours = (isinstance(cond, torch.SymBool)
                and isinstance(cond.node, _proviso.SymNode))
        facts = _proviso.facts_against(cond) if ours else []
        if not facts or type(error) is not error_type:
            raise
        known = "".join(f"  {fact}\n" for fact in facts)
        raise error_type(
            f"{error}\n\nThe check {cond} contradicts what is known:\n"
            + known) from None


_advise_is_size = symbolic_shapes._advise_is_size


def _our_advise_is_size(a):
    if isinstance(a, torch.SymInt) and isinstance(a.node, _proviso.SymNode):
        _proviso.mark_size_like(a)
    else:
        _advise_is_size(a)


PATCHES = [
    (torch.Tensor, "__bool__", _our_bool_of_tensor),
    (torch.SymBool, "__sym_ite__", _our_sym_ite),
    (torch.SymBool, "__bool__", _our_bool),
    (torch, "_check_with", _our_check_with),
    (symbolic_shapes, "_advise_is_size", _our_advise_is_size),
]
