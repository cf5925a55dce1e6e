"""Where Proviso and torch answer differently, under verify."""

import collections

import sympy

counts = collections.Counter()
# [(kind, question, Proviso's answer, torch's answer)], each once.
found = {}
_LIMIT = 10_000


def _keep(kind, expr, ours, theirs):
    counts[kind] += 1
    if len(found) < _LIMIT:
        found.setdefault((kind, str(expr), str(ours), str(theirs)), expr)


def _at_hints(env, expr):
    """The value at the sizes of the sample, or None when one is missing."""
    try:
        value = expr.xreplace(env.backed_var_to_val)
    except Exception:  # undefined there
        return None
    return None if value.free_symbols else value


def compare(env, expr, ours, theirs, *, unbacked_only, axioms, var_to_range,
            size_oblivious, compute_hint):
    """Counts how the two answers relate, and keeps those that differ."""
    if ours is NotImplemented:
        counts["left to torch"] += 1
        return
    if unbacked_only:
        left = theirs.free_symbols if isinstance(theirs, sympy.Basic) else ()
        gone = all(s in env.backed_var_to_val for s in left)
        counts["same"] += not gone
        if gone:
            _keep("torch alone", expr, None, theirs)
        return
    plain = axioms is None and var_to_range is None and not size_oblivious
    if ours is not None and plain and not compute_hint:
        hint = _at_hints(env, expr)
        if hint is not None and bool(hint != ours):
            _keep("against the hint", expr, ours, hint)
    if ours is None:
        if theirs is None:
            counts["both unknown"] += 1
        else:
            _keep("torch alone", expr, ours, theirs)
    elif theirs is None:
        _keep("Proviso alone", expr, ours, theirs)
    elif bool(ours == theirs):
        counts["same"] += 1
    else:
        _keep("disagree", expr, ours, theirs)


def compare_forms(question, ours, theirs, point):
    """Counts two forms of one expression; `point`: where they differ."""
    if point is None:
        counts["same"] += 1
    else:
        _keep("disagree", question, ours, theirs)


def reset():
    counts.clear()
    found.clear()
