"""The rest of torch.export's names."""

import torch
from torch.export import (
    AdditionalInputs,
    ShapesCollection,
    default_decompositions,
    register_dataclass,
)

from proviso import _files, _torch_program
from proviso._export import export
from proviso._program import ExportedProgram

__all__ = ["AdditionalInputs", "Constraint", "ScriptObjectMeta",
           "ShapesCollection", "WrapperModule",
           "default_decompositions", "dynamic_dim", "export_for_training",
           "load", "register_dataclass", "save", "unflatten"]

load = _files.load


def save(ep, f, *, extra_files=None):
    """Writes an exported program to a path or a file object."""
    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            "The 'ep' parameter must be an instance of 'ExportedProgram', got "
            f"{type(ep)}; export a module first: save(export(mod, args), f)")
    ep.save(f, extra_files=extra_files)


def export_for_training(mod, args, kwargs=None, **options):
    """export(), whose form can be trained: in-place operators stay."""
    return export(mod, args, kwargs, **options)


def unflatten(module, flat_args_adapter=None):
    """The program as a tree of modules like the one that was exported: with
    its submodules at their names, their parameters and buffers in them.  Each
    can be called and replaced: `unflatten(ep).encoder = other`.

    A submodule takes and gives the tensors that its operators read and give;
    one named in export(.., preserve_module_call_signature=) its own arguments
    and results.  Inputs are checked as by ep.module(), unless
    `check_input_constraints` of what is returned is set to False.

    flat_args_adapter: a torch.export.FlatArgsAdapter, for calls
    with other pytrees than the program was exported with."""
    if not isinstance(module, ExportedProgram):
        raise TypeError("unflatten: expected an ExportedProgram, got "
                        f"{type(module)}; export a module first: "
                        "unflatten(export(mod, args))")
    result = torch.export.unflatten(
        _torch_program.to_torch(module, "unflatten"), flat_args_adapter)
    _check_inputs(result, module._program.module())
    return result


def _check_inputs(unflattened, runner):
    """Torch's tree of modules checks ranges; ours checks the guards too."""
    flat_inputs = unflattened.process_forward_inputs

    def checked(*args, **kwargs):
        flat = flat_inputs(*args, **kwargs)
        if (unflattened.check_input_constraints
                and not any(isinstance(v, torch.fx.Proxy) for v in flat)):
            runner.check(flat)
        return flat

    unflattened.process_forward_inputs = torch.compiler.disable(checked)


class Constraint:
    """Of torch 2.1; Dims say more."""

    def __init__(self, *args, **kwargs):
        raise TypeError("Constraint is made by nobody any more; say "
                        "dynamic_shapes={'x': {0: Dim('batch', min=2)}}")


def dynamic_dim(tensor, index, debug_name=None):
    raise RuntimeError(
        f"dynamic_dim(.., {index}) is of torch 2.1; name a Dim and give it to "
        "export: batch = Dim('batch'); export(mod, args, dynamic_shapes="
        f"{{'x': {{{index}: batch}}}})")


class WrapperModule(torch.nn.Module):
    """A function as a module."""

    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *args, **kwargs):
        return self.f(*args, **kwargs)


class ScriptObjectMeta:
    """What torch calls the metadata of a script object input."""

    def __init__(self, constant_name, class_fqn):
        self.constant_name = constant_name
        self.class_fqn = class_fqn
