"""A namespace has one type of a name, in whatever library it stands.

Two would break the one-definition rule: the linker keeps one of their
destructors.  `one_definition` asks the linker about the core; this reads the
tracer, the bindings and the commands, too.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("sym", "solver", "guards", "tracer_adapter", "bindings", "cli")

OPENS = re.compile(r"namespace\s*([\w:]*(?:\s+v\d\w*)?[\w:]*)\s*\{")
CLOSES = re.compile(r"\}\s*// namespace")
DEFINES = re.compile(r"(?:struct|class|enum class|enum)\s+(\w+)"
                     r"(?:\s+final)?\s*(?::[^:;].*)?\{")


def types(text):
    """Those that are defined in namespaces with names."""
    within = []
    for line in text.splitlines():
        if opened := OPENS.match(line):
            within.append(opened.group(1))
        elif CLOSES.match(line) and within:
            within.pop()
        elif "" not in within and (defined := DEFINES.match(line)):
            yield "::".join([*within, defined.group(1)])


def repeated(texts):
    """[(type, files)] of {file: text}."""
    places = collections.defaultdict(list)
    for name, text in texts.items():
        for defined in types(text):
            places[defined].append(name)
    return [(t, files) for t, files in sorted(places.items()) if len(files) > 1]


def self_check():
    """A seeded breach is noticed, and what is none is not."""
    a = "namespace proviso::inline v0_2 {\nstruct Need {\n};\n"
    hidden = "namespace proviso::inline v0_2 {\nnamespace {\nstruct Need {\n"
    assert repeated({"a.h": a, "b.h": a})
    assert not repeated({"a.h": a, "b.cc": hidden})
    assert not repeated({"a.h": a, "b.h": a.replace("v0_2", "v0_2::internal")})


def main():
    self_check()
    found = repeated({
        path.relative_to(ROOT).as_posix(): path.read_text()
        for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".cc")})
    for defined, files in found:
        print(f"{defined} is defined in {', '.join(files)}: rename one")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
