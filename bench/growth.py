"""How assuming and asking grow: families of facts that double.

    ./dev python bench/growth.py [OUT.svg]

Prints microseconds of assuming a whole family and of its question, with the
ratio to the size before, and draws both (log-log) into OUT.svg.  Asking is the
median of QUESTIONS questions that differ by a number, each asked once; `first`
is the first alone, in a context made the moment before: where its facts
outgrow the caches, it waits for memory.  Of several runs, each of all
sizes in turn, the least times count and the median ratios: a clock that moves
between two sizes would pass for growth.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ROOT / "build" / "bin" / "proviso"
RUNS = 15
QUESTIONS = 40


def sizes(name, n, low=2):
    return [(f"{name}{i}", low) for i in range(n)]


# Of n: symbols with their least values, facts, and the question with a number.
FAMILIES = {
    "guards": ([80, 160, 320, 640], lambda n, k: (
        sizes("s", n), [f"s{i} <= {100 + i}" for i in range(n)],
        f"s0 <= {200 + k}")),
    "unify": ([40, 80, 160, 320], lambda n, k: (
        sizes("s", n), [f"s{i} == s{i + 1}" for i in range(n - 1)],
        f"s0 + {k} == s{n - 1} + {k}")),
    "divisible": ([20, 40, 80, 160], lambda n, k: (
        sizes("s", n), [f"s{i} % 8 == 0" for i in range(n)],
        f"(s0 + {4 * k}) % 4 == 0")),
    "unrelated": ([625, 1250, 2500, 5000], lambda n, k: (
        sizes("s", 2) + sizes("u", n + 1, 0),
        [f"u{i} <= u{i + 1}" for i in range(n)], f"s0*s1 + {k} >= s0")),
    "chain": ([8, 16, 32, 64], lambda n, k: (
        sizes("s", n), [f"s{i} <= s{i + 1}" for i in range(n - 1)],
        f"s0 <= s{n - 1} + {k}")),
    "solved": ([250, 500, 1000, 2000], lambda n, k: (
        sizes("s", 1) + sizes("u", n, 0) + sizes("w", n, 0),
        [fact for i in range(n)
         for fact in (f"u{i} == s0 + w{i}", f"s0 + w{i} <= {1000 + i}")],
        f"u0 <= {1000 + k}")),
    "sum": ([200, 400, 800, 1600], lambda n, k: (
        sizes("u", n, 0), [], " + ".join(f"u{i}" for i in range(n)) +
        f" + {k} >= 0")),
}


def counts_of(command, suffix, text, asks):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as f:
        f.write(text)
        f.flush()
        out = subprocess.run(
            [COMMAND, command, f.name, "--tiers", "native", "--json"],
            capture_output=True, text=True, check=True).stdout
    counts = json.loads(out.splitlines()[-1])
    if counts["decided"] != asks:
        sys.exit(f"growth: undecided: {text[-80:]}")
    return counts


def measure(make, n):
    """Microseconds of assuming, of asking and of the first question."""
    symbols, facts, question = make(n, 0)
    once = counts_of("decide", ".txt", "G|growth|{}|{}|{}|valid|-\n".format(
        " ".join(f"{name}:{low}.." for name, low in symbols),
        "; ".join(facts), question), 1)
    lines = [f"symbol {name} unbacked range [{low}, int_oo]"
             for name, low in symbols]
    lines += [f"assume {fact}" for fact in facts]
    lines += [f"ask static {make(n, k)[2]} ; truth valid ; peer True 0us"
              for k in range(QUESTIONS)]
    many = counts_of("replay", ".shapelog", "\n".join(lines) + "\n", QUESTIONS)
    return (once["setup_us"]["median"], many["first_us"]["median"],
            once["first_us"]["median"])


def draw(rows, path):
    import math
    width, height, edge = 640, 420, 50
    xs = [n for _, n, _, _ in rows]
    ys = [max(v, 0.05) for _, _, tell, ask in rows for v in (tell, ask)]

    def x(n):
        low, high = math.log(min(xs)), math.log(max(xs))
        return edge + (math.log(n) - low) / (high - low) * (width - 2 * edge)

    def y(v):
        low, high = math.log(min(ys)), math.log(max(ys))
        share = (math.log(max(v, 0.05)) - low) / (high - low)
        return height - edge - share * (height - 2 * edge)

    colours = dict(zip(FAMILIES, ("#1b6ca8", "#c0392b", "#27864b", "#8e44ad",
                                  "#b9770e", "#16a085", "#444444")))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
             f'{height}" font-family="sans-serif" font-size="11">']
    parts.append(f'<text x="{edge}" y="20">microseconds by number of facts (or '
                 'terms), log-log: assuming solid, asking dashed</text>')
    for name, colour in colours.items():
        mine = [r for r in rows if r[0] == name]
        for column, dash in ((2, ""), (3, ' stroke-dasharray="4 3"')):
            points = " ".join(f"{x(r[1]):.0f},{y(r[column]):.0f}" for r in mine)
            parts.append(f'<polyline points="{points}" fill="none" '
                         f'stroke="{colour}"{dash}/>')
        last = mine[-1]
        parts.append(f'<text x="{x(last[1]) + 4:.0f}" y="{y(last[2]):.0f}" '
                     f'fill="{colour}">{name}</text>')
    for v in (0.1, 1, 10, 100, 1000, 10000):
        if min(ys) <= v <= max(ys):
            parts.append(f'<text x="8" y="{y(v):.0f}">{v:g}</text>')
    for n in (10, 100, 1000):
        parts.append(f'<text x="{x(n):.0f}" y="{height - 20}">{n}</text>')
    pathlib.Path(path).write_text("\n".join(parts + ["</svg>\n"]))


def main():
    rows = []
    print(f"{'family':10} {'n':>6} {'tell us':>10} {'x':>5} {'ask us':>9} "
          f"{'x':>5} {'first us':>9}")
    for name, (ns, make) in FAMILIES.items():
        runs = [[measure(make, n) for n in ns] for _ in range(RUNS)]
        for i, n in enumerate(ns):
            tell, ask, first = (min(run[i][k] for run in runs)
                                for k in range(3))
            rows.append((name, n, tell, ask))
            ratios = ["", ""] if i == 0 else [
                "{:.1f}".format(statistics.median(
                    run[i][k] / max(run[i - 1][k], 0.01) for run in runs))
                for k in range(2)]
            print(f"{name:10} {n:>6} {tell:>10.1f} {ratios[0]:>5} {ask:>9.2f} "
                  f"{ratios[1]:>5} {first:>9.2f}")
    if len(sys.argv) > 1:
        draw(rows, sys.argv[1])


if __name__ == "__main__":
    main()
