"""PROVISO_SHAPE_ENV, looked at when torch is imported.

    PROVISO_SHAPE_ENV=1 python train.py        # as proviso.torch.enable()
    PROVISO_SHAPE_ENV=verify python train.py   # as enable(verify=True), and
                                               # the report at the end
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

        proviso.torch.enable(verify=verify)
    except Exception as error:
        _say(f"Proviso could not be enabled ({error})")
        return
    if verify or os.environ.get("PROVISO_SHAPE_ENV_REPORT") == "1":
        import atexit

        atexit.register(_print_report)


class _Finder:
    """Enables Proviso once the module that defines ShapeEnv is there."""

    def __init__(self, verify):
        self.verify = verify

    def find_spec(self, name, path=None, target=None):
        if name != _WAITED_FOR:
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run, verify = spec.loader.exec_module, self.verify

        def exec_module(module):
            run(module)
            _enable(verify)

        spec.loader.exec_module = exec_module
        return spec


def autoload():
    """Called by torch.  Never raises: that would end torch's import."""
    mode = os.environ.get("PROVISO_SHAPE_ENV", "0")
    if mode in ("", "0"):
        return
    if mode not in ("1", "verify"):
        _say(f"expected 0, 1 or verify, got {mode!r}")
    elif _WAITED_FOR in sys.modules:
        _enable(mode == "verify")
    else:
        sys.meta_path.insert(0, _Finder(mode == "verify"))
