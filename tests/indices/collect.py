"""Index expressions of tensor programs, with what other compilers make of them.

    python tests/indices/collect.py > tests/indices/indices.jsonl

Writes a line an expression, in the format of `proviso simplify --pairs`:
`before`, the ranges of its symbols and facts about them; `tvm` is what TVM's
Analyzer.simplify (RewriteSimplify and CanonicalSimplify in turns) makes of it,
`tinygrad` what its symbolic rules make of it, `after` the cheaper of the two
(a node 1, a division or remainder 4).  tinygrad takes ranges but no facts.
Needs apache-tvm and tinygrad; made with 0.27.0 and 0.14.0.
tests/solver/indices_test.cc reads the lines.
"""

import itertools
import json
import random
import sys

from tinygrad.uop.ops import Ops, UOp
from tvm import sym as arith, tirx as tir

INDICES = []  # (id, text, {symbol: (first, last)}, [facts])
BIG = 2**40


def index(family, text, facts=(), **ranges):
    count = sum(1 for known in INDICES if known[0].startswith(family + "-"))
    INDICES.append((f"{family}-{count}", text, ranges, list(facts)))


def to(extent):
    return (0, extent - 1)


# --- the families

def views():
    """One flat number taken apart and put together, as views do."""
    for a, b, c in [(2, 3, 4), (8, 16, 32), (7, 5, 64)]:
        x = to(a * b * c)
        index("view", f"x//{b*c}*{b*c} + x//{c}%{b}*{c} + x%{c}", x=x)
        index("view", f"(x//{c}*{c} + x%{c})//{b*c}", x=x)
        index("view", f"(x%{b*c})//{c}*{c} + x%{c}", x=x)
        index("view", f"x//{c}//{b}*{b} + x//{c}%{b}", x=x)
        # (a, b, c) seen as (a, c, b) and back
        t = f"(x//{b*c}*{b*c} + x%{b}*{c} + x//{b}%{c})"
        index("view", f"{t}//{b*c}", x=x)
        index("view", f"{t}%{c}", x=x)
        index("view", f"{t}//{c}%{b}", x=x)
        index("view", f"{t}//{b*c}*{b*c} + {t}%{c}*{b} + {t}//{c}%{b}", x=x)
        # (a, b, c) flattened, asked for its parts
        flat = f"((i*{b} + j)*{c} + k)"
        ijk = dict(i=to(a), j=to(b), k=to(c))
        index("view", f"{flat}//{c}", **ijk)
        index("view", f"{flat}//{b*c}", **ijk)
        index("view", f"{flat}//{c}%{b}", **ijk)
        index("view", f"{flat}%{b*c}", **ijk)
        index("view", f"{flat}//{c}%{b} + {flat}%{c}", **ijk)


def transposes():
    for m, n in [(4, 6), (32, 128), (64, 64)]:
        x = to(m * n)
        once = f"(x%{n}*{m} + x//{n})"
        index("transpose", f"{once}%{m}*{n} + {once}//{m}", x=x)
        index("transpose", f"{once}//{m}", x=x)
        index("transpose", f"(i*{n} + j)%{n}*{m} + (i*{n} + j)//{n}",
              i=to(m), j=to(n))
        index("transpose", f"(x//{n}*{n} + ({n} - 1 - x%{n}))//{n}", x=x)
    # symbolic sizes: rows of n
    row = dict(facts=["j < n"], i=to(BIG), j=to(BIG), n=(1, BIG))
    index("transpose", "(i*n + j)//n", **row)
    index("transpose", "(i*n + j)%n", **row)
    index("transpose", "(i*n + j)//n*n + (i*n + j)%n", **row)
    index("transpose", "(i*n + j)%n*m + (i*n + j)//n", facts=["j < n"],
          i=to(BIG), j=to(BIG), n=(1, BIG), m=(1, BIG))
    index("transpose", "((b*m + i)*n + j)//n%m", facts=["j < n", "i < m"],
          b=to(BIG), i=to(BIG), j=to(BIG), n=(1, BIG), m=(1, BIG))
    index("transpose", "((b*m + i)*n + j)//(m*n)", facts=["j < n", "i < m"],
          b=to(BIG), i=to(BIG), j=to(BIG), n=(1, BIG), m=(1, BIG))


