"""proviso.export."""

import functools
import time
import traceback
import warnings

import torch
from torch.utils import _pytree as pytree

from proviso import (
    _conditions,
    _input_conditions,
    _keys,
    _leaks,
    _logs,
    _modules,
    _number_types,
    _numbers,
    _numpy_memory,
    _other_branches,
    _owned_tensors,
    _process,
    _promises,
    _proviso,
    _specs,
    _state,
    _suggest,
    _trace,
)
from proviso._errors import ConstraintViolationError, DataDependentError
from proviso._program import ExportedProgram, Module, TensorsOfProgram


def export(mod, args, kwargs=None, *, dynamic_shapes=None, relations=(),
           strict=False, preserve_module_call_signature=(),
           prefer_deferred_runtime_asserts_over_guards=False,
           specialize_zero_one=True, duck_shape=False,
           backed_size_oblivious=False):
    """Traces `mod` on fake tensors of the examples' sizes.

    mod: an nn.Module, a function or a bound method.
    args, kwargs: example inputs; pytrees of tensors, numbers, strings, None.
    dynamic_shapes: which sizes may vary, as torch.export takes it: a dict by
        argument name, or a tuple or list; a tensor's entry is a tuple with
        one spec a dimension or a dict {dimension: spec}; a spec is a Dim
        (proviso.Dim or torch.export.Dim), Dim.AUTO, Dim.DYNAMIC, Dim.STATIC,
        Dim.UNBACKED, an int or None.  What is not named is static.  A
        ShapesCollection or AdditionalInputs of torch.export does too;
        additional inputs are checked against the traced program.
    relations: what holds between named Dims: ("s*t == 16",).
    strict: only False; the program runs as Python.
    preserve_module_call_signature: names of submodules whose calling
        convention unflatten() keeps: ("encoder", "decoder.layers.0").
    prefer_deferred_runtime_asserts_over_guards: what the program needs is
        asserted inside it where possible, not checked before.
    specialize_zero_one: example sizes 0 and 1 become constants, and other
        sizes are taken to be >= 2 where an answer needs it.  Where the program
        itself asks for a size of 0 or 1, it is traced again with that size
        (8 times at most), and takes it where that makes no difference.
    duck_shape: sizes under Dim.AUTO with equal examples are one symbol.
    backed_size_oblivious: guard_or_false and guard_or_true take their default
        for input sizes too, where the answer is not known.

    Returns an ExportedProgram.  Raises ConstraintViolationError when
    dynamic_shapes promises more than the program takes, DataDependentError
    when a branch depends on data, NotImplementedError for an operator that
    has no rule, and ValueError or TypeError for malformed arguments.
    """
    forward = _check_arguments(mod, args, kwargs, strict)
    args, kwargs = tuple(args), dict(kwargs or {})
    additional = getattr(dynamic_shapes, "_examples", ())
    if hasattr(dynamic_shapes, "dynamic_shapes"):  # ShapesCollection
        dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
    start = time.perf_counter()
    inputs = _specs.collect(forward, args, kwargs, dynamic_shapes)
    owned = _owned_by(mod)
    state = _state_of(mod, inputs)

    def trace(assumed=(), answers={}, inputs=inputs, calls=1):
        return _trace_with_numbers(
            mod, state, calls, inputs, owned, relations,
            preserve_module_call_signature,
            prefer_deferred=prefer_deferred_runtime_asserts_over_guards,
            specialize_zero_one=specialize_zero_one, duck_shape=duck_shape,
            backed_size_oblivious=backed_size_oblivious, assumed=assumed,
            assumed_answers=answers)

    try:
        program, out_spec = _keys.settled(trace)
    except DataDependentError as error:
        refused = _suggest.with_later_questions(
            error, lambda *known: _error_of(trace, *known))
        if refused is error:
            raise
        raise refused from error.__cause__
    _warn_of_next_call(program, out_spec, state, trace)
    _other_branches.widen(
        program, out_spec, inputs,
        lambda other: _keys.settled(functools.partial(trace, inputs=other)))
    elapsed = (time.perf_counter() - start) * 1e6
    program.set_name(_name_of(mod))
    ep = ExportedProgram(program, inputs, out_spec, (args, kwargs), elapsed)
    _check_additional(ep, additional)
    return ep


