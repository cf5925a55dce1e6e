"""Proviso inside PyTorch's own compiler: it answers for ShapeEnv.

    import proviso.torch

    with proviso.torch.shape_env():
        compiled = torch.compile(model, dynamic=True)
        compiled(x)                      # compiled here, asks Proviso

    proviso.torch.enable()               # from here on, in the whole process
    proviso.torch.disable()

torch.compile and torch.export ask a ShapeEnv what follows from the guards so
far.  Under `shape_env()` a new ShapeEnv asks Proviso's solver before torch's
own simplification.  Symbols, their names, hints, guards, replacements and all
printing stay torch's.  A ShapeEnv that exists already, or is of somebody
else's class, keeps torch's reasoning.

`verify=True` asks both, uses torch's answer, and keeps what differs:
`report()` tells.  The environment variable PROVISO_SHAPE_ENV=1 (or =verify)
does the same from the start of a process.

Quotients of sizes are served too.  `inductor=True` serves Inductor's index
expressions as well, which is where a heavy model spends most of what is left;
PROVISO_INDUCTOR=1 beside PROVISO_SHAPE_ENV does the same.

`explain_recompiles()` tells why functions were compiled again.  Proviso's own
`export`, `load` and the other names that need torch are here as well.
"""

import importlib as _importlib

from proviso.torch._binding import disable, enable, is_enabled, shape_env
from proviso.torch._recompiles import (
    Recompile,
    Recompiles,
    explain_recompiles,
)
from proviso.torch._report import Report, report, reset_report

__all__ = [
    "Recompile",
    "Recompiles",
    "Report",
    "disable",
    "enable",
    "explain_recompiles",
    "is_enabled",
    "report",
    "reset_report",
    "shape_env",
]


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module("proviso._tracer"), name)
