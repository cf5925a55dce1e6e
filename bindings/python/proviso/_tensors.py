"""What a program asks of a traced tensor, where torch's own answer would fix a
size: torch.tensor([n, 1]), x.tolist(), x.nbytes, x.is_contiguous().
"""

import builtins
import functools
import os
import sys

import torch

from proviso import _numpy_memory, _proviso
from proviso._not_traced import NotTraced
from proviso._numpy_arrays import Array
from proviso._numpy_numbers import is_numpys
from proviso._owned_tensors import may_change

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def is_fake(value):
    return isinstance(value, torch.Tensor) and _proviso.is_fake(value)


def _holds_symbols(data):
    if isinstance(data, (list, tuple)):
        return any(_holds_symbols(item) for item in data)
    return (isinstance(data, _SYMBOLIC) or is_fake(data)
            or type(data) is Array and not data.is_plain())


def _inferred_dtype(data):
    """As torch.tensor infers it."""
    if isinstance(data, (list, tuple)):
        kinds = [_inferred_dtype(item) for item in data]
        result = kinds[0] if kinds else torch.get_default_dtype()
        for kind in kinds[1:]:
            result = torch.promote_types(result, kind)
        return result
    if isinstance(data, torch.Tensor):
        return data.dtype
    if type(data) is Array or is_numpys(data):
        return torch.int64 if data.dtype == int else torch.float64
    if isinstance(data, (bool, torch.SymBool)):
        return torch.bool
    if isinstance(data, (int, torch.SymInt)):
        return torch.int64
    if isinstance(data, complex):
        return torch.complex64
    return torch.get_default_dtype()


def _stacked(data, dtype, device):
    if isinstance(data, torch.Tensor):
        return data.to(dtype=dtype, device=device)
    if type(data) is Array:
        data = data.tolist()
    if isinstance(data, (list, tuple)):
        if not data:
            return torch.empty(0, dtype=dtype, device=device)
        return torch.stack([_stacked(item, dtype, device) for item in data])
    return torch.scalar_tensor(data, dtype=dtype, device=device)


_tensor = torch.tensor


def _symbolic_tensor(data, *, dtype=None, device=None, requires_grad=False,
                     **options):
    """torch.tensor([s, 1]) reads its numbers, which would fix s."""
    if not _proviso.is_tracing() or not _holds_symbols(data):
        return _tensor(data, dtype=dtype, device=device,
                       requires_grad=requires_grad, **options)
    if isinstance(data, torch.Tensor):
        result = data.detach().clone()
        return result.to(dtype=dtype or data.dtype,
                         device=device or data.device)
    if dtype is None:
        dtype = _inferred_dtype(data)
    return _stacked(data, dtype, device or torch.get_default_device())


_new_tensor = torch.Tensor.new_tensor


def _tensor_like(self, data, *, dtype=None, device=None, requires_grad=False):
    """x.new_tensor([s, 1]): torch's makes memory for a traced x, which has
    none."""
    if not is_fake(self):
        return _new_tensor(self, data, dtype=dtype, device=device,
                           requires_grad=requires_grad)
    return _symbolic_tensor(data, dtype=dtype or self.dtype,
                            device=device or self.device,
                            requires_grad=requires_grad)


_new = torch.Tensor.new


def _new_of_dtype(self, *args, **options):
    """x.new([s, 1]) and x.new(s, 2): torch's asks which legacy type a traced x
    is of, and it is of none."""
    if not is_fake(self):
        return _new(self, *args, **options)
    device = options.pop("device", self.device)
    if options:
        return _new(self, *args, **options)
    if len(args) != 1 or isinstance(args[0], (torch.Size, int, torch.SymInt)):
        sizes = (args[0] if args and isinstance(args[0], torch.Size)
                 else args or (0,))
        return self.new_empty(sizes, device=device)
    if isinstance(args[0], torch.Tensor):
        return args[0].detach()
    return self.new_tensor(args[0], device=device)


