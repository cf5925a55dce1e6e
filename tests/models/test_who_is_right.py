"""who_is_right.py sees an answer that does not hold, and no other."""

import sympy
from torch.fx.experimental.symbolic_shapes import ShapeEnv, ShapeGuard
from torch.utils._sympy.functions import FloorDiv, Mod
from torch.utils._sympy.value_ranges import ValueRanges

from who_is_right import Judge

A, B, C = sympy.symbols("s0 s1 s2", integer=True, positive=True)


def judged(expr, answer, *guards):
    env = ShapeEnv()
    for symbol in (A, B, C):
        env.var_to_range[symbol] = ValueRanges(2, 1_000)
    env.guards += [ShapeGuard(g, None, size_oblivious=False) for g in guards]
    judge = Judge()
    judge(env, "Proviso alone", expr, answer, None, None)
    (found,) = judge.counts
    assert bool(judge.wrong) == (found == "contradicted")
    return found


def test_answers_that_hold_hold():
    assert judged(A * B >= 4, sympy.true) == "held"
    assert judged(6 * A * FloorDiv(B, A) < 0, sympy.false) == "held"
    assert judged(sympy.Eq(Mod(A, 2), 0), sympy.true,
                  sympy.Eq(Mod(A, 8), 0)) == "held"


def test_answers_that_do_not_hold_are_contradicted():
    assert judged(A * B >= 5, sympy.true) == "contradicted"
    assert judged(sympy.Eq(Mod(A, 8), 0), sympy.true,
                  sympy.Eq(Mod(A, 4), 0)) == "contradicted"
    assert judged(A < B, sympy.false, A <= B) == "contradicted"


def test_what_follows_from_conditions_over_other_sizes_holds():
    assert judged(A < B, sympy.true, A < C, C < B) == "held"
    assert judged(A < B, sympy.true, A <= C, C <= B) == "contradicted"


def test_a_quotient_by_zero_is_no_point():
    assert judged(FloorDiv(A, FloorDiv(2, A)) >= 1, sympy.true) == "held"
