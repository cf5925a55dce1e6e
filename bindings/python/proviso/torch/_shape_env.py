"""A ShapeEnv whose static reasoning is Proviso's.

    env = ShapeEnv()          # isinstance(env, torch's ShapeEnv)
    env._maybe_evaluate_static(expr)

Each method here asks the mirror of this ShapeEnv, of bindings/python/core/
mirror.h, before torch's own method would simplify anything, and hands over to
torch's method where the mirror says NotImplemented: floats, infinities, symbols
without a range, a mirror that another thread uses.  None (unknown) is final.

Never a silent reuse: FX and AOTAutograd keep a compiled graph with the guards
over that graph's own symbols.  A question about them may have been decided by
guards over other symbols.  What was decided is remembered, and
`get_pruned_guards` adds what the kept guards do not imply.

An exported program checks less than a compiled one: see _exports.py.
"""

import contextlib
import copy
import functools
import logging
import os
import sys
import threading
import weakref

import proviso_autoload
import sympy
import torch
from torch._guards import CompileContext
from torch.fx.experimental import symbolic_shapes
from torch.fx.experimental.symbolic_shapes import DimDynamic

import proviso
from proviso import _core
from proviso.torch import (
    _answers,
    _data_dependent,
    _differences,
    _exports,
    _joint_checks,
    _narrowing,
    _pickling,
    _recompiles,
    _settings,
    _strict_exports,
    _sympy_classes,
)

log = logging.getLogger("proviso.torch")

TorchShapeEnv = symbolic_shapes.ShapeEnv
_sympy_classes.register()


class _Companion:
    """What goes with a ShapeEnv and is not in it.

    torch compares, copies and pickles a ShapeEnv by its attributes, so the
    mirror is none of them.
    """

    __slots__ = ("mirror", "program", "replacing", "example", "sources")

    def __init__(self):
        self.mirror = _core.Mirror()
        self.program = _exports.Program(self.mirror)
        self.replacing = []  # symbols that calls of _set_replacement are about
        # Of inputs' sizes that have no hint: {symbol: the size}, {symbol: its
        # source}.  Errors speak of them, and no answer depends on them.
        self.example = {}
        self.sources = {}


_companions = weakref.WeakKeyDictionary()
_making = threading.Lock()
os.register_at_fork(before=_making.acquire, after_in_parent=_making.release,
                    after_in_child=_making.release)


def companion(env):
    """The companion of `env`; None for a ShapeEnv of another class."""
    if type(env) is not ShapeEnv:
        return None
    found = _companions.get(env)
    if found is None:
        # torch says which line asked: the innermost that is neither its own nor
        # ours.  Not at import, when the modules that it lists may be half made.
        symbolic_shapes.uninteresting_files().update(_own_files())
        _hide_from_dynamo()
        _pickling.watch_graphs(_guards_of)
        with _making:
            found = _companions.setdefault(env, _Companion())
    return found


class _IsTorchs(type(TorchShapeEnv)):
    """isinstance(env, ShapeEnv) stays true for torch's own objects, also where
    the name ShapeEnv stands for the class below."""

    def __instancecheck__(cls, instance):
        if cls is ShapeEnv:
            return isinstance(instance, TorchShapeEnv)
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass):
        if cls is ShapeEnv:
            return issubclass(subclass, TorchShapeEnv)
        return super().__subclasscheck__(subclass)


def _promises_ranges(contexts):
    """Whether some size of the inputs has a range that its user gave."""
    return any(
        isinstance(constraint, symbolic_shapes.StrictMinMaxConstraint)
        for context in contexts or ()
        for constraint in getattr(context, "constraint_sizes", None) or ()
    )


