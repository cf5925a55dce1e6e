"""What a program may set for the whole process, put back after a trace: flags of
torch that its C++ state does not keep, warning filters, the environment."""

import contextlib
import contextvars
import os
import sys
import warnings

import torch

_TINY = 1e-310  # is 0 to a processor that flushes denormal numbers


def _flushes_denormals():
    return _TINY * 0.5 == 0


def _flag_of_torch(name):
    get, put = (getattr(torch._C, f"_{word}_{name}") for word in ("get", "set"))
    return get, lambda value: put(*value) if type(value) is tuple else put(value)


_FLAGS = [  # (read, write)
    (torch.is_warn_always_enabled, torch.set_warn_always),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (_flushes_denormals, torch.set_flush_denormal),
    (sys.getrecursionlimit, sys.setrecursionlimit),
] + [_flag_of_torch(name) for name in (
    "cublas_allow_fp16_reduced_precision_reduction",
    "cublas_allow_bf16_reduced_precision_reduction",
    "cublas_allow_fp16_accumulation")]


@contextlib.contextmanager
def kept_as_it_is():
    device = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    flags = [read() for read, _ in _FLAGS]
    filters, items = warnings.filters, list(warnings.filters)
    environment, path = dict(os.environ._data), list(sys.path)
    try:
        yield
    finally:
        torch._GLOBAL_DEVICE_CONTEXT.device_context = device
        for (read, write), before in zip(_FLAGS, flags):
            if read() != before:
                write(before)
        if warnings.filters is not filters or filters != items:
            warnings.filters = filters
            filters[:] = items
            warnings._filters_mutated()
        if sys.path != path:
            sys.path[:] = path
        if os.environ._data != environment:
            _put_back_environment(environment)


def _put_back_environment(before):
    now = dict(os.environ._data)
    for key in now.keys() | before.keys():
        if key not in before:
            del os.environ[os.fsdecode(key)]
        elif now.get(key) != before[key]:
            os.environ[os.fsdecode(key)] = os.fsdecode(before[key])


def run_apart(function, *args):
    """function(*args), with context variables, numpy's error state and the
    context of decimal that are its own."""
    return contextvars.copy_context().run(_run_with_decimal, function, args)


def _run_with_decimal(function, args):
    decimal = sys.modules.get("decimal")
    if decimal is not None:
        decimal.setcontext(decimal.getcontext().copy())
    return function(*args)
