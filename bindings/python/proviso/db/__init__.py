"""Programs that must export: the cases of PyTorch's ExportDB, written anew.

    from proviso import db

    case = db.get("cond_operands")
    print(case.source)                 # the program
    result = db.run(case)              # exports it, runs it beside eager
    print(result.report())

`python -m proviso.db list|run [NAME...] [--tag TAG] [--json]` does the same on
the command line, as does `proviso db`.
"""

from proviso.db._case import Case, all_cases, get, with_tag
from proviso.db._run import Result, run

# Each file registers its cases.
from proviso.db import (  # noqa: E402,F401
    control_flow,
    data_dependent,
    dynamic_shapes,
    functions,
    modules,
    structures,
)

__all__ = ["Case", "Result", "all_cases", "get", "run", "with_tag"]
