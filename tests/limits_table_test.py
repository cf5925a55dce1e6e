"""solver/limits.def names the files that read its rows, and they do.

    // solver/normal/ranges.cc, correlated.cc
    PROVISO_LIMIT(correlation_depth, ...)

Each file that is named reads a row below its name, as limits().NAME or
limits()->NAME, each row is read there, and no other file of solver/ reads it.
A comment may name a row anywhere, but only one that exists.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

READ = re.compile(r"\blimits\(\)(?:\.|->)(\w+)")
ROW = re.compile(r"^PROVISO_LIMIT\((\w+),")
FILES = re.compile(r"^// ((?:[\w/]+\.(?:cc|h)(?:, )?)+)$")


def sections(table):
    """Pairs of the files named and the rows below, in the table's order."""
    found = []
    for line in table.splitlines():
        if named := FILES.match(line):
            files, folder = [], ""
            for name in named.group(1).split(", "):
                if "/" in name:
                    folder = name.rsplit("/", 1)[0]
                files.append(name if "/" in name else f"{folder}/{name}")
            found.append((files, []))
        elif row := ROW.match(line):
            if not found:
                found.append(([], []))
            found[-1][1].append(row.group(1))
    return found


def rows_read(text):
    """The rows that code reads, and those that a comment names."""
    code, comments = set(), set()
    for line in text.splitlines():
        before, _, comment = line.partition("//")
        code |= set(READ.findall(before))
        comments |= set(READ.findall(comment))
    return code, comments


def complaints(table, texts):
    """What is wrong, of the table's text and a text for each file's name."""
    read = {name: rows_read(text) for name, text in texts.items()}
    rows = {row for _, below in sections(table) for row in below}
    for files, below in sections(table):
        for name in files:
            if name not in read:
                yield f"{name} is no file, above {', '.join(below)}"
            elif not read[name][0] & set(below):
                yield f"{name} reads none of {', '.join(below)}"
        for row in below:
            users = {name for name in read if row in read[name][0]}
            if not users & set(files):
                yield f"{row} is read by none of {', '.join(files)}"
            for name in sorted(users - set(files)):
                yield f"{name} reads {row}: name it above the row"
    for name, (code, comments) in read.items():
        for row in sorted((code | comments) - rows):
            yield f"{name} names {row}, which is no row"


def self_check():
    """A seeded breach of each rule is noticed."""
    table = "// solver/a.cc, b.cc\nPROVISO_LIMIT(few, int, 1, \"u\",\n"
    good = {"solver/a.cc": "limits().few", "solver/b.cc": "limits()->few;"}
    assert not list(complaints(table, good))
    assert list(complaints(table, good | {"solver/b.cc": "// limits().few"}))
    assert list(complaints(table, good | {"solver/c.cc": "limits().few"}))
    assert list(complaints(table, good | {"solver/c.cc": "// limits().fe"}))
    assert list(complaints(table, {"solver/a.cc": "limits().few"}))
    assert list(complaints(table + "PROVISO_LIMIT(many,", good))


def main():
    self_check()
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for path in sorted((ROOT / "solver").rglob("*"))
        if path.suffix in (".h", ".cc")
    }
    found = list(complaints((ROOT / "solver/limits.def").read_text(), texts))
    print("\n".join(found) or "every row is read where the table says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
