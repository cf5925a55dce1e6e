"""torch.export.load in a process of its own, which never imports proviso.

Started by `Reader`; reads one JSON request a line: {"path", "cases",
"also", "module"}, where cases is a torch.save of [(args, kwargs, expected)], and
answers with one.  "module", if any, is imported first: it registers the types
of inputs and outputs.  "also" says what is done to the program for the second round of
cases: "decompose"; "save" (saved and loaded again); "decompose and save" (to
core ATen).
"""

import io
import json
import subprocess
import sys
import tempfile

import torch
from torch.utils import _pytree as pytree


def _close(found, expected):
    if isinstance(expected, torch.Tensor):
        return (found.shape == expected.shape and found.dtype == expected.dtype
                and torch.allclose(found, expected, rtol=1e-4, atol=1e-4,
                                   equal_nan=True))
    return found == expected


def _equal(found, expected):
    found, expected = pytree.tree_leaves(found), pytree.tree_leaves(expected)
    return len(found) == len(expected) and all(map(_close, found, expected))


def _saved_and_loaded(program):
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file)


def _check(path, cases, also):
    program = torch.export.load(path)
    if also == "decompose":
        decomposed = program.run_decompositions({})
    elif also == "save":
        decomposed = _saved_and_loaded(program)
    else:
        decomposed = _saved_and_loaded(program).run_decompositions()
        decomposed = _saved_and_loaded(decomposed)
    answer = {"ranges": str(program.range_constraints),
              "guards": program._guards_code, "equal": [], "decomposed": []}
    for variant, key in ((program, "equal"), (decomposed, "decomposed")):
        run = variant.module()
        for args, kwargs, expected in torch.load(cases, weights_only=False):
            try:
                with torch.no_grad():
                    found = run(*args, **kwargs)
                if isinstance(expected, str):  # must have been refused
                    answer[key].append(f"accepted {expected}")
                else:
                    answer[key].append(_equal(found, expected))
            except Exception as error:
                refused = isinstance(expected, str)
                answer[key].append(refused or repr(error))
    return answer


def serve():
    if len(sys.argv) > 1:  # modules that define pytree nodes
        for name in sys.argv[1].split(","):
            __import__(name)
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["module"]:
                __import__(request["module"])
            answer = _check(request["path"], request["cases"],
                            request["also"])
        except Exception as error:
            answer = {"error": repr(error)}
        print("answer " + json.dumps(answer), flush=True)


class Reader:
    """The other side of serve()."""

    def __init__(self, modules=()):
        command = [sys.executable, __file__]
        if modules:
            command.append(",".join(modules))
        # A file: nobody reads a pipe until the end, and a full one blocks.
        self._complaints = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._complaints, text=True)
        self._wait("ready")

    def _wait(self, word):
        for line in self._process.stdout:
            if line.startswith(word):
                return line[len(word):]
        self._complaints.seek(0)
        raise AssertionError(self._complaints.read()[-4000:])

    def check(self, path, cases, scratch, also="decompose", module=None):
        """Loads `path`, runs the cases before and after what `also` says.
        A case whose expected value is a string must be refused."""
        torch.save(cases, scratch)
        request = {"path": str(path), "cases": str(scratch), "also": also,
                   "module": module}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._wait("answer"))

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()
        self._complaints.close()


if __name__ == "__main__":
    serve()
