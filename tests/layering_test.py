"""The arrows between the folders, read off the #include lines.

    sym <- solver <- guards <- tracer_adapter <- bindings, cli, examples, bench

A folder includes itself and what lies to its left; torch is known to the
tracer and what stands on it, Z3 to one file, Boost to one file.  A file includes
its own header first, so that its compilation shows that the header needs nothing
before it (tests/CMakeLists.txt compiles the headers that have no such file).
An installed header includes installed ones, and names no other file.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# folder -> the folders of ours that it may include
MAY_INCLUDE = {
    "sym": {"sym"},
    "solver": {"sym", "solver"},
    "guards": {"sym", "solver", "guards"},
    "tracer_adapter": {"sym", "solver", "guards", "tracer_adapter"},
    "cli": {"sym", "solver", "guards", "tracer_adapter", "cli"},
    "bindings": {"sym", "solver", "guards", "tracer_adapter", "bindings"},
    "examples": {"sym", "solver", "guards", "tracer_adapter"},
}
OURS = set(MAY_INCLUDE) | {"bench", "tests"}
TORCH = {"torch", "ATen", "c10", "caffe2", "pybind11"}
TORCH_FOLDERS = {"tracer_adapter", "bindings", "examples"}
Z3_FILE = "solver/z3_backend.cc"
BOOST_FILE = "sym/integer.cc"

# The parts of a ShapeEnv are read in the order of docs/architecture.md: each
# includes those above it.
PART = re.compile(r"guards/env/(\w+)\.(?:h|cc)")


def parts_in_order():
    text = (ROOT / "docs/architecture.md").read_text()
    table = text.split("parts (`guards/env/`)")[1].split("\n\n")[1]
    return re.findall(r"^    (\w+)  ", table, re.MULTILINE)


def part_complaint(name, included, order):
    """Why a part of a ShapeEnv may not include another, or None."""
    this, other = PART.fullmatch(name), PART.fullmatch(included)
    if not this:
        return None
    if this.group(1) not in order:
        return "docs/architecture.md does not name this part"
    if not other:
        return "ShapeEnv is made of its parts" * (
            included == "guards/shape_env_impl.h") or None
    above = order[:order.index(this.group(1)) + 1]
    return None if other.group(1) in above else "is no part above it"


# Installed beside the headers that cmake/ProvisoInstall.cmake lists; the table
# says where each row is read.
C_HEADER = "bindings/c/include/proviso/proviso.h"
LIMITS = "solver/limits.def"

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1)


def complaint(name, folder, included):
    """Why file `name` of `folder` may not include `included`, or None."""
    head = included.split("/")[0]
    if head in OURS and "/" in included and head not in MAY_INCLUDE[folder]:
        return f"{folder}/ must not include {head}/"
    # An example that others copy has its headers beside it.
    is_whole = "/" in included or name.startswith("examples/link/")
    if not is_whole and (ROOT / name).parent.joinpath(included).exists():
        return f'write the whole path: "{folder}/{included}"'
    # pybind and the torch commands of the command line are built with the
    # tracer alone.
    torch_file = folder in TORCH_FOLDERS or name.startswith("cli/torch_")
    if (head in TORCH or included == "Python.h") and not torch_file:
        return "torch is for tracer_adapter/ and bindings/ alone"
    if re.fullmatch(r"z3(\+\+|_\w+)?\.h", included) and name != Z3_FILE:
        return f"Z3 is for {Z3_FILE} alone"
    if head == "boost" and name != BOOST_FILE:
        return f"Boost is for {BOOST_FILE} alone"
    return None


def own_header_complaint(name, included, has_header):
    """Why the first #include of a file may not be this one, or None."""
    own = name.removesuffix(".cc") + ".h"
    if name.endswith(".cc") and has_header(own) and included != own:
        return f"{own} comes first"
    return None


def violations():
    order = parts_in_order()
    for folder in MAY_INCLUDE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cc", ".cpp", ".def"):
                continue
            name = path.relative_to(ROOT).as_posix()
            for i, (number, included) in enumerate(includes(path)):
                why = (complaint(name, folder, included) or
                       part_complaint(name, included, order) or
                       (i == 0 and own_header_complaint(
                           name, included, lambda own: (ROOT / own).exists())))
                if why:
                    yield f"{name}:{number}: includes {included}: {why}"


def installed_headers():
    """What cmake/ProvisoInstall.cmake installs."""
    text = (ROOT / "cmake/ProvisoInstall.cmake").read_text()
    lists = re.findall(r"set\((\w+)_headers\s([^)]*)\)", text)
    assert len(lists) == 4, lists
    return {f"{folder}/{name}.h" for folder, names in lists
            for name in re.sub("#.*", "", names).split()}


def not_installed(installed, includes_of):
    """(header, what it includes) where that is ours and not installed."""
    return [(name, included) for name in sorted(installed)
            for included in includes_of(name)
            if included.endswith(".h") and included not in installed
            and included.split("/")[0] in MAY_INCLUDE]


def names_not_installed(installed, text_of):
    """(header, a file that its text names) where that is not installed."""
    file = re.compile(rf"\b(?:{'|'.join(sorted(OURS))})/[\w/]+\.\w+|\w+\.md\b")
    return [(name, named) for name in sorted(installed)
            for named in sorted(set(file.findall(text_of(name))) - installed)]


def self_check():
    """A seeded breach of each rule is noticed."""
    assert complaint("sym/x.cc", "sym", "solver/solver.h")
    assert complaint("solver/x.cc", "solver", "guards/shape_env.h")
    assert complaint("guards/x.cc", "guards", "c10/core/SymInt.h")
    assert complaint("solver/solver.cc", "solver", "z3++.h")
    assert complaint("sym/expr.cc", "sym", "boost/multiprecision/cpp_int.hpp")
    assert own_header_complaint("sym/x.cc", "vector", {"sym/x.h"}.__contains__)
    assert not own_header_complaint("sym/x.cc", "vector", {}.__contains__)
    order = ["log", "facts"]
    assert part_complaint("guards/env/log.h", "guards/env/facts.h", order)
    assert part_complaint("guards/env/other.h", "sym/expr.h", order)
    assert part_complaint("guards/env/log.cc", "guards/shape_env_impl.h", order)
    assert not part_complaint("guards/env/facts.cc", "guards/env/log.h", order)
    assert not part_complaint("guards/shape_env.cc", "guards/env/log.h", order)
    assert not complaint(Z3_FILE, "solver", "z3++.h")
    assert not complaint("solver/x.cc", "solver", "sym/expr.h")
    assert not_installed({"sym/a.h"}, {"sym/a.h": ["sym/b.h"]}.get)
    assert not not_installed({"sym/a.h"}, {"sym/a.h": ["c10/b.h"]}.get)
    for text in ("// see sym/b.cc", "(tests/sym/b_test.cc)", "// GUIDE.md says"):
        assert names_not_installed({"sym/a.h"}, {"sym/a.h": text}.get)
    for text in ('#include "sym/a.h"', "x/2.5 * sym/a", "// model.cc:12"):
        assert not names_not_installed({"sym/a.h"}, {"sym/a.h": text}.get)


def main():
    self_check()
    found = list(violations())
    found += [f"{name} is installed and includes {included}, which is not"
              for name, included in not_installed(
                  installed_headers(),
                  lambda name: [i for _, i in includes(ROOT / name)])]
    found += [f"{name} is installed and names {named}, which is not"
              for name, named in names_not_installed(
                  installed_headers() | {C_HEADER},
                  lambda name: (ROOT / name).read_text()) if named != LIMITS]
    print("\n".join(found) or "the arrows hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
