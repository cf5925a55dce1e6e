"""What each strategy of the solver earns: it is switched off, and the answers
that are lost are counted.

    ./dev bench ablation [FILE...]      # bench/facts.txt, tests/regress when none

FILEs are in the format of `proviso decide`, or recorded sessions (*.shapelog).
Columns: how often the strategy was tried, how many answers it gave, its share
of all work (units of sym/budget.h), the decidable questions that stay undecided
and the open ones that stay without points when it is off, and the work of all
strategies then, as a ratio to the work with it.  Everything but the ratio's
last digit is the same on every machine.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ROOT / "build" / "bin" / "proviso"


def summary(command, paths, without=()):
    words = [str(COMMAND), command, *map(str, paths), "--tiers", "native",
             "--json"]
    for name in without:
        words += ["--without", name]
    run = subprocess.run(words, capture_output=True, text=True)
    last = run.stdout.strip().splitlines()[-1:]
    if not last or not last[0].startswith("{"):
        sys.exit(f"ablation: {' '.join(words[:2])} failed: {run.stderr}")
    return json.loads(last[0])


def add(totals, one):
    for key in ("asks", "decidable", "decided", "open", "open_shown"):
        totals[key] = totals.get(key, 0) + one[key]
    rows = totals.setdefault("strategies", {})
    for name, counts in one["strategies"].items():
        row = rows.setdefault(name, dict.fromkeys(counts, 0))
        for key, n in counts.items():
            row[key] += n
    return totals


def measure(paths, without=()):
    totals = {}
    for command, suffixes in (("decide", (".txt", ".jsonl")),
                              ("replay", (".shapelog",))):
        some = [p for p in paths if p.suffix in suffixes]
        if some:
            add(totals, summary(command, some, without))
    return totals


def work(totals):
    return sum(row["work"] for row in totals["strategies"].values())


def main(arguments):
    paths = [pathlib.Path(a) for a in arguments] or [
        ROOT / "bench" / "facts.txt",
        *sorted((ROOT / "tests" / "regress").glob("*.txt"))]
    everything = measure(paths)
    total = work(everything)
    print(f"{everything['asks']} questions, {everything['decided']} of "
          f"{everything['decidable']} decided, {everything['open_shown']} of "
          f"{everything['open']} open ones shown\n")
    print("| strategy | tried | decided | work | lost without it | "
          "not shown without it | work without it |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, row in everything["strategies"].items():
        off = measure(paths, (name,))
        print(f"| {name} | {row['tried']} | {row['decided']} "
              f"| {row['work'] / total:.1%} "
              f"| {everything['decided'] - off['decided']} "
              f"| {everything['open_shown'] - off['open_shown']} "
              f"| {work(off) / total:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
