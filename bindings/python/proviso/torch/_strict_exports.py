"""Which guards a strict export reports against promised ranges.

Strict export has two traces, Dynamo's and that of its graph.  torch holds the
guards against the promised ranges between them, so that a guard of the second
is not reported:

    Dim("n"), x[::3]                  (n+2)//3 >= 2 is of the second trace: the
                                      program checks it, the export is silent
    Dim("n"), x[n//2:], x[:n//2]      torch leaves n//2 <= n of the first and
                                      reports it; n//2 >= 2 is of the second

Proviso decides n//2 <= n, and nothing would be reported.  So of a size about
which torch would have reported something that is decided here, all guards are
held against the ranges again, after the second trace.
"""

import functools
import threading
import types

from proviso.torch._replaced import Replaced


class _Strict:
    """A strict export that is under way, after its first trace."""

    report = None  # makes the guards again, and raises what contradicts
    env = None
    guards = 0  # of the first trace
    hides_violation = None  # whether torch would have reported something more


class _OfThread(threading.local):
    export = None  # the innermost _Strict that is under way


_running = _OfThread()


def note_report(env, report, hides_violation):
    """The guards of `env` are held against its promised ranges now; `report()`
    does it again.  `hides_violation()`: see _Strict."""
    export = _running.export
    if export is not None:
        export.env, export.guards = env, len(env.guards)
        export.report, export.hides_violation = report, hides_violation


def _report_again(export, mod, args, kwargs, dynamic_shapes):
    """Raises what torch.export raises of ranges that some guard contradicts."""
    from torch._dynamo import functional_export
    from torch._dynamo.exc import UserError, UserErrorType
    from torch._guards import detect_fake_mode
    from torch.fx.experimental import symbolic_shapes
    from torch.utils._sympy.value_ranges import ValueRangeError

    if (
        export.report is None
        or len(export.env.guards) == export.guards
        or not export.hides_violation()
    ):
        return
    made = types.SimpleNamespace(build_guards=lambda _: export.report())
    try:
        functional_export._suggest_or_raise_constraint_violation(
            mod, mod.forward, detect_fake_mode(),
            types.SimpleNamespace(graph_capture_output=made), args, kwargs,
            dynamic_shapes,
        )
    except (symbolic_shapes.ConstraintViolationError, ValueRangeError) as error:
        raise UserError(
            UserErrorType.CONSTRAINT_VIOLATION, str(error)
        ) from None


def _reporting(original):
    @functools.wraps(original)
    def _strict_export(*, mod, args, kwargs, dynamic_shapes, _to_aten_func,
                       **others):
        export = _Strict()

        def to_aten(*inner_args, **inner_kwargs):
            made = _to_aten_func(*inner_args, **inner_kwargs)
            _report_again(export, mod, args, kwargs or {}, dynamic_shapes)
            return made

        outer, _running.export = _running.export, export
        try:
            return original(
                mod=mod, args=args, kwargs=kwargs,
                dynamic_shapes=dynamic_shapes, _to_aten_func=to_aten, **others,
            )
        finally:
            _running.export = outer

    return _strict_export


_strict_exports = Replaced("torch.export._trace", "_strict_export", _reporting)


def bind(wanted):
    """Strict exports report so from here on, or do not."""
    _strict_exports.bind(wanted)