def tiles():
    """Loops split by a tile, fused again, with tails."""
    for t, s in [(4, 8), (16, 64), (128, 32)]:
        index("tile", f"(o*{t} + i)//{t}", o=to(s), i=to(t))
        index("tile", f"(o*{t} + i)%{t}", o=to(s), i=to(t))
        index("tile", f"(o*{t} + i)//{t}*{t} + (o*{t} + i)%{t}",
              o=to(s), i=to(t))
        index("tile", f"((o*{t} + i)*{s} + v)//{t*s}*{t} + "
              f"((o*{t} + i)*{s} + v)//{s}%{t}", o=to(64), i=to(t), v=to(s))
        index("tile", f"(n + {t-1})//{t}*{t} - n", n=(0, BIG))
        index("tile", f"n//{t}*{t} + n%{t}", n=(0, BIG))
        index("tile", f"n - n//{t}*{t}", n=(0, BIG))
        index("tile", f"min({t}, n - o*{t})", facts=[f"o < n//{t}"],
              n=(0, BIG), o=(0, BIG))
        index("tile", f"o*{t} + i < n", facts=[f"o < n//{t}"],
              n=(0, BIG), o=(0, BIG), i=to(t))
        index("tile", f"max(0, min({t}, n - o*{t}))",
              facts=[f"o < (n + {t-1})//{t}"], n=(1, BIG), o=(0, BIG))
        index("tile", f"(n*{t} + {t-1})//{t}", n=(0, BIG))
        index("tile", f"(n*{t} + i)//{t*4}", n=(0, BIG), i=to(t))
        index("tile", f"(o*{t*4} + m*{t} + i)//{t}%4", o=(0, BIG), m=to(4),
              i=to(t))
        index("tile", f"(o*{t*4} + m*{t} + i)%{t*4}//{t}", o=(0, BIG), m=to(4),
              i=to(t))
        # a tail that is there only where the tile does not divide
        index("tile", f"(n - n//{t}*{t} + {t-1})//{t}", n=(0, BIG))
        index("tile", f"n%{t} == 0", facts=[f"n%{t*2} == 0"], n=(0, BIG))
    index("tile", "(o*t + i)//t", facts=["i < t"], o=(0, BIG), t=(1, 1024),
          i=(0, 1024))
    index("tile", "(n + t - 1)//t*t - n < t", n=(0, BIG), t=(1, 1024))
    index("tile", "(n*t + t - 1)//t", n=(0, BIG), t=(1, 1024))


def convolutions():
    """im2col and unfold: rows (c, kh, kw), columns (oh, ow)."""
    for h, w, k, s in [(8, 8, 3, 1), (14, 14, 3, 2), (28, 30, 5, 1)]:
        oh, ow = (h - k) // s + 1, (w - k) // s + 1
        row, column = to(16 * k * k), to(oh * ow)
        at_h = f"(q//{ow}*{s} + r//{k}%{k})"
        at_w = f"(q%{ow}*{s} + r%{k})"
        at = f"((r//{k*k}*{h} + {at_h})*{w} + {at_w})"
        rq = dict(r=row, q=column)
        index("unfold", f"{at}//{w*h}", **rq)
        index("unfold", f"{at}%{w}", **rq)
        index("unfold", f"{at}//{w}%{h}", **rq)
        index("unfold", f"{at}", **rq)
        index("unfold", f"{at_h} < {h} and {at_w} < {w}", **rq)
        # loops instead of flat rows and columns
        parts = dict(c=to(16), y=to(oh), x=to(ow), u=to(k), v=to(k))
        r = f"((c*{k} + u)*{k} + v)"
        q = f"(y*{ow} + x)"
        index("unfold", f"({r}//{k*k}*{h} + {q}//{ow}*{s} + {r}//{k}%{k})*{w}"
              f" + {q}%{ow}*{s} + {r}%{k}", **parts)
        index("unfold", f"{r}//{k}%{k} + {q}//{ow}*{s}", **parts)
        index("unfold", f"{r}%{k*k}//{k}", **parts)
    for h, k, s, p in [(14, 3, 1, 1), (28, 5, 2, 2), (56, 7, 2, 3)]:
        o = (h + 2 * p - k) // s + 1
        at = f"(y*{s} + u - {p})"
        yu = dict(y=to(o), u=to(k))
        index("padding", f"0 <= {at} and {at} < {h}", **yu)
        index("padding", f"min(max({at}, 0), {h-1})", **yu)
        index("padding", f"{at} + {p} >= 0", **yu)
        index("padding", f"0 <= x//{o}*{s} - {p} and x//{o}*{s} - {p} < {h+p}",
              x=to(o * o))
        index("padding", f"max(0, {p} - y*{s}) + max(0, y*{s} - {p})",
              y=to(o))
        index("padding", f"({h} + {2*p} - {k})//{s} + 1 - y", y=to(o))
        index("padding", f"(h + {2*p} - {k})//{s} + 1", h=(k, BIG))
        index("padding", f"((h + {2*p} - {k})//{s}*{s} + {k} - {2*p})//{s}",
              h=(k, BIG))
        # transposed convolution: which output meets a tap
        index("padding", f"(y*{s} + {p} - u)%{s} == 0", y=to(o), u=to(k))
        index("padding", f"(y*{s} + u*{s})//{s}", **yu)
    for k in (2, 3, 4):
        index("pool", f"(y*{k} + u)//{k}", y=to(16), u=to(k))
        index("pool", f"x//{k}*{k} + x%{k}", x=to(16 * k))
        index("pool", f"(h//{k}*{k} + {k-1})//{k}", h=(0, BIG))
        index("pool", f"(y*{k}*w + x)//{k}//w", facts=["x < w"],
              y=to(1024), x=(0, BIG), w=(1, BIG))


