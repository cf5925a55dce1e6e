"""The questions of tests/regress are named by their mechanism.

    floor-merge-1|floor-merge|x:.. a:1.. b:1..||(x//a)//b == x//(a*b)|valid|-

A group is a mechanism in words; an id is its group and a number, once in all files.
"""

import pathlib
import re
import sys

FILES = sorted((pathlib.Path(__file__).parent / "regress").glob("*.txt"))


def complaints(lines):
    """What is wrong with the names in these lines."""
    seen = set()
    for line in lines:
        if not line or line.startswith("#"):
            continue
        name, group = line.split("|")[:2]
        if not re.fullmatch(r"[a-z][a-z0-9]+(-[a-z]+)*", group):
            yield f"{name}: the group {group} names no mechanism"
        if not re.fullmatch(rf"{re.escape(group)}-\d+", name) or name in seen:
            yield f"{name} is not {group} and a number of its own"
        seen.add(name)


def main():
    assert not list(complaints(["# a", "", "floor-1|floor|", "floor-2|floor|"]))
    for bad in (["x-1|x|"], ["X1|floor|"], ["floor-1|floor|"] * 2):
        assert list(complaints(bad)), bad
    lines = "\n".join(f.read_text() for f in FILES).splitlines()
    found = list(complaints(lines)) if lines else ["no question was found"]
    print("\n".join(found) or "every question is named by its mechanism")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
