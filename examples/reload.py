"""Loads .pt2 files with torch alone and compares them with stored outputs.

    python reload.py PROGRAM.pt2 CASES.pt [PROGRAM.pt2 CASES.pt ...]

CASES.pt is a list of (inputs, outputs of eager).  One line of JSON a program.
"""

import json
import sys

import torch


def compare(program, cases):
    run = torch.export.load(program).module()
    worst, equal = 0.0, True
    # Written by the examples themselves; C++ stores typed lists, which the
    # loader of weights does not know.
    stored = torch.load(cases, weights_only=False)
    for inputs, expected in stored:
        found = run(*inputs)
        found = found if isinstance(found, (tuple, list)) else (found,)
        equal = equal and len(found) == len(expected)
        for f, e in zip(found, expected):
            equal = equal and f.shape == e.shape and torch.allclose(
                f, e, rtol=1e-4, atol=1e-5)
            if f.shape == e.shape and f.numel():
                worst = max(worst, (f - e).abs().max().item())
    return {"program": program, "cases": len(stored),
            "equal": bool(equal), "worst": worst}


if __name__ == "__main__":
    for program, cases in zip(sys.argv[1::2], sys.argv[2::2]):
        with torch.no_grad():
            print(json.dumps(compare(program, cases)))
