"""What each input and output of an exported graph is, under the names of
torch.export.graph_signature."""

import dataclasses
from dataclasses import dataclass
from enum import Enum
from typing import Any, Dict, List, Optional

from torch.utils import _pytree as pytree


@dataclass
class TensorArgument:
    name: str


@dataclass
class TokenArgument:
    name: str


@dataclass
class SymIntArgument:
    name: str


@dataclass
class SymFloatArgument:
    name: str


@dataclass
class SymBoolArgument:
    name: str


@dataclass
class CustomObjArgument:
    name: str
    class_fqn: str
    fake_val: Any = None


@dataclass
class ConstantArgument:
    name: str
    value: Any


_ARGUMENTS = {c.__name__: c for c in (
    TensorArgument, SymIntArgument, SymFloatArgument, SymBoolArgument)}
_NAMED = (TensorArgument, TokenArgument, SymIntArgument, SymFloatArgument,
          SymBoolArgument, CustomObjArgument)


class InputKind(Enum):
    USER_INPUT = 1
    PARAMETER = 2
    BUFFER = 3
    CONSTANT_TENSOR = 4
    CUSTOM_OBJ = 5
    TOKEN = 6


class OutputKind(Enum):
    USER_OUTPUT = 1
    LOSS_OUTPUT = 2
    BUFFER_MUTATION = 3
    GRADIENT_TO_PARAMETER = 4
    GRADIENT_TO_USER_INPUT = 5
    USER_INPUT_MUTATION = 6
    TOKEN = 7
    PARAMETER_MUTATION = 8


def _check_spec(name, kind, kinds, arg):
    if not isinstance(kind, kinds):
        raise TypeError(f"{name}: kind must be of {kinds.__name__}, got "
                        f"{kind!r}")
    if not isinstance(arg, _NAMED + (ConstantArgument,)):
        raise TypeError(f"{name}: arg must be a TensorArgument, "
                        f"SymIntArgument, .., ConstantArgument; got {arg!r}")


@dataclass
class InputSpec:
    kind: InputKind
    arg: Any
    target: Optional[str]
    persistent: Optional[bool] = None

    def __post_init__(self):
        _check_spec("InputSpec", self.kind, InputKind, self.arg)
        if self.kind is InputKind.BUFFER and self.persistent is None:
            raise ValueError("InputSpec: a buffer says whether it is "
                             "persistent: persistent=True or False")

    @property
    def name(self):
        return self.arg.name


@dataclass
class OutputSpec:
    kind: OutputKind
    arg: Any
    target: Optional[str]

    def __post_init__(self):
        _check_spec("OutputSpec", self.kind, OutputKind, self.arg)

    @property
    def name(self):
        return self.arg.name


@dataclass
class ExportBackwardSignature:
    gradients_to_parameters: Dict[str, str]
    gradients_to_user_inputs: Dict[str, str]
    loss_output: str


_RESULTS = (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)


