"""Mistakes of a caller in Python: each is an exception that says what is wrong,
none is a crash, a hang or a silent answer."""

import pytest

from proviso import (And, Context, Eq, Error, Expr, Max, Min, Not, Or, Where,
                     explain, load_context, save_context, symbol, symbols)

N, M = symbols("n m")


def strict():
    context = Context(strict=True)
    context.declare(N, 1, 64)
    return context


OF_EXPRESSIONS = [
    ("text that ends", lambda: Expr("n +"), Error, "parse: "),
    ("an open parenthesis", lambda: Expr("(n + 1"), Error, r"expected '\)'"),
    ("a function nobody knows", lambda: Expr("Foo(n)"), Error,
     "unknown function 'Foo' at column 1"),
    ("no text", lambda: Expr(""), Error, "expected a number, a name"),
    ("a NUL in a text", lambda: Expr("n\0"), Error, "column 2"),
    ("a text a million deep", lambda: Expr("(" * 1_000_000), Error, "parse: "),
    ("None for a text", lambda: Expr(None), TypeError,
     "Expr: text is None; give a str"),
    ("a number for a text", lambda: Expr(3), TypeError,
     "Expr: text is 3; give a str"),
    ("no constructor", lambda: Expr.__new__(Expr).op, Error,
     "made without its constructor"),
    ("a text beside an Expr", lambda: N + "m", TypeError, "unsupported"),
    ("a list beside an Expr", lambda: N + [1], TypeError, "unsupported"),
    ("None beside an Expr", lambda: None + N, TypeError, "unsupported"),
    ("a complex number", lambda: N * 1j, TypeError, "unsupported"),
    ("a NaN", lambda: N + float("nan"), TypeError, "expected an expression"),
    ("an infinite float", lambda: N <= float("inf"), TypeError, "got inf"),
    ("the truth of a condition", lambda: bool(N > 1), TypeError,
     "ask a Context"),
    ("a chain of comparisons", lambda: 1 < N < 5, TypeError,
     r"\(a >= 2\) & \(a <= 8\)"),
    ("and between conditions", lambda: (N > 1) and (M > 1), TypeError,
     "write &"),
    ("the int of a symbol", lambda: int(N), TypeError, "int()"),
    ("a range of a symbol", lambda: range(N), TypeError, "integer"),
    ("the length of a symbol", lambda: len(N), TypeError, "len()"),
    ("an item of a symbol", lambda: N[0], TypeError, "subscriptable"),
    ("a name that is set", lambda: setattr(N, "name", "k"), AttributeError,
     "no setter"),
    ("a condition plus a number", lambda: (N > 1) + 1, Error, "boolean"),
    ("a remainder of a condition", lambda: (N > 1) % 2, Error, "boolean"),
    ("bits of a float", lambda: N & 0.5, Error, "float"),
    ("not of a number", lambda: Not(N), Error, "integer"),
    ("or of a number", lambda: Or(N, M > 1), Error, "argument 1 is integer"),
    ("and of nothing", lambda: And(), Error, "expected 1 or more"),
    ("the least of nothing", lambda: Min(), Error, "expected 1 or more"),
    ("the most of a condition", lambda: Max(N, M > 1), Error,
     "argument 2 is boolean"),
    ("a number equal to a condition", lambda: Eq(N, N > 1), Error,
     "integer beside boolean"),
    ("where of a number", lambda: Where(N, 1, 2), Error, "Where"),
    ("arms unlike", lambda: Where(N > 1, N, M > 1), Error,
     "integer beside boolean"),
    ("a symbol without a name", lambda: symbol(""), Error,
     "symbol: '' is not a symbol's name"),
    ("a sum for a name", lambda: symbol("n + 1"), Error,
     "'n . 1' is not a symbol's name; a name is"),
    ("a number for a name", lambda: symbol(3), TypeError, "str"),
    ("a kind nobody knows", lambda: symbol("k", kind="size"), Error,
     "give one of backed_size"),
    ("the name of a sum", lambda: (N + 1).name, Error, "is no symbol"),
    ("the kind of a sum", lambda: (N + 1).kind, Error, "is no symbol"),
    ("a list to substitute", lambda: N.subs([1]), TypeError, "dict"),
    ("a condition for a number", lambda: (N + 1).subs({N: N > 1}), Error,
     "n is integer, and n > 1 is boolean"),
    ("None for a number", lambda: (N + 1).subs({N: None}), TypeError,
     "Expr.subs: expected an expression"),
    ("no value", lambda: (N + 1).evaluate({}), Error, "n has no value"),
    ("a divisor 0", lambda: (8 // N).evaluate({N: 0}), Error,
     "divisor n is 0"),
    ("half a size", lambda: (N + 1).evaluate({N: 0.5}), Error, "give an int"),
    ("a text for a value", lambda: (N + 1).evaluate({N: "3"}), Error,
     "give an int"),
    ("a value of no symbol", lambda: (N + 1).evaluate({3: 3}), TypeError,
     "expected a symbol or its name"),
    ("the same as a number", lambda: N.same(3), TypeError, "Expr"),
]

OF_CONTEXTS = [
    ("an option nobody knows", lambda c: Context(fast=1), Error,
     "no option 'fast'; there are"),
    ("an option below 0", lambda c: Context(budget=-1), Error, "int >= 0"),
    ("an option None", lambda c: Context(budget=None), Error,
     "option budget is None"),
    ("an option too large", lambda c: Context(use_z3=2), Error,
     "too large for use_z3"),
    ("options in a dict", lambda c: Context({"budget": 1}), TypeError,
     "positional"),
    ("no constructor", lambda c: Context.__new__(Context).ask("n > 1"),
     Error, "Context: made without its constructor"),
    ("a number asked", lambda c: c.ask(N), Error,
     "Context::ask: expected a boolean, got n"),
    ("an int asked", lambda c: c.ask(3), Error, "expected a boolean, got 3"),
    ("None asked", lambda c: c.ask(None), TypeError,
     "Context.ask: expected an expression"),
    ("a list asked", lambda c: c.ask([1]), TypeError,
     "Context.ask: expected an expression"),
    ("no question", lambda c: c.ask("n >"), Error, "parse: "),
    ("a slip of the pen", lambda c: c.ask("nn > 1"), Error,
     "unknown symbol 'nn'"),
    ("a name before it is declared", lambda c: strict().ask("zz > 1"), Error,
     "unknown symbol 'zz'"),
    ("a symbol of another kind",
     lambda c: c.ask(symbol("n", "unbacked_int") > 1), Error, "another kind"),
    ("a number asked quickly", lambda c: c.ask_quick(N), Error,
     "Context::ask_quick: expected a boolean"),
    ("the truth of unknown", lambda c: bool(c.ask(N >= 64)), Error,
     "neither true nor false"),
    ("unlike things compared", lambda c: c.equivalent(N, N > 1), Error,
     "compare like with like"),
    ("bounds of a condition", lambda c: c.bounds("n > 1"), Error,
     "Context.bounds: expected an integer"),
    ("bounds of a float", lambda c: c.bounds(N / 2), Error, "float"),
    ("strides of a condition", lambda c: c.strided(N > 1), Error,
     "expected an integer"),
    ("a divisor of a condition", lambda c: c.multiple_of(N > 1), Error,
     "Context.multiple_of: expected an integer"),
    ("values of a condition", lambda c: c.values(N > 1), Error,
     "Context.values: expected an integer"),
    ("fewer than no values", lambda c: c.values(N, -1), TypeError, "values"),
    ("a bound over a sum", lambda c: c.upper_bound(N, over=[N + 1]), Error,
     "Context.upper_bound: expected symbols, got n . 1"),
    ("a divisor of unlike things", lambda c: c.common_divisor(N, N > 1),
     Error, "Context.common_divisor: expected an integer"),
    ("solved for a number", lambda c: c.solve(Eq(N + M, 3), 3), Error,
     "expected an integer symbol, got 3"),
    ("a number solved", lambda c: c.solve(N, N), Error,
     "expected Eq, Le or Lt"),
    ("None simplified", lambda c: c.simplify(None), TypeError,
     "Context.simplify: expected an expression"),
    ("a dict substituted", lambda c: c.substitute({}), TypeError,
     "Context.substitute: expected an expression"),
    ("an object in canonical form", lambda c: c.canonical(object()),
     TypeError, "Context.canonical: expected an expression"),
    ("a range of a sum", lambda c: c.declare(N + 1, 0, 1), Error,
     "expected a symbol"),
    ("half an end", lambda c: c.declare(N, 0.5), TypeError,
     "lower is 0.5; give an int, or None"),
    ("a range said twice", lambda c: c.declare("n in [1, 2]", 1), TypeError,
     "says its range"),
    ("a range that ends", lambda c: c.declare("n in [1"), Error,
     "parse_range"),
    ("a range of a condition", lambda c: c.declare("n > 1", 1, 2), Error,
     "Context.declare: 'n > 1' is not a symbol's name"),
    ("a step of 0", lambda c: c.declare(N, 0, 8, step=0), Error,
     "the step is 0; give at least 1"),
    ("a step back", lambda c: c.declare(N, 0, 8, step=-1), Error,
     "the step is -1"),
    ("half a step", lambda c: c.declare(N, 0, 8, step=1.5), TypeError,
     "Context.declare: step is 1.5; give an int"),
    ("a step that is a text", lambda c: c.declare(N, 0, 8, step="2"),
     TypeError, "step is '2'; give an int"),
    ("no step", lambda c: c.declare(N, 0, 8, step=None), TypeError,
     "step is None; give an int"),
    ("a remainder that is a text",
     lambda c: c.declare(N, 0, 8, step=2, residue="1"), TypeError,
     "residue is '1'; give an int"),
    ("a remainder without a number",
     lambda c: c.declare(N, 0, 8, residue=float("nan")), TypeError,
     "residue is nan; give an int"),
    ("a number assumed", lambda c: c.assume(N + 1), Error,
     "expected a boolean, got n . 1"),
    ("an origin that is no text", lambda c: c.assume(N > 1, origin=3),
     TypeError, "origin is 3; give a str"),
    ("a file that is no text", lambda c: c.assume(N > 1, file=3), TypeError,
     "file is 3; give a str"),
    ("a line that is a text", lambda c: c.assume(N > 1, line="3"), TypeError,
     "line is '3'; give an int"),
    ("a line beyond any file", lambda c: c.assume(N > 1, line=2**70),
     TypeError, "give an int"),
    ("a fact that is not there", lambda c: c.fact(99), Error, "no fact 99"),
    ("a fact below 0", lambda c: c.fact(-1), TypeError, "fact"),
    ("a pop without a push", lambda c: c.pop(), Error,
     "Context::pop: no push.. is open"),
    ("SMT-LIB of a number", lambda c: c.to_smtlib(N), Error,
     "Context::to_smtlib: expected a boolean"),
    ("a log that is no function", lambda c: c.set_log(3), TypeError,
     "expected a callable or None, got 3"),
    ("a file of another kind", lambda c: load_context("garbage"), Error,
     "line 1, column 1: expected 'proviso context 1'"),
    ("a number for a file", lambda c: load_context(3), TypeError,
     "load_context: text is 3; give a str"),
    ("half a file",
     lambda c: load_context(save_context(c)[:40]), Error, "load_context: line"),
    ("an error that is a number", lambda c: explain(3), TypeError,
     "proviso.explain: expected a text"),
]


def test_there_are_more_than_sixty():
    assert len(OF_EXPRESSIONS) + len(OF_CONTEXTS) >= 60
    names = [row[0] for row in OF_EXPRESSIONS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("wrong, error, text",
                         [row[1:] for row in OF_EXPRESSIONS],
                         ids=[row[0] for row in OF_EXPRESSIONS])
def test_of_expressions_is_an_error(wrong, error, text):
    with pytest.raises(error, match=text):
        wrong()


@pytest.mark.parametrize("wrong, error, text", [row[1:] for row in OF_CONTEXTS],
                         ids=[row[0] for row in OF_CONTEXTS])
def test_of_contexts_is_an_error_and_leaves_the_context_as_it_was(
        wrong, error, text):
    context = Context()
    context.declare(N, 1, 64)
    context.assume(N % 8 == 0, origin="x.view(-1, 8)")
    with pytest.raises(error, match=text):
        wrong(context)
    assert len(context) == 2 and context.depth == 0
    assert context.ask(N >= 8).verdict == "yes"
