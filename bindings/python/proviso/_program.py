"""What export gives."""

import collections
import copy
import enum
import functools
import inspect
import io
import json
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, List, NamedTuple, Optional

import torch
from torch._export.verifier import load_verifier
from torch.utils import _pytree as pytree

from proviso import _files, _proviso, _specs, _torch_program
from proviso._signature import (
    ExportGraphSignature,
    InputKind,
    ModuleCallEntry,
    ModuleCallSignature,
    OutputKind,
    module_calls_of,
    signature_of,
)
from proviso._values import ValueRange


@dataclass(frozen=True)
class SourceLocation:
    file: str
    line: int
    code: str

    def __str__(self):
        if not self.file:
            return f"`{self.code}`" if self.code else "unknown line"
        where = f"{os.path.basename(self.file)}:{self.line}"
        return f"{where} in `{self.code}`" if self.code else where


_OF_SAVE = re.compile(r"ExportedProgram(\.|::)save: ")
_LONG_FLOAT = re.compile(r"\b\d+\.\d{17,}\b")


def _with_short_floats(text):
    """0.1 for the 55 digits that are that double exactly."""
    def short(digits):
        number = float(digits[0])
        return repr(number) if Fraction(number) == Fraction(digits[0]) else (
            digits[0])

    return _LONG_FLOAT.sub(short, text)


def _shorten(error):
    if len(error.args) == 1 and type(error.args[0]) is str:
        error.args = (_with_short_floats(error.args[0]),)


@dataclass(frozen=True)
class Guard:
    """A condition on the inputs, and the lines that need it."""

    condition: str
    origins: List[SourceLocation]

    def __str__(self):
        places = ", ".join(str(origin) for origin in self.origins)
        condition = _with_short_floats(self.condition)
        return f"{condition}   {places}" if places else condition


@dataclass(frozen=True)
class RuntimeAssert:
    """A condition that the program checks while it runs."""

    condition: str
    message: str
    origin: SourceLocation

    def __str__(self):
        return f"{_with_short_floats(self.condition)}   {self.origin}"


@dataclass(frozen=True)
class Event:
    """One line of the log: create_symbol, eval, set_replacement, ..."""

    kind: str
    text: str
    origin: SourceLocation
    subject: str = ""  # the symbol or condition: s0, Eq(s2, s4)

    def __str__(self):
        return self.text

    def to_json(self) -> str:
        """One line for machines."""
        return json.dumps({
            "event": self.kind, "subject": self.subject, "text": self.text,
            "file": self.origin.file, "line": self.origin.line,
            "code": self.origin.code})


class RangeConstraints(dict):
    """{symbol or expression: ValueRange}, printed without quotes."""

    def __repr__(self):
        return "{" + ", ".join(f"{k}: {v}" for k, v in self.items()) + "}"


