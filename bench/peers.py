"""The same questions put to Proviso's native tiers and to Z3 in one run.

    ./dev python bench/peers.py [FILE...]      # bench/facts.txt when none

FILEs are in the format of `proviso decide`.  Each peer is told a fact's ranges
and assumptions anew (set-up) and asked once in a warm process (question):
microseconds are medians of rounds.  Answers are compared with the stated truth
before anything is said of their time.  What PyTorch's ShapeEnv took for the
questions of recorded sessions is in their files: `proviso replay` sums it.
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ROOT / "build" / "bin" / "proviso"
ROUNDS = 5


def read(paths):
    for path in paths:
        for line in pathlib.Path(path).read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            name, _, symbols, facts, question, truth = line.split("|")[:6]
            ranges = {}
            for word in symbols.split():
                symbol, ends = word.split(":")
                low, high = ends.split("..")
                ranges[symbol] = (int(low) if low else None,
                                  int(high) if high else None)
            yield (name, ranges, [f for f in facts.split(";") if f.strip()],
                   question, {"unsat": "refuted"}.get(truth, truth))


def timed(function):
    start = time.perf_counter()
    value = function()
    return value, (time.perf_counter() - start) * 1e6


class Z3:
    """Is the opposite of the question (or the question) unsatisfiable?"""

    name = "Z3"

    def __init__(self):
        import z3
        self.z3 = z3

    def python_names(self, ranges):
        z3 = self.z3
        names = {s: z3.Int(s) for s in ranges}
        names["min"] = lambda a, b: z3.If(a <= b, a, b)
        names["max"] = lambda a, b: z3.If(a >= b, a, b)
        names["ceildiv"] = lambda a, b: -((-a) / b)
        return names

    def read(self, text, names):
        # Divisors are positive here: Z3's integer / is then Python's //.
        text = text.replace("//", "/")
        terms = [eval(re.sub(r"^\s*not ", "~", t).replace("~", "Not"),
                      {"Not": self.z3.Not}, names)
                 for t in text.split(" or ")]
        return terms[0] if len(terms) == 1 else self.z3.Or(*terms)

    def ask(self, ranges, facts, question):
        z3 = self.z3
        names = self.python_names(ranges)
        told = [self.read(f, names) for f in facts]
        asked = self.read(question, names)

        def setup():
            solver = z3.Solver()
            solver.set("timeout", 2000)
            for symbol, (low, high) in ranges.items():
                if low is not None:
                    solver.add(names[symbol] >= low)
                if high is not None:
                    solver.add(names[symbol] <= high)
            solver.add(*told)
            return solver

        def query(solver):
            solver.push()
            solver.add(z3.Not(asked))
            if solver.check() == z3.unsat:
                return "valid"
            solver.pop()
            solver.push()
            solver.add(asked)
            return "refuted" if solver.check() == z3.unsat else "independent"

        solver, setup_us = timed(setup)
        answer, us = timed(lambda: query(solver))
        return answer, setup_us, us


def measure(peer, problems):
    decided = wrong = failed = decidable = 0
    setups, questions = [], []
    for name, ranges, facts, question, truth in problems:
        try:
            rounds = [peer.ask(ranges, facts, question) for _ in range(ROUNDS)]
        except Exception as error:  # the peer can't say it
            failed += 1
            print(f"  {peer.name} on {name}: {type(error).__name__}: "
                  f"{str(error).splitlines()[0][:70] if str(error) else ''}")
            continue
        finally:
            decidable += truth in ("valid", "refuted")
        answer = rounds[-1][0]
        wrong += answer != "independent" and answer != truth
        decided += answer == truth and truth != "independent"
        setups.append(statistics.median(r[1] for r in rounds))
        questions.append(statistics.median(r[2] for r in rounds))
    return {"decided": decided, "decidable": decidable, "wrong": wrong,
            "failed": failed, "setup": statistics.median(setups),
            "question": statistics.median(questions), "all": sum(questions)}


def proviso(paths):
    run = subprocess.run([COMMAND, "decide", *paths, "--tiers", "native",
                          "--json"], capture_output=True, text=True)
    if run.returncode > 1:
        sys.exit(run.stderr)
    counts = json.loads(run.stdout.splitlines()[-1])
    return {"decided": counts["decided"], "decidable": counts["decidable"],
            "wrong": counts["wrong"], "failed": counts["errors"],
            "setup": counts["setup_us"]["median"],
            "question": counts["first_us"]["median"],
            "all": counts["first_us"]["sum"]}


def main():
    paths = sys.argv[1:] or [ROOT / "bench" / "facts.txt"]
    problems = list(read(paths))
    ours = proviso(paths)
    rows = [("Proviso, native", ours)]
    rows.append((Z3.name, measure(Z3(), problems)))
    print(f"{'':16} {'decided':>9} {'wrong':>6} {'failed':>7} "
          f"{'set-up us':>10} {'question us':>12} {'of ours':>9}")
    for name, r in rows:
        ratio = (r["setup"] + r["question"]) / (ours["setup"] +
                                                ours["question"])
        decided = f"{r['decided']}/{r['decidable']}"
        print(f"{name:16} {decided:>9} {r['wrong']:>6} {r['failed']:>7} "
              f"{r['setup']:>10.1f} {r['question']:>12.1f} {ratio:>8.0f}x")
    if ours["wrong"]:
        sys.exit("a wrong answer of ours")


if __name__ == "__main__":
    main()
