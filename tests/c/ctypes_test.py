"""The C API from Python's ctypes: as any language calls it.

    ctypes_test.py LIBRARY HEADER
"""

import ctypes
import re
import subprocess
import sys

library = ctypes.CDLL(sys.argv[1])
header = open(sys.argv[2]).read()


class Handle(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64)]


class Range(ctypes.Structure):
    _fields_ = [("lower", ctypes.c_int64), ("upper", ctypes.c_int64),
                ("has_lower", ctypes.c_int32), ("has_upper", ctypes.c_int32),
                ("is_empty", ctypes.c_int32)]


library.proviso_error_text.restype = ctypes.c_char_p
STATUS = {name: int(number) for name, number in
          re.findall(r"(PROVISO_(?:OK|ERROR_\w+)) = (\d+)", header)}


def call(name, *args):
    status = getattr(library, name)(*args)
    assert status == 0, (name, status, library.proviso_error_text())


def made(name, *args):
    result = Handle()
    call(name, *args, ctypes.byref(result))
    return result


def parsed(pool, text):
    return made("proviso_parse", pool, text.encode(), 1)


def verdict(context, question):
    found = ctypes.c_int(-1)
    call("proviso_ask_quick", context, question, ctypes.byref(found))
    return found.value


def test_questions():
    pool = made("proviso_pool_new")
    context = made("proviso_context_new", pool, None, ctypes.c_size_t(0))
    call("proviso_assume", context, parsed(pool, "n % 8 == 0"), None, None)
    assert verdict(context, parsed(pool, "n % 4 == 0")) == 1
    assert verdict(context, parsed(pool, "n % 4 == 1")) == 2
    assert verdict(context, parsed(pool, "n % 16 == 0")) == 0
    call("proviso_assume", context, parsed(pool, "(3 <= n) & (n <= 30)"), None,
         None)
    bounds = Range()
    call("proviso_bounds", context, parsed(pool, "n"), ctypes.byref(bounds))
    assert (bounds.lower, bounds.upper) == (8, 24)
    wrong = library.proviso_pop(context)
    assert wrong == STATUS["PROVISO_ERROR_STATE"]
    assert library.proviso_error_text().startswith(b"proviso_pop: ")
    call("proviso_pool_free", pool)
    assert library.proviso_context_free(context) == STATUS[
        "PROVISO_ERROR_HANDLE"]


def test_every_declared_call_is_there_and_nothing_else():
    """What the header declares is what the library shows."""
    declared = set(re.findall(r"\b(proviso_\w+)\(", re.sub(
        r"/\*.*?\*/", "", header, flags=re.S)))
    shown = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]],
                           capture_output=True, text=True, check=True).stdout
    shown = {line.split()[2].split("@")[0] for line in shown.splitlines()}
    assert shown == declared, shown ^ declared


test_questions()
test_every_declared_call_is_there_and_nothing_else()
