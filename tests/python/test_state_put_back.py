"""What resists being read or put back after an export: objects whose methods do
something of their own, and settings of the process."""

import collections
import concurrent.futures
import functools
import gc
import locale
import os
import random
import signal
import socket
import sys
import threading
import warnings

import pytest
import torch

import proviso
from proviso import Dim
from proviso._kinds_of_state import is_traced

numpy = pytest.importorskip("numpy")
X = torch.randn(4, 3)
ROWS = {"x": {0: Dim.AUTO}}


class Module(torch.nn.Module):
    def __init__(self, act, kept=None):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.act, self.kept = act, kept

    def forward(self, x):
        self.act(self.kept, x)
        return self.linear(x)


def _export(act, kept=None):
    """The warnings."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        proviso.export(Module(act, kept), (X,), dynamic_shapes=ROWS)
    return [str(warning.message) for warning in noted]


# --- objects: (kept, act(kept, x), read(kept))

class Frozen(list):
    def clear(self):
        raise RuntimeError("never")

    extend = append = __iter__ = clear


class Renaming(set):
    def update(self, items):
        for item in items:
            self.add(("renamed", item))


class Pairing(collections.deque):
    def append(self, item):
        super().append((item, item))

    extend = append


class Silent(dict):
    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0


class Private:
    __slots__ = ("__kept", "number")

    def __init__(self):
        self.__kept = None

    def put(self, kept):
        self.__kept = kept

    def get(self):
        return self.__kept


class Lazy:
    __slots__ = ("made",)

    def __getattr__(self, name):  # of a slot without a value
        if name != "made":
            raise AttributeError(name)
        self.made = 7
        return self.made


class Other(Private):
    __slots__ = ()


def _function(x, memo=None, *, more=None):
    return memo


def _other(x, memo=None, *, more=None):
    return more


class WithPartial:
    method = functools.partialmethod(_function, [1])


def _state_of(function):
    return function.__code__, function.__defaults__, function.__kwdefaults__


def _act_on_function(kept, x):
    kept.__defaults__, kept.__kwdefaults__ = (x,), {"more": x}
    kept.__code__ = _other.__code__


def _read_only(array):
    array.flags.writeable = False
    return array


def _act_on_read_only(kept, x):
    kept.flags.writeable = True
    kept[0] = 7


def _array(kept):
    return kept.tolist(), kept.flags.writeable


def _set_class(kept, x):
    kept.__class__ = Other


OBJECTS = {
    "list": (lambda: Frozen([1, 2]), lambda kept, x: list.append(kept, x),
             lambda kept: list.__getitem__(kept, slice(None))),
    "set": (lambda: Renaming([1, 2]), lambda kept, x: kept.add(x), set),
    "deque": (lambda: Pairing([1, 2]), lambda kept, x: kept.append(x), list),
    "dict": (lambda: Silent(a=1), lambda kept, x: kept.__setitem__("x", x),
             lambda kept: list(dict.items(kept))),
    "private slot": (Private, lambda kept, x: kept.put(x),
                     lambda kept: kept.get()),
    "slot without a value": (Lazy, lambda kept, x: setattr(kept, "made", x),
                             lambda kept: _has_value(kept)),
    "class": (Private, _set_class, type),
    "class of a module": (
        lambda: torch.nn.Linear(3, 3),
        lambda kept, x: setattr(kept, "__class__", torch.nn.Identity), type),
    "factory": (lambda: collections.defaultdict(list),
                lambda kept, x: setattr(kept, "default_factory", int),
                lambda kept: kept.default_factory),
    "function": (lambda: _function, _act_on_function, _state_of),
    "partial": (lambda: functools.partial(_function, 1),
                lambda kept, x: kept.__setstate__((_function, (x,), {}, None)),
                lambda kept: (kept.func, kept.args, kept.keywords)),
    "partial method": (
        WithPartial,
        lambda kept, x: vars(type(kept))["method"].args[0].append(x),
        lambda kept: list(vars(type(kept))["method"].args[0])),
    "single dispatch": (lambda: functools.singledispatch(_function),
                        lambda kept, x: kept.register(int, _function),
                        lambda kept: dict(kept.registry)),
    "error": (lambda: ValueError("before"),
              lambda kept, x: setattr(kept, "args", (x,)),
              lambda kept: kept.args),
    "note of an error": (lambda: ValueError("before"),
                         lambda kept, x: setattr(kept, "note", x),
                         lambda kept: dict(vars(kept))),
    "future": (concurrent.futures.Future,
               lambda kept, x: kept.set_result(x),
               lambda kept: (kept.done(), kept._result)),
    "memory": (lambda: memoryview(bytearray(b"abc")),
               lambda kept, x: kept.__setitem__(0, 7), bytes),
    "array resized": (lambda: numpy.arange(3),
                      lambda kept, x: kept.resize((5,), refcheck=False), _array),
    "array reshaped": (lambda: numpy.arange(4),
                       lambda kept, x: kept.resize((2, 2), refcheck=False),
                       _array),
    "array made read-only": (
        lambda: numpy.arange(3),
        lambda kept, x: (kept.__setitem__(0, 7), _read_only(kept)), _array),
    "array made writeable": (lambda: _read_only(numpy.arange(3)),
                             _act_on_read_only, _array),
    "bits": (lambda: numpy.random.PCG64(3), lambda kept, x: kept.random_raw(),
             lambda kept: kept.state),
    "numbers": (lambda: numpy.random.default_rng(3),
                lambda kept, x: kept.random(),
                lambda kept: kept.bit_generator.state),
}


def _has_value(kept):
    try:
        Lazy.made.__get__(kept)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_put_back_whatever_its_methods_do(name):
    make, act, read = OBJECTS[name]
    kept = make()
    before = read(kept)
    said = _export(act, kept)
    now = read(kept)
    assert not any(map(is_traced, torch.utils._pytree.tree_leaves(now)))
    assert now == before
    assert not any("cannot be put back" in text for text in said)


def test_what_cannot_be_put_back_is_warned_of_and_all_else_is_put_back():
    view = numpy.arange(4)
    kept = {"array": view[:2], "list": [], "dict": {}}
    module = Module(lambda kept, x: (
        kept["array"].__setitem__(0, 7), _read_only(kept["array"]),
        _read_only(view), kept["list"].append(x), random.random(),
        kept["dict"].update(x=x), torch.set_default_device("meta")), kept)
    drawn = random.getstate()
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        proviso.export(module, (X,), dynamic_shapes=ROWS)
    said = [str(warning.message) for warning in noted]
    assert sum("cannot be put back" in text for text in said) == 1, said
    assert "self.kept['array'] was changed" in " ".join(said)
    assert (kept["list"], kept["dict"]) == ([], {})
    assert random.getstate() == drawn
    assert torch.get_default_device().type == "cpu"


class Constant:
    def __init__(self):
        self.items = []

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return 3


def test_a_constant_among_the_arguments_is_as_before():
    torch.utils._pytree.register_constant(Constant)

    class Reading(torch.nn.Module):
        def forward(self, x, constant):
            constant.items.append(x)
            constant.last = x
            return x + 1

    constant = Constant()
    with pytest.warns(UserWarning, match="Constant.* was assigned"):
        proviso.export(Reading(), (X, constant),
                       dynamic_shapes={"x": {0: Dim.AUTO}, "constant": None})
    assert vars(constant) == {"items": []}


# --- settings of the process: (act, read)

def _precisions():
    return [torch._C._get_fp32_precision_getter(backend, op)
            for backend, op in (("generic", "all"), ("cuda", "matmul"),
                                ("mkldnn", "matmul"), ("mkldnn", "conv"))]


def _set_precision(precision):
    with getattr(torch.backends, "__allow_nonbracketed_mutation")():
        torch.backends.mkldnn.matmul.fp32_precision = precision


def _mask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


_future = torch.__future__
SETTINGS = {
    "precision of mkldnn": (lambda: _set_precision("bf16"), _precisions),
    "precision": (lambda: torch.set_float32_matmul_precision("medium"),
                  lambda: (torch.get_float32_matmul_precision(), _precisions())),
    "allow_tf32": (lambda: torch._C._set_cudnn_allow_tf32(False),
                   lambda: (torch._C._get_cudnn_allow_tf32(), _precisions())),
    "validation": (
        lambda: torch.distributions.Distribution.set_default_validate_args(
            False), lambda: torch.distributions.Distribution._validate_args),
    "swap": (lambda: _future.set_swap_module_params_on_conversion(True),
             _future.get_swap_module_params_on_conversion),
    "overwrite": (
        lambda: _future.set_overwrite_module_params_on_conversion(True),
        _future.get_overwrite_module_params_on_conversion),
    "invariants": (torch.sparse.check_sparse_tensor_invariants.enable,
                   torch.sparse.check_sparse_tensor_invariants.is_enabled),
    "dual level": (torch.autograd.forward_ad.enter_dual_level,
                   lambda: torch.autograd.forward_ad._current_level),
    "kernels": (lambda: torch._C._set_sdp_priority_order([0, 1, 2, 3, 4]),
                torch._C._get_sdp_priority_order),
    "script": (torch.jit._state.disable,
               lambda: bool(torch.jit._state._enabled)),
    "folder of the hub": (lambda: torch.hub.set_dir("/of/the/program"),
                          lambda: torch.hub._hub_dir),
    "folder": (lambda: os.chdir("/"), os.getcwd),
    "collector": (lambda: (gc.disable(), gc.set_threshold(5)),
                  lambda: (gc.isenabled(), gc.get_threshold())),
    "signal": (lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
               lambda: signal.getsignal(signal.SIGUSR1)),
    "trace": (lambda: sys.settrace(lambda *_: None), sys.gettrace),
    "profile": (lambda: sys.setprofile(lambda *_: None), sys.getprofile),
    "switches": (lambda: sys.setswitchinterval(0.5), sys.getswitchinterval),
    "digits": (lambda: sys.set_int_max_str_digits(9999),
               sys.get_int_max_str_digits),
    "finders": (lambda: sys.meta_path.append(None),
                lambda: (id(sys.meta_path), list(sys.meta_path))),
    "another path": (lambda: setattr(sys, "path", list(sys.path[1:])),
                     lambda: (id(sys.path), list(sys.path))),
    "mask": (lambda: os.umask(0o77), _mask),
    "timeout": (lambda: socket.setdefaulttimeout(3), socket.getdefaulttimeout),
    "stack": (lambda: threading.stack_size(1 << 20), threading.stack_size),
    "locale": (lambda: locale.setlocale(locale.LC_ALL, "C"),
               lambda: locale.setlocale(locale.LC_ALL)),
    "source of random numbers": (
        lambda: numpy.random.set_bit_generator(numpy.random.PCG64(3)),
        lambda: (id(numpy.random.get_bit_generator()),
                 str(numpy.random.get_state(legacy=False)))),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_of_the_process_is_as_before(name):
    act, read = SETTINGS[name]
    before = read()
    assert not any("cannot be put back" in text
                   for text in _export(lambda kept, x: act()))
    assert read() == before


# --- states in which torch or numpy refuse to say how they are

def test_a_mix_of_the_ways_to_set_a_precision_is_no_error():
    before = torch._C._get_fp32_precision_getter("mkldnn", "matmul")
    try:
        _set_precision("bf16")
        with pytest.raises(RuntimeError):
            torch.get_float32_matmul_precision()
        precisions = _precisions()
        assert not _export(lambda kept, x: None)
        assert not _export(
            lambda kept, x: torch.set_float32_matmul_precision("medium"))
        assert _precisions() == precisions
    finally:
        torch.set_float32_matmul_precision("highest")
        _set_precision(before)
        torch._C._set_fp32_precision_setter("cuda", "matmul", "none")


def test_another_source_of_numpys_random_numbers_is_no_error():
    before = numpy.random.get_bit_generator()
    try:
        numpy.random.set_bit_generator(numpy.random.PCG64(3))
        state = str(numpy.random.get_state(legacy=False))
        assert not _export(lambda kept, x: None)
        assert any("drew numbers" in text for text in _export(
            lambda kept, x: numpy.random.rand()))
        assert str(numpy.random.get_state(legacy=False)) == state
    finally:
        numpy.random.set_bit_generator(before)
