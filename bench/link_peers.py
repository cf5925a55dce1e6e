"""What a context costs: Proviso, TVM's Analyzer and Z3 in one run.

    PYTHONPATH=build/python python bench/link_peers.py [ROUNDS]

Wants apache-tvm and z3-solver in that Python; a peer that is not there is
skipped, and said so.  Proviso's C++ column is `build-bench/bin/link_bench`
(./dev build bench).  The others are called from Python as their users call them;
`a call` is what the cheapest call of each takes, and is part of each of its
figures.  Processor time; medians of rounds, the peers in turns.
"""
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build-bench" / "bin" / "link_bench"
RANGES = 10_000


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
        "uordblks", "fordblks", "keepcost")]


def bytes_in_use():
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo
    info = mallinfo2()
    return info.uordblks + info.hblkhd


class Proviso:
    name = "Proviso, Python"

    def __init__(self):
        import proviso
        self.Context = proviso.Context
        self.sizes = [proviso.symbol(f"s{i}", "backed_size")
                      for i in range(RANGES)]
        self.n, self.m = self.sizes[:2]
        self.none = proviso.Context()

    def call(self):
        self.none.depth

    def context(self):
        return self.Context()

    def range(self, context, symbol, low, high):
        context.declare(symbol, low, high)

    def fact(self, context, fact):
        context.assume(fact)

    def ask(self, context, question):
        assert context.ask_quick(question) == "yes"

    def simplify(self, context, form):
        context.simplify(form)

    def divides(self, k):
        return self.n % k == 0

    def least(self, i):
        return self.n * (i + 1) >= i

    def sum_below(self, k):
        return self.n + self.m <= k

    def index(self):
        return (self.n * 4 + 3) // 4 + self.m

    def less(self):
        return self.sizes[0] <= self.sizes[1] + 64


class Tvm(Proviso):
    name = "TVM's Analyzer"

    def __init__(self):
        import tvm
        try:
            from tvm import arith, tir
        except ImportError:  # the modules' names since 0.27
            from tvm import sym as arith, tirx as tir
        self.tir, self.Range, self.Analyzer = tir, tvm.ir.Range, arith.Analyzer
        self.sizes = [tir.Var(f"s{i}", "int64") for i in range(RANGES)]
        self.n, self.m = self.sizes[:2]
        self.none = self.Analyzer()

    def call(self):
        self.none.enabled_extensions

    def context(self):
        return self.Analyzer()

    def range(self, context, symbol, low, high):
        context.bind(symbol, self.Range(low, high + 1))

    def fact(self, context, fact):  # holds while what it returns is kept
        scope = context.constraint_scope(fact)
        scope.__enter__()
        return scope

    def ask(self, context, question):
        assert context.can_prove(question)

    def divides(self, k):
        return self.tir.floormod(self.n, k) == 0

    def index(self):
        return self.tir.floordiv(self.n * 4 + 3, 4) + self.m


class Z3(Proviso):
    name = "Z3"

    def __init__(self):
        import z3
        self.z3 = z3
        self.sizes = [z3.Int(f"s{i}") for i in range(RANGES)]
        self.n, self.m = self.sizes[:2]
        self.none = z3.Solver()

    def call(self):
        self.none.num_scopes()

    def context(self):
        return self.z3.Solver()

    def range(self, context, symbol, low, high):
        context.add(low <= symbol, symbol <= high)

    def fact(self, context, fact):
        context.add(fact)

    def ask(self, context, question):
        context.push()
        context.add(self.z3.Not(question))
        assert context.check() == self.z3.unsat
        context.pop()

    def simplify(self, context, form):
        self.z3.simplify(form)

    def index(self):
        return (self.n * 4 + 3) / 4 + self.m


def timed(work, times):
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times * 1e6


