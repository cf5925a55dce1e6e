"""What a program may set for the whole process, put back after a trace: flags of
torch that its C++ state does not keep, settings of Python's, warning filters, the
environment, loggers and the modules that are imported."""

import contextlib
import contextvars
import gc
import locale
import logging
import operator
import os
import signal
import socket
import sys
import threading
import warnings

import torch
from torch.autograd import forward_ad

from proviso._kinds_of_state import LOGGER
from proviso._libraries import is_library

_TINY = 1e-310  # is 0 to a processor that flushes denormal numbers


def _flushes_denormals():
    return _TINY * 0.5 == 0


def _flag_of_torch(name):
    get, put = (getattr(torch._C, f"_{word}_{name}") for word in ("get", "set"))
    return get, lambda value: put(*value) if type(value) is tuple else put(value)


def _precision(backend, op):
    return (lambda: torch._C._get_fp32_precision_getter(backend, op),
            lambda value: torch._C._set_fp32_precision_setter(
                backend, op, value))


def _attribute(owner, name):
    return (lambda: getattr(owner, name),
            lambda value: setattr(owner, name, value))


def _list(owner, name):
    """The list that it is, with these items."""
    def write(before):
        setattr(owner, name, before[0])
        before[0][:] = before[1]

    return lambda: (getattr(owner, name), list(getattr(owner, name))), write


def _leave_dual_levels(level):
    while forward_ad._current_level > level:
        forward_ad.exit_dual_level()


def _handlers():
    return [(number, signal.getsignal(number))
            for number in sorted(signal.valid_signals())]


def _write_handlers(before):
    for number, handler in before:
        if signal.getsignal(number) != handler:
            signal.signal(number, handler)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


_FLAGS = [  # (read, write)
    (torch.is_warn_always_enabled, torch.set_warn_always),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (_flushes_denormals, torch.set_flush_denormal),
    (torch._C._check_sparse_tensor_invariants,
     torch._C._set_check_sparse_tensor_invariants),
    (torch.__future__.get_overwrite_module_params_on_conversion,
     torch.__future__.set_overwrite_module_params_on_conversion),
    (torch.__future__.get_swap_module_params_on_conversion,
     torch.__future__.set_swap_module_params_on_conversion),
    (lambda: forward_ad._current_level, _leave_dual_levels),
    (torch._C._get_sdp_priority_order, torch._C._set_sdp_priority_order),
    (torch._C._get_linalg_preferred_backend,
     torch._C._set_linalg_preferred_backend),
    _attribute(torch.distributions.Distribution, "_validate_args"),
    _attribute(torch.jit._state._enabled, "enabled"),
    _attribute(torch.hub, "_hub_dir"),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.getswitchinterval, sys.setswitchinterval),
    (sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    (sys.get_coroutine_origin_tracking_depth,
     sys.set_coroutine_origin_tracking_depth),
    (sys.gettrace, sys.settrace),
    (sys.getprofile, sys.setprofile),
    _list(sys, "path"),
    _list(sys, "path_hooks"),
    _list(sys, "meta_path"),
    (os.getcwd, os.chdir),
    (gc.isenabled, lambda value: gc.enable() if value else gc.disable()),
    (gc.get_threshold, lambda value: gc.set_threshold(*value)),
    (threading.stack_size, threading.stack_size),
    (socket.getdefaulttimeout, socket.setdefaulttimeout),
] + [_flag_of_torch(name) for name in (
    "cublas_allow_fp16_reduced_precision_reduction",
    "cublas_allow_bf16_reduced_precision_reduction",
    "cublas_allow_fp16_accumulation", "cudnn_allow_tf32", "onednn_allow_tf32")
] + [_precision("generic", "all")] + [  # each overrules those before
    _precision(backend, op) for backend in ("cuda", "mkldnn")
    for op in ("all", "matmul", "conv", "rnn")]

# Those that only a program whose code has the name is thought to change.
_FLAGS_BY_NAME = {
    "signal": (_handlers, _write_handlers),
    "umask": (_umask, os.umask),
    "setlocale": (lambda: locale.setlocale(locale.LC_ALL),
                  lambda value: locale.setlocale(locale.LC_ALL, value)),
}


def _read_flags(rows):
    """[(what reads it, what writes it, its value)] of those that can be read:
    some of torch's cannot after others were set."""
    found = []
    for read, write in rows:
        with contextlib.suppress(Exception):
            found.append((read, write, read()))
    return found


def _can_be_other(read, before):
    try:
        return read() != before
    except Exception:
        return True


def _write_flags(flags):
    for read, write, before in flags:
        try:
            if _can_be_other(read, before):
                write(before)
        except Exception as error:
            warn_of_what_stays(f"What {getattr(write, '__name__', write)} sets",
                               error)


def warn_of_what_stays(name, error):
    warnings.warn(
        f"{name} was changed during export and cannot be put back "
        f"({type(error).__name__}: {error}): it is as the program left it.",
        stacklevel=2)


@contextlib.contextmanager
def kept_as_it_is(names):
    """names: those in the program's code, without which it does not come to
    loggers, sys.modules and _FLAGS_BY_NAME."""
    device = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    flags = _read_flags(_FLAGS + [row for name, row in _FLAGS_BY_NAME.items()
                                  if name in names])
    filters, items = warnings.filters, list(warnings.filters)
    environment = dict(os.environ._data)
    modules = dict(sys.modules) if {"sys", "modules"} <= names else None
    loggers = None if names.isdisjoint(_OF_LOGGING) else _Loggers()
    try:
        yield
    finally:
        torch._GLOBAL_DEVICE_CONTEXT.device_context = device
        _write_flags(flags)
        if warnings.filters is not filters or filters != items:
            warnings.filters = filters
            filters[:] = items
            warnings._filters_mutated()
        if loggers is not None:
            loggers.put_back()
        if modules is not None:
            _put_back_modules(modules)
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
