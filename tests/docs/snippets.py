"""The C++ of docs/*.md as one program, and what it printed beside what the
pages show.

    snippets.py write OUT.cc      docs/*.md -> a program of all snippets
    snippets.py check PROGRAM     runs it and compares; exit status 1 on a
                                  difference
    snippets.py fill PROGRAM      writes what it printed into the pages

A page takes part when it has a ```cpp block of #include lines alone. Each
```cpp block with a ```text block after it is a function of its own.
"""

import difflib
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PREAMBLE = re.compile(
    r"^```cpp\n((?:#include .*\n|\n)+using namespace proviso;\n)```$", re.M)
LINES = r"((?:(?!```).*\n)*)"
SNIPPET = re.compile(rf"^```cpp\n{LINES}```\n\n```text\n{LINES}```$", re.M)
MARK = "--- snippet"


def pages():
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text()
        preamble = PREAMBLE.search(text)
        if preamble:
            yield path, text, preamble.group(1), SNIPPET.findall(text)


def program():
    preambles, functions, calls = [], [], []
    for path, _, preamble, snippets in pages():
        preambles += [line for line in preamble.splitlines()
                      if line not in preambles]
        assert snippets, f"{path.name}: a preamble and no snippet with output"
        for code, _ in snippets:
            name = f"snippet_{len(functions)}"
            functions.append(f"// {path.name}\nvoid {name}() {{\n{code}}}\n")
            calls.append(f'  std::cout << "{MARK}\\n";\n  {name}();\n')
    return "\n".join([*preambles, "", "namespace {", *functions,
                      "}  // namespace", "", "int main() {",
                      "".join(calls) + "}", ""])


def outputs(binary):
    done = subprocess.run([binary], capture_output=True, text=True, check=True)
    return done.stdout.split(f"{MARK}\n")[1:]


def check(binary):
    found = iter(outputs(binary))
    status = 0
    for path, _, _, snippets in pages():
        for code, shown in snippets:
            printed = next(found)
            if printed == shown:
                continue
            status = 1
            print(f"{path.name}: the snippet that begins with "
                  f"{code.splitlines()[0]!r} prints otherwise")
            print("\n".join(difflib.unified_diff(
                shown.splitlines(), printed.splitlines(), "page", "program",
                lineterm="")))
    return status


def fill(binary):
    found = iter(outputs(binary))
    for path, text, _, _ in pages():
        path.write_text(SNIPPET.sub(
            lambda m: f"```cpp\n{m[1]}```\n\n```text\n{next(found)}```", text))
    return 0


def main():
    match sys.argv[1:]:
        case ["write", out]:
            pathlib.Path(out).write_text(program())
            return 0
        case ["check", binary]:
            return check(binary)
        case ["fill", binary]:
            return fill(binary)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