class ShapeEnv(TorchShapeEnv, metaclass=_IsTorchs):
    """torch's ShapeEnv; what follows statically is asked of Proviso."""

    def _maybe_evaluate_static(
        self,
        expr,
        *,
        unbacked_only=False,
        compute_hint=False,
        size_oblivious=False,
        axioms=None,
        var_to_range=None,
    ):
        """As torch's: true, false or a number where that follows, else None."""

        def torchs():
            return TorchShapeEnv._maybe_evaluate_static(
                self,
                expr,
                unbacked_only=unbacked_only,
                compute_hint=compute_hint,
                size_oblivious=size_oblivious,
                axioms=axioms,
                var_to_range=var_to_range,
            )

        beside = companion(self)
        if beside is None or not isinstance(expr, sympy.Basic):
            return torchs()
        if compute_hint:
            answer = beside.mirror.hint(self, expr)
        elif unbacked_only:
            # The caller looks at the symbols that are left, and at no more
            # than that while one of them has no hint.
            is_backed = beside.mirror.is_backed(self, expr)
            answer = expr if is_backed is False else NotImplemented
        elif (
            axioms is None
            and var_to_range is None
            and not size_oblivious
            and not _settings.verify
            and beside.program.is_exported(self)
        ):
            answer = beside.program.answer(self, expr, torchs)
        else:
            answer = beside.mirror.ask(
                self, expr, axioms, var_to_range, size_oblivious,
                not _settings.verify,
            )
        if _settings.verify:
            theirs = torchs()
            _differences.compare(
                self, expr, answer, theirs,
                unbacked_only=unbacked_only, axioms=axioms,
                var_to_range=var_to_range, size_oblivious=size_oblivious,
                compute_hint=compute_hint,
            )
            return theirs
        return torchs() if answer is NotImplemented else answer

    _maybe_evaluate_static.cache_clear = (
        TorchShapeEnv._maybe_evaluate_static.cache_clear
    )
    _maybe_evaluate_static.cache_info = (
        TorchShapeEnv._maybe_evaluate_static.cache_info
    )

    def _maybe_evaluate_range_only(self, expr, fallback=None):
        """As torch's: the value where it follows, else `fallback`."""
        beside = companion(self)
        if (
            beside is not None
            and not _settings.verify
            and not beside.program.is_exported(self)
        ):
            answer = beside.mirror.ask(self, expr)
            if answer is not NotImplemented:
                return fallback if answer is None else answer
        return super()._maybe_evaluate_range_only(expr, fallback)

    def bound_sympy(self, expr, size_oblivious=False):
        """As torch's: a range that holds every value of `expr`.

        While a replacement is chosen, only ranges count: what follows from
        guards is no property of the symbol.
        """
        beside = companion(self)
        if beside is None or size_oblivious or _settings.verify:
            return super().bound_sympy(expr, size_oblivious)
        if beside.program.is_exported(self):
            replacing = beside.replacing[-1] if beside.replacing else None
            return beside.program.bounds(self, expr, replacing,
                                         super().bound_sympy(expr))
        bounds = beside.mirror.bounds(self, expr, bool(beside.replacing))
        if bounds is NotImplemented:
            return super().bound_sympy(expr, size_oblivious)
        return _answers.value_range(bounds)

    def create_symbol(self, val, source, dynamic_dim=DimDynamic.DUCK,
                      constraint_dim=None, *args, **kwargs):
        """As torch's; its first range is remembered."""
        made = super().create_symbol(val, source, dynamic_dim, constraint_dim,
                                     *args, **kwargs)
        beside = companion(self)
        if beside is not None:
            beside.program.note_symbol(self, made, constraint_dim)
        return made

    def _set_replacement(self, a, tgt, msg):
        beside = companion(self)
        if beside is None:
            return super()._set_replacement(a, tgt, msg)
        beside.replacing.append(a)
        try:
            return super()._set_replacement(a, tgt, msg)
        finally:
            beside.replacing.pop()

    def get_pruned_guards(self, symints):
        """As torch's, and what was decided about these symbols with the help
        of guards over others."""
        kept = super().get_pruned_guards(symints)
        if companion(self) is None:
            return kept
        symbols = {
            s.node.expr
            for s in symints
            if isinstance(s.node.expr, sympy.Symbol)
        }
        return kept + self._decided_about(symbols, kept)

    def _closed_guards(self):
        """The guards, and what was decided with their help: of any set of
        symbols, those over these symbols alone say all of it."""
        guards = list(self.guards)
        for symbols in sorted(companion(self).mirror.scopes(self), key=len):
            kept = [g for g in guards if g.expr.free_symbols <= symbols]
            guards += self._decided_about(symbols, kept)
        return guards

    def _decided_about(self, symbols, kept):
        """Guards over `symbols` for what was decided and `kept` leaves out."""
        beside = companion(self)
        result = []
        have = {id(guard) for guard in kept}
        others = [
            self.replace(guard.expr)
            for guard in self.guards
            if id(guard) not in have and not guard.size_oblivious
        ]
        for expr, value in beside.mirror.project(
            self, symbols, [guard.expr for guard in kept], others
        ):
            condition = self.replace(_answers.condition(expr, value))
            if condition.free_symbols <= symbols:
                result.append(
                    symbolic_shapes.ShapeGuard(
                        condition, self._get_sloc(), size_oblivious=False
                    )
                )
        return result

    def _produce_dyn_sizes_from_int_tuple(self, tensor_size, source, *args,
                                          **kwargs):
        sizes = super()._produce_dyn_sizes_from_int_tuple(
            tensor_size, source, *args, **kwargs
        )
        beside = companion(self)
        if beside is not None:
            for i, (value, size) in enumerate(zip(tensor_size, sizes)):
                if size.is_Symbol and size not in self.backed_var_to_val:
                    beside.example[size] = sympy.Integer(value)
                    beside.sources[size] = f"{source.name}.size()[{i}]"
        return sizes

    def _evaluate_expr(self, orig_expr, hint=None, fx_node=None,
                       size_oblivious=False, fallback_value=None, **kwargs):
        """As torch's.  An equality of a symbol that follows from guards is
        learnt like one that becomes a guard: torch unifies symbols so."""
        before = len(self.guards), self.num_deferred_runtime_asserts
        beside = companion(self)
        # Without a fallback, each unknown one becomes a guard or an error.
        is_strict = fallback_value is None
        result = None
        try:
            with self._guarding(beside, orig_expr, is_strict=is_strict,
                                is_plain=not size_oblivious):
                if beside is not None:
                    result = beside.program.asserted_answer(self, orig_expr)
                if result is None:
                    result = super()._evaluate_expr(
                        orig_expr, hint, fx_node, size_oblivious,
                        fallback_value, **kwargs,
                    )
        except symbolic_shapes.GuardOnDataDependentSymNode as error:
            if beside is None or not _joint_checks.is_answering():
                raise
            result = _joint_checks.answer(self, beside.example, orig_expr,
                                          error)
            if result is None:
                raise
            return result
        if (
            result is sympy.true
            and isinstance(orig_expr, sympy.Eq)
            and (orig_expr.lhs.is_Symbol or orig_expr.rhs.is_Symbol)
            and before
            == (len(self.guards), self.num_deferred_runtime_asserts)
            and not self.frozen
            and not _settings.verify
            and not self._suppress_guards_tls()
            and beside is not None
        ):
            equality = self.replace(orig_expr)
            if isinstance(equality, sympy.Eq) and equality.free_symbols:
                self._maybe_guard_rel(equality)
        return result

    def guard_or_defer_runtime_assert(self, orig_expr, *args, **kwargs):
        """As torch's."""
        with self._guarding(companion(self), orig_expr):
            return super().guard_or_defer_runtime_assert(orig_expr, *args,
                                                         **kwargs)

    def _guarding(self, beside, expr, **how):
        """A block in which torch asks `expr` and makes a guard of what nothing
        decides.  `how`: as of Program.guarding."""
        if (
            beside is None
            or _settings.verify
            or not beside.program.is_exported(self)
        ):
            return contextlib.nullcontext()
        return beside.program.guarding(self, expr, **how)

    def _make_data_dependent_error(self, expr, unhinted_expr, **kwargs):
        """As torch's, with the checks that would decide the question."""
        error = super()._make_data_dependent_error(
            expr, unhinted_expr, **kwargs
        )
        beside = companion(self)
        if beside is not None and not _settings.verify:
            _joint_checks.note_made(error)
            _data_dependent.answer(
                self, unhinted_expr, error, beside.example,
                keep=not _joint_checks.is_retracing(),
            )
        return error

    def produce_guards_verbose(self, *args, guards=None, **kwargs):
        """As torch's, without guards that others imply.

        Where ranges are promised (torch.export; mark_dynamic with an end) each
        guard is held against them, and none is left out.
        """
        beside = companion(self)
        if (
            guards is None
            and beside is not None
            and not _settings.verify
            and not self._translation_validation_enabled
        ):
            program = beside.program
            if program.is_exported(self):
                if not self.frozen:
                    program.add_guards(self)
                    _strict_exports.note_report(
                        self,
                        # Dynamo's builder of guards is gone then.
                        functools.partial(
                            super().produce_guards_verbose, *args,
                            **kwargs | {"source_ref": lambda s: s.name},
                        ),
                        functools.partial(program.hides_violation, self),
                    )
            elif (
                "verbose_python" in kwargs.get("langs", ())
                and kwargs.get("ignore_static", True)
                and not _promises_ranges(kwargs.get("input_contexts"))
            ):
                guards = self._guards_not_implied(beside.mirror)
                guards = _narrowing.with_ranges_for_guards(self, guards)
                self._note_pinned(beside.mirror, guards)
        return super().produce_guards_verbose(*args, guards=guards, **kwargs)

    def _guards_not_implied(self, mirror):
        plain = [g for g in self.guards if not g.size_oblivious]
        needed = mirror.minimal(self, [g.expr for g in plain])
        dropped = {id(g) for g in plain} - {id(plain[i]) for i in needed}
        return [g for g in self.guards if id(g) not in dropped]

    def _note_pinned(self, mirror, guards):
        """Keeps which inputs the guards leave one size, and logs them."""
        symbols = {s for g in guards for s in g.expr.free_symbols}
        pinned = {}
        for symbol in sorted(symbols, key=str):
            sources = self.var_to_sources.get(symbol)
            if not sources or symbol in self.replacements:
                continue
            value = mirror.only_value(self, symbol)
            if value is not None:
                pinned[str(sources[0].name)] = value
        compile_id = CompileContext.current_compile_id()
        _recompiles.note_pinned(compile_id, pinned)  # ids begin anew on reset
        if pinned:
            log.info(
                "[%s] the guards leave one size: %s", compile_id,
                ", ".join(f"{name} == {size}" for name, size in pinned.items()),
            )

    def __reduce_ex__(self, protocol):
        if companion(self) is None:
            return super().__reduce_ex__(protocol)
        return _pickling.reduced(
            self.__dict__ | {"guards": self._closed_guards()})

    def __copy__(self):
        return self._copied(self.__getstate__())

    def __deepcopy__(self, memo):
        return self._copied(self.__getstate__(), memo)

    def _copied(self, state, memo=None):
        other = type(self).__new__(type(self))
        if memo is not None:
            memo[id(self)] = other
            state = copy.deepcopy(state, memo)
        other.__setstate__(state)
        return other

    # A copy knows what was decided: it may be asked for its pruned guards.
    def __getstate__(self):
        state = self.__dict__.copy()
        beside = companion(self)
        if beside is not None:
            state["_proviso_decided"] = (
                beside.mirror.decided(), beside.mirror.decided_by_loops()
            )
        return state

    def __setstate__(self, state):
        decided, by_loops = state.pop("_proviso_decided", ((), ()))
        self.__dict__.update(state)
        beside = companion(self)
        if beside is not None:
            for expr, value in decided:
                beside.mirror.remember(expr, value)
            for one in by_loops:
                beside.mirror.remember_by_loop(*one)


@functools.cache
def _own_files():
    """The Python files of Proviso, but for the programs of proviso.db."""
    package = os.path.dirname(proviso.__file__)
    files = {proviso_autoload.__file__}
    for folder in (package, os.path.join(package, "torch")):
        files.update(
            os.path.join(folder, name)
            for name in os.listdir(folder) if name.endswith(".py")
        )
    return frozenset(files)


def _hide_from_dynamo():
    """Dynamo compiles no frame of Proviso, as it compiles none of torch's.

    A backward that is compiled in the middle of a program, behind a graph
    break, asks its ShapeEnv while Dynamo looks at every frame that begins."""
    rules = sys.modules.get("torch._dynamo.trace_rules")
    if rules is not None:
        rules.FORCE_SKIP_FILES.update(_own_files())


def _guards_of(env):
    """With what was decided; None for a ShapeEnv of another class."""
    return None if companion(env) is None else env._closed_guards()