_tolist = torch.Tensor.tolist


def _symbolic_tolist(self):
    """Numbers read one by one: each is a symbol."""
    if not may_change(self):
        return _tolist(self)
    if self.dim() == 0:
        return self.item()
    return [_symbolic_tolist(row) for row in self.unbind(0)]


_broadcast_shapes = torch.broadcast_shapes


@functools.wraps(_broadcast_shapes)
def _symbolic_broadcast_shapes(*shapes):
    """torch's asks of each size whether it is 1."""
    sizes = [list(shape) if isinstance(shape, (tuple, list)) else [shape]
             for shape in shapes]
    if not _proviso.is_tracing() or not _holds_symbols(sizes):
        return _broadcast_shapes(*shapes)
    return torch.Size(functools.reduce(_proviso.broadcast_sizes, sizes))


_id = builtins.id


def _user_id(value, /):
    """id(x) in a program would be a number of this process, for ever."""
    if (_proviso.is_tracing() and is_fake(value)
            and not in_library(sys._getframe(1).f_code.co_filename)):
        raise TypeError(
            "id() of a traced tensor is a number of this process that the "
            "exported program cannot have; compare tensors with `is`, or "
            "leave it out")
    return _id(value)


_LIBRARIES = tuple(os.path.dirname(path) + os.sep
                   for path in (torch.__file__, __file__, os.__file__))


def in_library(filename):
    """Whether this is torch's code, ours or Python's."""
    return filename.startswith((*_LIBRARIES, "<frozen ", "<__array_function__"))


_is_contiguous = torch.Tensor.is_contiguous


def _asked_contiguous(self, memory_format=torch.contiguous_format):
    """What a branch on it needs of the sizes: dimensions of size 1 lie
    anywhere, and a tensor without elements is contiguous."""
    _keep_layout_answers(self, sys._getframe(1))
    if not is_fake(self):
        return _is_contiguous(self, memory_format=memory_format)
    return bool(_proviso.contiguity(self, memory_format))


def _keep_layout_answers(t, caller):
    """Where the program itself asks for t's layout, not a function of torch,
    whose values do not depend on it.  Whether it does."""
    if not is_fake(t) or in_library(caller.f_code.co_filename):
        return False
    _proviso.keep_layout_answers()
    return True


def _keeping_layout_answers(ask):
    """`ask`, for a stride or an offset: where a size is 0 the strides are those
    of 1."""

    @functools.wraps(ask)
    def asked(self, *args, **kwargs):
        if _keep_layout_answers(self, sys._getframe(1)):
            for size in self.shape:
                _keep_empty_or_not(size)
        return ask(self, *args, **kwargs)

    return asked


def _keep_empty_or_not(size):
    if not isinstance(size, torch.SymInt):
        return
    if size.node.hint is None:
        torch._check(size != 0)
    else:
        bool(size != 0)


_nbytes = torch.Tensor.nbytes


def _symbolic_nbytes(self):
    """torch's counts elements as one number, which would fix the sizes."""
    if is_fake(self):
        return self.numel() * self.element_size()
    return _nbytes.__get__(self)


def _no_storage(name):
    original = getattr(torch.Tensor, name)

    @functools.wraps(original)
    def asked(self):
        if is_fake(self) and not in_library(
                sys._getframe(1).f_code.co_filename):
            raise NotTraced(
                f"t.{name}() of a traced tensor has no bytes that a program "
                "could speak of; write t.nbytes, t.numel() or t.stride()")
        return original(self)

    return asked


def _no_answer(name, but_libraries=True):
    """Of whether a tensor is a view, of what, and how often it was written
    to; libraries may ask, unless their question ends the process."""
    original = getattr(torch.Tensor, name)
    get = original.__get__ if hasattr(original, "__set__") else None

    def refuse(self):
        asks = may_change if name == "_version" else is_fake
        if asks(self) and not (but_libraries and in_library(
                sys._getframe(2).f_code.co_filename)):
            raise NotTraced(
                f"t.{name} of a traced tensor is not supported: it is a "
                "question about memory that the exported program lays out in "
                "its own way")

    if get is None:
        def asked(self):
            refuse(self)
            return original(self)
        return functools.wraps(original)(asked)

    def answer(self):
        refuse(self)
        return get(self)
    return property(answer)