def _warn_of_next_call(program, out_spec, state, trace):
    """Where the call left another state than it found: whether the call after
    it is another program."""
    changed = state.unsaid
    if not changed:
        return
    try:
        with warnings.catch_warnings(), _leaks.trial():
            warnings.simplefilter("ignore")
            after, spec = _keys.settled(functools.partial(trace, calls=2))
    except Exception:  # such as of traced values that the first call left
        return
    if spec != out_spec or not _is_same_program(after, program):
        _state.warn_of_next_call(changed)


def _is_same_program(a, b):
    constants = [dict(one.constants()) for one in (a, b)]
    return str(a) == str(b) and constants[0].keys() == constants[1].keys() and (
        all(torch.equal(value, constants[1][name])
            for name, value in constants[0].items()))


def _error_of(trace, *known):
    """The question that ends a trace; None where another error or none does."""
    try:
        trace(*known)
    except DataDependentError as error:
        return error
    except Exception:  # further on the program fails for a reason of its own
        return None
    return None


def _check_additional(ep, examples):
    """The inputs of torch.export.AdditionalInputs fit the program."""
    for i, (args, kwargs) in enumerate(examples):
        try:
            ep.module().check(*args, **(kwargs or {}))
        except RuntimeError as error:
            raise ConstraintViolationError(
                f"AdditionalInputs: example {i} does not fit the program that "
                f"was traced with the first one: {error}") from error


def _check_arguments(mod, args, kwargs, strict):
    """The callable whose signature counts."""
    if strict is not False:
        raise ValueError(
            f"export: strict={strict!r} is not supported: proviso runs the "
            "program as Python and records its operators; pass strict=False")
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            "export: Expecting `args` to be a tuple of example positional "
            f"inputs, got {type(args)}; for a single input write (x,)")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise TypeError(
            "export: Expecting `kwargs` to be a dict of example keyword "
            f"inputs, got {type(kwargs)}")
    if isinstance(mod, torch.jit.ScriptModule):
        raise TypeError(
            "export: `mod` is a torch.jit.ScriptModule, whose code is not "
            "Python; export the nn.Module that it was made from")
    if isinstance(mod, torch.nn.Module):
        return mod.forward
    if callable(mod) and not isinstance(mod, type):
        return mod
    raise TypeError(
        "export: Expected `mod` to be an nn.Module, a function or a bound "
        f"method, got {mod if isinstance(mod, type) else type(mod)}")


def _owner(mod):
    """The module whose parameters the program reads by name."""
    if isinstance(mod, torch.nn.Module):
        return mod
    bound_to = getattr(mod, "__self__", None)
    return bound_to if isinstance(bound_to, torch.nn.Module) else None


def _owned_by(mod):
    """The tensors of `mod` by name; None where it has none."""
    if isinstance(mod, Module):
        return TensorsOfProgram(mod.program)
    owner = _owner(mod)
    return None if owner is None else _owned_tensors.OwnedTensors(owner)


def _state_of(mod, inputs):
    return _state.ProgramState(mod, _constants_of(inputs.in_spec))


def _name_of(mod):
    if isinstance(mod, Module):
        return mod.program._program.name()
    if isinstance(mod, torch.nn.Module):
        return type(mod).__name__
    return getattr(mod, "__qualname__", type(mod).__name__)


def _trace_with_numbers(mod, state, calls, *args, **policies):
    """state: the ProgramState of `mod`, which is kept as it is before all that
    a trace changes.  calls: which call of `mod` is traced, the first or a later
    one, which finds what those before it left.  Traces again when float() or
    int() was asked for a number from data, with one that keeps it symbolic; and
    when a condition stood where only a bool will do."""
    scan, decides = _number_types.scan_of(mod), False
    askers = list(scan.askers)
    while True:
        try:
            with (_trace.tracing_environment(), _leaks.taken_out(),
                  state.kept(),
                  _conditions.decided_where_made(decides, scan.identities),
                  _numbers.symbolic_types_in(askers)):
                for _ in range(calls - 1):
                    _trace_program(mod, *args, **policies)
                return _trace_program(mod, *args, **policies)
        except DataDependentError as error:
            asker = _numbers.asker_of(error)
            if asker is None or any(asker[0] is module and asker[1] == name
                                    for module, name in askers):
                raise
            askers.append(asker)
        except Exception as error:
            if decides or not _conditions.is_refusal(error):
                explained = _conditions.with_remedy(error)
                if explained is error:
                    raise
                raise explained from error
            decides = True


