"""The tables of limits name the files that read their rows, and they do.

    // solver/normal/ranges.cc, correlated.cc
    PROVISO_LIMIT(correlation_depth, ...)

Each file that is named reads a row below its name, as limits().NAME, or as
fixed::NAME where the row is fixed; each row is read there, and no other file of
sym/, solver/ and guards/ reads it.  A comment may name a row anywhere, but only
one that exists.  No two rows have one name.  A number that is called like a
limit (kMax.., kMost.., k..Units) is a row, or one of the EXCEPTIONS.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("sym", "solver", "guards")

READ = re.compile(r"\b(?:limits\(\)(?:\.|->)|fixed::)(\w+)")
ROW = re.compile(r"^PROVISO_(?:FIXED_)?LIMIT\((\w+),", re.MULTILINE)
FIXED = re.compile(r"^PROVISO_FIXED_LIMIT\((\w+),", re.MULTILINE)
FILES = re.compile(r"^// ((?:[\w/]+\.(?:cc|h)(?:, )?)+),?$")
CONSTANTS = re.compile(r"\bconstexpr\b([^;{(]*)[;{(]")
LIMIT_NAME = re.compile(r"\b(k(?:Max|Most)[A-Z]\w*|k\w*Units) =")

# What is called like a limit and bounds no reasoning.
EXCEPTIONS = {
    "sym/cost.h kMaxCost": "where costs saturate",
    "sym/lexer.cc kMaxNameLength": "the texts that parse() takes",
    "sym/lexer.h kMaxDigits": "the texts that parse() takes",
    "sym/parse.cc kMaxOperands": "the texts that parse() takes",
    "sym/print.cc kMaxPlaces": "how a fraction is written",
    "sym/print.h kMaxTextLength": "the texts that parse() takes; public",
    "sym/rules.cc kMaxRules": "the size of an array of counters",
    "sym/stable_vector.h kMaxChunks": "the size of an array of chunks",
    "sym/expr.cc kNodeUnits": "what a node is charged",
    "solver/engine/fact_stack.cc kAssumingUnits": "what a fact is charged",
    "solver/forms/interned.h kNewUnits": "what a form is charged",
    "solver/linear.h kMaxCoefficient": "what fits in 64 bits",
    "solver/z3_backend.h kUnits": "what a unit of Z3's counts",
}


def sections(table):
    """Pairs of the files named and the rows below, in the table's order."""
    found, goes_on = [], False
    for line in table.splitlines():
        if named := FILES.match(line):
            files, folder = (found[-1][0], folder) if goes_on else ([], "")
            for name in named.group(1).split(", "):
                if "/" in name:
                    folder = name.rsplit("/", 1)[0]
                files.append(name if "/" in name else f"{folder}/{name}")
            if not goes_on:
                found.append((files, []))
            goes_on = line.endswith(",")
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


def stray_limits(text):
    """The names of constants that are called like limits."""
    code = re.sub(r"//.*", "", text)
    return {
        name for declared in CONSTANTS.findall(code)
        for name in LIMIT_NAME.findall(declared)
    }


def complaints(tables, texts, exceptions=()):
    """What is wrong, of the tables' texts and a text for each file's name."""
    read = {name: rows_read(text) for name, text in texts.items()}
    all_rows = [row for table in tables for row in ROW.findall(table)]
    for row in sorted(set(all_rows)):
        if all_rows.count(row) > 1:
            yield f"{row} is the name of two rows"
    fixed = {row for table in tables for row in FIXED.findall(table)}
    for files, below in (s for table in tables for s in sections(table)):
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
        for row in sorted((code | comments) - set(all_rows)):
            yield f"{name} names {row}, which is no row"
    for name, text in texts.items():
        for row in sorted(set(re.findall(r"\blimits\(\)\.(\w+)", text)) & fixed):
            yield f"{name} reads {row} of the options, but it is fixed"
    stray = {
        f"{name} {constant}"
        for name, text in texts.items() for constant in stray_limits(text)
    }
    for one in sorted(stray - set(exceptions)):
        yield f"{one} is no row of a limits.def"
    for one in sorted(set(exceptions) - stray):
        yield f"{one} is an exception, and there is none"


def self_check():
    """A seeded breach of each rule is noticed."""
    table = ("// solver/a.cc, b.cc\nPROVISO_LIMIT(few, int, 1, \"u\",\n"
             "// solver/a.cc,\n// solver/d.h\nPROVISO_FIXED_LIMIT(all, int,\n")
    good = {
        "solver/a.cc": "limits().few fixed::all",
        "solver/b.cc": "limits()->few;",
        "solver/d.h": "constexpr int kA = fixed::all;"
    }

    def is_found(change, more="", exceptions=()):
        return list(complaints([table + more], good | change, exceptions))

    assert not is_found({})
    assert is_found({"solver/b.cc": "// limits().few"})
    assert is_found({"solver/c.cc": "limits().few"})
    assert is_found({"solver/c.cc": "// limits().fe"})
    assert is_found({"solver/c.cc": "fixed::all"})
    assert is_found({"solver/d.h": ""})
    assert is_found({"solver/a.cc": "limits().few limits().all"})
    assert list(complaints([table], {"solver/a.cc": "limits().few"}))
    assert is_found({}, "PROVISO_LIMIT(many,")
    assert is_found({}, "// solver/a.cc\nPROVISO_LIMIT(few,")
    for line in ("constexpr int kMaxDepth = 3;",
                 "static constexpr size_t kFew = 8,\n  kMostTerms = 2;",
                 "constexpr uint64_t kUnits = 5;"):
        assert is_found({"solver/c.cc": line})
    assert not is_found({"solver/c.cc": "constexpr int kMaxDepth = 3;"},
                        exceptions=["solver/c.cc kMaxDepth"])
    assert is_found({}, exceptions=["solver/c.cc kMaxDepth"])


def main():
    self_check()
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".cc")
    }
    tables = [(ROOT / folder / "limits.def").read_text() for folder in FOLDERS]
    found = list(complaints(tables, texts, EXCEPTIONS))
    print("\n".join(found) or "every row is read where the tables say")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
