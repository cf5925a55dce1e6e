"""Puts the requirements of models to PyTorch itself, and prints a table.

    python tests/models/requirements_on_torch.py [MODEL..]

For each model: proviso.requirements, then torch.compile(fullgraph=True,
backend="aot_eager") of the program behind the checks of to_torch(), every size
unbacked.  "alone" is without PyTorch in the loop.  The result is compared with
eager at sizes inside; at sizes outside, one a condition that breaks it alone
where there is one, the compiled program must raise.  A model runs in a process
of its own, with a time limit.
"""

import json
import pathlib
import re
import resource
import sys
import time
import warnings

LIMIT = 300  # seconds of CPU time a model
_HERE = pathlib.Path(__file__).parent


# --- the child

def resized(kwargs, sizes):
    """Example inputs of other sizes, {"x.shape[0]": 5}."""
    import torch

    torch.manual_seed(1)
    result = {}
    for name, value in kwargs.items():
        shape = [sizes.get(f"{name}.shape[{d}]", n)
                 for d, n in enumerate(value.shape)]
        if value.is_floating_point():
            result[name] = torch.randn(shape)
        elif name == "attention_mask":
            result[name] = torch.ones(shape, dtype=value.dtype)
        else:
            result[name] = torch.randint(3, 90, shape)
    return result


_SIZE = re.compile(r"\w+\.shape\[\d+\]")


def holds(condition, sizes):
    import torch

    text = _SIZE.sub(lambda m: f"sizes[{m.group(0)!r}]", condition)
    try:
        return bool(eval(text, {"sizes": sizes, "torch": torch}))
    except ZeroDivisionError:
        return False


def outside(conditions, example):
    """{condition: sizes that break it, and no other where that can be}."""
    found = {}
    trials = [{name: n} for name in example
              for n in (0, 1, 2, 3, 7, 13, 33, 130, 3000)]
    for condition in conditions:
        best = None
        for trial in trials:
            sizes = {**example, **trial}
            if sizes == example or holds(condition, sizes):
                continue
            broken = sum(not holds(c, sizes) for c in conditions)
            if best is None or broken < best[0]:
                best = (broken, sizes)
        if best:
            found[condition] = best[1]
    return found


def is_close(a, b):
    import torch

    return torch.allclose(a, b, atol=1e-4, rtol=1e-3)


def try_model(name):
    import torch

    import proviso
    from proviso import _torch_loop
    from requirement_cases import CASES

    case = CASES[name]
    model = case.build()
    kwargs = case.kwargs(case.traced)
    start = time.time()
    found = proviso.requirements(model, (), kwargs, case.shapes)
    row = dict(name=name, seconds=round(time.time() - start, 1),
               conditions=found.conditions, proved=found.proved,
               why_not_proved=found.why_not,
               pinned=[p.size for p in found.pinned])
    alone = found.to_torch(model, (), kwargs, rounds=1)
    row.update(form=[c.condition for c in alone.conditions],
               alone=alone.accepted, why_not=alone.why_not)
    form = alone
    if not alone.accepted:
        form = found.to_torch(model, (), kwargs)
        row["why_not_in_loop"] = form.why_not
    row.update(accepted=form.accepted, rounds=form.rounds,
               lines=str(form).split("\n"))
    if form.accepted:
        row.update(run(model, case, kwargs, form, found._parameters))
    return row


def run(model, case, kwargs, form, parameters):
    import torch
    from proviso import _torch_loop

    function, args, marked = _torch_loop.compiled(form, model, (), kwargs,
                                                   parameters)
    conditions = [c.condition for c in form.conditions]
    example = {s.text: kwargs[s.tensor].shape[s.dim] for s in form.sizes}
    equal = inside = 0
    problems = []
    with torch.no_grad():
        function(*args, **marked)
        for size in (case.traced, *case.others):
            more = case.kwargs(size)
            sizes = {s.text: more[s.tensor].shape[s.dim] for s in form.sizes}
            if not all(holds(c, sizes) for c in conditions):
                continue
            inside += 1
            try:
                good = is_close(function(**more)[0], model(**more)[0])
                equal += good
                if not good:
                    problems.append(f"differs at {size}")
            except Exception as error:
                problems.append(f"{size}: {str(error)[:200]}")
        points = outside(conditions, example)
        refused = 0
        for condition, sizes in points.items():
            try:
                function(**resized(kwargs, sizes))
                problems.append(f"not refused: {condition} at {sizes}")
            except Exception:
                refused += 1
    return dict(inside=inside, equal=equal, outside=len(points),
                refused=refused, problems=problems)


# --- the parent

def main(names):
    sys.path[:0] = [str(_HERE)]
    from requirement_cases import CASES, in_a_process

    rows = []
    for name in names or CASES:
        row = in_a_process(__file__, name)
        rows.append(row)
        print(json.dumps(row), flush=True)
    done = [r for r in rows if "failed" not in r]
    print(f"{len(rows)} models: {sum(r['proved'] for r in done)} proved, "
          f"{sum(bool(r['alone']) for r in done)} accepted alone, "
          f"{sum(bool(r['accepted']) for r in done)} with PyTorch in the loop; "
          f"equal {sum(r.get('equal', 0) for r in done)} of "
          f"{sum(r.get('inside', 0) for r in done)} sizes inside, refused "
          f"{sum(r.get('refused', 0) for r in done)} of "
          f"{sum(r.get('outside', 0) for r in done)} outside")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    if sys.argv[1:2] == ["--one"]:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        sys.path[:0] = [str(_HERE)]
        print(json.dumps(try_model(sys.argv[2])))
    else:
        main(sys.argv[1:])