def _trace_program(mod, inputs, owned, relations, preserved, *, assumed=(),
                   **policies):
    """assumed: further conditions on the inputs, over their sources."""
    calls = _modules.ModuleCalls(_owner(mod), preserved)
    session, known = _proviso.Session(**policies), None
    try:
        if owned is not None:
            owned.register(session)
        direct = _promises.direct_names(inputs.leaves)
        fakes = [_fake(session, leaf, direct) for leaf in inputs.leaves]
        _promises.tell(session, inputs.leaves, fakes, relations)
        known = _input_conditions.Conditions(session, inputs.leaves, fakes)
        for condition in assumed:
            known.require(condition)
        args, kwargs = pytree.tree_unflatten(fakes, inputs.in_spec)
        with (calls.watched(), _conditions.caught_refusals_noted(),
              _owned_tensors.traced(owned), _numpy_memory.watched()):
            result = _explained(session, mod, inputs, fakes, args, kwargs)
        if owned is not None:
            result = owned.record_buffer_assignments(result)
        _specs.check_strict(inputs.leaves, fakes)
        outputs, out_spec = pytree.tree_flatten(result)
        program = session.finish(outputs)
        calls.write(program)
    except _Refused as refused:
        error, pending = refused.args
    else:
        return program, out_spec
    finally:
        _keys.fix_looked_up(known)
        _logs.save_shapelog(session, mod)
        session.close()
    if pending is not None:
        error = _with_cause(pending.completed(error, inputs.leaves), error)
    raise error


def _constants_of(spec):
    """The arguments of classes that torch.utils._pytree.register_constant
    knows, which the program gets as they are."""
    if pytree.is_constant_class(spec.type):
        return [spec.context.value]
    return [value for child in spec.children()
            for value in _constants_of(child)]


class _Refused(Exception):
    """(error, _suggest.Pending or None): what ended a trace."""


def _with_cause(error, of):
    error.__cause__ = of.__cause__
    return error


def _fake(session, leaf, direct):
    if isinstance(leaf.value, torch.Tensor):
        dims = [dim.as_tuple(direct) for dim in leaf.spec]
        return session.add_input(leaf.name, leaf.value, dims, leaf.source)
    if leaf.spec is not None:
        return session.add_int_input(leaf.name, leaf.value, leaf.source,
                                     leaf.spec.as_tuple())
    session.add_constant_input(leaf.name, leaf.value)
    return leaf.value


def _run_program(mod, args, kwargs):
    # The tracer's walk over the stack ends at a function of this name.
    return mod(*args, **kwargs)


_DATA_DEPENDENT = (
    "Could not guard on data-dependent expression",
    "Could not extract specialized integer from data-dependent expression",
    "Could not extract specialized float from data-dependent expression",
)


def _explained(session, mod, inputs, fakes, args, kwargs):
    """Runs the program; a question about data is answered by the line that
    asked it, whichever way the error came."""
    try:
        return _process.run_apart(_run_program, mod, args, kwargs)
    except RuntimeError as error:
        text = str(error)
        if not isinstance(error, DataDependentError) and not any(
                text.startswith(known) for known in _DATA_DEPENDENT):
            raise
        refused = DataDependentError(text + _asked_at(error))
        refused.__cause__ = error
        raise _Refused(refused, _suggest.pending(
            session, error, getattr(mod, "forward", mod), inputs, fakes,
            _is_library)) from None


def _asked_at(error):
    last = _last_frame(error)
    if last is None:
        return ""
    return (f"\n\nThe line that asked:\n  File \"{last.filename}\", line "
            f"{last.lineno}, in {last.name}\n    {last.line}")


def _last_frame(error):
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if not _is_library(f.filename)]
    return frames[-1] if frames else None


def _place_of(error):
    """(file, line, code) of the line that asked."""
    last = _last_frame(error.__cause__)
    return (last.filename, last.lineno, last.line) if last else ("", 0, "")


_LIBRARIES = tuple(path.rsplit("/", 1)[0] + "/"
                   for path in (torch.__file__, __file__))


def _is_library(filename):
    return filename.startswith(_LIBRARIES)
