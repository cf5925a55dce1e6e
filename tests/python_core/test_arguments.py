"""Calls with arguments of any kind end in a value or an error that names the
call; none ends the process."""

import copy
import os
import pathlib
import pickle
import random
import subprocess
import sys

import pytest

import proviso
from proviso import Context, Error, Expr, load_context, save_context, symbol
from proviso import _core


def test_every_call_takes_or_refuses_every_kind_of_object(tmp_path):
    last = tmp_path / "last"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler",
         str(pathlib.Path(__file__).with_name("arguments.py"))],
        env={**os.environ, "PROVISO_LAST_CALL": str(last)},
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (
        f"ended by {last.read_text().splitlines()[0]}\n{done.stderr[-3000:]}")
    *faults, tried = done.stdout.splitlines()
    assert not faults, "\n".join(faults[:40])
    assert int(tried.removeprefix("tried ")) > 8000


def ends(code):
    """What a process prints that runs this code, which must not crash."""
    done = subprocess.run(
        [sys.executable, "-c", "import copy, pickle\nimport proviso\n"
         f"from proviso import _core\n{code}"], capture_output=True, text=True)
    assert done.returncode == 0, (code, done.stderr[-2000:])
    return done.stdout


@pytest.mark.parametrize("of", ["Context({})", "Expr('n')", "Mirror()",
                                "IndexForms()"])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_class_of_the_extension_has_a_pickle_or_an_error(of, protocol):
    said = ends(f"""
x = _core.{of}
for call in (lambda: pickle.loads(pickle.dumps(x, {protocol})),
             lambda: x.__reduce_ex__({protocol}), lambda: x.__reduce__()):
    try:
        print(type(call()).__name__)
    except TypeError as error:
        print(error)
""")
    assert len(said.splitlines()) == 3
    for line in said.splitlines():
        assert line in ("Expr", "tuple") or line.startswith("cannot pickle")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_expressions_and_contexts_have_a_pickle_of_every_protocol(protocol):
    context = Context()
    context.assume("n % 8 == 0")
    same = pickle.loads(pickle.dumps(context, protocol))
    assert same.ask("n % 4 == 0").verdict == "yes"
    e = Expr("n // 3 + 1")
    assert pickle.loads(pickle.dumps(e, protocol)).same(e)


def test_what_torch_alone_calls_survives_every_kind_of_object():
    pytest.importorskip("sympy")
    said = ends(f"""
import sys, types
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import sympy
from arguments import odd_values, variants
_core.set_sympy({{sympy.Symbol: "Symbol", sympy.Add: "Add",
                 sympy.Integer: "Integer", sympy.StrictLessThan: "Lt"}},
                sympy.true, sympy.false, sympy.Integer)
x = sympy.Symbol("x", integer=True)
known = types.SimpleNamespace(is_int=True, lower=sympy.Integer(2),
                              upper=sympy.Integer(9))
env = types.SimpleNamespace(
    var_to_range={{x: known}}, replacements={{}}, guards=[],
    num_deferred_runtime_asserts=0, deferred_runtime_asserts={{}},
    size_like=set(), backed_var_to_val={{x: sympy.Integer(3)}})
assert _core.Mirror().ask(env, x < 10, (), ((x, known),)) == True
mirror = _core.Mirror()
step = ({{x: known}}, {{}}, [x < 9], x < 10)
tried = 0
for call, right in [
        (mirror.ask, (env, x < 5, (x < 7,), ((x, known),), False, True)),
        (mirror.bounds, (env, x + 1, False)), (mirror.hint, (env, x + 1)),
        (mirror.is_backed, (env, x)), (mirror.remember, (x < 6, sympy.true)),
        (mirror.remember_by_loop, ((), (), x < 6, sympy.true)),
        (mirror.scopes, (env,)), (mirror.project, (env, {{x}}, [], [x < 8])),
        (mirror.minimal, (env, [x < 8])), (mirror.only_value, (env, x)),
        (mirror.contradiction, (env,)), (mirror.decided, ()),
        (_core.joint_checks, ([step], {{"x": "n"}})),
        (_core.IndexForms().stride, (8 * x + 1, x)),
        (_core.IndexForms().exact_quotient, (x + x, x))]:
    for args, _ in [(right, None), *variants(odd_values(), right, ())]:
        tried += 1
        try:
            call(*args)
        except Exception:
            pass
print(tried)
""")
    assert int(said) > 2000


@pytest.mark.parametrize("made", ["_core.Context", "_core.Mirror",
                                  "_core.IndexForms", "_core.Expr",
                                  "proviso.Context"])
