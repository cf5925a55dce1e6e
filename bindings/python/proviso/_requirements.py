"""proviso.requirements: what a program requires of its inputs' sizes.

One trace with the example's sizes as hints answers every question and notes
what it cost; the answers, said plainly and without what follows from others,
are the requirements.  A second trace that knows nothing but them, and no
example, then meets no open question: that is the proof that they suffice.
"""

import dataclasses
import functools
import inspect
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

import torch

from proviso import _dims as dims
from proviso import _export, _leaks, _numbers, _places, _proviso, _specs
from proviso._errors import DataDependentError, Suggestion

_FROM_TWO_ON = re.compile(r"[^ ]+\.shape\[\d+\] >= 2")
# Questions about data, each of which costs a trace.
_MOST_QUESTIONS = 64


@dataclass(frozen=True)
class Question:
    """A question of the program that is not answered for every size."""

    condition: str  # how it was answered: "x.shape[1] != 1"
    file: str
    line: int       # 0 where it is not known
    code: str       # the line's text
    # The requirements that imply the answer; None where they do not: a trace
    # without example sizes does not ask it.
    follows_from: Optional[Tuple[str, ...]] = None
    # Of a question about data: the checks to insert.
    suggestions: Tuple[Suggestion, ...] = ()


@dataclass(frozen=True)
class Pinned:
    """A size that can have one value only."""

    size: str
    value: int
    because: Tuple[str, ...]  # requirements


@dataclass(frozen=True)
class Requirements:
    """What inputs must satisfy, in words of forward's parameters.

    conditions: "x.shape[1] >= 2": the least set; together they are what the
        trace needs, and none follows from the others.
    checks: the same as lines to insert at the top of forward.
    counterexamples: by condition, sizes for which the others hold and it does
        not: why it is needed.
    witness: sizes for which all hold.
    questions: every question that cost something, with its line.
    pinned: sizes that can have one value only.
    proved: whether a trace without example sizes that knows the conditions
        alone has no open question; why_not says what was asked else.
    """

    conditions: List[str]
    counterexamples: Dict[str, Optional[Dict[str, int]]]
    witness: Dict[str, int]
    questions: List[Question]
    pinned: List[Pinned]
    proved: bool
    why_not: str = ""
    _torch_parts: Any = field(default=None, repr=False)
    _size_texts: Dict[str, str] = field(default_factory=dict, repr=False)
    _parameters: Tuple[str, ...] = field(default=(), repr=False)
    _signature: str = field(default="", repr=False)  # "x, y=None, *more"
    _program: Any = field(default=None, repr=False)  # traced with the example

    @property
    def checks(self) -> List[str]:
        return [f"torch._check({condition})" for condition in self.conditions]

    def to_torch(self, mod=None, args=(), kwargs=None, *, rounds=16):
        """The same in the form that PyTorch's own solver takes: a list of
        torch._check lines, with more forms as methods.

        mod, args, kwargs: where they are given, torch.compile(fullgraph=True,
            backend="aot_eager") is asked whether it takes the program with
            these checks and all sizes unbacked, and what it asks beyond is
            added; `accepted` of the result says whether it took it.
        rounds: the most compilations.

        Raises ValueError where rounds is less than 1."""
        from proviso import _torch_loop, _torch_requirements
        form = _torch_requirements.of(self)
        if mod is None:
            return form
        if rounds < 1:
            raise ValueError(f"to_torch: rounds={rounds}; give 1 or more")
        return _torch_loop.accepted(form, self, mod, tuple(args),
                                    dict(kwargs or {}), rounds)

    def __str__(self):
        lines = ["requires" if self.conditions else "requires nothing"]
        for condition in self.conditions:
            point = self.counterexamples.get(condition)
            why = ", ".join(f"{k} = {v}" for k, v in (point or {}).items())
            lines.append(f"  {condition}" + (f"  # not {why}" if why else ""))
        lines += [f"  {p.size} is always {p.value}: "
                  + ", ".join(p.because) for p in self.pinned]
        lines += [f"{q.file}:{q.line}: {q.condition}" for q in self.questions
                  if q.suggestions]
        lines.append("proved without example sizes" if self.proved
                     else f"not proved: {self.why_not}")
        return "\n".join(lines)