class ExportedProgram:
    """A recorded program and what its inputs must satisfy."""

    def __init__(self, program, inputs, out_spec, examples, trace_time_us,
                 looks_but_for=None):
        """looks_but_for: of a program from a file that is not trusted, module()
        looks at every call before a kernel does, but for operators of these
        names, at whose arguments nothing can look."""
        self._program = program
        self._looks_but_for = looks_but_for
        self._inputs = inputs
        self._in_spec = inputs.in_spec
        self._out_spec = out_spec
        self._argument_names = inputs.argument_names
        self._examples = examples
        self.trace_time_us = trace_time_us

    def __str__(self):
        return str(self._program)

    __repr__ = __str__

    # --- copies: of the program with its tensors, or a file in memory
    def __copy__(self):
        return self._with(self._program, self._examples)

    def __deepcopy__(self, memo):
        tensors = copy.deepcopy(
            (self._program.state_dict(), self._program.constants()), memo)
        return self._with(self._program.with_tensors(*tensors),
                          copy.deepcopy(self._examples, memo))

    def __reduce__(self):
        written = self._written("a copy or pickle of an ExportedProgram")
        return _files.loads, (written, self._looks_but_for)

    def _with(self, program, examples):
        return ExportedProgram(program, self._inputs, self._out_spec, examples,
                               self.trace_time_us, self._looks_but_for)

    @property
    def guards(self) -> List[Guard]:
        return [Guard(condition, [SourceLocation(*o) for o in origins])
                for condition, origins in self._program.guards()]

    @property
    def guards_code(self) -> List[str]:
        """The guards as Python over L['x'].size()[0]."""
        return list(map(_with_short_floats, self._program.guards_code()))

    @property
    def runtime_asserts(self) -> List[RuntimeAssert]:
        return [RuntimeAssert(condition, message, SourceLocation(*origin))
                for condition, message, origin
                in self._program.runtime_asserts()]

    @property
    def range_constraints(self) -> RangeConstraints:
        return RangeConstraints(
            (expression, ValueRange(lower, upper))
            for expression, lower, upper in self._program.range_constraints())

    @property
    def graph_signature(self) -> ExportGraphSignature:
        return signature_of(self._program)

    @property
    def state_dict(self) -> dict:
        return dict(self._program.state_dict())

    @property
    def constants(self) -> dict:
        return dict(self._program.constants())

    tensor_constants = constants

    # --- the tensors that the program owns
    def named_parameters(self):
        """(name, parameter), in the order of the graph's inputs."""
        tensors = self.state_dict
        for name in self.graph_signature.parameters:
            yield name, tensors[name]

    def parameters(self):
        for _, parameter in self.named_parameters():
            yield parameter

    def named_buffers(self):
        tensors = {**self.constants, **self.state_dict}
        for name in self.graph_signature.buffers:
            yield name, tensors[name]

    def buffers(self):
        for _, buffer in self.named_buffers():
            yield buffer

    # --- torch's view of the program
    def to_torch(self) -> torch.export.ExportedProgram:
        """The program as torch.export's own ExportedProgram: for
        torch.compile, AOTInductor, and everything else that takes one."""
        return _torch_program.to_torch(self, "ExportedProgram.to_torch")

    @functools.cached_property
    def graph_module(self) -> torch.fx.GraphModule:
        return self.to_torch().graph_module

    @property
    def graph(self) -> torch.fx.Graph:
        return self.graph_module.graph

    @property
    def call_spec(self):
        return CallSpec(self._in_spec, self._out_spec)

    @property
    def module_call_graph(self) -> List[ModuleCallEntry]:
        """The program, then its modules by name; those named in
        preserve_module_call_signature say how each call took and gave its
        values."""
        signature = self.graph_signature
        whole = ModuleCallSignature(
            [s.arg for s in signature.input_specs
             if s.kind is InputKind.USER_INPUT],
            [s.arg for s in signature.output_specs
             if s.kind is OutputKind.USER_OUTPUT],
            self._in_spec, self._out_spec, list(self._argument_names))
        return [ModuleCallEntry("", whole), *module_calls_of(self._program)]

    @property
    def dialect(self) -> str:
        """TRAINING, or ATEN once decomposed."""
        return self._program.dialect()

    @property
    def verifiers(self) -> list:
        """torch's checkers of the form that the dialect names; to check the
        program with one: `ep.verifier().check(ep.to_torch())`."""
        return [load_verifier(self.dialect)]

    @property
    def verifier(self):
        return self.verifiers[0]

    def verify(self, form=None) -> None:
        """Raises ValueError where the program is not of the form: "training"
        (all is allowed), "functional" (nothing is written in place) or "core"
        (functional, and core ATen operators alone).  Without a form: what the
        dialect promises."""
        self._program.verify(form or "")

    validate = verify

    def run_decompositions(self, decomp_table=None) -> "ExportedProgram":
        """The functional form: nothing is written in place, changes of inputs
        and buffers are outputs, and operators of the table are decomposed.

        decomp_table: {operator: function}; None is default_decompositions(),
        which leaves core ATen; {} decomposes nothing."""
        _check_texts(self._inputs.leaves, "run_decompositions")
        return _torch_program.decomposed(self, decomp_table)

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use "
            "`exported_program.module()` instead.")

    @property
    def events(self) -> List[Event]:
        """What the trace learnt, in order."""
        return [Event(kind, text, SourceLocation(*where), subject)
                for kind, text, where, subject in self._program.events()]

    def shapelog(self) -> str:
        """The session of the trace; `proviso replay FILE` asks it again."""
        return self._program.shapelog()

    @property
    def operators(self) -> List[str]:
        """The targets of the graph's nodes, in order."""
        return self._program.targets()

    @property
    def example_inputs(self):
        return self._examples

    def module(self) -> "Module":
        """The program as a callable."""
        return Module(self)

    def save(self, f, *, extra_files=None) -> None:
        """Writes a .pt2 archive, which torch.export.load reads, to a path or
        a file object.  extra_files: {name: text} kept in it."""
        _check_texts(self._inputs.leaves, "ExportedProgram.save")
        self._write(f, extra_files)

    def _written(self, call):
        """The bytes of a file; an error names the call that needed them."""
        buffer = io.BytesIO()
        try:
            self._write(buffer)
        except (RuntimeError, TypeError, ValueError) as error:
            said = _OF_SAVE.match(str(error))
            if not said:
                raise
            raise type(error)(
                f"{call}: this takes a .pt2 file in memory, which cannot be "
                f"written: {str(error)[said.end():]}") from error
        return buffer.getvalue()

    def _write(self, f, extra_files=None):
        self._program.set_specs(_dumped(self._in_spec, "inputs"),
                                _dumped(self._out_spec, "outputs"),
                                self._argument_names)
        _specs.check_keys(self._examples, "ExportedProgram.save")
        self._program.set_sample_inputs(_saved(self._examples))
        _files.save(self._program, f, extra_files)