@dataclass
class ExportGraphSignature:
    """The inputs and outputs of a graph, in their order."""

    input_specs: List[InputSpec]
    output_specs: List[OutputSpec]

    # --- by kind of input
    def _targets(self, kind):
        return tuple(s.target for s in self.input_specs if s.kind is kind)

    def _by_name(self, kind):
        return {s.arg.name: s.target for s in self.input_specs
                if s.kind is kind}

    @property
    def parameters(self):
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self):
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self):
        return tuple(s.target for s in self.input_specs
                     if s.kind is InputKind.BUFFER and s.persistent is False)

    @property
    def lifted_tensor_constants(self):
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def lifted_custom_objs(self):
        return self._targets(InputKind.CUSTOM_OBJ)

    @property
    def user_inputs(self):
        return tuple(_name_or_value(s.arg) for s in self.input_specs
                     if s.kind is InputKind.USER_INPUT)

    @property
    def inputs_to_parameters(self):
        return self._by_name(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self):
        return self._by_name(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self):
        return self._by_name(InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self):
        return self._by_name(InputKind.CUSTOM_OBJ)

    # --- by kind of output
    def _changed(self, kind):
        return {s.arg.name: s.target for s in self.output_specs
                if s.kind is kind}

    @property
    def user_outputs(self):
        return tuple(_name_or_value(s.arg) for s in self.output_specs
                     if s.kind in _RESULTS)

    @property
    def buffers_to_mutate(self):
        return self._changed(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self):
        return self._changed(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self):
        return self._changed(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> Optional[ExportBackwardSignature]:
        losses = [s.arg.name for s in self.output_specs
                  if s.kind is OutputKind.LOSS_OUTPUT]
        if not losses:
            return None
        return ExportBackwardSignature(
            self._changed(OutputKind.GRADIENT_TO_PARAMETER),
            self._changed(OutputKind.GRADIENT_TO_USER_INPUT), losses[0])

    @property
    def assertion_dep_token(self):
        return None

    # --- changes
    def replace_all_uses(self, old: str, new: str):
        """The value called `old` is called `new` from now on."""
        for what, name in (("old", old), ("new", new)):
            if not isinstance(name, str):
                raise TypeError(f"replace_all_uses: `{what}` must be a name, "
                                f"got {name!r}")
        for spec in (*self.input_specs, *self.output_specs):
            if isinstance(spec.arg, _NAMED) and spec.arg.name == old:
                spec.arg = dataclasses.replace(spec.arg, name=new)

    def get_replace_hook(self, replace_inputs=False):
        """For torch.fx's replacement hooks: what is renamed in the graph is
        renamed here."""
        def hook(old, new, user):
            if user.op == "output":
                self.replace_all_uses(old.name, new)
            if replace_inputs and old.op == "placeholder":
                self.replace_all_uses(old.name, new)
        return hook

    def __str__(self):
        lines = ["# inputs"]
        for s in self.input_specs:
            lines.append(f"{s.arg.name}: {s.kind.name}" + (
                f" target='{s.target}'" if s.target else "") + (
                f" persistent={s.persistent}" if s.persistent is not None
                else ""))
        lines += ["", "# outputs"]
        for s in self.output_specs:
            lines.append(f"{s.arg.name}: {s.kind.name}" + (
                f" target='{s.target}'" if s.target else ""))
        return "\n".join(lines) + "\n"


def _name_or_value(arg):
    return arg.value if isinstance(arg, ConstantArgument) else arg.name


def _argument(described):
    kind, name, value = described
    if kind == "ConstantArgument":
        return ConstantArgument(name, value)
    return _ARGUMENTS[kind](name)


def signature_of(program) -> ExportGraphSignature:
    """Of the extension's program."""
    inputs = [InputSpec(InputKind[kind], _argument(arg), target or None,
                        persistent)
              for (kind, _, target, persistent), arg
              in zip(program.inputs(), program.input_arguments())]
    outputs = [OutputSpec(OutputKind[kind], _argument(arg), target or None)
               for (kind, _, target), arg
               in zip(program.outputs(), program.output_arguments())]
    return ExportGraphSignature(inputs, outputs)


@dataclass
class ModuleCallSignature:
    inputs: List[Any]
    outputs: List[Any]
    in_spec: Any
    out_spec: Any
    forward_arg_names: Optional[List[str]] = None


@dataclass
class ModuleCallEntry:
    fqn: str
    signature: Optional[ModuleCallSignature] = None


def module_calls_of(program) -> List[ModuleCallEntry]:
    """Of the extension's program."""
    entries = []
    for name, signature in program.module_calls():
        if signature is not None:
            inputs, outputs, in_spec, out_spec = signature
            signature = ModuleCallSignature(
                [_argument(a) for a in inputs],
                [_argument(a) for a in outputs],
                pytree.treespec_loads(in_spec),
                pytree.treespec_loads(out_spec))
        entries.append(ModuleCallEntry(name, signature))
    return entries
