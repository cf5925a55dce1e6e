"""What a program may set for the whole process, put back after a trace: flags of
torch that its C++ state does not keep, warning filters, the environment, loggers
and the modules that are imported."""

import contextlib
import contextvars
import logging
import operator
import os
import sys
import warnings

import torch

from proviso._kinds_of_state import LOGGER
from proviso._libraries import is_library

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
def kept_as_it_is(names):
    """names: those in the program's code, without which it does not come to
    loggers and sys.modules."""
    device = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    flags = [read() for read, _ in _FLAGS]
    filters, items = warnings.filters, list(warnings.filters)
    environment, path = dict(os.environ._data), list(sys.path)
    modules = dict(sys.modules) if {"sys", "modules"} <= names else None
    loggers = None if names.isdisjoint(_OF_LOGGING) else _Loggers()
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
        if loggers is not None:
            loggers.put_back()
        if modules is not None:
            _put_back_modules(modules)
        if sys.path != path:
            sys.path[:] = path
        if os.environ._data != environment:
            _put_back_environment(environment)


_OF_LOGGING = {"logging", "getLogger", "setLevel", "addHandler",
               "removeHandler", "addFilter", "removeFilter", "handlers",
               "filters", "propagate", "disabled"}


def _loggers():
    """{name: logger}; what stands there for names alone is none."""
    return {name: logger for name, logger
            in [("", logging.root), *logging.root.manager.loggerDict.items()]
            if type(logger) is not logging.PlaceHolder}


_flags_of = operator.attrgetter("level", "disabled", "propagate")
_lists_of = operator.attrgetter("handlers", "filters")


class _Loggers:
    """How the loggers are, which are read all at once, for there are many."""

    def __init__(self):
        self.disabled = logging.root.manager.disable
        self.packages = {name.partition(".")[0] for name in sys.modules}
        self.loggers = _loggers()
        self.flags, self.lists = self._read()

    def _read(self):
        loggers = self.loggers.values()
        return (list(map(_flags_of, loggers)),
                [x[:] for lists in map(_lists_of, loggers) for x in lists])

    def put_back(self):
        """A new one is as getLogger() makes it, unless a package that is new
        too made it."""
        logging.root.manager.disable = self.disabled
        for name, logger in self._new():
            package = name.partition(".")[0]
            if package in self.packages or package not in sys.modules:
                LOGGER.write(logger, (logging.NOTSET, False, True, [], []))
        if self._read() == (self.flags, self.lists):
            return
        pairs = zip(self.lists[::2], self.lists[1::2])
        for logger, flags, lists in zip(self.loggers.values(), self.flags,
                                        pairs):
            LOGGER.write(logger, (*flags, *lists))

    def _new(self):
        return [(name, logger) for name, logger in _loggers().items()
                if name not in self.loggers]


def _put_back_modules(before):
    """But for those that were imported, which stay."""
    if sys.modules == before:
        return
    for name in sys.modules.keys() - before.keys():
        if (getattr(sys.modules[name], "__spec__", None) is None
                and not is_library(name)):
            del sys.modules[name]
    for name, module in before.items():
        if sys.modules.get(name, before) is not module:
            sys.modules[name] = module


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
