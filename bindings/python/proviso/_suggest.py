"""The checks that end a DataDependentError, as lines that paste.

What was refused is said in the words of a place in the program (_places.py):
of the entry where it is about sizes of inputs alone, else of the innermost
frame whose names say it.  Which of the two sides the example takes is read
from the example: what was recorded up to the question is run on it.
"""

import re
from dataclasses import dataclass
from typing import Optional

import torch

from proviso import _places, _proviso
from proviso._errors import DataDependentError, Suggestion


@dataclass(frozen=True)
class Asked:
    """What was refused."""

    asked: str             # "u0 > 20", or an integer: "u0//2"
    answer: Optional[int]  # at the example: 1 or 0 of a condition
    of_inputs: bool        # about sizes of inputs alone
    # The example's side over the trace's symbols: "u0 <= 20"; None where it
    # does not tell.
    side: Optional[str] = None
    # The same over the inputs' sources; None where it speaks of data.
    over_sources: Optional[str] = None


class Pending:
    """A question that was refused, with what must be read of it while the
    trace lives."""

    def __init__(self, question, places, program, sources):
        self._question = question
        self._sources = sources  # words: ("L['x'].size()[0]", number)
        self._places = places
        self._program = program  # gives the values of its symbols; or None
        self._place = None  # whose words say it; known once it is completed

    def completed(self, error, leaves):
        """The error with what answers it."""
        values = self._values(leaves)
        self._place, suggestions = self._suggestions(values)
        result = completed(error, suggestions)
        of_inputs = all(source for _, source, _ in self._question.symbols())
        said = self._question.suggest(self._sources,
                                      values) if of_inputs else ()
        result.question = Asked(
            self._question.asked, self._question.answer_at(values), of_inputs,
            self._question.side_at(values), said[0][1] if said else None)
        result.pending = self
        return result

    def together(self, sides):
        """The suggestion that says several sides where this one stands; None
        where its words do not."""
        found = self._question.suggest_together(self._place.words, sides)
        return found and _suggestion(self._place, *found, "")

    def _suggestions(self, values):
        """(place, suggestions) of the first place that has the words."""
        for place in self._places:
            found = self._question.suggest(place.words, values)
            if found:
                return place, tuple(_suggestion(place, *one) for one in found)
        return None, ()

    def _values(self, leaves):
        if self._program is None:
            return {}
        names = [name for name, _, number in self._question.symbols()
                 if number is not None]
        return dict(zip(names, _run_apart(self._program, leaves)))


def _suggestion(place, code, condition, excludes):
    if not place.has_torch:
        code = "import torch; " + code
    return Suggestion(code, place.file, place.line, excludes, condition)


def _run_apart(program, leaves):
    """The outputs at the example inputs; neither they nor the program's
    tensors are changed.  None of them where the run ends early."""
    def kept(value):
        return value.detach().clone() if isinstance(
            value, torch.Tensor) else value

    program = program.with_tensors(
        [(name, kept(t)) for name, t in program.state_dict()],
        [(name, kept(t)) for name, t in program.constants()])
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            return program.module().run([kept(leaf.value) for leaf in leaves],
                                        checked=False)
    except Exception:  # an operator refuses the example: no values
        return []


def pending(session, error, callee, inputs, fakes, is_library):
    """Of the error that ended a trace; None where it is no question of it."""
    question = session.open_question()
    if question is None or question.text.split("\n")[0] not in str(error):
        return None
    symbols = question.symbols()
    places = []
    if all(source for _, source, _ in symbols):
        places.append(_places.of_entry(callee, inputs.leaves, fakes))
    for frame, line in _frames(error):
        if not is_library(frame.f_code.co_filename):
            places.append(_places.of_frame(frame, line))
    sources = [(leaf.source + f".size()[{d}]", size)
               for leaf, fake in zip(inputs.leaves, fakes)
               if isinstance(fake, torch.Tensor)
               for d, size in enumerate(fake.shape)]
    return Pending(question, [p for p in places if p is not None],
                   _program_of(session, symbols), sources)


def _frames(error):
    """(frame, line), the innermost first; of what the error came from too."""
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return reversed(frames)


def _program_of(session, symbols):
    """What was recorded so far, with the numbers as its results."""
    if all(source for _, source, _ in symbols):
        return None
    try:
        _proviso.forget_refusal()  # which ended the trace
        return session.finish([number for _, _, number in symbols
                               if number is not None])
    except Exception:  # what was recorded is no whole program
        return None


# --- several questions, answered at once

# Each costs a trace.
_MOST_AT_ONCE = 12


def with_later_questions(error, trace):
    """The error, with checks for what the program asks when the first question
    is answered as by the example, where the first one's place can say it.

    trace(assumed, answers): the error of the trace that knows these conditions
    on the inputs and these answers about data; None where it asks nothing."""
    if not error.suggestions:
        return error
    sides, assumed, answers = [], [], {}
    joint, later = None, error
    for _ in range(_MOST_AT_ONCE):
        asked = later.question
        if asked.side is None:
            break
        said = error.pending.together([*sides, asked.side])
        if said is not None:
            sides.append(asked.side)
            joint = said
        if asked.over_sources and asked.over_sources not in assumed:
            assumed.append(asked.over_sources)
        elif asked.answer is not None and asked.asked not in answers:
            answers[asked.asked] = asked.answer
        else:
            break
        later = trace(assumed, answers)
        if getattr(later, "question", None) is None:
            break
    if len(sides) < 2 or joint.code == error.suggestions[0].code:
        return error
    result = completed(error, (joint, *error.suggestions[1:]))
    result.question, result.pending = error.question, error.pending
    result.__cause__ = error.__cause__
    return result


# --- the text of the error

_ADVICE = re.compile(
    r"To fix the error, insert one of the following checks [^\n]*\n"
    r"(?:  \d\. [^\n]*\n)+")
_VALUE_ADVICE = re.compile(r"  1\. torch\._check\([^\n]* == <value>\)\n")
_CHECK = re.compile(r"torch\._check\((.*)\)$", re.MULTILINE)


def _unnamed(text):
    """The advice where no name of the program has the value: its symbols are
    no code."""
    def advice(match):
        sides = "".join(f"  {i}. {side}\n" for i, side in enumerate(
            _CHECK.findall(match.group()), 1))
        return ("To fix the error, give what the line reads from data a name "
                "on a line above (`n = ....item()`), use the name here, and "
                "say of it there, with torch._check, which of these holds:\n"
                + sides)

    text = _ADVICE.sub(advice, text)
    return _VALUE_ADVICE.sub(
        "     n = ....item(); torch._check(n == <value>)\n"
        "     and use the name `n` here\n", text)


def completed(error, suggestions):
    """The error, with the suggestions in its text and on it."""
    text = plain = getattr(error, "plain_text", str(error))
    if suggestions:
        lines = "".join(
            f"  {i}. {s.code}\n" + (f"     (rules out {s.excludes})\n"
                                    if s.excludes else "")
            for i, s in enumerate(suggestions, 1))
        first = suggestions[0]
        where = f"before line {first.line} of {first.file}"
        advice = (f"To fix the error, insert one of the following checks "
                  f"{where}:\n{lines}")
        text, count = _ADVICE.subn(lambda _: advice, text)
        if not count:
            text = _VALUE_ADVICE.sub(lambda _: lines.rstrip("\n")
                                     + f"\n     {where}\n", text)
    else:
        text = _unnamed(text)
    result = DataDependentError(text)
    result.suggestions, result.plain_text = suggestions, plain
    return result