def shuffles():
    """Pixel shuffle, channel shuffle, windows."""
    for r, c, h, w in [(2, 3, 8, 8), (4, 16, 12, 20)]:
        flat = f"((c*{h*r} + y)*{w*r} + x)"
        cyx = dict(c=to(c), y=to(h * r), x=to(w * r))
        source = (f"(((c*{r} + y%{r})*{r} + x%{r})*{h} + y//{r})*{w} "
                  f"+ x//{r}")
        index("shuffle", source, **cyx)
        index("shuffle", f"({source})%{w}", **cyx)
        index("shuffle", f"({source})//{w}%{h}", **cyx)
        index("shuffle", f"({source})//{h*w}", **cyx)
        index("shuffle", f"({source})//{h*w*r*r}", **cyx)
        index("shuffle", f"{flat}//{r}%{w}", **cyx)
        index("shuffle", f"{flat}%{w*r}//{r}*{r} + {flat}%{r}", **cyx)
        index("shuffle", f"y//{r}*{r} + y%{r}", y=to(h * r))
        index("shuffle", f"(y*{r} + u)//{r}%{h}", y=to(h), u=to(r))
    for g, c in [(2, 8), (4, 60)]:
        once = f"(x%{g}*{c//g} + x//{g})"
        index("shuffle", f"{once}//{c//g}", x=to(c))
        index("shuffle", f"{once}%{c//g}*{g} + {once}//{c//g}", x=to(c))
    for win, n in [(7, 8), (8, 16)]:
        side = win * n
        yx = dict(y=to(side), x=to(side))
        number = f"(y//{win}*{n} + x//{win})"
        inside = f"(y%{win}*{win} + x%{win})"
        index("window", f"{number}//{n}*{win} + {inside}//{win}", **yx)
        index("window", f"{number}%{n}*{win} + {inside}%{win}", **yx)
        index("window", f"({number}*{win*win} + {inside})//{win*win}", **yx)
        index("window", f"({number}*{win*win} + {inside})%{win*win}//{win}",
              **yx)
        index("window", f"((y + {side-3})%{side} + 3)%{side}", y=to(side))
        index("window", f"(y + {win})//{win} - y//{win}", y=to(side))


