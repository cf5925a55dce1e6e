"""Proviso: programs with dynamic sizes in, checked exported programs out.

    import proviso
    from proviso import Dim

    ep = proviso.export(model, (x,), dynamic_shapes={"x": {0: Dim("batch")}})
    print(ep)                # the recorded program
    print(ep.guards)         # what inputs must satisfy, and which line says so
    ep.module()(other_x)     # checks the guards, then runs
    ep.save("model.pt2")     # torch.export.load reads it

and the solver behind it, which needs no torch:

    context = proviso.Context()
    n = context.symbol("n")
    context.assume(n % 8 == 0)
    context.ask(n % 4 == 0)  # yes, and the fact that says so
"""

import importlib as _importlib
from importlib.util import find_spec as _find_spec

from proviso import _core
from proviso._errors import (
    ConstraintViolationError,
    DataDependentError,
    Error,
    Suggestion,
)

_core.set_error_type(Error)

from proviso._context import (  # noqa: E402
    Answer,
    Context,
    Fact,
    Solution,
    load_context,
    save_context,
)
from proviso._diagnose import (  # noqa: E402
    Diagnosis,
    JointChecks,
    Report,
    diagnose,
    explain,
)
from proviso._expr import (  # noqa: E402
    And,
    CeilDiv,
    Eq,
    Expr,
    Max,
    Min,
    Ne,
    Not,
    Or,
    Where,
    symbol,
    symbols,
)
from proviso._values import StridedRange, ValueRange  # noqa: E402

from proviso._core import __version__  # noqa: E402

# Names that need torch, taken from proviso._tracer when they are first used.
_OF_TORCH = [
    "AdditionalInputs",
    "ConstantArgument",
    "Constraint",
    "CustomObjArgument",
    "Dim",
    "ExportBackwardSignature",
    "ExportGraphSignature",
    "ExportedProgram",
    "Guard",
    "InputKind",
    "InputSpec",
    "Module",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "OutputKind",
    "OutputSpec",
    "RuntimeAssert",
    "ScriptObjectMeta",
    "ShapesCollection",
    "SourceLocation",
    "SymBoolArgument",
    "SymFloatArgument",
    "SymIntArgument",
    "TensorArgument",
    "TokenArgument",
    "WrapperModule",
    "add_log_callback",
    "default_decompositions",
    "dims",
    "dynamic_dim",
    "explain_guard",
    "export",
    "export_for_training",
    "load",
    "refine_dynamic_shapes",
    "requirements",
    "register_dataclass",
    "remove_log_callback",
    "save",
    "set_logs",
    "unflatten",
]

__all__ = sorted([
    "And",
    "Answer",
    "CeilDiv",
    "ConstraintViolationError",
    "Context",
    "DataDependentError",
    "Diagnosis",
    "Eq",
    "Error",
    "Expr",
    "Fact",
    "JointChecks",
    "Max",
    "Min",
    "Ne",
    "Not",
    "Or",
    "Report",
    "Solution",
    "StridedRange",
    "Suggestion",
    "ValueRange",
    "Where",
    "diagnose",
    "explain",
    "load_context",
    "save_context",
    "symbol",
    "symbols",
])
if _find_spec("torch") and _find_spec("proviso._proviso"):
    __all__ += _OF_TORCH


if False:  # for type checkers, which know that proviso._tracer has them
    from proviso._tracer import *  # noqa: F401,F403


def __getattr__(name):
    if name in _OF_TORCH:
        value = getattr(_importlib.import_module("proviso._tracer"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'proviso' has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | set(__all__))
