"""Errors about shapes, answered.

    proviso.explain(open("log.txt").read())      # texts that people paste
    proviso.explain(error)                       # a caught exception

    with proviso.diagnose():                     # around PyTorch's own calls
        torch.export.export(model, args, dynamic_shapes=shapes)

`diagnose` sees what PyTorch's ShapeEnv knew when the error arose, and what the
program called its sizes; the report is a note of the exception, and its
`proviso_report`.  Reading text needs no torch.
"""

import contextlib
import dataclasses
import html
import json
import os
import sys
import traceback
from typing import Any, Dict, Iterator, List, Optional

from proviso import _core


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """What one error asks for.

    `kind` is implied, needed_check, real_branch, contradiction, dim_spec or
    bug_in_op.  `conditions`, in the text's own symbols, are together the
    weakest that end the error; `code` are the same in the program's words, to
    insert before `line` of `file`, and empty where a name is not known.
    `answer` is the question's where the conditions hold.  `excludes` and
    `other_code` are the other side of a real branch."""

    kind: str
    question: str
    answer: Optional[bool]
    conditions: List[str]
    code: List[str]
    excludes: List[str]
    other_code: List[str]
    facts: List[str]
    names: Dict[str, str]
    made: Dict[str, str]
    file: Optional[str]
    line: Optional[int]
    source_line: str
    why: str
    counterexample: str
    stream: str
    text_line: int
    times: int


@dataclasses.dataclass(frozen=True)
class JointChecks:
    """The checks that decide all questions which a function asks of sizes that
    only the data tells, on the way that its example takes.

    `conditions`, in the text's own symbols, are the least that do; `code` are
    the same in the words of the function's parameters, to insert before `line`
    of `file`, where `function` begins.  `code` is empty where some symbol is no
    parameter's, or the function has no body of lines."""

    questions: int
    conditions: List[str]
    code: List[str]
    file: str
    line: Optional[int]
    function: str

    def __str__(self) -> str:
        number = ("1 question is" if self.questions == 1
                  else f"{self.questions} questions are")
        where = (f"insert at {self.file}:{self.line}, where {self.function} "
                 "begins" if self.code else f"in {self.function} must hold")
        return "\n".join([
            f"{number} open on the way that these inputs take.  To decide "
            f"{'it' if self.questions == 1 else 'all'}", f"  {where}",
            *(f"    {line}" for line in self.code or self.conditions)])


class Report:
    """The answers to all errors of a text, in its order.  Prints as for a
    terminal, and as a page in a notebook.  `together`: the JointChecks of
    torch.compile under `proviso.torch.shape_env()`, else None."""

    def __init__(self, text: str, together: Optional[JointChecks] = None):
        if not isinstance(text, str):
            raise TypeError(
                f"Report: text is {_core.shown(text)}; give a str")
        self._text = text.encode("utf-8", "replace")
        self.together = together
        self.errors = [Diagnosis(**fields)
                       for fields in json.loads(self.to_json())["errors"]]

    def __str__(self) -> str:
        text = _core.explain_text(self._text, False).decode("utf-8", "replace")
        return text if self.together is None else f"{text}\n{self.together}\n"

    def __repr__(self) -> str:
        kinds = ", ".join(e.kind for e in self.errors) or "no errors"
        return f"<proviso.Report: {kinds}>"

    def __bool__(self) -> bool:
        return bool(self.errors)

    def to_json(self) -> str:
        """{"errors": [..]} with every member of each Diagnosis."""
        return _core.explain_json(self._text).decode()

    def to_html(self) -> str:
        """One self-contained page."""
        return _core.explain_html(self._text).decode("utf-8", "replace")

    def _repr_html_(self) -> str:
        # A frame of its own: its style is not the notebook's.
        page = html.escape(self.to_html(), quote=True)
        return (f'<iframe srcdoc="{page}" title="Shape errors" '
                'style="width: 100%; height: 32rem; border: 0"></iframe>')


def explain(source: Any) -> Report:
    """What the errors ask for.

    `source` is text (a traceback, a log of TORCH_LOGS="+dynamic", several
    processes at once), an exception, or an ExportedProgram that
    torch.export.draft_export returned.  Raises TypeError for anything else."""
    if isinstance(source, str):
        return Report(source)
    if isinstance(source, BaseException):
        return _known_report(source) or Report(_text_of_exception(source))
    if getattr(source, "_report", None) is not None:
        return Report(_text_of_draft(source._report))
    raise TypeError(
        "proviso.explain: expected a text, an exception or an ExportedProgram "
        f"of torch.export.draft_export, got {type(source).__name__}")


