"""No value of an input makes a kernel read or write where it must not: calls of
some operators, whose numbers are wild (wild_values.py writes those of all).

Another seed: PROVISO_SEED=7 pytest tests/python/test_wild_values.py
"""

import os

import pytest

import wild_values
from test_cli import COMMAND
from test_model_mutations import under_canaries

WILD = COMMAND.parent / "wild_values"
SEED = os.environ.get("PROVISO_SEED", "1")
OPERATORS = ["bincount", "embedding", "gather", "grid_sample", "index_add",
             "index_put", "index_reduce", "lu_unpack", "max_unpool2d",
             "nll_loss", "put", "repeat_interleave", "scatter_add",
             "searchsorted", "segment_reduce", "take", "trunc"]


def run(each, paths, *options):
    if not WILD.exists():
        pytest.skip(f"{WILD} is not built (./dev build makes it)")
    return under_canaries(WILD, str(each), SEED, *options, *paths)


def test_no_kernel_takes_a_wild_value_for_a_place(tmp_path):
    calls = wild_values.sampled(OPERATORS, samples=4) + [*wild_values.own()]
    paths = wild_values.write(tmp_path, calls)
    assert len(paths) > 150
    done = run(10, paths)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " 0 findings" in done.stdout
    ran = int(done.stdout.split(" runs,")[0].split()[-1])
    assert ran > 2 * len(paths), done.stdout[-6000:]


def test_what_trusts_its_indices_is_found(tmp_path):
    calls = [call for call in wild_values.sampled(["embedding_bag"], samples=4)
             if str(call[0]) == "aten._embedding_bag_backward.default"]
    paths = wild_values.write(tmp_path, calls)
    allowed = run(40, paths, "--allow=aten._embedding_bag_backward")
    assert allowed.returncode == 1 and "finding: " in allowed.stdout
    refused = run(40, paths)
    assert refused.returncode == 0, refused.stdout
    assert " 0 runs, 0 refused" in refused.stdout, refused.stdout
