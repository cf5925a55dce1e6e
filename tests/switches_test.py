"""A switch over an enumeration lists it, so that -Wswitch names what a new
enumerator touches.

`default:` stands over characters and numbers, and over what is open: the
instructions of a GuardProgram, of which each of its loops understands one kind.
Of operators there are many: visitors switch over their kinds (OpKind in
sym/op.h).
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("sym", "solver", "guards")
OPEN = {"Code"}

# Enumerators without a scope are of a closed enumeration, too.
ENUMERATOR = re.compile(r"k[A-Z]\w*$")

TOKEN = re.compile(r"\bswitch\b|\bcase\s+([^:]*(?:::[^:]+)*):|\bdefault:|[{}]")


def code_of(text):
    """The text without comments and the contents of literals."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'R"\w*\((?:.|\n)*?\)\w*"', '""', text)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"'(?:\\.|[^'\\\n])'", "'c'", text)


def is_closed(label):
    scope, _, name = label.rpartition("::")
    return bool(ENUMERATOR.match(name)) and scope.split("::")[-1] not in OPEN


def complaints(text):
    """The labels beside which a `default:` stands, where they are closed."""
    blocks, is_switch = [], False
    for token in TOKEN.finditer(code_of(text)):
        word = token.group(0)
        if word == "switch":
            is_switch = True
        elif word == "{":
            blocks.append({"default": False, "labels": []})
            blocks[-1]["switch"], is_switch = is_switch, False
        elif word == "}" and blocks:
            block = blocks.pop()
            closed = [label for label in block["labels"] if is_closed(label)]
            if block["default"] and closed:
                yield closed[0]
        else:
            here = next((b for b in reversed(blocks) if b["switch"]), None)
            if here is None:
                continue
            if word.startswith("default"):
                here["default"] = True
            else:
                here["labels"].append(token.group(1).strip())


def self_check():
    closed = "switch (v) { case Verdict::kYes: { f(); } default: g(); }"
    assert list(complaints(closed)) == ["Verdict::kYes"]
    operators = "switch (op) { case Op::kAdd: f(); break; default: g(); }"
    assert list(complaints(operators)) == ["Op::kAdd"]
    bare = "switch (kind) { case kUnion: f(); break; default: g(); }"
    assert list(complaints(bare)) == ["kUnion"]
    for fine in ("switch (i.code) { case Code::kAdd: default: f(); }",
                 "switch (c) { case '}': f(); break; default: g(); }",
                 "switch (v) { case Verdict::kYes: switch (n) { "
                 "case 1: break; default: break; } }"):
        assert not list(complaints(fine)), fine


def main():
    self_check()
    found = [f"{path.relative_to(ROOT)}: `default:` beside {label}"
             for folder in FOLDERS
             for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in (".h", ".cc")
             for label in complaints(path.read_text())]
    print("\n".join(found) or "every closed enumeration is listed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