class Diagnosing:
    """What `diagnose` gives: `report` is a Report once an error was met."""

    def __init__(self):
        self.report: Optional[Report] = None
        self._seen: List["_Seen"] = []


@contextlib.contextmanager
def diagnose(swallow: bool = False) -> Iterator[Diagnosing]:
    """Answers the error that leaves the block.

    It is raised again with the report as a note and as its `proviso_report`;
    with `swallow`, the block ends and only the report is left.  An error that
    is not about shapes passes as it is.  Blocks may lie within one another;
    one thread's errors are seen."""
    found = Diagnosing()
    with _watching(found._seen):
        try:
            yield found
        except Exception as error:
            answered = _known_report(error)
            known = _seen_for(found._seen, error)
            report = answered or Report(known + _text_of_exception(error))
            if not report:
                raise
            found.report = report
            if swallow:
                return
            error.proviso_report = report
            if answered is None and hasattr(error, "add_note"):
                error.add_note("\n" + str(report))
            raise


def report_of_question(env: Any, question: Any, error: BaseException,
                       example: Dict[Any, int]) -> Report:
    """The answer to a data-dependent `error` of `env`, where it is made.
    `example`: sizes of inputs that have no hint."""
    known = _look(env, question, error).facts
    known += "".join(
        f"set_real_tensor_prop_unbacked_vals {symbol} = {value}\n"
        for symbol, value in example.items())
    return Report(known + _text_of_exception(error))


def joined(reports: List[Report], together: JointChecks) -> Report:
    """The reports as one."""
    return Report("\n".join(one._text.decode("utf-8", "replace")
                            for one in reports), together)


def _known_report(error: Optional[BaseException]) -> Optional[Report]:
    """The report that the error, or one that it arose from, has already."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        report = getattr(error, "proviso_report", None)
        if report is not None:
            return report
        error = error.__cause__ or error.__context__
    return None


# --- an exception's text


def _text_of_exception(error: BaseException) -> str:
    return "".join(traceback.format_exception(
        type(error), error, error.__traceback__))


def _text_of_draft(report: Any) -> str:
    """draft_export's report, with the sides that the example took."""
    return str(report)


# --- what the ShapeEnv knew


@dataclasses.dataclass
class _Seen:
    message: str  # the first line of the error
    facts: str  # in the words of TORCH_LOGS="+dynamic"


def _seen_for(seen: List[_Seen], error: BaseException) -> str:
    text = _text_of_exception(error)
    for one in reversed(seen):
        if one.message in text:
            return one.facts
    return ""


@contextlib.contextmanager
def _watching(seen: List[_Seen]) -> Iterator[None]:
    import torch.fx.experimental.symbolic_shapes as shapes

    original = shapes.ShapeEnv._make_data_dependent_error

    def make(env, expr, unhinted, **kwargs):
        error = original(env, expr, unhinted, **kwargs)
        if len(seen) < 1000:
            seen.append(_look(env, unhinted, error))
        return error

    # PyTorch's "Caused by" is the innermost line that is not its own.
    own = shapes.uninteresting_files()
    was_own = __file__ in own
    own.add(__file__)
    shapes.ShapeEnv._make_data_dependent_error = make
    try:
        yield
    finally:
        shapes.ShapeEnv._make_data_dependent_error = original
        if not was_own:
            own.discard(__file__)


def _look(env: Any, expression: Any, error: BaseException) -> _Seen:
    """Never fails: what cannot be seen is left out."""
    message = str(error).split("\n", 1)[0]
    lines = ["create_env"]
    for part in (_symbols, _facts, _names):
        try:
            lines += part(env)
        except Exception as problem:  # another version's ShapeEnv
            lines.append(f"# {part.__name__}: {problem}")
    return _Seen(message, "\n".join(lines) + "\n")


def _source_name(source: Any) -> str:
    name = source.name
    return name() if callable(name) else name


