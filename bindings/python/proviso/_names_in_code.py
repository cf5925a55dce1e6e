"""What the code of a function names, and the attributes that it writes: what
a program may change of modules and classes, without running it."""

import dis
import functools
import sys
import types


@functools.lru_cache(4096)
def names_in(code):
    """Those that a function uses, and those within it; also the texts that may
    be names: setattr(cls, "kept", x)."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_in(constant)
        elif type(constant) is str and constant.isidentifier():
            names.add(constant)
    return frozenset(names)


_WRITES = tuple(dis.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR"))
_WRITERS = frozenset(("setattr", "delattr", "__setattr__", "__dict__", "vars"))


@functools.lru_cache(4096)
def writes_in(code):
    """(paths of what a function names, ("torch", "nn"); the attributes that it
    writes); None where it writes none."""
    paths, names = set(), set()
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            more_paths, more_names = writes_in(inner) or ((), ())
            paths.update(more_paths)
            names.update(more_names)
    operations = code.co_code[::2]
    by_name = not _WRITERS.isdisjoint(code.co_names)
    if by_name or any(write in operations for write in _WRITES):
        _add_writes(code, by_name, paths, names)
    return (frozenset(paths), frozenset(names)) if names else None


def _add_writes(code, by_name, paths, names):
    variables = {}  # the paths of what they may be
    now, imported, of_self = set(), None, False
    for one in dis.get_instructions(code):
        name, value = one.opname, one.argval
        if name in ("STORE_ATTR", "DELETE_ATTR") and not of_self:
            names.add(value)
        if by_name and name == "LOAD_CONST" and type(value) is str:
            names.add(value)
        if name == "IMPORT_NAME":
            now = {tuple(value.split("."))}
            imported = next(iter(now))
        elif name == "LOAD_GLOBAL":
            now = {(value,)}
        elif name == "LOAD_FAST":
            now = variables.get(value, set())
        elif name == "LOAD_ATTR":
            now = {(*path, value) for path in now}
        elif name == "IMPORT_FROM":
            now = {imported, (*imported, value)}
        elif name == "STORE_FAST":
            variables[value] = variables.get(value, set()) | now
        elif name not in ("EXTENDED_ARG", "CACHE"):
            now = set()
        paths |= now
        of_self = name == "LOAD_FAST" and value == "self"


def found_at(path, space):
    """What torch.nn.functional is, for a function with these globals."""
    found = space.get(path[0])
    if not isinstance(found, (types.ModuleType, type)):
        found = sys.modules.get(path[0])
    for name in path[1:]:
        if not isinstance(found, types.ModuleType):
            return None
        found = vars(found).get(name)
    return found
