"""What Python must look like while a program is traced, and afterwards."""

import contextlib
import threading

import torch

from proviso import (
    _autograd,
    _control_flow,
    _decisions,
    _fake_results,
    _indexing,
    _keys,
    _modes,
    _number_types,
    _numbers,
    _numpy,
    _proviso,
    _tensors,
    _texts,
)

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
        stack.callback(_put_back, *_patch())
        stack.callback(_control_flow.redirect())
        stack.enter_context(_number_types.of_their_types())
        yield


def _patch():
    """What was there, of modules and of classes."""
    of_modules = [{name: space[name] for name in names}
                  for space, names in _IN_MODULES]
    of_classes = [space.get(name, _MISSING)
                  for _, space, name, _ in _IN_CLASSES]
    for space, names in _IN_MODULES:
        space.update(names)
    for owner, _, name, replacement in _IN_CLASSES:
        setattr(owner, name, replacement)
    return of_modules, of_classes


def _put_back(of_modules, of_classes):
    for (space, _), before in zip(_IN_MODULES, of_modules):
        space.update(before)
    for (owner, space, name, _), value in zip(_IN_CLASSES, of_classes):
        if value is not _MISSING:
            setattr(owner, name, value)
        elif name in space:
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


# (owner, name, what stands there while a program is traced), each place once.
_PATCHES = [
    # torch's binding asks every size in a call for it; to find that there is
    # none takes longer than to find one that is switched off.
    (torch.SymInt, "__torch_function__",
     torch._C._disabled_torch_function_impl),
    *_tensors.PATCHES,
    *_indexing.PATCHES,
    *_decisions.PATCHES,
    *_autograd.PATCHES,
    *_modes.PATCHES,
    *_keys.PATCHES,
    *_numbers.PATCHES,
    *_numpy.PATCHES,
    *_texts.PATCHES,
]

_IN_MODULES = [  # (names of a module, what stands there)
    (vars(module), {name: replacement for owner, name, replacement in _PATCHES
                    if owner is module})
    for module in {id(owner): owner for owner, _, _ in _PATCHES}.values()
    if not isinstance(module, type)]
_IN_CLASSES = [(owner, vars(owner), name, replacement)
               for owner, name, replacement in _PATCHES
               if isinstance(owner, type)]

_proviso.set_custom_op_function(_fake_results.results_of)
