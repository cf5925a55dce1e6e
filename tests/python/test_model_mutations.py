"""Structural changes to .pt2 files of every feature: whatever stands in a file,
it is refused by an error that names it, or it works.

Some seconds here; `./dev fuzz` runs for as long as it is told.  Another seed:
PROVISO_SEED=7 pytest tests/python/test_model_mutations.py
"""

import os
import subprocess
import sys

import pytest

import load_mutants
import model_files
from test_cli import COMMAND

MUTATIONS = COMMAND.parent / "model_mutations"
CANARIES = COMMAND.parent / "libcanaries.so"
DAMAGE = COMMAND.parent / "archive_mutations"
SEED = int(os.environ.get("PROVISO_SEED", "1"))
COUNT = int(os.environ.get("PROVISO_MUTATIONS", "3000"))
# Of the mutants that the command accepts, so many are loaded and called, and
# shown to torch.export.load.
LOADED = 40


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
    loaded = subprocess.run(
        [sys.executable, "-W", "ignore", load_mutants.__file__,
         f"--most={LOADED}", tmp_path, *files],
        capture_output=True, text=True, timeout=600)
    said = loaded.stdout
    assert loaded.returncode == 0, said + loaded.stderr[-2000:]
    assert "finding" not in said, said
    assert "ran" in said, "nothing is left to run: " + said


def under_canaries(*command):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600,
        env={**os.environ, "LD_PRELOAD": str(CANARIES), "OMP_NUM_THREADS": "1"})


def test_canaries_see_what_a_kernel_writes():
    done = under_canaries(sys.executable, "-c", """
import torch
torch.ops.aten.embedding_dense_backward(
    torch.ones(3, 2), torch.tensor([0, 5, 4]), 5, -1, True)
""")
    assert done.returncode != 0
    assert "canaries: written behind" in done.stderr, done.stderr[-2000:]


def test_no_mutant_makes_a_kernel_write_where_it_must_not(files):
    done = under_canaries(MUTATIONS, str(COUNT), str(SEED + COUNT), *files)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_every_damaged_archive_is_refused_or_read_as_torch_reads_it(files):
    done = subprocess.run([DAMAGE, "50000", str(SEED), *files],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
