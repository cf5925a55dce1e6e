"""What Python must look like while a program is traced, and afterwards."""

import builtins
import contextlib
import functools
import os
import sys
import threading

import torch
from torch.fx.experimental import symbolic_shapes

from proviso import (
    _branches,
    _control_flow,
    _keys,
    _modules,
    _number_types,
    _numbers,
    _proviso,
    _texts,
)
from proviso._not_traced import NotTraced

_MISSING = object()
# Patches and flags are the process's; one trace at a time.
_lock = threading.RLock()


@contextlib.contextmanager
def tracing_environment():
    """torch.compiler.is_exporting() is true, and the few functions that
    would specialise a symbolic size know better.  Other threads see the
    patched functions, which do for them what the originals do."""
    with _lock, contextlib.ExitStack() as stack:
        stack.callback(_set_flags, *_get_flags())
        _set_flags(True, True, False)
        before = [vars(owner).get(name, _MISSING)
                  for owner, name, _ in _ALL_PATCHES]
        stack.callback(_put_back, before)
        for owner, name, replacement in _ALL_PATCHES:
            setattr(owner, name, replacement)
        stack.callback(_control_flow.redirect())
        stack.enter_context(_number_types.of_their_types())
        yield


def _put_back(before):
    for (owner, name, _), value in zip(_ALL_PATCHES, before):
        if value is not _MISSING:
            setattr(owner, name, value)
        elif name in vars(owner):
            delattr(owner, name)


def _get_flags():
    return (torch.compiler._is_compiling_flag,
            torch.compiler._is_exporting_flag,
            torch.backends.mha.get_fastpath_enabled())


def _set_flags(compiling, exporting, fastpath):
    torch.compiler._is_compiling_flag = compiling
    torch.compiler._is_exporting_flag = exporting
    # The fast path of nn.TransformerEncoderLayer is one opaque operator.
    torch.backends.mha.set_fastpath_enabled(fastpath)


# --- functions that specialise

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def _is_fake(value):
    return isinstance(value, torch.Tensor) and _proviso.is_fake(value)


def _holds_symbols(data):
    if isinstance(data, (list, tuple)):
        return any(_holds_symbols(item) for item in data)
    return isinstance(data, _SYMBOLIC) or _is_fake(data)


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


_tolist = torch.Tensor.tolist


def _symbolic_tolist(self):
    """Numbers read one by one: each is a symbol."""
    if not _is_fake(self):
        return _tolist(self)
    if self.dim() == 0:
        return self.item()
    return [_symbolic_tolist(row) for row in self.unbind(0)]


def _is_index_tensor(value):
    """A 0-dim integer tensor: as an index it is the number that it holds."""
    return (_is_fake(value) and value.dim() == 0
            and not value.is_floating_point() and value.dtype != torch.bool)


def _index_number(value):
    return value.item() if _is_index_tensor(value) else value


def _is_symbolic_index(item):
    if isinstance(item, slice):
        return any(_is_index_tensor(bound)
                   for bound in (item.start, item.stop, item.step))
    return isinstance(item, torch.SymInt) or _is_index_tensor(item)


def _is_basic_index(item):
    return (item is None or item is Ellipsis or isinstance(item, slice)
            or type(item) is int or _is_symbolic_index(item))


_getitem = torch.Tensor.__getitem__


def _symbolic_getitem(self, index):
    """x[s] reads the number s, which would fix it; select() does not."""
    items = index if type(index) is tuple else (index,)
    if not (_proviso.is_tracing() and any(map(_is_symbolic_index, items))
            and all(map(_is_basic_index, items))):
        return _getitem(self, index)
    dims = self.dim() - sum(i is not None and i is not Ellipsis for i in items)
    result, dim = self, 0
    for item in items:
        if item is Ellipsis:
            dim += dims
        elif item is None:
            result, dim = result.unsqueeze(dim), dim + 1
        elif item == slice(None):
            dim += 1
        elif isinstance(item, slice):
            bounds = slice(*map(_index_number,
                                (item.start, item.stop, item.step)))
            result = _getitem(result, (slice(None),) * dim + (bounds,))
            dim += 1
        else:
            result = result.select(dim, _index_number(item))
    return result


_id = builtins.id


def _user_id(value, /):
    """id(x) in a program would be a number of this process, for ever."""
    if (_proviso.is_tracing() and _is_fake(value)
            and not _in_library(sys._getframe(1).f_code.co_filename)):
        raise TypeError(
            "id() of a traced tensor is a number of this process that the "
            "exported program cannot have; compare tensors with `is`, or "
            "leave it out")
    return _id(value)


_LIBRARIES = tuple(os.path.dirname(path) + os.sep
                   for path in (torch.__file__, __file__, os.__file__))


