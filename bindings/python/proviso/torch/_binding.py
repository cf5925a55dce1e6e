"""Puts Proviso's ShapeEnv where PyTorch constructs one, and takes it away."""

import contextlib
import os
import sys
import threading
import typing

import proviso_autoload
from proviso._torch_needed import TORCH_VERSION, torch

_lock = threading.RLock()
# A child that another thread's fork makes has no one who would release it.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release,
                    after_in_child=_lock.release)


class _Mode(typing.NamedTuple):
    verify: bool
    inductor: bool


class _State:
    enabled = None  # None, or the _Mode that enable() was given
    waits_for_inductor = False
    blocks = []  # the _Mode of each `with shape_env()` that is open


_state = _State()


def _check_torch(call):
    found = torch.__version__.split("+")[0]
    if found != TORCH_VERSION:
        raise RuntimeError(
            f"proviso.torch.{call}: answers for the ShapeEnv of torch "
            f"{TORCH_VERSION}, and torch {torch.__version__} is installed; "
            "its own ShapeEnv goes on.  Install that version of torch, or a "
            "Proviso that is made for yours"
        )


def _bind(old, new):
    """Rebinds the name ShapeEnv in every module that has it from torch."""
    for name, module in list(sys.modules.items()):
        if name.startswith("proviso."):
            continue
        names = getattr(module, "__dict__", None)
        if isinstance(names, dict) and names.get("ShapeEnv") is old:
            names["ShapeEnv"] = new


def _update():
    """Binds what the state says.  Called under the lock."""
    from proviso.torch import (
        _joint_checks,
        _quotients,
        _settings,
        _shape_env,
        _strict_exports,
    )

    wanted = _state.blocks[-1] if _state.blocks else _state.enabled
    _settings.verify = wanted is not None and wanted.verify
    _quotients.bind(wanted is not None)
    _joint_checks.bind(wanted is not None and not wanted.verify)
    _strict_exports.bind(wanted is not None and not wanted.verify)
    _bind_inductor(wanted)
    ours, theirs = _shape_env.ShapeEnv, _shape_env.TorchShapeEnv
    if wanted is None:
        _bind(ours, theirs)
    else:
        _bind(theirs, ours)


def _bind_inductor(wanted):
    """Inductor's own work on index expressions is Proviso's, or torch's, from
    when Inductor is imported."""
    is_wanted = wanted is not None and wanted.inductor
    if "proviso.torch._inductor" in sys.modules:
        from proviso.torch import _inductor

        _inductor.bind(is_wanted)
    elif is_wanted and not _state.waits_for_inductor:
        _state.waits_for_inductor = True
        proviso_autoload.after_import(
            "torch._inductor.sizevars", _inductor_is_there
        )


def _inductor_is_there():
    with _lock:
        import proviso.torch._inductor  # noqa: F401: _update finds it

        _update()


def enable(*, verify=False, inductor=False):
    """From here on, each new ShapeEnv of this process asks Proviso.

    With `inductor`, Inductor's work on index expressions is Proviso's too.
    With `verify` both are asked, torch's answers are used, and `report()`
    tells what differs.  Calling it again changes both.  Raises RuntimeError
    under another version of torch than 2.13.0.
    """
    _check_torch("enable")
    with _lock:
        _state.enabled = _Mode(bool(verify), bool(inductor))
        _update()


def disable():
    """New ShapeEnvs are torch's own again.

    One that exists keeps asking Proviso, so that what was begun is finished
    alike.  Does nothing when Proviso is not enabled.  Blocks of `shape_env()`
    that are open stay in force.
    """
    with _lock:
        if _state.enabled is None:
            return
        _state.enabled = None
        _update()


def is_enabled():
    """Whether a ShapeEnv that is made now asks Proviso."""
    with _lock:
        return bool(_state.blocks) or _state.enabled is not None


@contextlib.contextmanager
def shape_env(*, verify=False, inductor=False):
    """`with shape_env():` each ShapeEnv made inside asks Proviso.

    It holds for the whole process, other threads included.  Blocks may nest;
    the innermost says what holds.  `verify`, `inductor` and what is raised: as
    of `enable`.
    """
    _check_torch("shape_env")
    mode = _Mode(bool(verify), bool(inductor))
    with _lock:
        _state.blocks.append(mode)
        _update()
    try:
        yield
    finally:
        with _lock:
            # Blocks of several threads may end in another order.
            _state.blocks.reverse()
            _state.blocks.remove(mode)
            _state.blocks.reverse()
            _update()
