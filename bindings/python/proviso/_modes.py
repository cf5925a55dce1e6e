"""Modes that a program sets: blocks of operators where the file format has them,
an error where they would leave no operator in the program.
"""

import functools
import sys

import torch

from proviso import _proviso
from proviso._not_traced import NotTraced
from proviso._tensors import in_library

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


def _refused(owner, name, instead, changes=lambda *args: True):
    original = getattr(owner, name)

    @functools.wraps(original)
    def function(*args, **options):
        if (_proviso.is_tracing() and changes(*args)
                and not in_library(sys._getframe(1).f_code.co_filename)):
            raise NotTraced(
                f"torch.{name}(..) in a program cannot be exported by proviso: "
                f"it leaves no operator in the program; {instead}")
        return original(*args, **options)

    return (owner, name, function)


def _changes_dtype(dtype=None, *_):
    return dtype is not torch.get_default_dtype()


_SEED = "seed before the program is called, or draw with a torch.Generator"

PATCHES = [
    (torch.autocast, "__enter__", _our_autocast_enter),
    (torch.autocast, "__exit__", _our_autocast_exit),
    _refused(torch, "set_default_dtype", "give each tensor its dtype",
             _changes_dtype),
    *(_refused(owner, name, _SEED)
      for owner in (torch, torch.random)
      for name in ("manual_seed", "seed", "set_rng_state")),
]
