"""Every call of the core, given every kind of object for each argument.

    python arguments.py            all of them, in this process

A call gives a value, or an Error, TypeError or ValueError that names the call
and is no longer than a person reads.  Prints what is neither, one a line; the
last line of the file `PROVISO_LAST_CALL` names is the call that ended the
process, where one did."""

import enum
import fractions
import inspect
import os
import re
import sys

import proviso
from proviso import _core

MOST = 3000  # characters of an error


class Five(int):
    def __index__(self):
        return 99

    def __repr__(self):
        return "5" * 100_000


class Name(str):
    def __str__(self):
        return "other"

    def encode(self, *args):
        return b"other"


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no repr")


class Three(enum.IntEnum):
    THREE = 3


class Items(dict):
    def items(self):
        raise RuntimeError("items")


def odd_values():
    n, m = proviso.symbols("n m")
    result = [
        None, True, False, 0, 1, -1, 7, 2**31, 2**63, 2**64, -2**63 - 1,
        10**30, 10**5000, -10**20_000, 0.0, 1.5, float("nan"), float("inf"),
        "", "x", "n", "n < 3", "n +", "a b", "True", "é", "𝒏", "n\0m", "\ud800",
        "n" * 100_000, "(" * 100_000, "n in [2, int_oo]", "n in [", " in ",
        b"", b"n", bytearray(b"n"), [], [1], ["n"], ["\ud800"], [(1, 2)], (),
        (1, 2, 3), ("", "", 0), {}, {"n": 3}, {1: 2}, {"\ud800": 1},
        {"n": "x" * 100_000}, {n: n}, set(), range(3), object(), int, len,
        Ellipsis, 1 + 2j, fractions.Fraction(1, 3), Five(5), Name("n"),
        Name("n < 3"), Three.THREE, Unprintable(), Items(n=1),
        n, n < 3, n + m, proviso.Expr("2.5"), proviso.Expr("3"),
        proviso.Context(), _core.Context({}), Exception("x"),
    ]
    try:
        import numpy
    except ImportError:
        return result
    return result + [
        numpy.int64(3), numpy.int32(-3), numpy.uint64(2**64 - 1),
        numpy.bool_(True), numpy.float64(2.5), numpy.array(3),
        numpy.array([1, 2]), numpy.str_("n")]


def context():
    c = proviso.Context(use_z3=False)
    c.declare("n", 0, 50)
    c.assume("m % 4 == 0")
    return c


N = proviso.symbol("n")
WHERE = ("", "", 0)
QUESTION = ("n > 1",)
NUMBER = ("n + 1",)
# What is right, by call: arguments by position, and by name.
OF_CONTEXT = {
    "symbol": (("k", "backed_int"), {}), "expr": (NUMBER, {}),
    "declare": (("n", 0, 40), dict(step=2, residue=1, origin="", file="",
                                   line=0)),
    "assume": (QUESTION, dict(origin="", file="", line=0)), "fact": ((0,), {}),
    "ask": (QUESTION, {}), "ask_quick": (QUESTION, {}),
    "equivalent": (("n", "m"), {}), "bounds": (NUMBER, {}),
    "bounds_quick": (NUMBER, {}), "strided": (NUMBER, {}),
    "upper_bound": (("n", ["m"]), {}), "lower_bound": (("n", ["m"]), {}),
    "solve": (("n < 3", "n"), {}), "common_divisor": (("4*n", "6*m"), {}),
    "facts_behind": (("bounds", "n"), {}), "multiple_of": (NUMBER, {}),
    "values": (("n", 64), {}), "substitute": (NUMBER, {}),
    "simplify": (NUMBER, {}), "canonical": (NUMBER, {}),
    "set_log": ((None,), {}), "to_smtlib": (QUESTION, {}),
    "__setstate__": ((context().__getstate__(),), {}),
}
OF_CORE_CONTEXT = {
    **{name: right for name, right in OF_CONTEXT.items()
       if name not in ("bounds_quick", "upper_bound", "lower_bound",
                       "__setstate__")},
    "declare": (("n", 0, 40, 2, 1, WHERE), {}),
    "declare_text": (("n in [2, 3]", WHERE), {}),
    "assume": (("n > 1", WHERE), {}), "bounds": (("n", True), {}),
    "bound_over": (("n", ["m"], True), {}),
    "load": ((context().__getstate__(),), {}),
}
OF_EXPR = {
    "same": ((N,), {}), "evaluate": (({"n": 1},), {}),
    "subs": (({"n": 1},), {}),
    **{f"__{name}__": ((N,), {}) for name in (
        "add radd sub rsub mul rmul floordiv rfloordiv mod rmod truediv "
        "rtruediv pow rpow lshift rlshift rshift rrshift and rand or ror xor "
        "rxor lt le gt ge eq ne").split()},
}
OF_PACKAGE = {
    "Context": ((), dict(strict=None, budget=1)), "Expr": (("n",), {}),
    "symbol": (("k", None, ""), {}), "symbols": (("n m", None), {}),
    "load_context": ((context().__getstate__(),), {}),
    "save_context": ((context(),), {}), "explain": (("",), {}),
    "Report": (("",), {}),
    **{name: ((N, N), {}) for name in ("Eq", "Ne", "Min", "Max", "CeilDiv")},
    **{name: ((N > 1, N < 3), {}) for name in ("And", "Or")},
    "Not": ((N > 1,), {}), "Where": ((N > 1, N, N), {}),
}
OF_CORE = {
    "make": (("Add", N, N), {}), "from_rows": (((N + 1)._rows(),), {}),
    "symbol": (("k", None, ""), {}), "shown": ((1,), {}),
    "symbols_in_one_pool": ((["n"], None), {}),
    "set_error_type": ((proviso.Error,), {}), "explain_json": (("",), {}),
    "explain_text": (("", False), {}), "explain_html": (("",), {}),
    "Context": (({}, None), {}), "Expr": (("n",), {}),
}
# Classes of records, a block, and what proviso.torch alone calls.
NOT_HERE = {
    "proviso": {"Answer", "Fact", "Solution", "Suggestion", "Diagnosis",
                "JointChecks", "StridedRange", "ValueRange", "Error",
                "ConstraintViolationError", "DataDependentError", "diagnose"},
    "_core": {"Mirror", "IndexForms", "joint_checks", "set_sympy",
              "mirror_counts", "reset_mirror_counts"},
}
# By which name, as a pattern, an error knows the call.
CALLED = {
    "__setstate__": "load_context", "load": "load_context",
    "declare_text": "declare", "bound_over": "upper_bound|lower_bound",
    "symbols_in_one_pool": "symbols", "make": "make|Add",
}
OPERATOR = ("operand|operator|not supported between|make\\(|==|truth of|"
            "pow\\(\\)|divmod")


