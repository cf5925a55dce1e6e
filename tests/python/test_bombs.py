"""No text hangs in Python either: the largest text of each family of
tests/bombs, through Expr and Context; each call takes a bounded time, and ends
with a value or an error that says what was wrong."""

import json
import subprocess
import time

import pytest

import proviso
from test_cli import COMMAND

BOMBS = COMMAND.parent / "bombs"
SECONDS = 1.0  # of CPU, natively 0.1; this machine may be slow


def problems():
    if not BOMBS.exists():
        return []
    lines = subprocess.run([BOMBS, "texts"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_there_are_bombs():
    assert len(problems()) > 60, f"{BOMBS} is not built (./dev build makes it)"


def timed(name, call, seconds=SECONDS):
    start = time.process_time()
    try:
        result = call()
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        result = None
        assert len(str(error)) < 6000, name
    took = time.process_time() - start
    assert took < seconds, f"{name} takes {took:.1f} s"
    return result


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p["name"])
def test_every_call_ends(problem):
    context = proviso.Context(use_z3=False)
    for fact in problem["facts"]:
        timed("assume", lambda: context.assume(fact))
    question = problem["question"]
    timed("ask", lambda: context.ask(question))
    timed("simplify", lambda: context.simplify(question))
    number = f"Where({question}, 1, 0)"
    timed("bounds", lambda: context.bounds(number))
    timed("multiple_of", lambda: context.multiple_of(number))
    timed("values", lambda: context.values(number))
    text = timed("save", lambda: proviso.save_context(context))
    if text and len(text) < 12_000:
        timed("load", lambda: proviso.load_context(text))
    e = timed("expr", lambda: context.expr(question))
    if e is None:
        return
    for form in ("to_python", "to_smtlib", "to_srepr", "latex", "simplify",
                 "free_symbols"):
        timed(form, lambda: (lambda x: x() if callable(x) else x)(
            getattr(e, form)))
    timed("str", lambda: str(e))


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p["name"])
def test_sympy_ends(problem):
    pytest.importorskip("sympy")
    proviso.Expr("n//8 + 1").sympy()  # imports it
    timed("sympy", lambda: proviso.Expr(problem["question"]).sympy(),
          5 * SECONDS)
