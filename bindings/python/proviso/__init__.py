"""Proviso: programs with dynamic sizes in, checked exported programs out.

    import proviso
    from proviso import Dim

    ep = proviso.export(model, (x,), dynamic_shapes={"x": {0: Dim("batch")}})
    print(ep)                # the recorded program
    print(ep.guards)         # what inputs must satisfy, and which line says so
    ep.module()(other_x)     # checks the guards, then runs
    ep.save("model.pt2")     # torch.export.load reads it
"""

import os as _os

import torch as _torch

_TORCH_VERSION = "2.13.0"


def _check_torch_version(found):
    if found.split("+")[0] != _TORCH_VERSION:
        raise ImportError(
            f"proviso is built for torch {_TORCH_VERSION}, and torch {found} "
            f"is installed; run `pip install torch=={_TORCH_VERSION}`, or "
            "build proviso against the other version"
        )


_check_torch_version(_torch.__version__)

# The arithmetic of torch.SymInt is put in place by this import.
import torch.fx.experimental.sym_node as _  # noqa: E402,F401
import torch.fx.experimental.symbolic_shapes as _  # noqa: E402,F401

from proviso import _proviso  # noqa: E402
from proviso._errors import (  # noqa: E402
    ConstraintViolationError,
    DataDependentError,
    Error,
)

_proviso.set_error_types(Error, ConstraintViolationError, DataDependentError)
_proviso.set_package_folders(
    _os.path.dirname(_torch.__file__), _os.path.dirname(__file__)
)

from proviso._api import (  # noqa: E402
    AdditionalInputs,
    Constraint,
    ScriptObjectMeta,
    ShapesCollection,
    WrapperModule,
    default_decompositions,
    dynamic_dim,
    export_for_training,
    load,
    register_dataclass,
    save,
    unflatten,
)
from proviso._context import (  # noqa: E402
    Answer,
    Context,
    load_context,
    save_context,
)
from proviso._export import export  # noqa: E402
from proviso._program import (  # noqa: E402
    ExportedProgram,
    Guard,
    Module,
    RuntimeAssert,
    SourceLocation,
    ValueRange,
    explain_guard,
)
from proviso._logs import add_log_callback, remove_log_callback, set_logs  # noqa: E402
from proviso._refine import refine_dynamic_shapes  # noqa: E402
from proviso._signature import (  # noqa: E402
    ConstantArgument,
    CustomObjArgument,
    ExportBackwardSignature,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    ModuleCallEntry,
    ModuleCallSignature,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
    TokenArgument,
)
from proviso.dims import Dim, dims  # noqa: E402

__version__ = "0.1.0"
__all__ = [
    "AdditionalInputs",
    "Answer",
    "ConstantArgument",
    "Constraint",
    "ConstraintViolationError",
    "Context",
    "CustomObjArgument",
    "DataDependentError",
    "Dim",
    "Error",
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
    "ValueRange",
    "WrapperModule",
    "add_log_callback",
    "default_decompositions",
    "dims",
    "dynamic_dim",
    "explain_guard",
    "export",
    "export_for_training",
    "load",
    "load_context",
    "refine_dynamic_shapes",
    "register_dataclass",
    "remove_log_callback",
    "save",
    "save_context",
    "set_logs",
    "unflatten",
]
