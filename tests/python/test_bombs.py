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


def fractions(count):
    return "floor(" + " + ".join(
        f"s{i}/s{i + 1}" for i in range(count)) + ")"


def nested(count):
    text = "s0"
    for i in range(1, count):
        text = f"({text} + s{i}/({text} + 1))"
    return f"floor({text})"


@pytest.mark.parametrize("text, is_read", [
    (fractions(20), True), (fractions(160), False),
    (nested(4), True), (nested(6), False),
    ("+".join(f"floor(s{i}/s{i + 1} + 1/s{i + 2})" for i in range(40)), True),
    ("floor((" + "+".join(f"s{i}" for i in range(60)) + ")/s0)", True),
    ("floor(1/s0 + " + "+".join(f"s{i}/{i}" for i in range(2, 30)) + ")", True),
], ids=["fractions", "many fractions", "nested", "nested deeply", "many floors",
        "long", "numbers below"])
def test_fractions_of_sympy_end(text, is_read):
    sympy = pytest.importorskip("sympy")
    symbols = {f"s{i}": sympy.Symbol(f"s{i}", integer=True, positive=True)
               for i in range(400)}
    value = sympy.sympify(text, locals=symbols)
    context = proviso.Context(use_z3=False)
    result = timed("simplify", lambda: context.simplify(value), SECONDS / 2)
    assert (result is not None) == is_read
    if not is_read:
        with pytest.raises(proviso.Error, match="Context.ask: a sum of "
                           "fractions in a floor or ceiling would have more "
                           "than 1000 factors"):
            context.ask(sympy.Eq(value, 0, evaluate=False))
        return
    numbers = {name: i % 7 + 2 for i, name in enumerate(symbols)}
    assert int(value.subs({symbols[n]: v for n, v in numbers.items()})) == int(
        result.evaluate(numbers))