class CallSpec(NamedTuple):
    in_spec: Any
    out_spec: Any


def explain_guard(ep: ExportedProgram, guard: Any) -> str:
    """Why the program has this guard: the lines that need it, the example's
    sizes, and sizes that would break it.  `guard` is one of ep.guards or its
    condition."""
    condition = guard.condition if isinstance(guard, Guard) else guard
    return _with_short_floats(ep._program.explain_guard(condition))


def _check_texts(leaves, call):
    """torch compiles a guard from the text of an input, between quotes as it
    stands."""
    for leaf in leaves:
        if isinstance(leaf.value, str) and not _proviso.stands_in_quotes(
                leaf.value.encode(errors="backslashreplace")):
            raise ValueError(
                f"{call}: the input {leaf.name} is {leaf.value[:200]!r}, which "
                "torch.export's programs cannot hold: a text has no quotes, "
                "backslashes and ends of lines; make it a constant of the "
                "module")


def _dumped(spec, what):
    try:
        text = pytree.treespec_dumps(spec)
    except (NotImplementedError, TypeError) as error:
        raise ValueError(
            f"ExportedProgram.save: the structure of the {what} cannot be "
            f"written: {error}") from error
    for key, kept in _keys_of(spec, json.loads(text)[1]):
        if key != kept and not isinstance(key, enum.Enum):
            raise ValueError(
                f"ExportedProgram.save: the {what} have the key {key!r}, which "
                "a .pt2 file cannot hold: a key is a string or a number")
    return text


def _keys_of(spec, written):
    """(key, what is written of it) of the dicts in a structure."""
    context = written["context"]
    if spec.type is collections.defaultdict:
        yield from zip(spec.context[1], context["dict_context"])
    elif spec.type in (dict, collections.OrderedDict):
        yield from zip(spec.context, json.loads(context))
    for child, form in zip(spec.children(), written["children_spec"]):
        yield from _keys_of(child, form)


def _saved(examples):
    buffer = io.BytesIO()
    torch.save(examples, buffer)
    return buffer.getvalue()


def _once(named):
    seen = set()
    for name, tensor in named:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield name, tensor


class TensorsOfProgram:
    """The tensors of a program whose module() is exported again."""

    def __init__(self, program):
        self._program = program

    def register(self, session):
        owned = {**self._program.state_dict, **self._program.constants}
        for kind, _, name, persistent in self._program._program.inputs():
            if kind == "PARAMETER":
                session.add_parameter(name, owned[name])
            elif kind == "BUFFER":
                session.add_buffer(name, owned[name], persistent)
            elif kind == "CONSTANT_TENSOR":
                session.name_constant(name, owned[name])

    def record_buffer_assignments(self, results):
        """The program writes into its buffers by operators alone."""
        return results