def rows_of(peer):
    """Row -> (a function that does it, how often it is done a round)."""
    eight, four = peer.divides(8), peer.divides(4)
    below, form = peer.sum_below(128), peer.index()
    facts = [peer.least(i) for i in range(1000)]

    def ten_ranges():
        context = peer.context()
        for symbol in peer.sizes[:10]:
            peer.range(context, symbol, 1, 64)

    def a_thousand_facts():
        context = peer.context()
        return [peer.fact(context, fact) for fact in facts]

    def first_question():
        context = peer.context()
        _scope = peer.fact(context, eight)
        peer.ask(context, four)

    asked = peer.context()
    scope_of_asked = peer.fact(asked, eight)

    def small_context():
        context = peer.context()
        peer.range(context, peer.n, 1, 64)
        peer.range(context, peer.m, 1, 64)
        peer.ask(context, below)
        peer.simplify(context, form)

    return {"a call": (peer.call, 2000),
            "empty context": (peer.context, 500),
            "context of ten ranges": (ten_ranges, 100),
            "a fact": (a_thousand_facts, 1),
            "context, fact, first question": (first_question, 100),
            "the same question again": (
                lambda _kept=scope_of_asked: peer.ask(asked, four), 500),
            "small context": (small_context, 100)}


def bytes_of_a_range(peer):
    question = peer.less()
    for measured in (False, True):  # what stays with expressions comes first
        before = bytes_in_use()
        context = peer.context()
        for symbol in peer.sizes:
            peer.range(context, symbol, 1, 64)
        peer.ask(context, question)
        used = bytes_in_use() - before
        del context
    return used / RANGES


# Of link_bench, in microseconds.
IN_CPP = {"empty context": ("EmptyContext", 1),
          "context of ten ranges": ("ContextOfTenRanges", 1),
          "a fact": ("AFact", 1000),
          "context, fact, first question": ("FirstQuestion", 1),
          "the same question again": ("SameQuestionAgain/ask_quick", 1),
          "small context": ("SmallContext", 1)}
UNIT = {"ns": 1e-3, "us": 1.0, "ms": 1e3}


def in_cpp(rounds):
    output = subprocess.run(
        [BENCH, "--benchmark_format=json", "--benchmark_min_time=0.1",
         f"--benchmark_repetitions={rounds}",
         "--benchmark_filter=^(EmptyContext|ContextOfTenRanges|AFact|"
         "FirstQuestion|SameQuestionAgain|SmallContext$|BytesOfARange)"],
        check=True, capture_output=True, text=True).stdout
    times, used = {}, None
    for run in json.loads(output)["benchmarks"]:
        if run["run_type"] == "aggregate":
            if run["aggregate_name"] != "median":
                continue
            times[run["run_name"]] = run["cpu_time"] * UNIT[run["time_unit"]]
            used = run.get("asked", used)
    found = {row: times[name] / many for row, (name, many) in IN_CPP.items()}
    found["bytes of a range of 10,000"] = used
    return found


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    columns = {}
    if BENCH.exists():
        columns["Proviso, C++"] = in_cpp(rounds)
    else:
        print(f"SKIPPED: Proviso in C++, for {BENCH} is not built: "
              "./dev build bench")
    peers = []
    for kind in (Proviso, Tvm, Z3):
        try:
            peers.append(kind())
        except ImportError as error:
            print(f"SKIPPED: {kind.name}, for it cannot be imported: {error}")
    work = {peer.name: rows_of(peer) for peer in peers}
    found = {name: {row: [] for row in rows} for name, rows in work.items()}
    for _ in range(rounds):
        for name, rows in work.items():
            for row, (function, times) in rows.items():
                many = 1000 if row == "a fact" else 1
                found[name][row].append(timed(function, times) / many)
    for peer in peers:
        columns[peer.name] = {row: statistics.median(all)
                              for row, all in found[peer.name].items()}
        if not isinstance(peer, Z3):  # which keeps what it is given back
            columns[peer.name]["bytes of a range of 10,000"] = (
                bytes_of_a_range(peer))
    rows = ["a call", *IN_CPP, "bytes of a range of 10,000"]
    print("| microseconds | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for row in rows:
        cells = [columns[c].get(row) for c in columns]
        print(f"| {row} | " + " | ".join(
            "" if cell is None else f"{cell:.0f}" if cell >= 100
            else f"{cell:.3g}" for cell in cells) + " |")


if __name__ == "__main__":
    main()
