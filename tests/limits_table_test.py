"""The tables of limits name the files that read their rows, and they do.

    // solver/normal/ranges.cc, correlated.cc
    PROVISO_LIMIT(correlation_depth, ...)

Each file that is named reads a row below its name, as limits().NAME or
&Limits::NAME, or as fixed::NAME where the row is fixed; each row is read there,
and no other file of sym/, solver/ and guards/ reads it.  A comment may name a row
anywhere, but only one that exists.  No two rows have one name.

A number is a row, or one of the EXCEPTIONS, where it may be a limit: a constant
of its own, and without a name what is compared with, or is a multiple of a
limit, or a power of two:

    constexpr size_t kFew = 8;    depth > 4    16 * limits().terms    1 << 20
"""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("sym", "solver", "guards")

READ = re.compile(r"(?:\blimits\(\)(?:\.|->)|\bfixed::|&Limits::)(\w+)")
ROW = re.compile(r"^PROVISO_(?:FIXED_)?LIMIT\((\w+),", re.MULTILINE)
FIXED = re.compile(r"^PROVISO_FIXED_LIMIT\((\w+),", re.MULTILINE)
FILES = re.compile(r"^// ((?:[\w/]+\.(?:cc|h)(?:, )?)+),?$")
CONSTANTS = re.compile(r"\bconstexpr\b([^;]*);")
NAMED = re.compile(r"\b(k[A-Z]\w*)(?:\[\w*\])? = (.*?)(?=, k[A-Z]|$)")
LIMIT_NAME = re.compile(r"k(?:Max|Most)[A-Z]\w*|k\w*Units")
# An expression of numbers alone, one of them beyond 2; or a list of such.
NUMBERS = re.compile(r"(?:\d+u?\b|[\d\s'.,{}()<+*/-]|\bu?int64_t\b|\bsize_t\b|"
                     r"\bWide\b|\bstatic_cast<Wide>)+")
LARGE = re.compile(r"\b(?:[3-9]|\d[\d']+)u?\b")
UNNAMED = re.compile(
    r"\w+(?:\(\))? (?:[<>]=?|==) (?:[4-9]|[1-9][\d']+)\b(?![.'])|"
    r"\b\d+ \* (?:limits\(\)|fixed::)[.\w]+|\b1u? << [1-9][0-9]\b")