class Module:
    """Runs an exported program: checks the inputs, then the operators."""

    def __init__(self, program: ExportedProgram):
        self._module = program._program.module(program._looks_but_for)
        self._in_spec = program._in_spec
        self._out_spec = program._out_spec
        self.program = program
        # Tensors and numbers side by side are flat as they are; pytree would
        # cost more than the check.
        positional, named = self._in_spec.children()
        is_plain = not named.num_children and all(
            spec.is_leaf() for spec in positional.children())
        self._plain_count = positional.num_children if is_plain else None

    def __call__(self, *args, **kwargs):
        try:
            outputs = None
            if not kwargs and len(args) == self._plain_count:
                outputs = self._module.run_plain(args)
            if outputs is None:
                outputs = self._module.run(self._flat(args, kwargs))
        except RuntimeError as error:
            _shorten(error)
            raise
        return pytree.tree_unflatten(outputs, self._out_spec)

    forward = __call__

    @property
    def __signature__(self):
        """The arguments by name, so that it can be exported again."""
        count = self._in_spec.child(0).num_children
        kinds = inspect.Parameter
        names = self.program._argument_names
        return inspect.Signature(
            [kinds(name, kinds.POSITIONAL_OR_KEYWORD)
             for name in names[:count]]
            + [kinds(name, kinds.KEYWORD_ONLY) for name in names[count:]])

    def __copy__(self):
        return Module(self.program)

    def __deepcopy__(self, memo):
        return Module(copy.deepcopy(self.program, memo))

    def __reduce__(self):
        return Module, (self.program,)

    # --- what is trained: the tensors of the program, not copies; one that has
    # several names once, as an nn.Module gives it to an optimizer
    def parameters(self):
        return (tensor for _, tensor in self.named_parameters())

    def named_parameters(self):
        return _once(self.program.named_parameters())

    def buffers(self):
        return (tensor for _, tensor in self.named_buffers())

    def named_buffers(self):
        return _once(self.program.named_buffers())

    def state_dict(self):
        return self.program.state_dict

    def check(self, *args, **kwargs) -> None:
        """Raises what a call would raise for its inputs; runs nothing."""
        try:
            if (kwargs or len(args) != self._plain_count
                    or not self._module.check_plain(args)):
                self._module.check(self._flat(args, kwargs))
        except RuntimeError as error:
            _shorten(error)
            raise

    def _flat(self, args, kwargs):
        flat, spec = pytree.tree_flatten((args, kwargs))
        if spec == self._in_spec:
            return flat
        flat = []
        if not _take((args, kwargs), self._in_spec, flat):
            raise ValueError(
                "The inputs are nested differently from the examples that "
                f"were exported:\n  exported with {self._in_spec}\n  called "
                f"with   {spec}\nGive the same number and type of args and "
                "kwargs as the ones used when tracing.")
        return flat


def _take(value, spec, leaves):
    """Appends the leaves of a value in the order of `spec`, those of dicts by
    their keys; whether it is nested so."""
    if spec.is_leaf():
        leaves.append(value)
        return pytree.tree_is_leaf(value)
    if pytree._get_node_type(value) is not spec.type:
        return False
    children, context = pytree.SUPPORTED_NODES[spec.type].flatten_fn(value)
    if context != spec.context:
        keys = _order_of_keys(value, spec.context)
        if keys is None:
            return False
        children = [value[key] for key in keys]
    return len(children) == spec.num_children and all(
        _take(child, wanted, leaves)
        for child, wanted in zip(children, spec.children()))


def _order_of_keys(value, context):
    """That of a structure's dict; None where the value has other keys."""
    if isinstance(value, collections.defaultdict):
        factory, keys = context
        return (keys if factory is value.default_factory
                and set(keys) == set(value) else None)
    is_dict = type(value) in (dict, collections.OrderedDict)
    return context if is_dict and set(context) == set(value) else None
