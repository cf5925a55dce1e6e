"""How telling and asking grow: families of facts that double.

    ./dev python bench/growth.py [OUT.svg]

Prints microseconds of telling a whole family and of its question, with the
ratio to the size before, and draws both (log-log) into OUT.svg.  Of several
runs, each of all sizes in turn, the least counts: clocks that move between two
sizes would pass for growth.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ROOT / "build" / "bin" / "proviso"
RUNS = 7


def sizes(name, n):
    return " ".join(f"{name}{i}:2.." for i in range(n))


FAMILIES = {
    "guards": ([80, 160, 320, 640], lambda n: (
        sizes("s", n), "; ".join(f"s{i} <= {100 + i}" for i in range(n)),
        "s0 <= 200")),
    "unify": ([40, 80, 160, 320], lambda n: (
        sizes("s", n), "; ".join(f"s{i} == s{i + 1}" for i in range(n - 1)),
        f"s0 == s{n - 1}")),
    "divisible": ([20, 40, 80, 160], lambda n: (
        sizes("s", n), "; ".join(f"s{i} % 8 == 0" for i in range(n)),
        "s0 % 4 == 0")),
    "unrelated": ([625, 1250, 2500, 5000], lambda n: (
        sizes("s", n), "; ".join(f"s{i} != {i % 50 + 3}" for i in range(n)),
        "s0 >= 2")),
    "chain": ([8, 16, 32, 64], lambda n: (
        sizes("s", n), "; ".join(f"s{i} <= s{i + 1}" for i in range(n - 1)),
        f"s0 <= s{n - 1}")),
    "solved": ([250, 500, 1000, 2000], lambda n: (
        "s0:2.. " + " ".join(f"u{i}:0.. w{i}:0.." for i in range(n)),
        "; ".join(f"u{i} == s0 + w{i}; s0 + w{i} <= {1000 + i}"
                  for i in range(n)),
        "u0 <= 1000")),
    "sum": ([200, 400, 800, 1600], lambda n: (
        " ".join(f"u{i}:0.." for i in range(n)), "",
        " + ".join(f"u{i}" for i in range(n)) + " >= 0")),
}


def measure(symbols, facts, question):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(f"G|growth|{symbols}|{facts}|{question}|valid|-\n")
        f.flush()
        out = subprocess.run([COMMAND, "decide", f.name, "--tiers", "native",
                              "--json"], capture_output=True, text=True,
                             check=True).stdout
    counts = json.loads(out.splitlines()[-1])
    if counts["decided"] != 1:
        sys.exit(f"undecided: {question[:60]}")
    return counts["setup_us"]["median"], counts["first_us"]["median"]


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
                 'terms), log-log: telling solid, asking dashed</text>')
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
          f"{'x':>5}")
    for name, (ns, make) in FAMILIES.items():
        runs = [[measure(*make(n)) for n in ns] for _ in range(RUNS)]
        before = None
        for i, n in enumerate(ns):
            tell, ask = (min(run[i][k] for run in runs) for k in (0, 1))
            rows.append((name, n, tell, ask))
            ratios = (["", ""] if before is None else
                      [f"{tell / max(before[0], 0.01):.1f}",
                       f"{ask / max(before[1], 0.01):.1f}"])
            print(f"{name:10} {n:>6} {tell:>10.1f} {ratios[0]:>5} {ask:>9.2f} "
                  f"{ratios[1]:>5}")
            before = tell, ask
    if len(sys.argv) > 1:
        draw(rows, sys.argv[1])


if __name__ == "__main__":
    main()
