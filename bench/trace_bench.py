"""Tracing BERT (2 layers, random weights) and checking its inputs: proviso
beside torch.export.export, in one process, on one model.  The two programs are
compared with eager before anything is timed.
"""

import gc
import os
import pathlib
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))

import torch  # noqa: E402

import proviso  # noqa: E402
from main_job import Dim, bert_inputs, bert_model  # noqa: E402


def times(call, count):
    call()
    spent = []
    for _ in range(count):
        gc.collect()
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return sorted(spent)


def check(export, model):
    """The traced program equals eager at a size that was not traced."""
    inputs = bert_inputs(5, 33)
    with torch.no_grad():
        found, expected = export().module()(*inputs), model(*inputs)
    for f, e in zip(found, expected):
        assert torch.allclose(f, e, rtol=1e-4, atol=1e-5)


def main():
    torch.manual_seed(0)
    model, inputs = bert_model(), bert_inputs(2, 16)
    batch, tokens = Dim("batch"), Dim("tokens", max=128)
    spec = {"input_ids": {0: batch, 1: tokens},
            "attention_mask": {0: batch, 1: tokens}}
    exports = {
        "proviso.export": (
            lambda: proviso.export(model, inputs, dynamic_shapes=spec), 21),
        "torch.export.export": (
            lambda: torch.export.export(model, inputs, dynamic_shapes=spec,
                                        strict=False), 5),
    }
    medians = []
    for name, (export, count) in exports.items():
        check(export, model)
        spent = times(export, count)
        medians.append(statistics.median(spent))
        print(f"{name:20} median {medians[-1] * 1e3:9.3f} ms   "
              f"least {spent[0] * 1e3:9.3f}   most {spent[-1] * 1e3:9.3f}   "
              f"of {count}")
    print(f"ratio of the medians {medians[1] / medians[0]:.0f}")
    guard_checks({name: export() for name, (export, _) in exports.items()})


def guard_checks(programs):
    """What ep.module() does before it runs: from Python, a call."""
    good, bad = bert_inputs(5, 33), (bert_inputs(5, 33)[0],
                                     bert_inputs(5, 32)[1])
    ours, theirs = (program.module() for program in programs.values())
    calls = {"proviso": ours.check, "torch.export": theirs._guards_fn}
    medians = []
    for name, call in calls.items():
        call(*good)
        try:
            call(*bad)
        except Exception:
            pass
        else:
            raise AssertionError(f"{name} takes inputs of different sizes")
        spent = times(lambda: [call(*good) for _ in range(2000)], 21)
        medians.append(statistics.median(spent) / 2000)
        print(f"guard check, {name:13} median {medians[-1] * 1e9:9.0f} ns a call")
    print(f"ratio of the medians {medians[1] / medians[0]:.1f}")


if __name__ == "__main__":
    main()
