"""Mutants that the command accepts, through proviso.load and torch.export.load.

    python tests/python/load_mutants.py [--most=N] FOLDER FILE.pt2...

FOLDER: what `model_mutations COUNT SEED --keep=FOLDER FILE.pt2...` wrote; with
--most, some N of them, spread over all.  Mutants are loaded and called in a child
process, so that one that ends its process is a finding.  What torch refuses for
its structure is one, too.  The children are forked, so this is a program of its
own: no thread of torch's may hold a lock then.
"""

import argparse
import io
import json
import mmap
import os
import pathlib
import resource
import signal
import sys
import zipfile

import torch
from torch.export.pt2_archive._package import load_pt2

import proviso

# Of expressions, ranges and hints, whose values torch reckons with while it
# loads, and of devices that this machine's torch has no module for.
NOT_STRUCTURE = (
    "KeyError: u", "expected no unbacked symbols", "!= hint",
    "hint must be None for unbacked symbol", "not in VR[",
    "vr must not be None", "_mpf_", "non-real zoo", "Modulo by zero",
    "module 'torch' has no attribute", "No module named 'torch.",
    "in pytree is not registered")
NEVER = ("INTERNAL ASSERT", "_M_", "std::", "bad_variant", "basic_string",
         "vector::", "stoi", "json.exception", "_Map_base")
SECONDS, BYTES = 60, 6 << 30


def write_mutant(path, files):
    """The .pt2 of a kept mutant, as bytes."""
    documents = json.loads(path.read_text())
    source = files[int(path.name.split(".")[1])]
    made = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            record = name.partition("/")[2]
            new.writestr(name, json.dumps(documents[record])
                         if record in documents else old.read(name))
    return made.getvalue()


def torch_refuses(data):
    """Why torch's loader refuses it for its structure."""
    try:
        load_pt2(io.BytesIO(data))  # torch.export.load hides the reason
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return None if any(p in text for p in NOT_STRUCTURE) else text


def load_and_call(data):
    """What our loader and its program say; None when they run."""
    try:
        program = proviso.load(io.BytesIO(data))
        args, kwargs = program.example_inputs
    except Exception as error:
        return "load", error
    try:
        program.module()(*args, **kwargs)
    except Exception as error:
        return "call", error
    return None


class Contained:
    """Calls work(item) for each item in child processes; a child that ends
    itself is a finding and another one goes on behind it."""

    def __init__(self, work):
        self._work = work
        self._at = mmap.mmap(-1, 8)

    def run(self, items):
        start = 0
        while start < len(items):
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
                for i in range(start, len(items)):
                    self._at[:] = i.to_bytes(8, "little")
                    signal.alarm(SECONDS)  # of the clock: a lock takes no time
                    self._work(items[i])
                sys.stdout.flush()
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if status == 0:
                return
            at = int.from_bytes(self._at[:], "little")
            print(f"finding: {items[at].name}: the process ended with {status}",
                  flush=True)
            start = at + 1


def show(path, files):
    data = write_mutant(path, files)
    outcome = load_and_call(data)
    if outcome is None:
        print(f"ran: {path.name}")
    else:
        stage, error = outcome
        text = f"{type(error).__name__}: {error}"
        found = any(part in text for part in NEVER)
        print(f"{'finding' if found else stage}: {path.name}: "
              + text.replace("\n", " | ")[:300])
    refusal = torch_refuses(data)
    if refusal is not None:
        print(f"finding: {path.name}: we accept, torch: "
              + refusal.replace("\n", " | ")[:300])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    kept = sorted(p for p in args.folder.glob("*.json")
                  if not p.name.startswith("finding"))
    step = max(1, len(kept) // args.most) if args.most else 1
    torch.set_num_threads(1)
    Contained(lambda path: show(path, args.files)).run(kept[::step])


if __name__ == "__main__":
    main()
