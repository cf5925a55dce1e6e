"""Exports models with every size of their inputs unbacked, the suggestions of
each error pasted as they are by a script, and prints a table.

    python tests/models/pasted_checks.py [MODEL..]

Each model is called by a `forward` in a file of its own, with the parameters
that its users call it with; a suggestion is pasted at the place that it names.
The result is compared with eager at the example and at sizes for which the
checks hold, and must refuse where eager raises.  A model runs in a process of
its own, with a time limit.
"""

import json
import pathlib
import resource
import sys
import tempfile
import time
import warnings

LIMIT = 200  # seconds of CPU time a model
_HERE = pathlib.Path(__file__).parent


# --- the child

SOURCE = """\
import torch

MODEL = None


def forward({names}):
    return MODEL({keywords})[0]
"""


def program_of(kwargs):
    return SOURCE.format(names=", ".join(kwargs),
                         keywords=", ".join(f"{n}={n}" for n in kwargs))


def try_model(name):
    import torch
    from proviso import Dim

    import pasting
    from requirement_cases import CASES

    case = CASES[name]
    model = case.build()
    kwargs = case.kwargs(case.traced)
    shapes = {key: {d: Dim.UNBACKED for d in dims}
              for key, dims in case.shapes.items()}
    row = dict(name=name, rounds=None, checks=[], problems=[])

    class OfModel(pasting.Pasting):
        def callable(self):
            module = pasting.load(self.path)
            module.MODEL = model
            return module.forward

    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        run = OfModel(pathlib.Path(folder), program_of(kwargs))
        try:
            with torch.no_grad():
                ep = run.export((), kwargs=kwargs, dynamic_shapes=shapes)
                row.update(compared(ep, case, kwargs, run.callable()))
        except Exception as error:
            row["problems"].append(f"{type(error).__name__}: {error}"[:2000])
        row.update(rounds=len(run.pasted), checks=[
            s.code for s in run.pasted], seconds=round(time.time() - start, 1))
    return row


def trials(case, kwargs):
    """Inputs of other sizes: those of the case, then one dim changed."""
    from requirements_on_torch import resized

    for size in (case.traced, *case.others):
        yield case.kwargs(size)
    for name, dims in case.shapes.items():
        for d in dims:
            for n in (0, 1, 2, 5):
                yield resized(kwargs, {f"{name}.shape[{d}]": n})


def compared(ep, case, kwargs, checked):
    """At how many sizes the pasted program runs in eager, and the exported one
    equals it (a mask of ones that does not fit is ignored in eager, and refused
    here); at how many it raises, and the exported one refuses."""
    import torch

    module = ep.module()
    row = dict(inside=0, equal=0, outside=0, refused=0, refused_more=0,
               problems=[])
    for k, more in enumerate(trials(case, kwargs)):
        sizes = {name: tuple(t.shape) for name, t in more.items()}
        try:
            expected = checked(**more)
        except Exception:
            assert k > 0, "the example"
            expected = None
        try:
            result = module(**more)
        except Exception as error:
            result, why = None, str(error)[:200]
        if expected is None:
            row["outside"] += 1
            row["refused"] += result is None
            if result is not None:
                row["problems"].append(f"eager raises at {sizes}")
            continue
        if result is None and k > len(case.others):
            row["refused_more"] += 1
            continue
        row["inside"] += 1
        if result is None:
            row["problems"].append(f"refused at {sizes}: {why}")
        elif torch.allclose(result, expected, atol=1e-4, rtol=1e-3,
                            equal_nan=True):
            row["equal"] += 1
        else:
            row["problems"].append(f"differs at {sizes}")
    return row


# --- the parent

def main(names):
    sys.path[:0] = [str(_HERE)]
    from requirement_cases import CASES, in_a_process

    rows = []
    for name in names or CASES:
        row = in_a_process(__file__, name)
        if "failed" in row:
            row = dict(name=name, rounds=None, inside=0, equal=0,
                       problems=[row["failed"]])
        rows.append(row)
        print(json.dumps(rows[-1]), flush=True)
    done = [r for r in rows if not r["problems"]]
    rounds = [r["rounds"] for r in done]

    def total(key):
        return sum(r.get(key, 0) for r in rows)

    print(f"{len(rows)} models: {len(done)} without a problem, "
          f"{rounds.count(0)} with no check, {rounds.count(1)} after one, "
          f"{sum(n > 1 for n in rounds)} after more; equal at "
          f"{total('equal')} of {total('inside')} sizes, refused at "
          f"{total('refused')} of {total('outside')}")
    return len(done) < len(rows)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    if sys.argv[1:2] == ["--one"]:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        sys.path[:0] = [str(_HERE), str(_HERE.parent / "python")]
        print(json.dumps(try_model(sys.argv[2])))
    else:
        sys.exit(main(sys.argv[1:]))