def requirements(mod, args, kwargs=None, dynamic_shapes=None):
    """What `mod` requires of the sizes of its inputs, as Requirements.

    mod, args, kwargs: as for export().
    dynamic_shapes: which sizes may vary, as for export(); how a spec says it
        does not matter but for its range.  Default: every size of every tensor.

    Raises what export() raises, but DataDependentError only where the example
    does not tell the answer."""
    forward = _export._check_arguments(mod, args, kwargs, False)
    args, kwargs = tuple(args), dict(kwargs or {})
    if hasattr(dynamic_shapes, "dynamic_shapes"):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
    inputs = _specs.collect(forward, args, kwargs, dynamic_shapes)
    every = dynamic_shapes is None
    answered = functools.partial(
        _answered, mod, _export._state_of(mod, inputs))
    program, asked = answered(_varying(inputs, "auto", every))
    function = _places._plain_function(forward)
    words = [(leaf.source + f".size()[{d}]", text)
             for leaf, text in _named(inputs, function)
             for d, text in enumerate(_sizes(leaf, text))]
    conditions, questions, pinned, torch_parts = _proviso.requirements(
        program, words)
    unbacked = _varying(inputs, "unbacked", every)
    why_not = _why_not_proved(answered, unbacked, [c[1] for c in conditions])
    kept, weakened = conditions, set()
    if not why_not:
        kept, weakened = _weakest(answered, unbacked, conditions)
    texts = [text for text, _, _ in conditions]
    return Requirements(
        [text for text, _, _ in kept], {text: at for text, _, at in kept},
        _witness(inputs, function),
        _questions(questions, asked, texts, weakened),
        [Pinned(size, value, tuple(texts[i] for i in because))
         for size, value, because in pinned],
        not why_not, why_not, torch_parts, dict(words),
        tuple(inputs.argument_names), _parameter_list(forward, inputs), program)


# --- the inputs

def _varying(inputs, policy, every):
    """The inputs with sizes that vary as `policy` says; `every` one, or those
    that the specs let vary."""
    def spec_of(spec):
        if spec.policy == "static" and (not every or spec.value is not None):
            return spec
        return dims.DimSpec(policy, "", spec.min, spec.max)

    leaves = [dataclasses.replace(leaf, spec=[spec_of(d) for d in leaf.spec])
              if isinstance(leaf.value, torch.Tensor) else leaf
              for leaf in inputs.leaves]
    return dataclasses.replace(inputs, leaves=leaves)


def _named(inputs, function):
    """(leaf, its text in the body of forward) of the tensors."""
    names = _places._keyword_parameter(function)
    for leaf in inputs.leaves:
        text = _places._in_body(leaf.source, *names)
        if isinstance(leaf.value, torch.Tensor) and text:
            yield leaf, text


def _parameter_list(forward, inputs):
    """The parameters of forward as text; whatever has a default has None."""
    signature = _specs._signature(forward)
    if signature is None:
        return ", ".join(inputs.argument_names)
    empty = inspect.Parameter.empty
    return str(signature.replace(
        return_annotation=inspect.Signature.empty,
        parameters=[p.replace(annotation=empty, default=(
            empty if p.default is empty else None))
            for p in signature.parameters.values()]))[1:-1]


def _sizes(leaf, text):
    return [f"{text}.shape[{d}]" for d in range(leaf.value.dim())]


def _witness(inputs, function):
    """The example's sizes, at which the trace ran."""
    return {size: leaf.value.shape[d]
            for leaf, text in _named(inputs, function)
            for d, size in enumerate(_sizes(leaf, text))
            if leaf.spec[d].policy != "static"} or {
                size: leaf.value.shape[d]
                for leaf, text in _named(inputs, function)
                for d, size in enumerate(_sizes(leaf, text))}


# --- the traces

def _answered(mod, state, inputs, assumed=()):
    """The traced program, questions about data answered as by the example, and
    the errors that these would have been."""
    answers, asked = {}, []
    owned = _export._owned_by(mod)
    while True:
        try:
            with _numbers.ints_kept_symbolic():
                program, _ = _export._trace_with_numbers(
                    mod, state, 1, inputs, owned, (), (), assumed=assumed,
                    specialize_zero_one=False, backed_size_oblivious=True,
                    assumed_answers=answers)
            return program, asked
        except DataDependentError as error:
            question = error.question
            if (question is None or question.of_inputs
                    or question.answer is None or question.asked in answers
                    or len(answers) >= _MOST_QUESTIONS):
                raise
            answers[question.asked] = question.answer
            asked.append(error)


def _why_not_proved(answered, inputs, conditions):
    try:
        with _leaks.trial():
            answered(inputs, conditions)
    except DataDependentError as error:
        return str(error).split("\n")[0]
    return ""


def _weakest(answered, inputs, conditions):
    """Sizes from 2 on are from 1 on where the program without example sizes
    has no question at 1: there the layout alone was asked.  With the numbers of
    the conditions that say less now."""
    kept, weakened = list(conditions), set()
    for i, (text, source, _) in enumerate(conditions):
        if not _FROM_TWO_ON.fullmatch(text):
            continue
        trial = list(kept)
        trial[i] = (_from_one_on(text), _from_one_on(source), None)
        if not _why_not_proved(answered, inputs, [c[1] for c in trial]):
            kept = trial
            weakened.add(i)
    return kept, weakened


def _from_one_on(condition):
    return condition.removesuffix("2") + "1"


def _questions(found, asked, texts, weakened):
    result = []
    for text, places, because in found:
        is_open = because is None or weakened.intersection(because)
        implied = None if is_open else tuple(texts[i] for i in because)
        for file, line, code in places or [("", 0, "")]:
            result.append(Question(text, file, line, code, implied))
    for error in asked:
        first = next(iter(error.suggestions), None)
        place = _export._place_of(error)
        result.append(Question(
            first.condition if first else error.question.asked, *place,
            suggestions=error.suggestions))
    return result