def _in_library(filename):
    return filename.startswith(_LIBRARIES) or filename.startswith("<")


_repr = torch.Tensor.__repr__


def _fake_repr(self, *, tensor_contents=None):
    if not _is_fake(self):
        return _repr(self, tensor_contents=tensor_contents)
    size = ", ".join(str(s) for s in self.shape)
    return f"traced tensor(size=({size}), dtype={self.dtype})"


_sym_ite = torch.SymBool.__sym_ite__


def _our_sym_ite(self, then_value, else_value):
    if not isinstance(self.node, _proviso.SymNode):
        return _sym_ite(self, then_value, else_value)
    to_node = torch.fx.experimental.sym_node.to_node
    result = torch.fx.experimental.sym_node.wrap_node(self.node.sym_ite(
        to_node(self.node, then_value), to_node(self.node, else_value)))
    return result


_is_contiguous = torch.Tensor.is_contiguous


def _asked_contiguous(self, memory_format=torch.contiguous_format):
    """What a branch on it needs of the sizes: dimensions of size 1 lie
    anywhere, and a tensor without elements is contiguous."""
    _keep_layout_answers(self, sys._getframe(1))
    if not _is_fake(self):
        return _is_contiguous(self, memory_format=memory_format)
    return bool(_proviso.contiguity(self, memory_format))


def _keep_layout_answers(t, caller):
    """Where the program itself asks for t's layout, not a function of torch,
    whose values do not depend on it."""
    if _is_fake(t) and not _in_library(caller.f_code.co_filename):
        _proviso.keep_layout_answers()


def _keeping_layout_answers(ask):
    def asked(self, *args, **kwargs):
        _keep_layout_answers(self, sys._getframe(1))
        return ask(self, *args, **kwargs)
    return asked


_nbytes = torch.Tensor.nbytes


def _symbolic_nbytes(self):
    """torch's counts elements as one number, which would fix the sizes."""
    if _is_fake(self):
        return self.numel() * self.element_size()
    return _nbytes.__get__(self)


def _no_storage(name):
    original = getattr(torch.Tensor, name)

    @functools.wraps(original)
    def asked(self):
        if _is_fake(self) and not _in_library(
                sys._getframe(1).f_code.co_filename):
            raise NotTraced(
                f"t.{name}() of a traced tensor has no bytes that a program "
                "could speak of; write t.nbytes, t.numel() or t.stride()")
        return original(self)

    return asked


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
    if not _is_fake(self) or self.dim() > 0:
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


_grad = torch.autograd.grad
_backward = torch.autograd.backward


def _our_grad(outputs, inputs, *args, **kwargs):
    """torch.func.grad comes here too, with tensors of its own."""
    wanted = (inputs,) if isinstance(inputs, torch.Tensor) else inputs
    if _proviso.is_tracing() and any(map(_is_fake, wanted)):
        raise NotTraced(_NO_BACKWARD.format("torch.autograd.grad"))
    return _grad(outputs, inputs, *args, **kwargs)


def _our_backward(tensors, *args, **kwargs):
    of = (tensors,) if isinstance(tensors, torch.Tensor) else tensors
    if _proviso.is_tracing() and any(map(_is_fake, of)):
        raise NotTraced(_NO_BACKWARD.format("Tensor.backward"))
    return _backward(tensors, *args, **kwargs)


_NO_BACKWARD = (
    "{} cannot be exported by proviso: a trace records the program, not its "
    "derivatives; write it with torch.func.grad, or leave it out")

_autocast_enter = torch.autocast.__enter__
_autocast_exit = torch.autocast.__exit__


def _our_autocast_enter(self):
    entered = _autocast_enter(self)
    if self.device == "cpu" and _proviso.is_tracing():
        _proviso.enter_autocast_block()
    return entered


def _our_autocast_exit(self, *error):
    if self.device == "cpu":
        _proviso.exit_autocast_block()
    return _autocast_exit(self, *error)


_data = torch.Tensor.data


def _set_data(self, value):
    """No operator: the tensor would change, and the program would not."""
    if not _proviso.is_tracing():
        _data.__set__(self, value)
    elif not _proviso.same_value(self, value):
        raise NotTraced(
            "t.data = .. cannot be exported by proviso: it changes the tensor "
            "and leaves no operator in the program; write `with "
            "torch.no_grad(): t.copy_(..)`")


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


