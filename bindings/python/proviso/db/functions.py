"""Functions: closures, decorators, context managers, autograd.Function."""

import contextlib
import functools

import torch

from proviso.db._case import case


class _Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output + 1


@case("autograd_function", lambda: (torch.randn(3, 2),),
      extra=lambda: [(torch.randn(3, 2),)])
class AutogradFunction(torch.nn.Module):
    """The forward of an autograd.Function is traced; its backward is no part
    of the program."""

    def forward(self, x):
        return _Copy.apply(x)


def _plus_one(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 1
    return wrapper


@case("decorator", lambda: (torch.randn(3, 2), torch.randn(3, 2)),
      extra=lambda: [(torch.randn(3, 2), torch.randn(3, 2))])
class Decorator(torch.nn.Module):
    """forward may be decorated."""

    @_plus_one
    def forward(self, x, y):
        return x + y


@case("fn_with_kwargs",
      lambda: (torch.randn(4), (torch.randn(4), torch.randn(4)),
               torch.randn(4), torch.randn(4)),
      kwargs=lambda: {"mykw0": torch.randn(4), "input0": torch.randn(4),
                      "input1": torch.randn(4)},
      tags=("python.data-structure",))
class FnWithKwargs(torch.nn.Module):
    """Arguments by position, by name, and any number of both."""

    def forward(self, pos0, tuple0, *myargs, mykw0, **mykwargs):
        out = pos0
        for arg in (*tuple0, *myargs):
            out = out * arg
        out = out * mykw0
        return out * mykwargs["input0"] * mykwargs["input1"]


@case("nested_function", lambda: (torch.randn(3, 2), torch.randn(2)),
      tags=("python.closure",),
      extra=lambda: [(torch.randn(3, 2), torch.randn(2))])
class NestedFunction(torch.nn.Module):
    """A closure may rebind a variable of the function around it."""

    def forward(self, a, b):
        x = a + b
        z = a - b

        def closure(y):
            nonlocal x
            x += 1
            return x * y + z

        return closure(x)


@case("null_context_manager", lambda: (torch.randn(3, 2),),
      tags=("python.context-manager",), extra=lambda: [(torch.randn(3, 2),)])
class NullContextManager(torch.nn.Module):
    """A context manager that does nothing leaves no trace."""

    def forward(self, x):
        with contextlib.nullcontext():
            return x.sin() + x.cos()


class _Adder:
    @classmethod
    def func(cls, x):
        return 1 + x


@case("type_reflection_method", lambda: (torch.randn(3, 4),),
      tags=("python.builtin",), extra=lambda: [(torch.randn(3, 4),)])
class TypeReflectionMethod(torch.nn.Module):
    """A method reached through type() of an object."""

    def forward(self, x):
        adder = _Adder()
        return type(adder).func(x)
