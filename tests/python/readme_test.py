"""What the README shows is what happens.

A ```console block: lines after `$ ` are run, the lines below are their output.
A ```cpp block is the text of an example program, a ```python block is run as it
stands; the ```text block that follows either is the output.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(README)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


def output_after(language):
    """The text block that follows the only block of a language."""
    for (name, _), (after, text) in zip(BLOCKS, BLOCKS[1:]):
        if name == language and after == "text":
            return text
    raise AssertionError(f"no ```text block follows the ```{language} block")


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT,
                          timeout=300, **options)
    return done.stdout + done.stderr


def sessions():
    """(command, the output shown) of every console block."""
    for block in blocks("console"):
        parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        for part in parts:
            # A command may go on after a backslash.
            found = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n", part)
            yield found.group(1).replace("\\\n", " "), part[found.end():]


@pytest.mark.parametrize("command,shown", list(sessions()))
def test_command_prints_what_the_readme_shows(command, shown):
    if "build/bin/proviso" not in command:
        pytest.skip("not the proviso command")
    found = run(["bash", "-c", command])
    assert found == shown, shlex.quote(command)


def test_cpp_example_is_the_example_program():
    (text,) = blocks("cpp")
    assert (ROOT / "examples" / "readme.cc").read_text().endswith(text)


def test_cpp_example_prints_what_the_readme_shows():
    program = ROOT / "build" / "bin" / "example_readme"
    assert run([program]) == output_after("cpp")


def test_python_example_prints_what_the_readme_shows(tmp_path):
    (text,) = blocks("python")
    script = tmp_path / "model.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, timeout=300,
                          capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.replace(f"{tmp_path}{os.sep}", "")
    assert shown == output_after("python")


def test_the_two_commands_are_shown_and_exist():
    for command in ("./dev run", "./dev test"):
        assert command in README
    assert os.access(ROOT / "dev", os.X_OK)


def test_every_path_named_in_the_layout_exists():
    layout = README[README.index("## Layout"):]
    names = re.findall(r"^\| `([\w./]+)`", layout, re.MULTILINE)
    assert len(names) > 8
    for name in names:
        assert (ROOT / name).exists(), name