def takes_arguments(method):
    """Whether it takes any beside the object; what pybind11 binds says so in
    its doc."""
    if re.search(r"\(self: [^,)]*\) ->", method.__doc__ or ""):
        return False
    try:
        return len(inspect.signature(method).parameters) > 1
    except (TypeError, ValueError):
        return True


def methods_of(cls):
    inner = {"_of", "_like", "__getattr__", "__class_getitem__",
             "_pybind11_conduit_v1_"}
    for name in sorted(dir(cls)):
        if name in inner or (
                getattr(cls, name) is getattr(object, name, None)
                or name in ("__new__", "__init__", "__getattribute__",
                            "__setattr__", "__delattr__", "__format__",
                            "__reduce_ex__", "__subclasshook__",
                            "__init_subclass__", "__dir__", "__sizeof__",
                            "__class__")):
            continue
        method = inspect.getattr_static(cls, name)
        method = getattr(method, "__func__", method)
        if callable(getattr(cls, name)) and takes_arguments(method):
            yield name


def calls():
    """(name, () -> callable, arguments, keywords), and KeyError for a call
    that no table above has."""
    for name in proviso.__all__:
        if name in proviso._OF_TORCH or name in NOT_HERE["proviso"]:
            continue
        yield name, lambda name=name: getattr(proviso, name), *OF_PACKAGE[name]
    for name in sorted(vars(_core)):
        if name.startswith("__") or name in NOT_HERE["_core"]:
            continue
        yield f"_core.{name}", lambda name=name: getattr(_core, name), \
            *OF_CORE[name]
    tables = [("Context", proviso.Context, context, OF_CONTEXT),
              ("_core.Context", _core.Context, lambda: context()._context,
               OF_CORE_CONTEXT),
              ("Expr", proviso.Expr, lambda: N + 1, OF_EXPR)]
    for title, cls, make, table in tables:
        for name in methods_of(cls):
            yield (f"{title}.{name}",
                   lambda make=make, name=name: getattr(make(), name),
                   *table[name])
    for box in (proviso.ValueRange(1, 3), proviso.StridedRange(1, 3)):
        yield (f"{type(box).__name__}.__contains__",
               lambda box=box: box.__contains__, (1,), {})


def variants(values, right, keywords):
    for value in values:
        for i in range(len(right)):
            yield (*right[:i], value, *right[i + 1:]), {}
        if len(right) > 1:
            yield (value,) * len(right), {}
        for key in keywords:
            yield right, {key: value}


def fault(name, call, args, keywords):
    """What is wrong with this call, or None."""
    try:
        call(*args, **keywords)
        return None
    except (proviso.Error, TypeError, ValueError) as error:
        text = str(error)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:200]
    short = name.rsplit(".", 1)[-1]
    wanted = CALLED.get(short, short.strip("_"))
    if short.startswith("__") and short != "__setstate__":
        wanted += f"|{OPERATOR}|ValueRange|StridedRange"
    if len(text) > MOST:
        return f"an error of {len(text)} characters: {text[:100]}"
    if not re.search(wanted, text):
        return f"no {wanted!r} in: {text[:200]}"
    return None


def shown(value):
    try:
        return repr(value)[:40]
    except Exception:
        return f"a {type(value).__name__}"


def main():
    last = os.environ.get("PROVISO_LAST_CALL")
    log = open(last or os.devnull, "w", encoding="ascii",
               errors="backslashreplace")
    values = odd_values()
    tried = 0
    for name, made, right, keywords in calls():
        for args, given in variants(values, right, keywords):
            tried += 1
            log.seek(0)
            log.write(f"{name}({', '.join(map(shown, args))}; "
                      f"{ {k: shown(v) for k, v in given.items()} })\n")
            log.flush()
            problem = fault(name, made(), args, given)
            if problem:
                line = (f"{name}({', '.join(map(shown, args))}, "
                        f"{ {k: shown(v) for k, v in given.items()} }): "
                        f"{problem}")
                print(line.encode("ascii", "backslashreplace").decode())
            _core.set_error_type(proviso.Error)
    print(f"tried {tried}")


if __name__ == "__main__":
    main()