def test_an_object_without_a_constructor_is_an_error(made):
    name = made.rsplit(".", 1)[-1]
    said = ends(f"""
for cls in ({made}, type("Other", ({made},), {{}})):
    for name in sorted(vars({made})):
        if name in ("__new__", "__init__", "__doc__", "__module__",
                    "__setstate__", "__getattr__", "__dict__", "__weakref__",
                    "_pybind11_conduit_v1_", "load", "_of", "_like", "scope", "__static_attributes__",
                    "__firstlineno__"):
            continue
        refused = False
        for count in range(7):
            try:
                member = getattr(cls.__new__(cls), name)
                if callable(member):
                    member(*["n"] * count)
            except TypeError:
                pass  # of the number of arguments
            except proviso.Error as error:
                assert str(error).startswith("{name}: made without its"), error
                refused = True
        if not refused:
            print(name)
""")
    # What looks at no object, or only compares it.
    assert set(said.split()) <= {"__pos__", "__slots__"}, said


NAMES = ["a b", "x;y", 'q"', "n\n", "é", "if", "True", "3", "int_oo", "a\\",
         "", "n\0", "a.b", "𝒏", "None", "oo"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_no_text_says_is_refused_where_it_is_made(name):
    context = Context()
    for call, make in [
            ("symbol", lambda: symbol(name)),
            ("symbol", lambda: symbol(name, "backed_int")),
            ("Context.symbol", lambda: context.symbol(name)),
            ("Context.symbol", lambda: context.symbol(name, "backed_int")),
            ("Context.declare", lambda: context.declare(name, 0, 3)),
            ("Context.declare", lambda: context.declare(name, -3, 3)),
            ("from_rows", lambda: _core.from_rows(
                [("Symbol", name, "backed_int", "")]))]:
        with pytest.raises(Error, match=f"^{call}: .*is not a symbol's name"):
            make()
    assert context.symbols() == [] and len(context) == 0


def test_contexts_of_any_accepted_names_are_kept():
    rng = random.Random(3)
    parts = ["n", "s0", "u1", "_", "3", "if", "True", "int_oo", " ", ";", '"',
             "\n", "\\", "é", ".", "(", "]", "in", "Mod", "lambda", "None"]
    kept = 0
    for _ in range(1500):
        name = "".join(rng.choices(parts, k=rng.randint(1, 3)))
        kind = rng.choice(["backed_int", "unbacked_int", None])
        context = Context(use_z3=False)
        try:
            n = context.symbol(name, kind)
        except Error:
            continue
        kept += 1
        context.declare(n, 2, 40, origin=name, file=name)
        context.assume(n % 3 == 1)
        same = load_context(save_context(context))
        assert [(s.name, s.kind) for s in same.symbols()] == [(name, n.kind)]
        assert [str(f) for f in same] == [str(f) for f in context]
        assert save_context(same) == save_context(context)
        assert copy.copy(same).ask(symbol(name, n.kind) >= 3).verdict == "yes"
    assert kept > 200


def test_a_sympy_symbol_of_no_name_is_refused_by_the_call():
    sympy = pytest.importorskip("sympy")
    for assumptions in ({"integer": True}, {"integer": False}):
        x = sympy.Symbol("x y", **assumptions)
        with pytest.raises(Error, match="^Context.ask: .*'x y' is not a symbol"):
            Context().ask(x < 3)


def test_an_expression_too_deep_for_sympy_is_an_error():
    pytest.importorskip("sympy")
    e = symbol("n")
    for _ in range(20_000):
        e = e // 3 + 1
    with pytest.raises(Error, match=r"^Expr.sympy: the expression is too deep "
                                    r"for SymPy, .* itself \d+ times"):
        e.sympy()


def test_a_number_too_long_for_python_is_an_error():
    pytest.importorskip("sympy")
    with pytest.raises(Error, match=r"^Expr.sympy: a number of 5000 characters is "
                                    r"longer than Python reads, which is 4300"):
        Expr("n < 1" + 4999 * "0").sympy()


def test_errors_show_how_a_long_argument_begins():
    long = "n" * 100_000
    context = Context()
    for wrong in [lambda: symbol("k", long), lambda: symbol(long),
                  lambda: context.facts_behind(long, "n"),
                  lambda: context.assume("n > 1", line=long),
                  lambda: context.declare("n", 1, 2, line=long),
                  lambda: Context(budget=long),
                  lambda: Context(**{long: 1}),
                  lambda: save_context(long),
                  lambda: Expr("n").evaluate({"n": long}),
                  lambda: Expr("n").subs({"n": [long]}),
                  lambda: Expr("n").same(long), lambda: _core.make(long),
                  lambda: context.ask([long]), lambda: context.ask(long)]:
        with pytest.raises((Error, TypeError)) as caught:
            wrong()
        assert "nnnnn" in str(caught.value)
        assert len(str(caught.value)) < 1000
