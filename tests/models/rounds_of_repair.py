"""How many rounds of repair a model takes whose input sizes only the data tells.

    python tests/models/rounds_of_repair.py [MODEL..]

Each model is called by a `forward` in a file of its own and compiled by
torch.compile(fullgraph=True, backend="aot_eager") under proviso.torch, with
every size that may vary marked unbacked.  A round is a compilation that fails:
the checks that its error tells go where it says, at the entry of `forward`, and
the program is compiled again.  In the end the result is compared with eager's
at the example and at the other sizes of the case for which the checks hold.

Prints a JSON object a model, and the sum.  Runs in one process.
"""

import json
import logging
import pathlib
import sys
import tempfile
import time
import warnings

MOST_ROUNDS = 20


def one_model(name, folder):
    import torch

    import pasted_checks
    import pasting
    from requirement_cases import CASES

    case = CASES[name]
    model = case.build()
    kwargs = case.kwargs(case.traced)
    path = folder / f"{name}.py"
    path.write_text(pasted_checks.program_of(kwargs))
    row = dict(name=name, rounds=0, checks=[], problem="")
    start = time.process_time()
    while row["rounds"] <= MOST_ROUNDS:
        program = pasting.load(path)
        program.MODEL = model
        error, compiled = compile_once(program.forward, case, kwargs)
        if error is None:
            row.update(compared(compiled, program.forward, case))
            break
        row["rounds"] += 1
        if not paste(error, path, row):
            break
    row["seconds"] = round(time.process_time() - start, 1)
    torch._dynamo.reset()
    return row


def compile_once(forward, case, kwargs):
    import torch

    import proviso.torch

    torch._dynamo.reset()
    args = {name: tensor.clone() for name, tensor in kwargs.items()}
    for name, dims in case.shapes.items():
        for d in dims:
            torch._dynamo.decorators.mark_unbacked(args[name], d)
    compiled = torch.compile(forward, fullgraph=True, backend="aot_eager")
    try:
        with torch.no_grad(), proviso.torch.shape_env():
            compiled(**args)
    except Exception as error:
        return error, None
    return None, compiled


def paste(error, path, row):
    """Puts what the error tells at the entry; whether there was something."""
    import proviso

    report = proviso.explain(error)
    together = report.together
    code = together.code if together else []
    new = [line for line in code if line not in row["checks"]]
    if not new:
        asked = [(e.kind, e.question[:200], e.conditions[:3], e.file, e.line)
                 for e in report.errors[-1:]]
        row["problem"] = f"nothing to insert: {asked or str(error)[:300]}"
        return False
    assert together.file == str(path), together
    lines = path.read_text().split("\n")
    at = together.line - 1
    lines[at:at] = [f"    {line}" for line in new]
    path.write_text("\n".join(lines))
    row["checks"] += new
    return True


def compared(compiled, forward, case):
    import torch

    inside = equal = 0
    with torch.no_grad():
        for size in (case.traced, *case.others):
            kwargs = case.kwargs(size)
            try:
                expected = forward(**kwargs)
            except Exception:  # the checks, or the model, refuse these sizes
                continue
            inside += 1
            equal += torch.allclose(compiled(**kwargs), expected, atol=1e-4,
                                    rtol=1e-3)
    return dict(inside=inside, equal=equal)


def main(names):
    here = pathlib.Path(__file__).parent
    sys.path[:0] = [str(here), str(here.parent / "python")]
    from requirement_cases import CASES

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names or CASES:
            rows.append(one_model(name, pathlib.Path(folder)))
            print(json.dumps(rows[-1]), flush=True)
    done = [row for row in rows if not row["problem"]]
    print(f"{len(rows)} models: {sum(row['rounds'] for row in rows)} rounds, "
          f"{len(done)} compile in the end; equal at "
          f"{sum(row['equal'] for row in done)} of "
          f"{sum(row['inside'] for row in done)} sizes")
    return len(done) < len(rows)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    sys.exit(main(sys.argv[1:]))
