"""Reference pages from the sources themselves.

A header is its own manual: the comment at its top is the page's text, and each
declaration follows with the comment above it.  Private members, includes and
the bodies of inline functions are left out.

    /* sym/cost.h - ... */  ->  ## sym/cost.h
    int64_t cost(Expr e);       text, then the declarations as code

Python's page is made from docstrings, the command's from its --help.
"""

import importlib
import inspect
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def public_headers():
    """{"sym": ["sym/budget.h", ...], ...}: what cmake/ProvisoInstall.cmake
    installs."""
    text = (ROOT / "cmake" / "ProvisoInstall.cmake").read_text()
    found = {}
    for folder, names in re.findall(r"set\((\w+)_headers\s+([^)]*)\)", text):
        found[folder] = [f"{folder}/{name}.h" for name in names.split()]
    return found


def prose(lines):
    """A comment as Markdown: what is indented is code, and a word that Markdown
    would read as its own stays as it is."""
    out, code = [], []

    def end_code():
        if code:
            while code and not code[-1].strip():
                code.pop()
            out.extend(["", "```cpp", *code, "```", ""])
            code.clear()

    for line in lines:
        if line.startswith("  ") or (code and not line.strip()):
            code.append(line[2:])
        else:
            end_code()
            out.append(re.sub(r"([*_<>\[\]|])", r"\\\1", line))
    end_code()
    return "\n".join(out)


def comment_lines(text):
    """The first comment of a file, without its slashes or stars."""
    lines = []
    if text.startswith("/*"):
        body = text[2:text.index("*/")]
        for line in body.split("\n"):
            lines.append(re.sub(r"^ \* ?| ", "", line, count=1))
        return lines, text[text.index("*/") + 2:]
    rest = text.split("\n")
    while rest and rest[0].startswith("//"):
        lines.append(re.sub(r"^// ?", "", rest.pop(0)))
    return lines, "\n".join(rest)


def without_bodies(code):
    """Inline function bodies become `;`, and private sections go."""
    out, i = [], 0
    scopes = []  # what each open brace belongs to
    statement = ""
    while i < len(code):
        if code.startswith("//", i):
            end = code.index("\n", i) if "\n" in code[i:] else len(code)
            out.append(code[i:end])
            i = end
            continue
        c = code[i]
        if c == "{" and (is_function(statement) and not statement.count("=")):
            i = matching(code, i) + 1
            out.append(";")
            statement = ""
            continue
        if c == "{":
            scopes.append(statement)
        if c == "}" and scopes:
            scopes.pop()
        statement = "" if c in "{};" else statement + c
        out.append(c)
        i += 1
    text = "".join(out)
    text = re.sub(r"\n\s*: [\w:]+\([^;{]*;", ";", text)
    text = re.sub(r"^ (private|protected):.*?(?=^};|^ public:)", "", text,
                  flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r";;+", ";", text)
    return text.replace(" ;", ";")


def is_function(statement):
    return bool(re.search(r"\)\s*(const|noexcept|override|final|\s)*"
                          r"(:[^;]*)?$", statement, re.DOTALL)) and not (
        re.search(r"\b(namespace|struct|class|enum)\b[^()]*$", statement))


def matching(code, i):
    """The index of the brace that closes the one at i."""
    depth = 0
    for j in range(i, len(code)):
        depth += {"{": 1, "}": -1}.get(code[j], 0)
        if depth == 0:
            return j
    return len(code) - 1


def header_page(path):
    lines, rest = comment_lines(path.read_text())
    title, _, first = lines[0].partition(" - ")
    if path.suffix == ".h" and not first:
        title = str(path.relative_to(ROOT))
        first = lines[0]
    rest = re.sub(r"^#.*(\\\n.*)*$", "", rest, flags=re.MULTILINE)
    rest = re.sub(r"^PROVISO_API_(BEGIN|END)$", "", rest, flags=re.MULTILINE)
    rest = re.sub(r"^(}  // namespace .*|namespace [\w: ]+ {|extern \"C\" {)$",
                  "", rest, flags=re.MULTILINE)
    code = without_bodies(rest)
    code = re.sub(r"\n{3,}", "\n\n", code).strip()
    text = prose([first[:1].upper() + first[1:], *lines[1:]])
    return f"## `{title.strip()}`\n\n{text}\n\n```cpp\n{code}\n```\n"


