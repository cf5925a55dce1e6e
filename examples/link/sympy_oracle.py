"""SymPy with a solver for integers behind it: what SymPy leaves undecided
about sizes, Proviso decides, and says why.

    python sympy_oracle.py        # a line a question; needs proviso and sympy
"""

import sympy

import proviso


class Oracle:
    """Facts and questions as SymPy's objects.  True, False, or None."""

    def __init__(self):
        self._context = proviso.Context()

    def assume(self, *conditions):
        for condition in conditions:
            self._context.assume(condition, origin=str(condition))
        return self

    def decide(self, condition):
        """(answer, why)."""
        answer = self._context.ask(condition)
        value = {"yes": True, "no": False}.get(answer.verdict)
        why = "; ".join(answer.facts) or answer.reason
        return value, why

    def refine(self, expression):
        """The expression in the cheapest form found under the facts."""
        return self._context.simplify(expression).sympy()


def own(condition):
    """What SymPy says by itself."""
    simpler = sympy.simplify(condition)
    if simpler in (sympy.true, sympy.false):
        return bool(simpler)
    return None


def main():
    n, m, k = sympy.symbols("n m k", integer=True)
    oracle = Oracle().assume(n >= 1, m >= 1, k >= 0, k < n,
                             sympy.Eq(sympy.Mod(n, 8), 0))
    questions = [
        (sympy.Eq(sympy.Mod(n, 4), 0), True),
        (sympy.floor(n / 8) * 8 <= n, True),
        (sympy.Eq(sympy.floor(n / 8) * 8, n), True),
        (k * m + m <= n * m, True),
        (n >= 8, True),
        (sympy.Eq(sympy.Mod(n * m, 16), 0), None),
        (k > n, False),
        (sympy.Eq(sympy.Max(n, m) + sympy.Min(n, m), n + m), True),
    ]
    wrong, gained = [], 0
    for question, expected in questions:
        value, why = oracle.decide(question)
        alone = own(question)
        gained += alone is None and value is not None
        print(f"{question}: {value} (SymPy alone: {alone})  {why}")
        if value != expected or alone not in (None, value):
            wrong.append(question)
    print(oracle.refine(8 * sympy.floor(n / 8) + sympy.Mod(k, n)))
    if oracle.refine(8 * sympy.floor(n / 8) + sympy.Mod(k, n)) != k + n:
        wrong.append("refine")
    print(f"{gained} of {len(questions)} decided that SymPy leaves open")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