# What is no limit, or bounds no reasoning; * is any text.
EXCEPTIONS = {
    "* kLevelsAtOnce": "levels taken by recursion before what is below is done",
    "guards/env/symbols.cc size() < 5": "the length of a text that is read",
    "guards/errors/choice.cc value < 32": "which check is likely to be meant",
    "guards/errors/diagnosis_html.cc *": "the layout of a page",
    "guards/errors/diagnosis_text.cc kWidth": "the layout of a text",
    "guards/errors/env_text.cc end > 9": "the length of a number in a log",
    "guards/errors/log_lines.cc i < 12": "the length of a colour in a log",
    "guards/errors/log_lines.cc size() < 4": "the length of a month in a log",
    "guards/errors/source_code.cc digits > 7": "line numbers that fit in int",
    "guards/errors/text_parts.cc size() < 10": "numbers of symbols, in 32 bits",
    "solver/basis.cc kLarge": "what fits in 128 bits, squared",
    "solver/engine/answers.h kLast": "the size of an array of answers",
    "solver/engine/fact_stack.cc capacity() > 64": "memory that is given back",
    "solver/engine/fact_stack.cc kAssumingUnits": "what a fact is charged",
    "solver/engine/memo.h kFew": "the size of an array of answers",
    "solver/forms/interned.h kNewUnits": "what a form is charged",
    "solver/large_stack.cc *Stack": "the stack that Z3 has",
    "solver/linear.h kMaxCoefficient": "what fits in 64 bits",
    "solver/names.cc size() < 12": "how a name is written",
    "solver/reason.h kFew": "nodes before joins are looked up",
    "solver/reason.h kRemembered": "the size of a table of joins",
    "solver/simplex.cc *CellsPerUnit": "what a cell is charged",
    "solver/simplex.cc kSmallNumber": "how numbers are divided",
    "solver/state/differences.cc kFewNodes": "nodes before a map is made",
    "solver/strategies/enumeration.cc kEqualityMeets": "an estimate",
    "solver/strategies/min_max.cc leaf < 6": "bits of a word",
    "solver/strategies/relevance.cc bit_length() > 6?": "what fits in 64 bits",
    "solver/strategies/relevance.cc kFar": "what fits in 64 bits",
    "solver/strategy.h kTierCount": "the number of tiers",
    "solver/z3_backend.cc kProduct*": "how long a step of Z3's may be",
    "solver/z3_backend.cc kRowBits": "how long a step of Z3's may be",
    "solver/z3_backend.h kUnits": "what a unit of Z3's counts",
    "sym/budget.h kSlice": "units between two looks at a flag",
    "sym/budget.h kUnlimited": "more than any limit",
    "sym/cost.cc kDivisionCost": "what costs are",
    "sym/cost.h kMaxCost": "where costs saturate",
    "sym/doubles.cc k*Bits": "what fits in a double",
    "sym/excerpt.h k*Length": "how much of a text an error has",
    "sym/expr.cc kNodeUnits": "what a node is charged",
    "sym/find_node.h kFewNodes": "nodes before what is shared is looked up",
    "sym/form_search.h kDeepest": "the last row of a table of limits",
    "sym/integer.cc 1 << 20": "more than the length of any number read",
    "sym/integer.cc kLong": "the lengths at which numbers are charged",
    "sym/integer.cc kTop": "what fits in 128 bits",
    "sym/lexer.cc kBefore": "how much of a text an error has",
    "sym/lexer.cc kMaxNameLength": "the texts that parse() takes",
    "sym/lexer.cc kShown": "how much of a text an error has",
    "sym/lexer.h kMaxDigits": "the texts that parse() takes",
    "sym/parse.cc kMaxOperands": "the texts that parse() takes",
    "sym/parse.h 1 << 20": "the texts that parse() takes; public",
    "sym/polynomial.cc 2 * fixed::product_terms": "where a count saturates",
    "sym/print.cc *": "how a fraction is written",
    "sym/print.h kMaxTextLength": "the texts that parse() takes; public",
    "sym/rules.cc kMaxRules": "the size of an array of counters",
    "sym/stable_vector.h kLine": "the line of a cache",
    "sym/stable_vector.h kMaxChunks": "the size of an array of chunks",
    "sym/text_writer.h kLongText": "texts that are worth looking up",
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
    """The constants, and the numbers without a name, that may be limits."""
    code = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))
    code = re.sub(r"\s+", " ", code)
    found = {
        name for declared in CONSTANTS.findall(code)
        for name, value in NAMED.findall(declared)
        if LIMIT_NAME.fullmatch(name) or
        (NUMBERS.fullmatch(value) and LARGE.search(value))
    }
    return found | set(UNNAMED.findall(CONSTANTS.sub("", code)))


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
    excepted = {
        pattern: set(fnmatch.filter(stray, pattern)) for pattern in exceptions
    }
    for one in sorted(stray.difference(*excepted.values())):
        yield f"{one} is no row of a limits.def"
    for pattern in sorted(p for p, found in excepted.items() if not found):
        yield f"{pattern} is an exception, and there is none"


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
                 "static constexpr size_t kFew = 2,\n  kMostTerms = 2;",
                 "constexpr uint64_t kUnits = 5;",
                 "constexpr size_t kNearBits = 40;",
                 "constexpr uint32_t kSlack = 1u << 16;",
                 "constexpr Effort kEfforts[] = {{1, 0, 0},\n {8, 2, 0}};",
                 "const Int far = 1 << 20;",
                 "Int pow(Int base, size_t max_bits = 1 << 16);",
                 "if (depth > 4) return;",
                 "found.size() < 8) {",
                 "for (int i = 0; i < 4 && next; ++i) {",
                 "if (n > 16 * limits().few) return {};"):
        assert is_found({"solver/c.cc": line}), line
    for line in ("// if (depth > 4)", "constexpr int kNone = 0, kOne = 1;",
                 "f(\"x < 20\", \"y\")", "constexpr auto kTable = make(7);",
                 "constexpr int kA = fixed::all;", "x <= 0x1p10 || i < 2"):
        assert not stray_limits(line), line
    assert not is_found({"solver/c.cc": "constexpr int kMaxDepth = 3;"},
                        exceptions=["solver/c.cc kMaxDepth"])
    assert not is_found({"solver/c.cc": "constexpr int kMaxDepth = 3;"},
                        exceptions=["* kMax*"])
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
