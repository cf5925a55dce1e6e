"""Pastes suggestions as they are, by a script, until a program exports.

    run = Pasting(tmp_path, SOURCE)              # a module with `forward`
    ep = run.export(args, dynamic_shapes=..)
    run.pasted                                   # the suggestions, in order
"""

import importlib.util
import itertools

import proviso

_numbers = itertools.count()
MOST_ROUNDS = 12


class NotFinished(AssertionError):
    """A program that no suggestion helps."""


def paste(suggestion):
    """Into the file that it names, before its line and indented alike."""
    with open(suggestion.file) as file:
        lines = file.readlines()
    at = suggestion.line - 1
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    lines.insert(at, f"{indent}{suggestion.code}\n")
    with open(suggestion.file, "w") as file:
        file.writelines(lines)


def load(path):
    spec = importlib.util.spec_from_file_location(
        f"pasted_{next(_numbers)}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Pasting:
    """A program in a file of its own."""

    def __init__(self, folder, source, name="program"):
        self.path = folder / f"{name}.py"
        self.path.write_text(source)
        self.pasted = []

    def callable(self):
        return load(self.path).forward

    def export(self, args, side=0, **options):
        """The program that exports after at most MOST_ROUNDS checks; `side` is
        which of the suggestions is taken the first time."""
        for _ in range(MOST_ROUNDS):
            try:
                return proviso.export(self.callable(), args, **options)
            except proviso.DataDependentError as error:
                found = error.suggestions
                if not found:
                    raise NotFinished(f"no suggestion: {error}") from error
                chosen = found[min(side, len(found) - 1)]
                if any(chosen.code == s.code and chosen.file == s.file
                       for s in self.pasted[-1:]):
                    raise NotFinished(
                        f"refused back: {chosen}\n{error}") from error
                assert chosen.file == str(self.path), chosen
                paste(chosen)
                self.pasted.append(chosen)
                side = 0
        raise NotFinished(f"not in {MOST_ROUNDS} rounds: {self.pasted}")
