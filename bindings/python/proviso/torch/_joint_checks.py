"""One error for all that a program asks of sizes that only the data tells.

torch.compile stops at the first question that nothing decides.  A program that
asks five takes five rounds of repair, each a compilation.  Here, when the
compilation of a function has failed so, the function is traced once more.  This
time each question is answered as the sizes of the example inputs answer it and
asserted, so that what follows from it is known from then on, and the trace goes
on to the next one.  What comes out is thrown away, and the error that torch
raised tells which checks decide all of the questions:

    Could not guard on data-dependent expression u0 > 4 ...
    Proviso: 5 questions are open on the way of these inputs.
      insert at model.py:7, where forward begins
        torch._check(x.shape[0] >= 5)
        torch._check(x.shape[0] == y.shape[0])

The error stays the error that it was, and a compilation that succeeds is never
traced again.  Where a graph break would have been made of a question, only
what the backend asks is answered.  A backend that is not torch's own is not
called again, and Inductor is asked up to AOTAutograd, with its decompositions.
Nothing of it goes into a cache.
"""

import ast
import functools
import inspect
import linecache
import logging
import re
import threading

import sympy

from proviso import _core, _diagnose
from proviso.torch import _sympy_classes
from proviso.torch._replaced import Replaced

_sympy_classes.register()
log = logging.getLogger("proviso.torch")

_MOST_QUESTIONS = 64


class _OfThread(threading.local):
    retrace = None  # the trace that answers, while one runs
    made = ()      # first lines of data-dependent errors of this compilation


_here = _OfThread()


# ---- asked by the ShapeEnv


def note_made(error):
    """Keeps that this error was made while a function was compiled."""
    if isinstance(_here.made, list):
        _here.made.append(_first_line(error))


def _first_line(error):
    return str(error.args[0]).split("\n", 1)[0]


def is_answering():
    return _here.retrace is not None and _here.retrace.answers


def answer(env, values, question, error):
    """The answer of the example to a question that raised `error`, asserted in
    `env`; None where no trace is made for that, or the example does not tell.
    `values`: {symbol: the size that it stands for}."""
    return _here.retrace.answer(env, values, question, error)


def is_retracing():
    return _here.retrace is not None


class _Retrace:
    """What one trace that goes on past its questions has met."""

    def __init__(self, answers):
        self.answers = answers
        self.env = None
        self.forget(None)

    def forget(self, env):
        self.env = env
        self.questions = set()  # first lines of the errors
        self.steps = []    # for _core.joint_checks
        self.reports = []  # of each question
        self.values = {}   # {question: answer}

    def answer(self, env, values, question, error):
        if self.env is not env:
            self.forget(env)  # Dynamo began anew
        value = question.xreplace(values).xreplace(env.backed_var_to_val)
        if value is sympy.true:
            side = question
        elif value is sympy.false:
            side = sympy.Not(question)
        elif isinstance(value, sympy.Integer):
            side = sympy.Eq(question, value)
        else:
            return None
        if self.values.setdefault(question, value) != value:
            return None
        if len(self.values) > _MOST_QUESTIONS:
            return None
        self.steps.append((dict(env.var_to_range), dict(env.replacements),
                           _facts(env), side))
        self.questions.add(_first_line(error))
        report = getattr(error, "proviso_report", None)
        if report is not None:
            self.reports.append(report)
        env.guard_or_defer_runtime_assert(side, "as the example has it")
        return value


def _facts(env):
    found = [g.expr for g in env.guards if not g.size_oblivious]
    for asserts in env.deferred_runtime_asserts.values():
        found += [one.expr for one in asserts]
    return found


# ---- the trace


class _Done(Exception):
    """Raised in place of a result: none is wanted."""


def bind(wanted):
    """Compilations of Dynamo are watched from here on, or are not."""
    _compilations.bind(wanted)


def _watching(original):
    signature = inspect.signature(original)

    @functools.wraps(original)
    def _compile(*args, **kwargs):
        if not _compilations.is_bound or is_retracing():
            return original(*args, **kwargs)
        outer, _here.made = _here.made, []
        try:
            return original(*args, **kwargs)
        except Exception as error:
            try:
                call = signature.bind(*args, **kwargs)
                _explain(original, call, error, _here.made)
            except Exception:
                log.debug("the questions were not gathered", exc_info=True)
            raise
        finally:
            _here.made = outer

    return _compile


_compilations = Replaced("torch._dynamo.convert_frame", "_compile", _watching)


def _explain(compile_function, call, error, made):
    """Adds the checks of all questions to `error`, if it is one of data."""
    text = str(error)
    asked = [line for line in made if line in text]
    one_graph = call.arguments["one_graph"]
    if not asked or call.arguments["export"]:
        return
    if not one_graph and _is_suppressed(error):
        return
    retrace = _Retrace(answers=one_graph)
    _trace(compile_function, call, retrace)
    if not retrace.questions.intersection(asked):
        return
    found = _joint(retrace, call.arguments["code"],
                   call.arguments["closure"])
    if found is None:
        return
    error.proviso_report = _diagnose.joined(retrace.reports, found)
    error.args = (f"{error.args[0]}\n\nProviso: {found}\n", *error.args[1:])


