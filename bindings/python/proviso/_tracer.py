"""The names of proviso that need torch: the tracer, and torch.export's words.

proviso's own names come here when they are first used; `import proviso` does
not import torch.
"""

import os

from proviso._torch_needed import TORCH_VERSION, torch


def _check_torch_version(found):
    if found.split("+")[0] != TORCH_VERSION:
        raise ImportError(
            f"proviso is built for torch {TORCH_VERSION}, and torch {found} "
            f"is installed; run `pip install torch=={TORCH_VERSION}`, or "
            "build proviso against the other version"
        )


_check_torch_version(torch.__version__)

# The arithmetic of torch.SymInt is put in place by this import.
import torch.fx.experimental.sym_node as _  # noqa: E402,F401
import torch.fx.experimental.symbolic_shapes as _  # noqa: E402,F401

try:
    from proviso import _proviso  # noqa: E402
except ImportError as error:
    raise ImportError(
        "this proviso was built without its tracer (proviso._proviso: "
        f"{error}); build it from source where torch {TORCH_VERSION} is "
        "installed, with PROVISO_WITH_TORCH=ON"
    ) from error
from proviso._errors import (  # noqa: E402
    ConstraintViolationError,
    DataDependentError,
    Error,
)

_proviso.set_error_types(Error, ConstraintViolationError, DataDependentError)
_proviso.set_package_folders(
    os.path.dirname(torch.__file__), os.path.dirname(__file__)
)

from proviso._api import (  # noqa: E402,F401
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
from proviso._dims import Dim, dims  # noqa: E402,F401
from proviso._export import export  # noqa: E402,F401
from proviso._logs import (  # noqa: E402,F401
    add_log_callback,
    remove_log_callback,
    set_logs,
)
from proviso._program import (  # noqa: E402,F401
    ExportedProgram,
    Guard,
    Module,
    RuntimeAssert,
    SourceLocation,
    explain_guard,
)
from proviso._refine import refine_dynamic_shapes  # noqa: E402,F401
from proviso._requirements import requirements  # noqa: E402,F401
from proviso._signature import (  # noqa: E402,F401
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