def cpp_page(folder, headers):
    parts = [f"# {folder}\n\nEach header as it stands, private parts left out; "
             f"installed as `<proviso/{folder}/...>`.\n"]
    parts += [header_page(ROOT / header) for header in headers]
    return "\n".join(parts)


def c_page():
    path = ROOT / "bindings" / "c" / "include" / "proviso" / "proviso.h"
    return "# C\n\n" + header_page(path)


def command_page(program):
    def help_of(*words):
        return subprocess.run([program, *words, "--help"], check=True,
                              capture_output=True, text=True).stdout

    whole = help_of()
    commands = re.findall(r"^  (\w+) ", whole.split("commands:")[1]
                          .split("options:")[0], re.MULTILINE)
    parts = ["# The command `proviso`\n", "```text", whole.rstrip(), "```", ""]
    for name in dict.fromkeys(commands):
        parts += [f"## {name}", "", "```text", help_of(name).rstrip(), "```",
                  ""]
    return "\n".join(parts)


def signature(thing):
    try:
        text = str(inspect.signature(thing))
        text = re.sub(r"\bproviso\.(_\w+\.)?|\bself(, )?", "", text)
        return re.sub(r"'(\w[\w.\[\], ]*)'", r"\1", text)
    except (TypeError, ValueError):
        return "(...)"


def docstring(text):
    """A docstring as Markdown: examples (>>>, or indented after a blank line)
    are code, the lines that explain an argument are a list."""
    body, in_code, after_blank = [], False, True
    for line in text.split("\n"):
        if not line.strip():
            if in_code:
                body.append("```")
            body.append("")
            in_code, after_blank = False, True
            continue
        starts = line.startswith(">>>") or (after_blank and line[:4] == "    ")
        if starts and not in_code:
            body += ["", "```python"]
            in_code = True
        after_blank = False
        if in_code:
            body.append(line.removeprefix("    "))
            continue
        argument = re.match(r"(\w+): (.*)", line)
        line = re.sub(r"([*_<>\[\]|])", r"\\\1", line.strip())
        if argument and body and not body[-1].startswith("- ") and body[-1]:
            body.append("")
        body.append(f"- {line}" if argument else
                    f"  {line}" if body and body[-1][:2] in ("- ", "  ")
                    else line)
    if in_code:
        body.append("```")
    return "\n".join(body)


def described(name, thing, level):
    head = f"{'#' * level} `{name}`\n"
    if not inspect.isclass(thing) and not isinstance(thing, property):
        called = name.rpartition(".")[2] + signature(thing)
        head += f"\n```python\n{called}\n```\n"
    return head + "\n" + docstring(inspect.getdoc(thing) or "") + "\n"


def python_page():
    """Of an importable proviso; torch is not imported."""
    proviso = importlib.import_module("proviso")
    parts = ["# Python\n\n`import proviso`, without torch. What needs torch "
             "(`proviso.export`, `proviso.requirements`, `proviso.torch`) "
             "loads it when it is first used.\n"]
    for name in sorted(vars(proviso)):
        thing = vars(proviso)[name]
        if name.startswith("_") or inspect.ismodule(thing):
            continue
        if not callable(thing):
            continue
        parts.append(described(name, thing, 2))
        if not inspect.isclass(thing) or issubclass(thing, Exception):
            continue
        for member, value in vars(thing).items():
            if member.startswith("_") or not (
                    callable(value) or isinstance(value, (property,
                                                          classmethod))):
                continue
            if isinstance(value, classmethod):
                value = value.__func__
            parts.append(described(f"{name}.{member}", value, 3))
    return "\n".join(parts)
