"""Builds the site: `./dev docs` calls it with the command and the compiled
playground.

    pages.py --program build/bin/proviso --playground build-wasm/bin/proviso.js
             --out build-docs

The pages are docs/*.md, README.md, CONTRIBUTING.md, CHANGELOG.md and what
reference.py reads from the sources, gathered in OUT/pages; mkdocs makes OUT/site
from them and fails on a broken link.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import reference

ROOT = reference.ROOT
SITE = pathlib.Path(__file__).resolve().parent

# Files of the tree that are pages of another name.
RENAMED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}


def linked(text, folder):
    """Links between Markdown files, which stand in several folders, as links
    between pages; a link to a file that is no page is its name."""
    def page(match):
        label, target, anchor = match.groups()
        path = os.path.normpath(os.path.join(folder, target))
        if path in RENAMED:
            return f"[{label}]({RENAMED[path]}{anchor or ''})"
        if path.startswith("docs/") and path.endswith((".md", ".svg")):
            return f"[{label}]({path[len('docs/'):]}{anchor or ''})"
        return label
    return re.sub(r"\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)", page, text)


def gather(pages, program, playground):
    shutil.rmtree(pages, ignore_errors=True)
    (pages / "reference").mkdir(parents=True)
    for path in sorted((ROOT / "docs").glob("*.md")):
        (pages / path.name).write_text(linked(path.read_text(), "docs"))
    for path in sorted((ROOT / "docs").glob("*.svg")):
        shutil.copy(path, pages)
    for source, name in RENAMED.items():
        (pages / name).write_text(linked((ROOT / source).read_text(), ""))
    for folder, headers in reference.public_headers().items():
        (pages / "reference" / f"{folder}.md").write_text(
            reference.cpp_page(folder, headers))
    (pages / "reference" / "c.md").write_text(reference.c_page())
    (pages / "reference" / "python.md").write_text(reference.python_page())
    (pages / "reference" / "command.md").write_text(
        reference.command_page(program))
    for name in ("playground.md", "playground.js", "playground.css"):
        shutil.copy(SITE / name, pages)
    shutil.copy(playground, pages / "proviso.js")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--program", required=True)
    options.add_argument("--playground", required=True)
    options.add_argument("--out", required=True, type=pathlib.Path)
    options = options.parse_args()
    out = options.out.resolve()
    gather(out / "pages", options.program, options.playground)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file",
         SITE / "mkdocs.yml"],
        env=os.environ | {"PROVISO_PAGES": str(out / "pages"),
                          "PROVISO_SITE": str(out / "site")})
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