def _numbers_outside(name, call):
    """Of what gives a tensor's numbers to what is not torch."""
    original = getattr(torch.Tensor, name)

    @functools.wraps(original)
    def method(self, *args, **options):
        if may_change(self):
            raise NotTraced(
                f"{call} of a traced tensor, a parameter or a buffer has no "
                "numbers: numpy's functions leave no operator in the program; "
                "compute with torch's (torch.sum for np.sum), or outside of "
                "the program")
        if name == "numpy":
            return _numpy_memory.array_of(self, original, *args, **options)
        return original(self, *args, **options)

    return method


_deepcopy = torch.Tensor.__deepcopy__


def _copied(self, memo):
    """Of a tensor that the program wrote to, whose numbers are not there."""
    if (is_fake(self) or not _proviso.is_tracing()
            or not _proviso.is_written(self)):
        return _deepcopy(self, memo)
    if _id(self) not in memo:
        memo[_id(self)] = self.detach().clone()
    return memo[_id(self)]


_data = torch.Tensor.data


def _may_have_gradient(t):
    return t.is_floating_point() or t.is_complex()


def _get_data(self):
    """No gradient goes through it, and a parameter's takes writes that the
    parameter does not."""
    if is_fake(self):
        return self.detach() if _may_have_gradient(self) else _data.__get__(self)
    if (_proviso.is_tracing() and self.requires_grad
            and not in_library(sys._getframe(1).f_code.co_filename)):
        return self.detach()
    return _data.__get__(self)


def _is_same_memory(a, b):
    return _proviso.share_memory(a, b) and all(
        ask(a) == ask(b) for ask in _LAYOUT)


_LAYOUT = (torch.Tensor.size, torch.Tensor.stride, torch.Tensor.storage_offset,
           lambda t: t.dtype)


def _set_data(self, value):
    """No operator: the tensor would change, and the program would not."""
    if not _proviso.is_tracing():
        _data.__set__(self, value)
    elif not _proviso.same_value(self, value) and not _is_same_memory(
            self, value):
        raise NotTraced(
            "t.data = .. cannot be exported by proviso: it changes the tensor "
            "and leaves no operator in the program; write `with "
            "torch.no_grad(): t.copy_(..)`")


PATCHES = [
    (torch, "tensor", _symbolic_tensor),
    (torch, "broadcast_shapes", _symbolic_broadcast_shapes),
    (torch.functional, "broadcast_shapes", _symbolic_broadcast_shapes),
    (torch.Tensor, "nbytes", property(_symbolic_nbytes)),
    *((torch.Tensor, name, _no_storage(name))
      for name in ("untyped_storage", "storage")),
    (torch.Tensor, "new_tensor", _tensor_like),
    (torch.Tensor, "new", _new_of_dtype),
    (torch.Tensor, "numpy", _numbers_outside("numpy", "t.numpy()")),
    (torch.Tensor, "__dlpack__",
     _numbers_outside("__dlpack__", "from_dlpack(t)")),
    (torch.Tensor, "__deepcopy__", _copied),
    (torch.Tensor, "tolist", _symbolic_tolist),
    (torch.Tensor, "is_contiguous", _asked_contiguous),
    *((torch.Tensor, name, _keeping_layout_answers(getattr(torch.Tensor, name)))
      for name in ("stride", "storage_offset")),
    (torch.Tensor, "data", property(_get_data, _set_data)),
    *((torch.Tensor, name, _no_answer(name))
      for name in ("_base", "_is_view", "_version")),
    (torch.Tensor, "is_shared", _no_answer("is_shared", but_libraries=False)),
    (builtins, "id", _user_id),
]
