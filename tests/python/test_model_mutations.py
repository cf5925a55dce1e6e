"""Structural changes to .pt2 files of every feature: whatever stands in a file,
it is refused by an error that names it, or it works.

Some seconds here; `./dev fuzz` runs for as long as it is told.  Another seed:
PROVISO_SEED=7 pytest tests/python/test_model_mutations.py
"""

import json
import os
import subprocess
import zipfile

import pytest
import torch

import model_files
import proviso
from test_cli import COMMAND

MUTATIONS = COMMAND.parent / "model_mutations"
SEED = int(os.environ.get("PROVISO_SEED", "1"))
COUNT = int(os.environ.get("PROVISO_MUTATIONS", "3000"))
# Of the mutants that we accept, so many are shown to torch.export.load.
SECOND_OPINIONS = 40


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    if not MUTATIONS.exists():
        pytest.skip(f"{MUTATIONS} is not built (./dev build makes it)")
    return model_files.write(tmp_path_factory.mktemp("files"))


def test_every_mutant_is_refused_or_works(files, tmp_path):
    done = subprocess.run(
        [MUTATIONS, str(COUNT), str(SEED), f"--keep={tmp_path}", *files],
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    kept = sorted(tmp_path.glob("*.json"))
    assert len(kept) > COUNT / 50, "nothing is left to run: " + done.stdout
    for path in kept[:: max(1, len(kept) // SECOND_OPINIONS)]:
        refusal = torch_refuses(path, files)
        assert refusal is None, f"{path.name}: we accept, torch: {refusal}"


def torch_refuses(path, files):
    """Why torch.export.load refuses the mutant for its structure."""
    documents = json.loads(path.read_text())
    changed = path.with_suffix(".pt2")
    source = files[int(path.name.split(".")[1])]
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            folder, _, record = name.partition("/")
            body = (json.dumps(documents[record]) if record in documents
                    else old.read(name))
            new.writestr(name, body)
    try:
        torch.export.load(changed)
    except Exception as error:
        return structural(error)
    finally:
        changed.unlink()


# Of expressions, ranges and hints, whose values torch reckons with while it
# loads, and of devices that this machine's torch has no module for.
NOT_STRUCTURE = (
    "KeyError: u", "expected no unbacked symbols", "!= hint", "not in VR[",
    "vr must not be None", "_mpf_", "module 'torch' has no attribute")


def structural(error):
    text = f"{type(error).__name__}: {error}"
    return None if any(part in text for part in NOT_STRUCTURE) else text