def _symbols(env: Any) -> List[str]:
    values = getattr(env, "backed_var_to_val", None)
    if values is None:
        values = env.var_to_val
    lines = []
    for symbol, range in env.var_to_range.items():
        span = f"[{range.lower}, {range.upper}]"
        sources = env.var_to_sources.get(symbol)
        if sources:
            lines.append(f"create_symbol {symbol} = {values.get(symbol)} for "
                         f"{_source_name(sources[0])} {span}")
        else:
            lines.append(f"create_unbacked_symint {symbol} {span}")
    for symbol, value in env.real_tensor_prop_unbacked_vals.items():
        lines.append(f"set_real_tensor_prop_unbacked_vals {symbol} = {value}")
    return lines


def _facts(env: Any) -> List[str]:
    lines = [f"set_replacement {symbol} = {value}"
             for symbol, value in env.replacements.items()]
    for guard in env.guards:
        lines.append(f"eval {guard.expr} [guard added]{_place(guard)}")
    for asserts in env.deferred_runtime_asserts.values():
        for one in asserts:
            lines.append(
                f"runtime_assert {one.expr} [guard added]{_place(one)}")
    return lines


def _place(fact: Any) -> str:
    """The innermost line of the program in the stack of a guard or assert."""
    stack = getattr(fact, "stack", None)
    stack = getattr(fact, "sloc", None) if stack is None else stack
    try:
        frames = stack.summary() if hasattr(stack, "summary") else []
        for frame in reversed(frames):
            if not _is_of_torch(frame.filename):
                return f" ({frame.filename}:{frame.lineno} in {frame.name})"
    except Exception:
        pass
    return ""


_OURS = os.path.dirname(__file__) + os.sep


def _is_of_torch(file: str) -> bool:
    import torch

    return file.startswith(torch.__path__[0]) or file.startswith("<")


# --- what the program calls the symbols


def _names(env: Any) -> List[str]:
    lines = []
    for file, line, function, local_names in _program_frames():
        where = f"at {file}:{line} in {function}"
        found = [pair for name, value in local_names
                 for pair in _words(name, value, env)]
        found.sort(key=lambda pair: "." in pair[1])  # n before y.shape[0]
        lines += [f"names {symbol} = {words} {where}"
                  for symbol, words in found]
    return lines


def _program_frames():
    """(file, line, function, [(name, value)]) of the program, innermost first:
    the interpreter's frames, and those that Dynamo traces."""
    convert = sys.modules.get("torch._dynamo.symbolic_convert")
    tracers = getattr(convert, "InstructionTranslatorBase", ())
    seen = set()
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_of_torch(file) and not file.startswith(_OURS):
            yield (file, frame.f_lineno, frame.f_code.co_name,
                   list(frame.f_locals.items()))
        tracer = frame.f_locals.get("self") if tracers else None
        if isinstance(tracer, tracers) and id(tracer) not in seen:
            seen.add(id(tracer))
            if not _is_of_torch(tracer.f_code.co_filename):
                yield _traced(tracer)
        frame = frame.f_back


def _traced(tracer: Any):
    """A frame that Dynamo traces, with what its variables stand for."""
    code = tracer.f_code
    return (code.co_filename, tracer.lineno, code.co_name,
            [(name, _example_of(value))
             for name, value in tracer.symbolic_locals.items()])


def _example_of(variable: Any) -> Any:
    """The fake tensor or number that a Dynamo variable stands for."""
    if hasattr(variable, "is_realized") and not variable.is_realized():
        return None
    if hasattr(variable, "realize"):
        variable = variable.realize()
    number = getattr(variable, "sym_num", None)
    if number is not None:
        return number
    proxy = getattr(variable, "proxy", None)
    meta = getattr(getattr(proxy, "node", None), "meta", {})
    return meta.get("example_value")


def _words(name: str, value: Any, env: Any):
    """(symbol, text) for each symbol that the local variable is or has as a
    size: (u0, "n"), (u0, "y.shape[0]")."""
    import torch

    if not name.isidentifier():
        return
    if isinstance(value, torch.SymInt):
        symbol = _symbol_of(value, env)
        if symbol is not None:
            yield symbol, name
    elif isinstance(value, torch.Tensor):
        for dim, size in enumerate(value.shape):
            symbol = _symbol_of(size, env)
            if symbol is not None:
                yield symbol, f"{name}.shape[{dim}]"


def _symbol_of(size: Any, env: Any) -> Any:
    import torch

    if not isinstance(size, torch.SymInt):
        return None
    node = size.node
    if getattr(node, "shape_env", None) is not env:
        return None
    expr = node.expr
    return expr if expr.is_Symbol else None