_PATCHES = [
    (torch.autograd.Function, "apply", classmethod(_our_function_apply)),
    (torch.autocast, "__enter__", _our_autocast_enter),
    (torch.autocast, "__exit__", _our_autocast_exit),
    (torch, "tensor", _symbolic_tensor),
    (torch.Tensor, "nbytes", property(_symbolic_nbytes)),
    *((torch.Tensor, name, _no_storage(name))
      for name in ("untyped_storage", "storage")),
    (torch.Tensor, "__bool__", _our_bool_of_tensor),
    (torch.Tensor, "tolist", _symbolic_tolist),
    (torch.Tensor, "is_contiguous", _asked_contiguous),
    *((torch.Tensor, name, _keeping_layout_answers(getattr(torch.Tensor, name)))
      for name in ("stride", "storage_offset")),
    (torch.Tensor, "data", property(_data.__get__, _set_data)),
    (torch.Tensor, "__getitem__", _symbolic_getitem),
    (torch.autograd, "grad", _our_grad),
    (torch.autograd, "backward", _our_backward),
    (torch.Tensor, "__repr__", _fake_repr),
    (builtins, "id", _user_id),
    (torch.SymBool, "__sym_ite__", _our_sym_ite),
    (torch.SymBool, "__bool__", _our_bool),
    (torch, "_check_with", _our_check_with),
    (symbolic_shapes, "_advise_is_size", _our_advise_is_size),
    # torch's binding asks every size in a call for it; to find that there is
    # none takes longer than to find one that is switched off.
    (torch.SymInt, "__torch_function__",
     torch._C._disabled_torch_function_impl),
]

# (owner, name, what stands there while a program is traced), each place once.
_ALL_PATCHES = _PATCHES + _keys.PATCHES + _numbers.PATCHES + _texts.PATCHES


# --- operators without a shape rule

class _FakeContext:
    """What torch.library.get_ctx() gives inside a fake implementation."""

    def new_dynamic_size(self, *, min=0, max=None):
        return _proviso.new_dynamic_size(min, max)

    def create_unbacked_symint(self, *, min=2, max=None):
        return self.new_dynamic_size(min=min, max=max)


def _results_of(name, overload, args, kwargs):
    """What an operator returns for traced tensors, by its own fake
    implementation or by torch's meta function in Python."""
    kernel = (_meta_function(name, overload)
              if name.partition("::")[0] in ("aten", "prims")
              else _fake_implementation(name))
    return NotImplemented if kernel is None else kernel(*args, **kwargs)


def _fake_implementation(name):
    from torch._library import fake_impl, simple_registry

    kernel = simple_registry.singleton.find(name).fake_impl.kernel

    def run(*args, **kwargs):
        with fake_impl.set_ctx_getter(_FakeContext):
            return kernel(*args, **kwargs)

    return run if kernel is not None else None


@functools.cache
def _meta_function(name, overload):
    import torch._meta_registrations  # registers most of them

    space, _, base = name.partition("::")
    op = getattr(getattr(getattr(torch.ops, space), base),
                 overload or "default")
    if space == "prims":
        return op.prim_meta_impl
    if any(a.is_out for a in op._schema.arguments):
        return None
    return op.py_kernels.get(torch._C.DispatchKey.Meta)


_proviso.set_custom_op_function(_results_of)


# --- modules

class OwnedTensors:
    """The tensors that a module owns, by name."""

    def __init__(self, module):
        self.parameters = []
        self.buffers = []  # (name, tensor, persistent)
        self.constants = []  # tensors that are plain attributes
        self._buffers_before = []  # (prefix, child, its buffers)
        # A tensor of a shared module has a name by each of the module's.
        for prefix, child in _modules.named_modules(module):
            if child._buffers:
                self._buffers_before.append(
                    (prefix, child, dict(child._buffers)))
            dot = prefix + "." if prefix else ""
            for name, tensor in child._parameters.items():
                if tensor is not None:
                    self.parameters.append((dot + name, tensor))
            transient = child._non_persistent_buffers_set
            for name, tensor in child._buffers.items():
                if tensor is not None:
                    self.buffers.append(
                        (dot + name, tensor, name not in transient))
            for name, value in child.__dict__.items():
                if type(value) is torch.Tensor:
                    self.constants.append((dot + name, value))

    def register(self, session):
        for name, tensor in self.parameters:
            session.add_parameter(name, tensor)
        for name, tensor, persistent in self.buffers:
            session.add_buffer(name, tensor, persistent)
        for name, tensor in self.constants:
            session.name_constant(name, tensor)

    def record_buffer_assignments(self):
        """`self.count = self.count + 1` on a buffer writes into the buffer."""
        for prefix, child, buffers in self._buffers_before:
            for name, old in buffers.items():
                new = child._buffers.get(name)
                if new is old:
                    continue
                child._buffers[name] = old
                if not isinstance(new, torch.Tensor) or old is None:
                    raise ValueError(
                        f"export: the program sets the buffer "
                        f"'{prefix + '.' if prefix else ''}{name}' to "
                        f"{type(new).__name__}; buffers stay tensors")
                old.copy_(new)
