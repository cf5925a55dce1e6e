"""How long torch.compile and torch.export take with and without Proviso.

    python tests/models/compile_times.py OUT.jsonl [--backends export,aot_eager]
        [--models bert,gpt2] [--turns 3] [--layers 1]

For each model and backend, in one process: one compilation of each kind that
does not count, then `turns` of each in turns, by CPU time of the process and of
its children, each on a fresh model without compiled code; more turns, up to 15,
until torch's have taken ten seconds, since short ones differ by a tenth.  Then, with Proviso
and with caches on, the program is compiled (twice where there is a cache) and
compared with eager at three other sizes.  Every measurement is a line of OUT;
what OUT has already is not done again, so that a campaign goes on where it was
stopped.  `--table OUT.jsonl` prints medians.

What is alive before a turn is frozen (gc.freeze): one more full collection of what
earlier turns left, which happens by chance, takes 6 % of a light model's time.
CPython keeps its frames in chunks of 16 KiB, and a call that happens to begin one
allocates and frees it each time: up to a tenth of a turn, by the depth of the stack
alone.  So a measurement runs below a frame that leaves room for all in its chunk.

Of Inductor the CPU time is the process's own: what the C++ compiler takes, a
process of its own, is the same with and without Proviso, and is left out.
"""

import argparse
import contextlib
import gc
import json
import logging
import pathlib
import resource
import statistics
import sys
import warnings

# Those of zoo.py that issue a program with dynamic sizes of their own, in its
# order; the first 49 without a cache of keys and values.
COUNT = 49
BACKENDS = ("export", "aot_eager", "inductor")
_LAYERS = ("num_hidden_layers n_layer n_layers num_layers encoder_layers "
           "decoder_layers").split()


def cases(layers):
    import dataclasses

    from zoo import ZOO

    found = {}
    for name, case in ZOO.items():
        if case.cached or len(found) == COUNT:
            continue
        config = dict(case.config)
        for key in _LAYERS:
            if isinstance(config.get(key), int) and "attention_types" not in (
                    config):
                config[key] = min(config[key], layers)
        found[name] = dataclasses.replace(case, config=config)
    return found


def cpu(backend):
    who = [resource.RUSAGE_SELF]
    if backend != "inductor":
        who.append(resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(w) for w in who]
    return sum(u.ru_utime + u.ru_stime for u in used)


@contextlib.contextmanager
def without_caches():
    import torch._functorch.config as aot
    import torch._inductor.config as inductor

    with aot.patch(enable_autograd_cache=False), inductor.patch(
            fx_graph_cache=False):
        yield


def compiled(case, backend, size=None):
    """A callable of keyword arguments, compiled for the example."""
    import torch

    torch._dynamo.reset()
    model = case.build()
    kwargs = case.kwargs(case.traced)
    with torch.no_grad():
        if backend == "export":
            program = torch.export.export(
                model, (), kwargs, dynamic_shapes=case.shapes, strict=False)
            return program.module()
        function = torch.compile(model, dynamic=True, backend=backend)
        function(**kwargs)
        return function


def with_room(function):
    """Calls it below a frame that leaves 400 KB of Python's data stack free."""
    source = "def roomy(function):\n  return function()\n  " + " = ".join(
        f"v{i}" for i in range(80_000)) + " = 0"
    names = {}
    exec(source, names)
    return names["roomy"](function)


def one_turn(case, backend, is_ours):
    import proviso.torch

    block = (proviso.torch.shape_env() if is_ours
             else contextlib.nullcontext())
    with block, without_caches():
        gc.collect()
        gc.freeze()
        before = cpu(backend)
        compiled(case, backend)
        return cpu(backend) - before


def differences(case, backend):
    """Sizes at which a program compiled with Proviso is not eager's."""
    import torch

    import proviso.torch
    from compare import largest_difference

    wrong, tried = [], 0
    for _ in range(2 if backend == "inductor" else 1):
        with proviso.torch.shape_env(), torch.no_grad():
            function = compiled(case, backend)
            model = case.build()
            for i, size in enumerate(case.others):
                expected = model(**case.kwargs(size, seed=i + 1))
                found = function(**case.kwargs(size, seed=i + 1))
                tried += 1
                if largest_difference(found, expected) > 1e-4:
                    wrong.append(list(size))
    return wrong, tried


def measure(case, backend, turns):
    row = dict(model=case.name, backend=backend, torch=[], proviso=[])
    try:
        for kind in (False, True):
            one_turn(case, backend, kind)
        while len(row["torch"]) < turns or (
                turns > 1 and len(row["torch"]) < 15 and sum(row["torch"]) < 10):
            is_even = len(row["torch"]) % 2 == 0
            for kind in ((False, True) if is_even else (True, False)):
                row["proviso" if kind else "torch"].append(
                    round(one_turn(case, backend, kind), 3))
        row["wrong"], row["tried"] = differences(case, backend)
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"[:400]
    return row


def rows_of(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def table(rows):
    print("| model | " + " | ".join(BACKENDS) + " |")
    print("|---|" + "---:|" * len(BACKENDS))
    ratios = {}
    for row in rows:
        if row.get("error") or not row["torch"]:
            continue
        ours, theirs = (statistics.median(row[k]) for k in ("proviso", "torch"))
        ratios[row["model"], row["backend"]] = (ours / theirs, theirs)
    for model in dict.fromkeys(row["model"] for row in rows):
        cells = [f"{ratios[model, b][0]:.3f} of {ratios[model, b][1]:.1f} s"
                 if (model, b) in ratios else "" for b in BACKENDS]
        print(f"| {model} | " + " | ".join(cells) + " |")
    for backend in BACKENDS:
        found = sorted((r, m) for (m, b), (r, _) in ratios.items()
                       if b == backend)
        if not found:
            continue
        sums = [sum(statistics.median(row[k]) for row in rows
                    if (row["model"], backend) in ratios
                    and row["backend"] == backend) for k in ("proviso", "torch")]
        slow = [f"{m} {r:.3f}" for r, m in found if r > 1.02]
        same = sum(row["tried"] - len(row["wrong"]) for row in rows
                   if row["backend"] == backend and "tried" in row)
        tried = sum(row.get("tried", 0) for row in rows
                    if row["backend"] == backend)
        print(f"{backend}: {len(found)} models, median of ratios "
              f"{statistics.median(r for r, _ in found):.3f}, sum "
              f"{sums[0]:.1f} of {sums[1]:.1f} s; above 1.02: "
              f"{', '.join(slow) or 'none'}; equal at {same} of {tried} sizes")
    for row in rows:
        if row.get("error") or row.get("wrong"):
            print(row["model"], row["backend"], row.get("error"),
                  row.get("wrong"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--models", default="")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        return table(rows_of(options.out))
    here = pathlib.Path(__file__).parent
    sys.path[:0] = [str(here)]
    import torch
    import torch._inductor.config as inductor

    torch.set_num_threads(1)
    inductor.compile_threads = 1
    known = {(r["model"], r["backend"]) for r in rows_of(options.out)}
    chosen = cases(options.layers)
    names = options.models.split(",") if options.models else list(chosen)
    for backend in options.backends.split(","):
        for name in names:
            if (name, backend) in known:
                continue
            turns = 1 if name == "swin" else options.turns
            row = with_room(lambda: measure(chosen[name], backend, turns))
            with options.out.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    main()
