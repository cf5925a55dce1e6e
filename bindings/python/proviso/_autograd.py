"""Gradients in a program: what torch does with them by Python."""

import torch

from proviso import _proviso
from proviso._not_traced import NotTraced
from proviso._tensors import is_fake

_grad = torch.autograd.grad
_backward = torch.autograd.backward


def _our_grad(outputs, inputs, *args, **kwargs):
    """torch.func.grad comes here too, with tensors of its own."""
    wanted = (inputs,) if isinstance(inputs, torch.Tensor) else inputs
    if _proviso.is_tracing() and any(map(is_fake, wanted)):
        raise NotTraced(_NO_BACKWARD.format("torch.autograd.grad"))
    return _grad(outputs, inputs, *args, **kwargs)


def _our_backward(tensors, *args, **kwargs):
    of = (tensors,) if isinstance(tensors, torch.Tensor) else tensors
    if _proviso.is_tracing() and any(map(is_fake, of)):
        raise NotTraced(_NO_BACKWARD.format("Tensor.backward"))
    return _backward(tensors, *args, **kwargs)


_NO_BACKWARD = (
    "{} cannot be exported by proviso: a trace records the program, not its "
    "derivatives; write it with torch.func.grad, or leave it out")

_function_apply = torch.autograd.Function.apply.__func__


def _our_function_apply(cls, *args, **kwargs):
    """Its forward runs without gradients, for it has a backward of its own;
    what is recorded is differentiated as any operators are."""
    if not _proviso.is_tracing():
        return _function_apply(cls, *args, **kwargs)
    _proviso.hold_mode()
    try:
        return _function_apply(cls, *args, **kwargs)
    finally:
        _proviso.release_mode()


PATCHES = [
    (torch.autograd, "grad", _our_grad),
    (torch.autograd, "backward", _our_backward),
    (torch.autograd.Function, "apply", classmethod(_our_function_apply)),
]