def _is_suppressed(error):
    """Whether Dynamo runs the function as it is instead."""
    from torch._dynamo import config, exc

    soft = exc.Unsupported, exc.UserError
    return config.suppress_errors or isinstance(error, soft)


def _trace(compile_function, call, retrace):
    import torch._functorch.config as aot
    import torch._inductor.config as inductor

    arguments = dict(call.arguments)
    # Not a recompilation to explain.
    arguments.update(cache_entry=None, cache_entries=[],
                     cache_entries_for_reasons=[])
    arguments["hooks"] = type(arguments["hooks"])()
    arguments["compiler_fn"] = _backend(arguments["compiler_fn"], retrace)
    _here.retrace = retrace
    try:
        with aot.patch(enable_autograd_cache=False), inductor.patch(
            force_disable_caches=True
        ):
            compile_function(**arguments)
    except Exception:
        log.debug("the trace that answers ended", exc_info=True)
    finally:
        _here.retrace = None


def _backend(given, retrace):
    """What is called instead of the backend."""
    from torch._dynamo.backends.debugging import aot_eager_decomp_partition
    from torch._dynamo.eval_frame import innermost_backend

    inner = innermost_backend(given)
    inner = getattr(inner, "compiler_fn", inner)
    home = getattr(inner, "__module__", None) or type(inner).__module__
    if getattr(inner, "compiler_name", "") == "inductor" or (
        home.startswith("torch._inductor")
    ):
        chosen = aot_eager_decomp_partition
    else:
        chosen = inner if home.startswith("torch.") else None

    def asked_alone(graph, inputs):
        if chosen is not None:
            retrace.answers = True
            chosen(graph, inputs)
        raise _Done

    return asked_alone


# ---- the checks


def _joint(retrace, code, closure):
    words = _words(retrace.env)
    code, words = _without_torchs_wrapper(code, closure, words)
    checks = _core.joint_checks(retrace.steps, words)
    if not checks:
        return None
    lines = [line for _, line in checks]
    file, line = _entry_of(code)
    return _diagnose.JointChecks(
        questions=len(retrace.steps),
        conditions=[condition for condition, _ in checks],
        code=lines if line is not None and None not in lines else [],
        file=file,
        line=line,
        function=code.co_name,
    )


_LOCAL = re.compile(r"^L\['(\w+)'\]")
_ARGUMENT = re.compile(r"^args\[(\d+)\]")
_KEYWORD = re.compile(r"^kwargs\['(\w+)'\]")
_SIZE = re.compile(r"\.size\(\)\[(\d+)\]$")


def _words(env):
    """{symbol: "x.shape[0]"}, in the words of the parameters."""
    from proviso.torch import _shape_env

    named = dict(_shape_env.companion(env).sources)
    for symbol, sources in env.var_to_sources.items():
        named.update({symbol: str(s.name) for s in sources[:1]})
    words = {}
    for symbol, name in named.items():
        text = _SIZE.sub(r".shape[\1]", _LOCAL.sub(r"\1", name))
        if text != name and "L[" not in text and "G[" not in text:
            words[str(symbol)] = text
    return words


def _without_torchs_wrapper(code, closure, words):
    """The function behind `@torch.no_grad()` and its like, in its own words."""
    names, first = None, 0
    while _diagnose._is_of_torch(code.co_filename):
        cells = dict(zip(code.co_freevars, closure or ()))
        inner = cells.get("func", cells.get("fn"))
        inner = None if inner is None else inner.cell_contents
        if inspect.ismethod(inner):
            inner, first = inner.__func__, 1
        if not inspect.isfunction(inner) or code.co_argcount:
            return code, {}
        code, closure = inner.__code__, inner.__closure__
        names = code.co_varnames[first:code.co_argcount]
    if names is None:
        return code, words

    def own(match):
        index = int(match[1])
        return names[index] if index < len(names) else match[0]

    words = {symbol: _ARGUMENT.sub(own, text) for symbol, text in words.items()}
    return code, {symbol: _KEYWORD.sub(r"\1", text)
                  for symbol, text in words.items()}


def _entry_of(code):
    """(file, line) of the first statement of a function; None for the line of a
    lambda, of what Dynamo made, and where the source is not there."""
    file = code.co_filename
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return file, None
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if node.name != code.co_name or first != code.co_firstlineno:
            continue
        body = node.body
        if len(body) > 1 and ast.get_docstring(node) is not None:
            body = body[1:]
        return file, body[0].lineno
    return file, None
