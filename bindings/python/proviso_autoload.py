"""PROVISO_SHAPE_ENV, looked at when torch is imported.

    PROVISO_SHAPE_ENV=1 python train.py        # as proviso.torch.enable()
    PROVISO_SHAPE_ENV=verify python train.py   # as enable(verify=True), and
                                               # the report at the end
    PROVISO_INDUCTOR=1                         # with either: inductor=True
    PROVISO_SHAPE_ENV_REPORT=1                 # the report without verify

torch calls `autoload` (entry point group torch.backends) in the middle of its
own import, whether the variable is set or not: what is imported here is all
that it costs.  ShapeEnv is imported much later, or never, so a finder waits
for that.
"""

import os
import sys

_WAITED_FOR = "torch.fx.experimental.symbolic_shapes"


def _say(text):
    import warnings

    warnings.warn(
        f"PROVISO_SHAPE_ENV: {text}; torch's own ShapeEnv goes on",
        RuntimeWarning,
        stacklevel=2,
    )


def _print_report():
    import proviso.torch

    print(proviso.torch.report(), file=sys.stderr)


def _enable(verify):
    try:
        import proviso.torch

        inductor = os.environ.get("PROVISO_INDUCTOR", "0") not in ("", "0")
        proviso.torch.enable(verify=verify, inductor=inductor)
    except Exception as error:
        _say(f"Proviso could not be enabled ({error})")
        return
    if verify or os.environ.get("PROVISO_SHAPE_ENV_REPORT") == "1":
        import atexit

        atexit.register(_print_report)


class _Finder:
    """Calls `then` once the module of this name is there."""

    def __init__(self, name, then):
        self.name = name
        self.then = then

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run, then = spec.loader.exec_module, self.then

        def exec_module(module):
            run(module)
            then()

        spec.loader.exec_module = exec_module
        return spec


class _Watcher:
    """Calls `then` at the first import that begins when the module is done."""

    def __init__(self, name, then):
        self.name = name
        self.then = then

    def find_spec(self, name, path=None, target=None):
        if self in sys.meta_path and not _is_half_made(self.name):
            # A list of its own: this one is being walked.
            sys.meta_path = [f for f in sys.meta_path if f is not self]
            self.then()
        return None


def _is_half_made(name):
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return getattr(spec, "_initializing", False)


def after_import(name, then):
    """Calls `then` now where the module is imported, else when it is."""
    if name not in sys.modules:
        sys.meta_path.insert(0, _Finder(name, then))
    elif _is_half_made(name):
        sys.meta_path.insert(0, _Watcher(name, then))
    else:
        then()


def autoload():
    """Called by torch.  Never raises: that would end torch's import."""
    mode = os.environ.get("PROVISO_SHAPE_ENV", "0")
    if mode in ("", "0"):
        return
    if mode not in ("1", "verify"):
        _say(f"expected 0, 1 or verify, got {mode!r}")
    else:
        after_import(_WAITED_FOR, lambda: _enable(mode == "verify"))
