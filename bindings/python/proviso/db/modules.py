"""Modules: methods, attributes, defaults, changes in place."""

import enum

import torch

from proviso.db._case import case


@case("class_method", lambda: (torch.randn(3, 4),),
      extra=lambda: [(torch.randn(3, 4),)])
class ClassMethod(torch.nn.Module):
    """A class method, reached in three ways."""

    @classmethod
    def method(cls, x):
        return x + 1

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        x = self.linear(x)
        return self.method(x) * self.__class__.method(x) * type(self).method(x)


@case("model_attr_mutation", lambda: (torch.randn(3, 2),),
      tags=("python.object-model",), extra=lambda: [(torch.randn(3, 2),)],
      advice="the exported program computes the new list each time and leaves "
      "the module alone; a value that must last belongs in a buffer")
class ModelAttrMutation(torch.nn.Module):
    """forward replaces an attribute, and reads the new one."""

    def __init__(self):
        super().__init__()
        self.attr_list = [torch.randn(3, 2), torch.randn(3, 2)]

    def recreate_list(self):
        return [torch.zeros(3, 2), torch.zeros(3, 2)]

    def forward(self, x):
        self.attr_list = self.recreate_list()
        return x.sum() + self.attr_list[0].sum()


_DEFAULT = torch.linspace(-1, 1, 6).reshape(2, 3)


@case("optional_input", lambda: (torch.randn(2, 3),),
      tags=("python.object-model",), extra=lambda: [(torch.randn(2, 3),)])
class OptionalInput(torch.nn.Module):
    """An argument left out has its default, here a tensor: a constant of the
    program."""

    def forward(self, x, y=_DEFAULT):
        if y is not None:
            return x + y
        return x


class _Animal(enum.Enum):
    COW = "moo"


@case("specialized_attribute", lambda: (torch.randn(3, 2),),
      extra=lambda: [(torch.randn(3, 2),)])
class SpecializedAttribute(torch.nn.Module):
    """Attributes that are no tensors are constants: the branch on one is
    decided while tracing."""

    def __init__(self):
        super().__init__()
        self.a = "moo"
        self.b = 4

    def forward(self, x):
        if self.a == _Animal.COW.value:
            return x * x + self.b
        raise ValueError("bad")


@case("tensor_setattr", lambda: (torch.randn(3, 2), "attr"),
      tags=("python.builtin",),
      extra=lambda: [(torch.randn(3, 2), "attr")],
      refused=lambda: [(torch.randn(3, 2), "other")])
class TensorSetattr(torch.nn.Module):
    """setattr on a tensor.  The string argument is a constant, which calls of
    the exported program must repeat."""

    def forward(self, x, attr):
        setattr(x, attr, torch.randn(3, 2))
        return x + 4


@case("user_input_mutation", lambda: (torch.randn(3, 2),),
      tags=("torch.mutation",), extra=lambda: [(torch.randn(3, 2),)])
class UserInputMutation(torch.nn.Module):
    """An input changed in place is changed for the caller too."""

    def forward(self, x):
        x.mul_(2)
        return x.cos()
