"""Where the time of tracing goes, by sampling with Linux' perf.

    ./dev python bench/trace_profile.py [MODEL [SECONDS]]

MODEL is a name of tests/models/zoo.py (bert).  Prints the share of the samples
inside proviso.export that fall to each part: the innermost function of a stack
that belongs to one names it.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ("which ranges and guards to keep", r"minimal_guards|::enforced")
# First match wins, from the innermost function outwards.
PARTS = (
    ("source lines of Python frames", r"current_python_stack|frames"),
    ("questions and facts while tracing", r"proviso::(ShapeEnv|Context|Engine|Domain)"),
    ("recording", r"Tracer::(record|append|output_of|to_argument|meta_of)"),
    ("shape functions", r"Tracer::(run_rule|dispatch)"),
    ("finishing the program", r"proviso::Finisher|python::.*finish"),
    ("freeing what was traced", r"~ExportedProgram|~Graph|~Tracer"),
)
OTHER = "other C++ of Proviso"


def trace_for(name, seconds):
    """The child: traces one model again and again."""
    sys.path.insert(0, str(ROOT / "tests" / "models"))
    import proviso
    from zoo import ZOO

    case = ZOO[name]
    end, spent, count = time.monotonic() + seconds, 0.0, 0
    while time.monotonic() < end:
        model, kwargs = case.build(), case.kwargs(case.traced)
        start = time.perf_counter()
        proviso.export(model, (), kwargs, dynamic_shapes=case.shapes)
        spent += time.perf_counter() - start
        count += 1
    print(f"{name}: {count} traces, {spent / count * 1e3:.2f} ms each")


def part_of(stack):
    if any(re.search(KEPT[1], function) for function in stack):
        return KEPT[0]
    return next((part for function in stack for part, pattern in PARTS
                 if re.search(pattern, function)), OTHER)


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "bert"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        subprocess.run(
            ["perf", "record", "-q", "-F", "499", "--call-graph",
             "dwarf,16384", "-o", data, sys.executable, __file__, "--trace",
             name, str(seconds)], check=True)
        text = subprocess.run(
            ["perf", "script", "--no-inline", "-i", data, "-F", "ip,sym"],
            check=True, capture_output=True, text=True).stdout
    stacks = [[line.split(None, 1)[-1] for line in block.split("\n") if line]
              for block in text.split("\n\n") if "proviso" in block]
    counts = collections.Counter(map(part_of, stacks))
    for part in (*(part for part, _ in PARTS), KEPT[0], OTHER):
        if counts[part]:
            print(f"{counts[part] / len(stacks):6.1%}  {part}")
    print(f"of {len(stacks)} samples below a function of Proviso")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        trace_for(sys.argv[2], float(sys.argv[3]))
    else:
        main()