def attention():
    for heads, groups, d in [(8, 2, 64), (32, 8, 128), (12, 12, 64)]:
        per = heads // groups
        q = f"((b*{heads} + h)*s + t)"
        bht = dict(facts=["t < s"], b=to(64), h=to(heads), t=(0, BIG),
                   s=(1, BIG))
        index("attention", f"{q}//s//{heads}", **bht)
        index("attention", f"{q}//s%{heads}//{per}", **bht)
        index("attention", f"{q}%s", **bht)
        index("attention", f"({q}*{d} + e)//{d}", facts=["t < s"], b=to(64),
              h=to(heads), t=(0, 65535), s=(1, 65536), e=to(d))
        index("attention", f"({q}*{d} + e)//{d}//s", facts=["t < s"], b=to(64),
              h=to(heads), t=(0, 65535), s=(1, 65536), e=to(d))
        index("attention", f"(g*{per} + p)//{per}", g=to(groups), p=to(per))
        index("attention", f"(g*{per} + p)%{per} + (g*{per} + p)//{per}*{per}",
              g=to(groups), p=to(per))
        index("attention", f"(t*{heads*d} + h*{d} + e)//{d}%{heads}",
              t=to(4096), h=to(heads), e=to(d))
        index("attention", f"(t*{3*heads*d} + {heads*d} + h*{d} + e)"
              f"//{heads*d}%3", t=to(4096), h=to(heads), e=to(d))
        index("attention", f"(e + {d//2})%{d}", e=to(d // 2))
        index("attention", f"(e + {d//2})%{d}//{d//2}", e=to(d))
    for page in (16, 64):
        index("paged", f"(p//{page}*{page} + p%{page})//{page}", p=(0, BIG))
        index("paged", f"(block*{page} + p%{page})%{page}", block=(0, BIG),
              p=(0, BIG))
        index("paged", f"(block*{page} + p%{page})//{page}", block=(0, BIG),
              p=(0, BIG))
        index("paged", f"(n + {page-1})//{page}*{page} - n <= {page-1}",
              n=(0, BIG))
        index("paged", f"p//{page} < (n + {page-1})//{page}", facts=["p < n"],
              p=(0, BIG), n=(1, BIG))
    for bq, bk in [(64, 64), (128, 64)]:
        at = dict(i=to(64), r=to(bq), j=to(128), c=to(bk))
        index("mask", f"j*{bk} + c <= i*{bq} + r",
              facts=[f"(j + 1)*{bk} <= i*{bq}"], **at)
        index("mask", f"j*{bk} + c > i*{bq} + r",
              facts=[f"j*{bk} >= (i + 1)*{bq}"], **at)
        index("mask", f"(i*{bq} + r)//{bk}", **at)
        index("mask", f"(i*{bq} + {bq} + {bk-1})//{bk}", i=to(64))
        index("mask", f"Where(j*{bk} + c < n, j*{bk} + c, n - 1)",
              facts=[f"(j + 1)*{bk} <= n"], j=to(BIG), c=to(bk), n=(1, BIG))


def packing():
    """Quantised weights: lanes in words, groups of scales."""
    for lanes, group in [(2, 32), (4, 64), (8, 128)]:
        k = (0, BIG)
        index("pack", f"k//{lanes}*{lanes} + k%{lanes}", k=k)
        index("pack", f"(k//{group}*{group} + k%{group})//{lanes}", k=k)
        index("pack", f"k%{group}//{lanes}*{lanes} + k%{lanes}", k=k)
        index("pack", f"k//{lanes}//{group//lanes}", k=k)
        index("pack", f"(w*{lanes} + l)//{group}", w=k, l=to(lanes))
        index("pack", f"(w*{lanes} + l)%{lanes}*{32//lanes}", w=k, l=to(lanes))
        index("pack", f"(g*{group} + w*{lanes} + l)//{group}",
              g=k, w=to(group // lanes), l=to(lanes))
        index("pack", f"(g*{group} + w*{lanes} + l)%{group}//{lanes}",
              g=k, w=to(group // lanes), l=to(lanes))
        half = group // 2
        index("pack", f"(x//{half}%2*{half} + x%{half})%{group}", x=k)
        index("pack", f"x%{half}*2 + x%{group}//{half}", x=k)
        index("pack", f"(x%{half}*2 + x%{group}//{half})//2", x=k)
        index("pack", f"(n*{lanes}//{lanes} + {group-1})//{group}", n=k)
        index("pack", f"(n + {lanes-1})//{lanes}*{lanes}//{lanes}", n=k)
        index("pack", f"(n*{32//lanes} + 31)//32*32//{32//lanes}", n=k)


def slices():
    """Slices, joins, rolls, repeats, reversed and strided views."""
    n = (1, BIG)
    below = dict(facts=["i < n"], i=(0, BIG), n=n)
    index("slice", "(i + n)%n", **below)
    index("slice", "(i + 2*n)%n", **below)
    index("slice", "n - 1 - (n - 1 - i)", **below)
    index("slice", "(n - 1 - i)%n", **below)
    index("slice", "(i*2 + 1)//2", **below)
    index("slice", "i%n + i//n*n", **below)
    index("slice", "min(i, n - 1)", **below)
    index("slice", "max(min(i, n), 0)", **below)
    index("slice", "Where(i < n, i, i - n)", **below)
    index("slice", "(i + n - 1)//n", facts=["i <= n"], i=(1, BIG), n=n)
    index("slice", "Where(i < m, i, i - m + m)", i=(0, BIG), m=n)
    index("slice", "(n*3 + i)//n", **below)
    index("slice", "(n*k + i)%(n*m)//n", facts=["i < n", "k < m"], i=(0, BIG),
          n=n, k=(0, BIG), m=n)
    for step in (2, 3, 4):
        index("slice", f"(i*{step} + 1)//{step}", i=(0, BIG))
        index("slice", f"(n - 1)//{step}*{step} <= n - 1", n=n)
        index("slice", f"(i*{step})//{step}", i=(0, BIG))
        index("slice", f"(n*{step} - 1)//{step}", n=n)
        index("slice", f"(i + {step})%{step}", i=(0, BIG))
        index("slice", f"(i//{step} + j)%{step}", i=to(step), j=(0, BIG))
        index("repeat", f"(i*{step} + r)//{step}", i=(0, BIG), r=to(step))
        index("repeat", f"(r*{16*step} + i)%{16*step}%{step}", r=(0, BIG),
              i=to(16 * step))
        index("repeat", f"o*{step}//{step}*{step} + o*{step}%{step}",
              o=(0, BIG))
        index("swizzle", f"(i*{2**step} + (i + j)%{2**step})//{2**step}",
              i=(0, BIG), j=to(2**step))
        index("swizzle", f"(i*{2**step} + (i + j)%{2**step})%{2**step}",
              i=(0, BIG), j=to(2**step))


def random_indices(count):
    """Splits, fusions, padding and strides put together by chance."""
    made = 0
    for seed in itertools.count():
        if made == count:
            return
        r = random.Random(seed)
        inner, middle = (r.choice([3, 4, 8, 16, 60]) for _ in "ab")
        ranges = dict(i=to(r.choice([4, 32])), j=to(middle), k=to(inner))
        flat = r.choice([f"((i*{middle} + j)*{inner} + k)",
                         f"(i*{inner} + k)", f"(j*{r.choice([8, 16])} + k)"])
        if r.random() < 0.4:
            flat = f"({flat} + {r.choice([1, 7, inner - 1, inner])})"
        by = r.choice([inner, middle, inner * middle, 8, 16])
        parts = [f"{flat}//{by}", f"{flat}%{by}", f"{flat}//{by}%{middle}",
                 f"({flat}//{by}*{by} + {flat}%{by})",
                 f"min({flat}%{by}, {by - 1})", f"max({flat} - {by}, 0)",
                 f"({flat}*{by} + k)//{by}"]
        text = f"{r.choice(parts)} + {r.choice(parts)}*4"
        ranges = {s: at for s, at in ranges.items() if s in text.split("m")[0]
                  or s in text}
        index("random", text, **ranges)
        made += 1


# --- the peers.  Text goes in by Python's own parser, and comes out as ours.

def value_of(text, names):
    text = text.replace(" and ", " & ")
    if "&" in text:  # Python's & binds tighter than its relations
        text = " & ".join(f"({part})" for part in text.split("&"))
    return eval(text, {"__builtins__": {}}, names)


class Text:
    """What a peer says, as text, and its cost (sym/cost.h)."""

    def __init__(self, text, cost=1):
        self.text, self.cost = text, cost

    def binary(self, sign, other, cost=1):
        return Text(f"({self.text} {sign} {other.text})",
                    cost + self.cost + other.cost)


def call(name, *args):
    return Text(f"{name}({', '.join(a.text for a in args)})",
                1 + sum(a.cost for a in args))


def negated(a):
    return Text(f"~({a.text})", 1 + a.cost)


def tvm_of(text, ranges, facts):
    variables = {name: tir.Var(name, "int64") for name in ranges}
    names = dict(variables, min=tir.min, max=tir.max, Where=tir.Select)
    analyzer = arith.Analyzer()
    for name, (first, last) in ranges.items():
        analyzer.update(variables[name], arith.ConstIntBound(first, last))
    scopes = [analyzer.constraint_scope(relation(fact, names))
              for fact in facts]
    for scope in scopes:
        scope.__enter__()
    result = analyzer.simplify(relation(text, names))
    for scope in reversed(scopes):
        scope.__exit__(None, None, None)
    return text_of_tvm(result)


def relation(text, names):
    """TVM's == between expressions is no expression of its own."""
    if " == " in text:
        a, b = text.split(" == ")
        return tir.EQ(value_of(a, names), tir.IntImm("int64", int(b)))
    if " and " in text:
        a, b = text.split(" and ")
        return tir.And(value_of(a, names), value_of(b, names))
    return value_of(text, names)


def text_of_tvm(e):
    kind = type(e).__name__
    if kind == "IntImm":
        boolean = str(e.ty if hasattr(e, "ty") else e.dtype).find("bool") >= 0
        return Text(str(bool(e.value)) if boolean else str(int(e.value)))
    if kind == "Var":
        return Text(e.name)
    if kind == "Not":
        return negated(text_of_tvm(e.a))
    if kind == "Select":
        return call("Where", *map(text_of_tvm, (e.condition, e.true_value,
                                                e.false_value)))
    a, b = text_of_tvm(e.a), text_of_tvm(e.b)
    if kind in ("Min", "Max"):
        return call(kind.lower(), a, b)
    signs = {"Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//",
             "FloorMod": "%", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=",
             "EQ": "==", "NE": "!=", "And": "and", "Or": "or"}
    return a.binary(signs[kind], b, 4 if kind.startswith("Floor") else 1)


def tinygrad_of(text, ranges):
    names = {name: UOp.variable(name, *ends) for name, ends in ranges.items()}
    names.update(
        min=lambda a, b: first(a, b).minimum(second(a, b)),
        max=lambda a, b: first(a, b).maximum(second(a, b)),
        Where=lambda c, a, b: c.where(a, b))
    if " == " in text:
        a, b = text.split(" == ")
        e = value_of(a, names).eq(int(b))
    else:
        e = value_of(text, names)
    return text_of_tinygrad(e.simplify())


def first(a, b):
    """Of two arguments the one that is no number, on which it is called."""
    return a if isinstance(a, UOp) else b


def second(a, b):
    return b if isinstance(a, UOp) else a


def is_constant(e, value):
    return e.op is Ops.CONST and e.arg == value


def text_of_tinygrad(e):
    if e.op is Ops.CONST:
        return Text(str(e.arg))
    if e.op is Ops.BUFFER:
        return Text(e.arg.name)
    parts = [text_of_tinygrad(s) for s in e.src]
    if e.op is Ops.WHERE:
        return call("Where", *parts)
    a, b = parts
    if e.op is Ops.XOR and is_constant(e.src[1], -1):  # ~max(~a, ~b)
        inner = e.src[0]
        if inner.op is Ops.MAX:
            return call("min", *(flipped(s) for s in inner.src))
        return Text("-1").binary("-", a)
    if e.op is Ops.MAX:
        return call("max", a, b)
    if e.op is Ops.ADD and e.src[1].op is Ops.MUL and is_constant(
            e.src[1].src[1], -1):
        return a.binary("-", text_of_tinygrad(e.src[1].src[0]))
    if e.op is Ops.ADD and e.src[1].op is Ops.CONST and e.src[1].arg < 0:
        return a.binary("-", Text(str(-e.src[1].arg)))
    if e.op is Ops.MUL and is_constant(e.src[1], -1):
        return Text(f"(-{a.text})", 1 + a.cost)
    if e.op in (Ops.XOR, Ops.CMPNE) and e.src[1].op is Ops.CONST and \
            e.src[1].arg is True:
        return negated(a)
    signs = {Ops.ADD: "+", Ops.SUB: "-", Ops.MUL: "*", Ops.FLOORDIV: "//",
             Ops.FLOORMOD: "%", Ops.CMPLT: "<", Ops.CMPEQ: "==",
             Ops.CMPNE: "!=", Ops.AND: "and", Ops.OR: "or"}
    return a.binary(signs[e.op], b,
                    4 if e.op in (Ops.FLOORDIV, Ops.FLOORMOD) else 1)


def flipped(e):
    """~e as people write it."""
    if e.op is Ops.CONST:
        return Text(str(-1 - e.arg))
    if e.op is Ops.XOR and is_constant(e.src[1], -1):
        return text_of_tinygrad(e.src[0])
    return Text("-1").binary("-", text_of_tinygrad(e))


def main():
    for family in (views, transposes, tiles, convolutions, shuffles, attention,
                   packing, slices):
        family()
    random_indices(60)
    for name, text, ranges, facts in INDICES:
        used = {s: ends for s, ends in ranges.items()}
        tvm = tvm_of(text, used, facts)
        grad = None if facts else tinygrad_of(text, used)
        after = tvm if grad is None or tvm.cost <= grad.cost else grad
        print(json.dumps({
            "suite": name.rsplit("-", 1)[0], "id": name, "before": text,
            "after": after.text, "tvm": tvm.text,
            "tinygrad": None if grad is None else grad.text,
            "facts": facts, "ranges": used}))
    print(len(INDICES), "indices", file=sys.stderr)


if __name__ == "__main__":
    main()
