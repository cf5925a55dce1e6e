"""The questions of recorded sessions, put to PyTorch's ShapeEnv here and now.

    ./dev python bench/session_peers.py [--rounds N] FILE.shapelog...

`proviso replay` sums what ShapeEnv took on the machine that recorded a session.
This asks it on the machine that `proviso replay` runs on, in turns with it: each
round is one replay and one ShapeEnv that gets the symbols with their examples, the
facts, and the questions in their order, as the session's compiler asked them (a
question that it answers by its example becomes a guard, and what it learns from
that is its own).  A question's time is that of its call, by Python's clock; the
least of the rounds counts, for both.  `first` sums those of ShapeEnv's that were
not asked before, which is less than it was asked: its caches forget when it learns.
Sessions with unbacked symbols are left out: they need the program that made them.
"""
import argparse
import ast
import logging
import pathlib
import re
import subprocess
import time

import sympy
import torch.utils._sympy.functions as functions
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

COMMAND = pathlib.Path(__file__).resolve().parents[1] / "build/bin/proviso"
NAMES = {name: value for name, value in vars(functions).items()
         if isinstance(value, type) and issubclass(value, sympy.Basic)} | {
    "Eq": sympy.Eq, "Ne": sympy.Ne, "True": sympy.true, "False": sympy.false,
    "Integer": sympy.Integer, "Float": sympy.Float}


class AsPrinted(ast.NodeTransformer):
    """`//` is FloorDiv; numbers are SymPy's."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.FloorDiv):
            return ast.Call(ast.Name("FloorDiv", ast.Load()),
                            [node.left, node.right], [])
        return node

    def visit_Constant(self, node):
        number = "Integer" if isinstance(node.value, int) else "Float"
        return ast.Call(ast.Name(number, ast.Load()), [node], [])


class Session:
    def __init__(self, path):
        self.events = []
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                word, _, rest = line.partition(" ")
                self.events.append((word, rest))

    def replayed(self):
        """Microseconds of all questions and of those not asked before; how many
        had the recorded answer, of how many."""
        env, symbols, before = ShapeEnv(), {}, set()
        spent, first, same, asked = 0.0, 0.0, 0, 0

        def expression(text):
            tree = AsPrinted().visit(ast.parse(text.strip(), mode="eval"))
            code = compile(ast.fix_missing_locations(tree), "<session>", "eval")
            return eval(code, {"__builtins__": {}}, NAMES | symbols)

        for word, rest in self.events:
            if word == "symbol":
                name, hint = re.match(r"(\w+) backed hint (\S+) ", rest).groups()
                symbols[name] = env.create_symbol(
                    float(hint) if name.startswith("z") else int(hint),
                    ConstantSource(name), DimDynamic.DYNAMIC)
            elif word == "range":
                name, low, high = re.fullmatch(
                    r"(\w+) \[(.+), (.+)\]", rest).groups()
                if name.startswith("z"):
                    continue
                ends = [int_oo if end == "int_oo" else int(end)
                        for end in (low, high)]
                env._update_var_to_range(symbols[name], ValueRanges(*ends))
            elif word == "assume":
                e = expression(rest)
                if env._maybe_evaluate_static(e) is None:
                    env.guard_or_defer_runtime_assert(e, "")
            elif word == "ask":
                kind, _, rest = rest.partition(" ")
                text, _, peer = rest.split(" ; ")
                e = expression(text)
                began = time.perf_counter()
                answer = ask(env, kind, e)
                took = (time.perf_counter() - began) * 1e6
                spent += took
                first += took if (kind, text) not in before else 0
                before.add((kind, text))
                asked += 1
                same += str(answer) == peer.split()[-2]
        return spent, first, same, asked


def ask(env, kind, e):
    if kind == "static":
        return env._maybe_evaluate_static(e)
    if kind == "assert":
        return env.guard_or_defer_runtime_assert(e, "")
    fallback = {"guard_or_false": False, "guard_or_true": True}.get(kind)
    return env.evaluate_expr(e, fallback_value=fallback)


def proviso_us(path):
    text = subprocess.run([COMMAND, "replay", "--tiers", "native", path],
                          capture_output=True, text=True).stdout
    return (int(re.search(r"first time.* sum (\d+)", text)[1]),
            int(re.search(r"the peer, us: sum (\d+)", text)[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    print(f"{'us':28}{'Proviso':>9}{'recorded':>10}{'first':>9}{'all':>9}"
          f"{'ratios':>18}     same answers")
    for path in options.files:
        session = Session(path)
        if any("unbacked" in rest for _, rest in session.events):
            continue
        ours, firsts, all_of_them = [], [], []
        for _ in range(options.rounds):
            us, recorded = proviso_us(path)
            spent, first, same, asked = session.replayed()
            ours.append(us)
            firsts.append(first)
            all_of_them.append(spent)
        least = min(ours)
        times = recorded, min(firsts), min(all_of_them)
        print(f"{path.stem:28}{least:9}" +
              "".join(f"{us:{w}.0f}" for us, w in zip(times, (10, 9, 9))) +
              "".join(f"{us / least:8.1f}" for us in times) +
              f"   {same} of {asked}", flush=True)


if __name__ == "__main__":
    main()
