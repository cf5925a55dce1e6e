"""The state that an export must leave as it was, read in a way of its own: the
objects that the garbage collector finds behind a program, and torch's modes."""

import collections
import gc
import random
import types

import torch
from torch.nn.modules import module as hooks

from proviso import _iterators, _proviso
from proviso._kinds_of_state import is_traced

# Neither holds state of a program; from here everything would be reached.
_SKIPPED = (types.ModuleType, type, types.FrameType, types.BuiltinFunctionType,
            types.CodeType, types.GetSetDescriptorType)
_SKIPPED_PACKAGES = ("_pytest", "pytest", "pluggy", "logging", "_thread",
                     "threading", "weakref", "torch._ops", "subprocess")


def _behind(value):
    if isinstance(value, types.FunctionType):
        return [value.__dict__, value.__closure__, value.__defaults__,
                value.__kwdefaults__, *_caches_named_by(value)]
    getattr(value, "__dict__", None)  # which makes the dict of an object
    if type(value) is collections.OrderedDict:  # their order is its own
        return [*value.keys(), *value.values()]
    return gc.get_referents(value)


def _caches_named_by(function):
    """Containers among the globals that the function's code names."""
    names = function.__code__.co_names
    found = (function.__globals__.get(name) for name in names)
    return [v for v in found if isinstance(v, (dict, list, set))
            or hasattr(v, "cache_info")]


def objects(program, limit=100_000):
    """{id: (object, what it refers to)} of all that is behind the program."""
    seen, todo = {}, [program]
    if isinstance(program, torch.nn.Module):
        todo.append(type(program).forward)
    while todo and len(seen) < limit:
        value = todo.pop()
        if (id(value) in seen or isinstance(value, _SKIPPED)
                or type(value).__module__.startswith(_SKIPPED_PACKAGES)):
            continue
        if isinstance(value, (*_iterators.TYPES, _iterators.GENERATOR)):
            continue  # what there is of it is taken when it is advanced
        if isinstance(value, torch.Tensor) and not value.is_leaf:
            continue
        behind = _behind(value)
        seen[id(value)] = (value, behind)
        todo += behind
    return seen


def changes(before, traced_alone=False):
    """Sentences about the objects that are not as they were; an iterator that
    was advanced is another one now."""
    found = []
    for value, behind in before.values():
        now = _behind(value)
        if len(now) == len(behind) and all(
                a is b or (type(a) in (int, float, str) and a == b)
                or all(isinstance(v, _iterators.TYPES) for v in (a, b))
                for a, b in zip(now, behind)):
            continue
        new = [item for item in now if not any(item is b for b in behind)]
        if traced_alone and not any(map(is_traced, new)):
            continue
        found.append(f"{type(value).__name__} now refers to "
                     f"{[type(item) for item in new]}, "
                     f"{len(now)} objects instead of {len(behind)}: "
                     f"{str(new)[:300]}")
    return found


def tensors(program):
    """What may change in a module's tensors without an operator."""
    if not isinstance(program, torch.nn.Module):
        return {}
    named = {**dict(program.named_parameters()), **dict(program.named_buffers())}
    return {name: (type(t), tuple(t.shape)
                   if type(t) in _PLAIN and not t.is_nested else None,
                   t.requires_grad, t.is_leaf, t._version, id(t.grad)
                   if t.is_leaf else None)
            for name, t in named.items()}


_PLAIN = (torch.Tensor, torch.nn.Parameter)


def modes():
    """{name: value} of torch's modes."""
    autocast = {
        f"autocast {device}": (torch.is_autocast_enabled(device),
                               torch.get_autocast_dtype(device))
        for device in ("cpu", "cuda", "xpu", "mps")}
    return autocast | {
        "autocast cache": torch.is_autocast_cache_enabled(),
        "autocast nesting": (torch.autocast_increment_nesting(),
                             torch.autocast_decrement_nesting()),
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "forward grad": torch._C._is_fwd_grad_enabled(),
        "multithreading": torch._C._is_multithreading_enabled(),
        "default dtype": torch.get_default_dtype(),
        "default device": torch.get_default_device(),
        "deterministic": (torch.are_deterministic_algorithms_enabled(),
                          torch.is_deterministic_algorithms_warn_only_enabled(),
                          torch.utils.deterministic.fill_uninitialized_memory),
        "threads": torch.get_num_threads(),
        "anomaly": (torch.is_anomaly_enabled(),
                    torch.is_anomaly_check_nan_enabled()),
        "random": (torch.get_rng_state().tolist(), torch.initial_seed(),
                   random.getstate()),
        "function modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "included keys": str(torch._C._dispatch_tls_local_include_set()),
        "excluded keys": str(torch._C._dispatch_tls_local_exclude_set()),
        "saved tensor hooks": torch._C._autograd._saved_tensors_hooks_is_enabled(),
        "precision": [torch._C._get_fp32_precision_getter(*one)
                      for one in (("generic", "all"), ("cuda", "matmul"),
                                  ("mkldnn", "matmul"))],
        "kernels": (torch.backends.cuda.flash_sdp_enabled(),
                    torch.backends.cuda.math_sdp_enabled(),
                    torch.backends.cuda.mem_efficient_sdp_enabled(),
                    torch.backends.mkldnn.enabled,
                    torch.backends.cudnn.enabled,
                    torch.backends.cudnn.benchmark,
                    torch.backends.mha.get_fastpath_enabled()),
        "hooks": tuple(len(value) for name, value in vars(hooks).items()
                       if name.startswith("_global_") and value is not None
                       and not isinstance(value, bool)),
        "printing": str(vars(torch._tensor_str.PRINT_OPTS)),
        "compiling": (torch.compiler.is_compiling(),
                      torch.compiler.is_exporting()),
        "patches": tuple(id(value) for value in (
            torch.tensor, id, torch.Tensor.tolist, torch.Tensor.__getitem__,
            torch.Tensor.__repr__, torch.autograd.grad,
            vars(torch.SymInt).get("__float__"), torch.Tensor.__float__,
            torch.nn.Module.__call__.__code__, torch.cond)),
    }


def checked(export):
    """`export`, which fails when it leaves a trace of itself."""
    def checked_export(mod, *args, **kwargs):
        if _proviso.is_tracing():  # reading the modes would be recorded
            return export(mod, *args, **kwargs)
        before = objects(mod), tensors(mod), modes()
        try:
            return export(mod, *args, **kwargs)
        finally:
            now = modes()
            differing = {name: (before[2][name], now[name])
                         for name in now if now[name] != before[2][name]}
            assert not differing, f"export left modes changed: {differing}"
            assert tensors(mod) == before[1], "export changed a tensor"
            # What a function reaches is its caller's too.
            left = changes(before[0], not isinstance(mod, torch.nn.Module))
            assert not left, "export changed objects: " + "\n".join(left)

    checked_export.__wrapped__ = export
    return checked_export
