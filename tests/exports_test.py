"""What the shared core shows, beside what the public headers declare.

    exports_test.py LIBRARY VERSION OBJECT...

Nothing internal is shown and nothing of the standard library; all is in the
inline namespace of the version.  Whatever the objects (tests, tracer; those that
are built) use of the public names is there.  The sources open the right namespace each.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["sym", "solver", "guards", "tracer_adapter"]
INTERNAL_BUT_INSTALLED = {"sym/small_vector.h"}  # a type of public members
# They define ShapeEnv::Impl and Context::Call.
CLASSES_WITHIN_PUBLIC_ONES = {"guards/shape_env_impl.h",
                              "solver/context_call.h"}

MADE_BY_COMPILER = re.compile(
    r"^(vtable for|typeinfo for|typeinfo name for|TLS init function for|"
    r"TLS wrapper function for|guard variable for|"
    r"(non-)?virtual thunk to) ")


def public_headers():
    """sym/expr.h and so on: what cmake/ProvisoInstall.cmake installs."""
    text = (ROOT / "cmake/ProvisoInstall.cmake").read_text()
    for folder in FOLDERS[:-1]:
        names = re.search(rf"set\({folder}_headers\s([^)]*)\)", text).group(1)
        for name in names.split():
            yield f"{folder}/{name}.h"


def nm(*options):
    out = subprocess.run(["nm", "-C", "--format=posix", *options],
                         check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        found = re.match(r"(.*?) ([A-Za-z])(?: [0-9a-f]*)*\s*$", line)
        if found:
            yield MADE_BY_COMPILER.sub("", found.group(1)), found.group(2)


def scope(symbol):
    """proviso::v0_2::Context::ask of that name with its arguments."""
    found = re.match(r"(?:[\w:]+[&*]* )?(proviso::[^(<]*)", symbol)
    return found.group(1) if found else symbol


def sources_that_open_another_namespace(version):
    public = set(public_headers()) - INTERNAL_BUT_INSTALLED
    opened = re.compile(r"^(?:inline )?namespace (\w.*?) \{", re.MULTILINE)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            name = path.relative_to(ROOT).as_posix()
            spaces = set(opened.findall(path.read_text()))
            outer = {s for s in spaces if s.startswith("proviso")}
            wanted = f"proviso::inline {version}"
            for space in sorted(outer):
                if not (space + "::").startswith(wanted + "::"):
                    yield f"{name}: opens {space}, not {wanted}"
            if name in public and f"{wanted}::internal" in outer:
                yield f"{name}: is public and opens {wanted}::internal"
            private = folder != "tracer_adapter" and path.suffix == ".h" \
                and name not in public \
                and name not in CLASSES_WITHIN_PUBLIC_ONES
            if private and wanted in outer:
                yield f"{name}: is not installed: open {wanted}::internal"


def unwanted_exports(symbols, version, declared):
    for symbol in symbols:
        if not scope(symbol).startswith(f"proviso::{version}::"):
            yield f"shown, and not of proviso::{version}: {symbol}"
            continue
        first = scope(symbol).split("::")[2].split("<")[0].split("[")[0]
        if first == "internal":
            yield f"shown, and internal: {symbol}"
        elif not first.startswith("operator") and first not in declared:
            yield f"shown, and in no public header: {symbol}"


def self_check():
    """A seeded defect of each kind is noticed."""
    shown = ["std::vector<int>::push_back(int)", "proviso::ask(int)",
             "proviso::v0_2::internal::Engine::ask(proviso::v0_2::Expr)",
             "proviso::v0_2::helper(proviso::v0_2::Expr)",
             "proviso::v0_2::parse(proviso::v0_2::ExprPool&)"]
    found = list(unwanted_exports(shown, "v0_2", {"parse", "Context"}))
    assert len(found) == 4, found


def main(library, version, objects):
    self_check()
    inline = "v" + "_".join(version.split(".")[:2])
    declared = set()
    for header in public_headers():
        declared |= set(re.findall(r"\w+", (ROOT / header).read_text()))
    shown = {name for name, _ in nm("-D", "--defined-only", library)}
    problems = list(sources_that_open_another_namespace(inline))
    problems += unwanted_exports(sorted(shown), inline, declared)

    objects = [path for path in objects if pathlib.Path(path).exists()]
    used = {name for name, kind in nm("--undefined-only", *objects)
            if scope(name).startswith(f"proviso::{inline}::")}
    defined = {name for name, _ in nm("--defined-only", *objects)}
    missing = {name for name in used - defined - shown
               if not scope(name).startswith(f"proviso::{inline}::internal::")}
    problems += [f"used, and not shown: {name}" for name in sorted(missing)]

    soname = subprocess.run(["readelf", "-d", library], check=True,
                            capture_output=True, text=True).stdout
    wanted = "libproviso.so." + ".".join(version.split(".")[:2])
    if f"[{wanted}]" not in soname:
        problems.append(f"the SONAME is not {wanted}")
    print("\n".join(problems) or
          f"{len(shown)} symbols shown, {len(used)} of them used by the objects")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
